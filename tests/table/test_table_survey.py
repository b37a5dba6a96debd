"""Weights and households: read once, refused before any work where they cannot be used."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import DataError
from hushtable.policy.faults import InvalidPolicy
from hushtable.policy.preflight import check_table
from hushtable.schema.columns import Role
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.table.survey import read_survey

AGES = [30, 30, 41, 41]


def policy(**columns):
    return ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)], **columns)


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ([10, 12, -1, 8], "bad-weight"),
        ([10, 12, 0, 8], "bad-weight"),
        ([10, 12, None, 8], "missing-weight"),
        ([10, 12, float("nan"), 8], "missing-weight"),
        ([10, 10, 10, 10], "constant-weight"),
        ([0.5, 1.5, 0.7, 1.3], "relative-weights"),
        (["a", "b", "c", "d"], None),
    ],
)
def test_a_weight_that_cannot_be_used_is_refused_before_any_work(weights, code):
    table = pa.table({"age": AGES, "w": weights})
    with pytest.raises(DataError) as caught:
        ht.anonymize(table, policy(weight="w"))
    assert code in (None, caught.value.code)
    assert caught.value.hint
    found = check_table(table, policy(weight="w"))
    assert [p.code for p in found.problems if p.where == "w"] == [caught.value.code]


@pytest.mark.parametrize(
    ("homes", "code"),
    [(["a", "b", "c", "d"], "households-of-one"), (["a", "a", None, "b"], "missing-household")],
)
def test_households_that_say_nothing_are_refused(homes, code):
    table = pa.table({"age": AGES, "home": homes})
    with pytest.raises(DataError) as caught:
        ht.anonymize(table, policy(cluster="home"))
    assert caught.value.code == code and caught.value.hint


def test_some_households_of_one_are_usual():
    plan = TablePlan((ColumnPlan("home", Role.CLUSTER),))
    survey = read_survey(pa.table({"home": ["b", "a", "b"]}), plan)
    assert survey.households.tolist() == [1, 0, 1]
    assert len(survey.weights) == 0


def test_without_the_roles_there_is_no_survey():
    assert read_survey(pa.table({"age": AGES}), TablePlan((ColumnPlan("age", Role.QUASI),))) is None


def test_the_columns_are_not_published_and_change_nothing():
    table = pa.table({"age": AGES, "w": [10, 20, 30, 40.5], "home": [1, 1, 2, 3]})
    release = ht.anonymize(table, policy(weight="w", cluster="home"))
    plain = ht.anonymize(table, policy(drop=["w", "home"]))
    assert release.table.column_names == ["age"]
    assert release.table.equals(plain.table)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"weight": ["w", "v"]}, "already has a column of weights"),
        ({"cluster": ["a", "b"]}, "already has a column of households"),
        ({"cluster": ["a"], "identifiers": ["p"], "entity": "p"}, "Household risk counts every record"),
    ],
)
def test_roles_that_contradict_each_other_are_refused(columns, words):
    with pytest.raises(InvalidPolicy, match=words):
        policy(**columns)


def test_a_survey_column_has_no_settings_of_others():
    with pytest.raises(InvalidPolicy, match="'hierarchy' is for quasi and sensitive columns"):
        policy(weight={"w": {"hierarchy": "flat"}})


def test_measures_of_counts_use_the_weights(tmp_path):
    """Opened with its original, in memory, and with rows in another order: one number, and another without weights."""
    n = 60
    people = pa.table({"age": [20 + 7 * i % 40 for i in range(n)], "zip": [i * i % 9 for i in range(n)],
                       "w": [3 + 1.1 * (i % 7) ** 3 for i in range(n)]})  # fmt: skip
    plain = {"quasi": ["age", "zip"], "models": [ht.KAnonymity(k=4)]}
    saved = ht.run(people, ht.Policy(weight="w", **plain), tmp_path / "release")
    turned = people.take(pa.array(range(n))[::-1])
    for name in ("query-error", "pair-error", "kl-divergence"):
        found = saved.measure(name)
        assert found.about == "by survey weights"
        assert ht.open_release(tmp_path / "release", original=people).measure(name) == found
        assert ht.anonymize(turned, ht.Policy(weight="w", **plain)).measure(name) == found
        unweighted = ht.anonymize(people, ht.Policy(drop=["w"], **plain)).measure(name)
        assert unweighted.about == "" and abs(unweighted - found) > 1e-3
    for name in ("ncp", "discernibility", "sse"):
        assert saved.measure(name) == ht.anonymize(people, ht.Policy(drop=["w"], **plain)).measure(name)
