from __future__ import annotations

from pathlib import Path

import pytest

from hushtable.errors import HierarchyError, ParameterError, PolicyError
from hushtable.hierarchy.dates import Dates
from hushtable.hierarchy.flat import Flat
from hushtable.hierarchy.frequency import Frequency
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.hierarchy.spec import hierarchy_data, parse_hierarchy
from hushtable.hierarchy.taxonomy import Taxonomy

TREE = {"Europe": ["France", "Spain"], "Asia": {"Far": ["Japan"]}}

FORMS = [
    ("flat", Flat()),
    ("dates", Dates()),
    ("prefix", Prefix()),
    ("frequency", Frequency()),
    ({"intervals": [5, 10, 20]}, Intervals(widths=(5, 10, 20))),
    ({"intervals": {"widths": [5], "low": 20}}, Intervals(widths=(5,), low=20)),
    ({"intervals": {"cuts": [[1, 2.5], [1]]}}, Intervals(cuts=((1, 2.5), (1,)))),
    ({"intervals": {"quantiles": [16, 4]}}, Intervals(quantiles=(16, 4))),
    ({"prefix": "#"}, Prefix(mask="#")),
    ({"prefix": {"steps": [2, 3], "from_end": False}}, Prefix(steps=(2, 3), from_end=False)),
    ({"dates": ["month", "year"]}, Dates(levels=("month", "year"))),
    ({"frequency": 8}, Frequency(fanout=8)),
    ({"tree": TREE}, Taxonomy(tree=TREE)),
    ({"taxonomy": {"rows": [["a", "*"]]}}, Taxonomy(rows=(("a", "*"),))),
    ({"taxonomy": {"file": "x.csv", "delimiter": "|"}}, Taxonomy(file="x.csv", delimiter="|")),
    ("country.csv", Taxonomy(file="country.csv")),
    ("country.TSV", Taxonomy(file="country.TSV")),
    ("country.yaml", Taxonomy(file="country.yaml")),
]


@pytest.mark.parametrize(("spec", "hierarchy"), FORMS, ids=str)
def test_every_form_is_read_and_written_back_the_same(spec, hierarchy):
    assert parse_hierarchy(spec, "x") == hierarchy
    assert hierarchy_data(hierarchy) == spec


@pytest.mark.parametrize(
    ("spec", "hierarchy"),
    [
        (None, Flat()),
        (Frequency(fanout=3), Frequency(fanout=3)),
        ({"prefix": "*"}, Prefix()),
        ({"flat": None}, Flat()),
        ({"dates": {}}, Dates()),
        ({"taxonomy": "weird.dat"}, Taxonomy(file="weird.dat")),
    ],
    ids=str,
)
def test_other_ways_to_say_it(spec, hierarchy):
    assert parse_hierarchy(spec, "x") == hierarchy
    assert parse_hierarchy(hierarchy_data(hierarchy), "x") == hierarchy


def test_files_are_relative_to_the_policy():
    base = Path("/data/policies")
    for spec in ("h/country.csv", {"taxonomy": {"file": "h/country.csv"}}, {"taxonomy": "h/country.csv"}):
        hierarchy = parse_hierarchy(spec, "country", base)
        assert hierarchy == Taxonomy(file="/data/policies/h/country.csv")
    assert hierarchy_data(hierarchy, base) == "h/country.csv"
    assert hierarchy_data(hierarchy, Path("/elsewhere")) == "/data/policies/h/country.csv"
    assert parse_hierarchy("/abs/c.csv", "country", base) == Taxonomy(file="/abs/c.csv")


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("prefx", PolicyError, "Column 'x': there is no hierarchy 'prefx'. Did you mean 'prefix'?"),
        ({"intervalls": [5]}, PolicyError, "Did you mean 'intervals'?"),
        ({"tre": {}}, PolicyError, "Did you mean 'tree'?"),
        ({"intervals": {"width": [5]}}, ParameterError, "Column 'x': Intervals has no parameter 'width'. Did you"),
        ({"intervals": [5, 7]}, HierarchyError, "Column 'x': Intervals do not nest"),
        ("intervals", ParameterError, "Column 'x': Intervals needs one of"),
        ({"flat": 3}, PolicyError, "needs its parameters by name"),
        ({"prefix": "*", "dates": []}, PolicyError, "a hierarchy must be a file name"),
        ({}, PolicyError, "a hierarchy must be a file name"),
        (5, PolicyError, "a hierarchy must be a file name"),
        ({"prefix": 3}, ParameterError, "must be a str"),
    ],
    ids=str,
)
def test_bad_forms(spec, error, message):
    with pytest.raises(error) as caught:
        parse_hierarchy(spec, "x")
    assert message in str(caught.value)
