"""Every treatment keeps its promises, one that does not is noticed, and combinations that would lie are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable import registry
from hushtable.errors import DataError, IncompatibleError, ParameterError, PolicyError
from hushtable.io.files import read_table, write_table
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.testing import check_treatment
from hushtable.treatments.base import Given, Treatment, covariance
from hushtable.treatments.treating import treated

SETTINGS = {
    "correlated-noise": [{"columns": ["treated", "amount"]}],
    "pram": [{}, {"invariant": True}, {"keep": 0.0, "within": ["town"]}],
    "record-swapping": [{"share": 1.0, "within": ["town"]}],
    "rounding": [{"base": 7}, {"base": 7, "random": True}],
    "shuffling": [{}, {"given": ["amount", "size"]}],
    "top-bottom-coding": [{"top": 30, "bottom": 5}],
    "pseudonym": [{}, {"keep_format": True}],
    "date-shift": [{}, {"fresh": True}],
}
CHOICES = [(name, values) for name in registry.treatments for values in SETTINGS.get(name, [{}])]
# with keep_format the values need a million others of their shape: those of the contract have one
PEOPLE = pa.table({"age": list(range(20, 44)), "sex": ["m", "f"] * 12, "ill": ["flu", "gout", "cold"] * 8})
K = ht.KAnonymity(k=3)


@pytest.mark.parametrize(("name", "values"), CHOICES, ids=str)
def test_every_treatment_keeps_its_promises(name, values):
    assert check_treatment(registry.treatments.build(name, values)) == len(registry.treatments[name].kinds)


@dataclass(frozen=True)
class Predictable(Treatment):
    """Draws from a seed that everybody knows."""

    name: ClassVar[str] = "toy-predictable"
    promise: ClassVar[str] = "Guarantees nothing."

    def treat(self, given: Given) -> pa.Array:
        return given.chosen(given.codes[::-1].copy())


@dataclass(frozen=True)
class ByPosition(Treatment):
    """Deals its draws by the position of the row."""

    name: ClassVar[str] = "toy-position"
    promise: ClassVar[str] = "Guarantees nothing."

    def treat(self, given: Given) -> pa.Array:
        swapped = given.coins.uniform("any", len(given.codes)) < 0.5
        return given.chosen(np.where(swapped & (given.codes >= 0), 0, given.codes))


@dataclass(frozen=True)
class Scaled(Treatment):
    """Adds noise with the scale of the largest number, and declares that it treats records one by one."""

    name: ClassVar[str] = "toy-scaled"
    promise: ClassVar[str] = "Guarantees nothing."
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC})
    record_by_record: ClassVar[bool] = True

    def treat(self, given: Given) -> pa.Array:
        numbers = given.numbers()
        return given.changed(numbers + np.nanmax(numbers) * given.uniform("any"))


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (Predictable, "order of the rows|secret coins"),
        (ByPosition, "order of the rows"),
        (Scaled, "affect the others"),
    ],
)
def test_a_broken_promise_is_noticed(broken, why):
    with pytest.raises(AssertionError, match=why):
        check_treatment(broken)


REFUSED = {
    "drawn values of a judged sensitive column": (
        {"quasi": ["age"], "sensitive": {"ill": {"treatment": "pram"}}, "models": [K, ht.DistinctL(l=2)]},
        "would hold for drawn values",
    ),
    "random rounding of a judged sensitive column": (
        {"quasi": ["sex"], "sensitive": {"age": {"treatment": {"rounding": {"base": 5, "random": True}}}},
         "models": [K, ht.TCloseness(t=0.5)]},
        "would hold for drawn values",
    ),
    "a population that is not treated": (
        {"quasi": {"age": {"treatment": {"rounding": {"base": 5}}}}, "models": [ht.KMap(k=2)], "population": PEOPLE},
        "outside the table",
    ),
    "a model that does not survive merging": (
        {"quasi": {"age": {"treatment": "noise"}}, "sensitive": ["ill"], "models": [ht.MInvariance(m=2)],
         "algorithm": "m-invariant"},
        "does not survive merging",
    ),
    "rows of one person": (
        {"identifiers": ["id"], "entity": "id", "quasi": {"age": {"treatment": "noise"}}, "models": [K]},
        "could be averaged",
    ),
    "a suppressed record's value as the scale of noise": (
        {"quasi": ["sex"], "insensitive": {"age": {"treatment": "noise"}}, "models": [K], "suppression": 0.1},
        "would depend on suppressed ones",
    ),
    "a suppressed record's value in a swap": (
        {"quasi": ["age"], "sensitive": {"ill": {"treatment": "record-swapping"}}, "models": [K], "suppression": 0.1},
        "would depend on suppressed ones",
    ),
    "a suppressed record's value among those drawn": (
        {"quasi": {"age": None, "sex": {"treatment": "pram"}}, "models": [K], "suppression": 0.1},
        "would depend on suppressed ones",
    ),
    "a kind": ({"quasi": {"age": {"kind": "nominal", "treatment": "noise"}}, "models": [K]}, "'age' is nominal"),
    "an unknown column": (
        {"quasi": {"age": {"treatment": {"pram": {"within": ["sexx"]}}}, "sex": None}, "models": [K]}, "'sexx'"
    ),
    "noise of one column alone": (
        {"quasi": {"age": {"treatment": {"correlated-noise": {"columns": ["age", "sex"]}}}, "sex": None},
         "models": [K]},
        "different settings",
    ),
    "a date shift of nobody": (
        {"quasi": ["age"], "insensitive": {"day": {"treatment": "date-shift"}}, "models": [K]}, "no 'entity'"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_combinations_that_would_lie_are_refused_at_construction(case):
    settings, why = REFUSED[case]
    with pytest.raises(IncompatibleError, match=why) as caught:
        ht.Policy(**settings)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("column", "why"),
    [
        ({"role": "identifier", "treatment": "pram"}, "'treatment' is for insensitive and quasi and sensitive columns"),
        ({"role": "insensitive", "treatment": "pseudonym"}, "'treatment' is for pseudonym columns"),
        ({"role": "quasi", "treatment": "noize"}, "Did you mean 'noise'"),
        ({"role": "quasi", "treatment": {"noise": {"sd": 0}}}, "must be a float > 0"),
        ({"role": "quasi", "treatment": {"top-bottom-coding": None}}, "needs 'bottom' or 'top'"),
        ({"role": "quasi", "treatment": 7}, "not a single treatment"),
    ],
    ids=str,
)
def test_bad_settings_are_refused_with_a_remedy(column, why):
    with pytest.raises((PolicyError, ParameterError), match=why):
        ht.Policy(columns={"age": column, "sex": {"role": "quasi"}}, models=[K])


def test_functions_of_the_true_value_go_with_models_of_the_column():
    policy = ht.Policy(quasi=["sex"], sensitive={"age": {"treatment": {"rounding": {"base": 10}}}},
                       models=[K, ht.DistinctL(l=3)])  # fmt: skip
    release = ht.anonymize(PEOPLE.drop_columns(["ill"]), policy)
    assert set(release.frame["age"].to_pylist()) == {20, 30, 40} and release.verify().ok


def test_the_seed_of_the_policy_draws_nothing_and_the_models_draw_nothing_else():
    policy = ht.Policy(quasi=["sex"], insensitive={"age": {"treatment": "noise"}}, sensitive=["ill"], models=[K])
    first = ht.anonymize(PEOPLE, policy).frame
    assert first.equals(ht.anonymize(PEOPLE, policy.changed(seed=9)).frame)
    assert first.equals(ht.anonymize(PEOPLE, policy.changed(models=[ht.KAnonymity(k=5)])).frame)
    other = policy.with_column("age", treatment={"noise": {"sd": 0.2}})
    doubled = [2 * (a - b) for a, b in zip(first["age"].to_pylist(), sorted(range(20, 44)), strict=True)]
    again = [a - b for a, b in zip(ht.anonymize(PEOPLE, other).frame["age"].to_pylist(), range(20, 44), strict=True)]
    assert doubled != again


@pytest.mark.parametrize("treatment", [{"rounding": {"base": 10}}, {"top-bottom-coding": {"bottom": 3}}], ids=str)
def test_large_whole_numbers_keep_their_size(treatment):
    # with a gap, pandas makes floats of them, which were not cut off
    policy = ht.Policy(quasi=["age"], insensitive={"pay": {"treatment": treatment}}, models=[ht.KAnonymity(k=2)],
                       suppression=0.3)  # fmt: skip
    for hidden in (7, None):
        frame = pd.DataFrame({"age": [1, 1, 2, 2, 9], "pay": [9 * 10**18] * 2 + [20] * 2 + [hidden]})
        shown = ht.anonymize(frame, policy).frame
        assert sorted(shown["pay"]) == [20, 20, 9 * 10**18, 9 * 10**18] and shown["pay"].dtype == "int64"


def test_policies_of_other_columns_publish_the_same_draws():
    # or two releases of one table could be averaged
    def noise(**settings):
        policy = ht.Policy(insensitive={"age": {"treatment": "noise"}}, models=[K], rest="drop", **settings)
        return sorted(ht.anonymize(PEOPLE, policy).frame["age"].to_pylist())

    first = noise(quasi=["sex"])
    assert first == noise(quasi=["ill"]) == noise(quasi=["sex"], sensitive=["ill"]) != list(range(20, 44))


NOISE = ("noise", {"sd": 0.5})
JOINT = ("correlated-noise", {"columns": ("pay", "rent"), "sd": 0.5})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([("rounding", {"base": 10}), NOISE], [("rounding", {"base": 1000}), NOISE]),
        ([("rounding", {"base": 10}), JOINT], [("rounding", {"base": 1000}), JOINT]),
        (["missing", NOISE], [NOISE]),
        (["missing", JOINT], [JOINT]),
    ],
    ids=["other values before", "other values before joint noise", "one value fewer", "one value fewer in joint noise"],
)
def test_treatments_of_other_values_get_other_draws(first, second):
    """Noise that two releases share could be subtracted, and draws shifted by one row be added up."""
    pay = np.random.default_rng(0).integers(1, 900, 400) * 10
    pay[0] = 7
    table = pa.table({"aid": [f"{i:03}" for i in range(400)], "pay": pay, "rent": pay[::-1]})

    def noise(chain):
        chosen = tuple(registry.treatments.build(*one) for one in chain if one != "missing")
        columns = [ColumnPlan("aid", Role.IDENTIFIER), ColumnPlan("pay", Role.QUASI, treatments=chosen)]
        columns.append(ColumnPlan("rent", Role.QUASI, treatments=chosen[-1:] if JOINT in chain else ()))
        missing = ("7",) if "missing" in chain else ()
        found = treated(table, TablePlan(tuple(columns), missing_values=missing), {})["pay"].to_pylist()
        return np.array([0.0 if shown is None else shown - true for shown, true in zip(found, pay, strict=True)])

    one, other = noise(first), noise(second)
    assert max(abs(np.corrcoef(one, np.roll(other, shift))[0, 1]) for shift in (-1, 0, 1)) < 0.3


def test_files_of_any_format_get_the_same_draws(tmp_path):
    table = PEOPLE.append_column("score", pa.array([1.0, 2.5] * 12))
    policy = ht.Policy(quasi=["sex"], insensitive={"age": {"treatment": "noise"}, "ill": {"treatment": "pram"}},
                       models=[K], rest="drop")  # fmt: skip
    found = []
    for name in ("people.csv", "people.parquet"):
        write_table(table, tmp_path / name)
        found.append(ht.anonymize(read_table(tmp_path / name), policy).frame.to_pydict())
    ages, ills = ([list(map(str, frame[name])) for frame in found] for name in ("age", "ill"))
    assert sorted(ages[0]) == sorted(ages[1]) and sorted(ills[0]) == sorted(ills[1])


def test_durations_order_the_draws_and_lists_do_not_matter():
    table = PEOPLE.append_column("time", pa.array(range(24), pa.duration("s")))
    table = table.append_column("list", pa.array([[i] for i in range(24)])).drop_columns(["age"])
    policy = ht.Policy(quasi=["sex"], insensitive={"ill": {"treatment": "pram"}, "time": None}, models=[K], rest="drop")
    first, second = (ht.anonymize(t, policy).frame.to_pydict() for t in (table, table.take(list(range(24))[::-1])))
    assert first == second


def test_a_column_of_an_inferred_kind_is_refused_when_it_is_read():
    policy = ht.Policy(quasi={"sex": {"treatment": "noise"}}, models=[K], rest="drop")
    with pytest.raises(IncompatibleError, match="'sex' is nominal"):
        ht.anonymize(PEOPLE, policy)


def test_a_person_without_a_name_is_refused():
    table = pa.table({"id": ["a", None], "sex": ["m", "m"], "day": ["2024-01-01", "2024-01-02"]})
    policy = ht.Policy(identifiers=["id"], entity="id", quasi=["sex"], models=[ht.AverageRisk(average=1.0)],
                       insensitive={"day": {"treatment": "date-shift"}})  # fmt: skip
    with pytest.raises(DataError, match="1 row has no 'id'"):
        ht.anonymize(table, policy)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_covariances_do_not_depend_on_the_order(order):
    a, b = np.array([0.1, 0.2, 0.3, 1e9]), np.array([1.0, np.nan, 0.7, 0.3])
    assert covariance(a[order], b[order]) == covariance(a, b)
    assert covariance(a, b) == pytest.approx(np.cov(a[[0, 2, 3]], b[[0, 2, 3]], bias=True)[0, 1])
