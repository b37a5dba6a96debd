from __future__ import annotations

import dataclasses
import json
from itertools import pairwise

import pytest
from support_risk import exposed

from hushtable import registry
from hushtable.errors import DataError
from hushtable.release.exposure import Exposure

SECRET = "CANARYBIRD"
TABLE = Exposure.of(
    {"name": [SECRET, SECRET, "x", "y", "z"], "age": [30, 30, 30, 41, 55]},
    population={"name": [SECRET] * 4 + ["x", "y", "z", "w"], "age": [30] * 5 + [41, 55, 60]},
)

# they read more than classes: see test_risk_survey.py
NEED_RECORDS = ("household", "individual", "l-diversity")


@pytest.mark.parametrize("name", [name for name in registry.risks if name not in NEED_RECORDS])
@pytest.mark.parametrize("table", [TABLE, exposed([1]), exposed([4, 4]), exposed([1, 1, 1])])
def test_findings_are_frozen_json_and_without_values(name, table):
    found = registry.risks.build(name).compute(table)
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False)) == found.as_dict()
    assert SECRET not in json.dumps(found.as_dict())
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(found, dataclasses.fields(found)[0].name, 0)


@pytest.mark.parametrize(
    "name",
    [n for n in registry.risks if "fraction" in {p.name for p in registry.risks[n].params()} and n not in NEED_RECORDS],
)
def test_a_fraction_overrules_the_population_table(name):
    known = registry.risks[name]
    assert known().compute(TABLE).basis == "population table"
    assert known(fraction=0.5).compute(TABLE).basis == "sampling fraction"
    assert known().compute(exposed([1, 2])).basis == "table"


@pytest.mark.parametrize("name", ["journalist", "marketer", "delta-presence", "k-map"])
def test_the_whole_population_is_the_limit_of_the_estimates(name):
    table = exposed([1, 2, 2, 7])
    known = registry.risks[name]
    whole, limit = known().compute(table).as_dict(), known(fraction=1).compute(table).as_dict()
    for key in set(whole) - {"basis"}:
        assert whole[key] == (limit[key] if whole[key] is None else pytest.approx(limit[key])), key


@pytest.mark.parametrize("name", ["journalist", "marketer"])
def test_the_risk_grows_with_the_share_of_the_population_in_the_table(name):
    table = exposed([1, 2, 2, 7])
    key = "average" if name == "journalist" else "share"
    found = [registry.risks[name](fraction=f).compute(table).as_dict()[key] for f in (0.001, 0.01, 0.1, 0.5, 1)]
    assert all(a < b for a, b in pairwise(found))


def test_nobody_to_assess():
    with pytest.raises(DataError, match="no record"):
        Exposure.of({"q": []})
