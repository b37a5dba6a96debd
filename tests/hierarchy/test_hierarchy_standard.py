"""Hierarchies of classifications that exist in the world."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hushtable as ht
from hushtable.errors import HierarchyError, ParameterError
from hushtable.hierarchy.check import check_column
from hushtable.hierarchy.spec import hierarchy_data, parse_hierarchy
from hushtable.hierarchy.standard import Standard
from hushtable.policy.preflight import check_table
from hushtable.policy.starter import starter_policy
from hushtable.policy.text import read_yaml
from hushtable.registry import hierarchies
from hushtable.schema.classifications.base import NAMES, classification
from hushtable.schema.columns import Kind
from hushtable.schema.profile import profile


def coded(recipe: Standard, values: list[object], kind: Kind = Kind.NOMINAL) -> ht.hierarchy.base.Coded:
    made = pa.array(values)
    return recipe.code(made, kind, missing=False, column="x", counts=np.ones(len(made), dtype=np.int64))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_levels_nest_and_end_in_one_root(name: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from(sorted(classification(name).codes())), min_size=1, unique=True))
    found = coded(Standard(name), values)
    assert found.height == len(classification(name).levels) + 1
    assert found.labels[-1] == ("*",)
    for low, high in pairwise(found.levels):
        parent = {}
        for node, above in zip(low.tolist(), high.tolist(), strict=True):
            assert parent.setdefault(node, above) == above
    assert found.contiguous


def test_ages() -> None:
    found = coded(Standard("ages"), [0, 4, 5, 14, 15, 24, 64, 65, 84, 85, 101], Kind.NUMERIC)
    assert found.labels[1][:2] == ("< 5", "[5, 10)")
    assert found.labels[1][-1] == ">= 85"
    assert found.labels[2] == ("< 15", "[15, 25)", "[55, 65)", "[65, 75)", "[75, 85)", ">= 85")
    assert found.labels[3] == ("< 15", "[15, 65)", ">= 65")
    with pytest.raises(HierarchyError, match="not numbers"):
        coded(Standard("ages"), ["young", "old"])


def test_unknown_values_are_refused_and_named_by_number() -> None:
    with pytest.raises(HierarchyError) as caught:
        coded(Standard("countries"), ["Germany", "Atlantis"])
    assert "does not cover 1 of its values (1 record)" in str(caught.value)
    assert "others: other" in str(caught.value)
    assert "Atlantis" not in str(caught.value)


def test_unknown_values_may_have_a_group() -> None:
    found = coded(Standard("countries", others="elsewhere"), ["Germany", "Atlantis", "Peru"])
    assert "elsewhere" in found.labels[1]
    assert "elsewhere" in found.labels[2]


def test_the_check_before_a_run_says_how_to_cover_values() -> None:
    policy = ht.Policy(quasi={"country": {"hierarchy": {"standard": "countries"}}}, models=[ht.KAnonymity(k=2)])
    table = pa.table({"country": ["Peru", "Peru", "Oz", "Oz"]})
    (problem,) = [p for p in check_table(table, policy).problems if p.code == "uncovered"]
    assert "1 value (2 records)" in problem.message
    assert "others: other" in problem.hint
    report = check_column(
        Standard("countries"), pa.array(["Peru", "Oz"]), Kind.NOMINAL, missing=False, column="c", counts=np.ones(2)
    )
    assert (report.ok, report.uncovered_values) == (False, 1)


def test_bad_parameters() -> None:
    for bad in ({"classification": "ages", "others": "x"}, {"classification": "icd-10", "others": "*"}):
        with pytest.raises(ParameterError, match="others"):
            Standard(**bad)
    with pytest.raises(ParameterError, match="icd-11"):
        parse_hierarchy({"standard": "icd-11"}, "dx")


def test_in_a_policy_and_back() -> None:
    for spec in ({"standard": "icd-10"}, {"standard": {"classification": "countries", "others": "other"}}):
        assert hierarchy_data(parse_hierarchy(spec, "x")) == spec


def test_groups_hold_their_values_and_published_ones() -> None:
    recipe = Standard("icd-10")
    chapter, block, category, value = recipe.below(["IX (I00-I99)", "I20-I25", "I21*", "I21.9"], "dx")
    assert value is None
    assert set(category) == {"I21", "I21.9"}
    assert set(category) < set(block) < set(chapter)
    minor, major = Standard("isco-08").below(["221*", "2 Professionals"], "job")
    assert set(minor) <= set(major)
    assert Standard("ages").below(["[15, 25)"], "age")[0][0].low == "15"
    others, known = Standard("countries", others="other").below(["other", "Atlantis"], "country")
    assert others == ("Atlantis",)
    assert known is None


@pytest.mark.parametrize("name", sorted(set(hierarchies) - {"function"}))  # that one is given in Python
def test_what_the_command_line_shows_can_stand_in_a_policy(name: str, tmp_path) -> None:
    spec = read_yaml(f"hierarchy: {hierarchies[name].in_a_policy}").data["hierarchy"]
    assert parse_hierarchy(spec, "x", tmp_path).name == name


TABLES = {
    "countries": ("country", ["Germany", "Peru", "Chile", "Kenya"]),
    "icd-10": ("dx", ["I21.9", "J45.0", "E11.9", "C50.1"]),
    "isced-2011": ("isced", ["0", "3", "5", "8"]),
    "isco-08": ("occupation", ["2211", "5223", "9112", "3119"]),
    "nace-2": ("nace", ["62.01", "10.11", "47.30", "01.11"]),
    "naics-2022": ("naics", ["621111", "336411", "445110", "11"]),
    "us-states": ("state", ["OH", "TX", "ME", "CA"]),
    "us-zip3": ("zip", ["10001", "02139", "90210", "60601"]),
    "ages": ("age", [3, 30, 60, 90]),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_starter_policy_uses_it_says_why_and_runs(name: str) -> None:
    column, values = TABLES[name]
    table = pa.table({column: values * 10, "hair": ["brown", "red"] * 20})
    text = starter_policy(profile(table), "people.csv")
    assert "# hierarchy: " in text
    policy = ht.Policy.from_yaml(text)
    assert policy.columns[column].hierarchy == {"standard": name}
    release = ht.anonymize(table, policy.changed(cells="nodes"))
    assert release.verify().ok


def test_a_suppressed_record_changes_no_label() -> None:
    few = pa.table({"dx": ["I21.9", "I25.1"] * 5, "x": ["a"] * 10})
    more = pa.concat_tables([few, pa.table({"dx": ["Q99"], "x": ["a"]})])
    policy = ht.Policy(
        quasi={"dx": {"hierarchy": {"standard": "icd-10"}}}, insensitive=["x"], models=[ht.KAnonymity(k=4)],
        algorithm=ht.Mondrian(), suppression=0.2, cells="nodes",
    )  # fmt: skip
    labels = [set(ht.anonymize(table, policy).table.column("dx").to_pylist()) for table in (few, more)]
    assert labels[0] == labels[1]
