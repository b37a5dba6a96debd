"""Treatments against what their papers say of them: counts, ranks, moments, and slow twins."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from hushtable import registry
from hushtable.schema.columns import Role
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.treatments.correlated_noise import triangular
from hushtable.treatments.rank_swapping import swap_ranks
from hushtable.treatments.shuffling import solved
from hushtable.treatments.treating import treated

N = 20_000


def apply(columns: dict, **treatments) -> pa.Table:
    """Treat the named columns of a table; all of them are quasi-identifiers."""
    plans = [
        ColumnPlan(name, Role.QUASI, treatments=tuple(registry.treatments.build(*t) for t in treatments.get(name, ())))
        for name in columns
    ]
    return treated(pa.table(columns), TablePlan(tuple(plans)), {})


def people(seed: int = 0) -> dict:
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, N)
    pay = age * 30.0 + draw.normal(0, 300, N)
    return {"age": age, "pay": pay, "town": draw.choice(["a", "b", "c", "d"], N, p=[0.7, 0.2, 0.07, 0.03])}


def test_pram_keeps_as_many_values_as_it_says():
    before = people()
    after = np.array(apply(before, town=[("pram", {"keep": 0.6})])["town"].to_pylist())
    assert np.mean(after == before["town"]) == pytest.approx(0.6 + 0.4 / 4, abs=0.015)
    own, others = (np.mean(after[rows] == "d") for rows in (before["town"] == "d", before["town"] != "d"))
    assert own / others == pytest.approx(1 + 0.6 * 4 / 0.4, rel=0.15)


@pytest.mark.parametrize("within", [(), ("sex",)])
def test_invariant_pram_keeps_the_counts(within):
    before = {**people(), "sex": np.array(["f", "m"] * (N // 2))}
    after = apply(before, town=[("pram", {"keep": 0.3, "invariant": True, "within": within})])
    for name in "abcd":
        count = np.sum(before["town"] == name)
        assert np.sum(np.array(after["town"].to_pylist()) == name) == pytest.approx(count, abs=5 * np.sqrt(count))
    assert after["town"].to_pylist() != before["town"].tolist()


def slow_swap(window: int, luck: list[float]) -> list[int]:
    """The same rule with a list of those that have not swapped."""
    n, partner, free = len(luck), list(range(len(luck))), list(range(len(luck)))
    for rank in range(n):
        if rank not in free:
            continue
        free.remove(rank)
        room = min(window, n - 1 - rank)
        start = rank + 1 + min(int(luck[rank] * room), max(room - 1, 0))
        near = [r for r in free if start <= r <= rank + room] or [r for r in free if r <= rank + room]
        if near:
            partner[rank], partner[near[0]] = near[0], rank
            free.remove(near[0])
    return partner


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.lists(st.floats(0, 0.999), max_size=25))
def test_swapped_ranks_against_a_slow_twin(window, luck):
    found = swap_ranks(window, np.array(luck)).tolist()
    assert found == slow_swap(window, luck)
    assert [found[other] for other in found] == list(range(len(luck)))
    assert all(abs(a - b) <= window for a, b in enumerate(found))


def test_rank_swapping_moves_no_rank_beyond_its_window():
    before = people()
    after = apply(before, pay=[("rank-swapping", {"window": 0.02})])["pay"].to_numpy()
    assert np.array_equal(np.sort(after), np.sort(before["pay"]))
    ranks = np.searchsorted(np.sort(before["pay"]), np.stack([before["pay"], after]))
    assert 0 < np.abs(ranks[0] - ranks[1]).max() <= 0.02 * N


def test_records_swap_inside_their_strata_and_columns_move_together():
    before = {**people(), "street": None}
    before["street"] = np.char.add(before["town"], "1")
    swap = [("record-swapping", {"share": 0.5, "within": ["age"]})]
    after = apply(before, town=swap, street=swap)
    town = np.array(after["town"].to_pylist())
    assert np.array_equal(np.char.add(town, "1"), np.array(after["street"].to_pylist()))
    for age in (20, 50):
        rows = before["age"] == age
        assert sorted(town[rows]) == sorted(before["town"][rows])
    # a pair of equal values changes nothing: 1 - sum of squared shares of the pairs differ
    differ = 0.5 * (1 - sum(np.mean(before["town"] == name) ** 2 for name in "abcd"))
    assert np.mean(town != before["town"]) == pytest.approx(differ, abs=0.02)


def test_noise_has_the_spread_that_it_says():
    before = people()
    added = apply(before, pay=[("noise", {"sd": 0.2})])["pay"].to_numpy() - before["pay"]
    assert added.std() == pytest.approx(0.2 * before["pay"].std(), rel=0.03)
    assert abs(added.mean()) < 0.2 * before["pay"].std() / np.sqrt(N) * 5
    assert abs(np.corrcoef(added, before["pay"])[0, 1]) < 0.04


def test_correlated_noise_keeps_correlations_where_noise_weakens_them():
    before = people()
    both = [("correlated-noise", {"columns": ["age", "pay"], "sd": 1.0})]
    after = apply(before, age=both, pay=both)
    true = np.corrcoef(before["age"], before["pay"])[0, 1]
    assert np.corrcoef(after["age"], after["pay"])[0, 1] == pytest.approx(true, abs=0.02)
    alone = apply(before, age=[("noise", {"sd": 1.0})], pay=[("noise", {"sd": 1.0})])
    assert np.corrcoef(alone["age"], alone["pay"])[0, 1] < true - 0.2


def test_factor_of_a_covariance_matrix():
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(50, 4))
    rows[:, 3] = rows[:, 0] + rows[:, 1]  # determined by others
    matrix = np.cov(rows, rowvar=False)
    factor = np.array(triangular(matrix.tolist()))
    assert factor @ factor.T == pytest.approx(matrix) and np.array_equal(factor, np.tril(factor))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(0, 10**6))
def test_equations_against_numpy(size, seed):
    draw = np.random.default_rng(seed)
    matrix = np.cov(draw.normal(size=(40, size)), rowvar=False).reshape(size, size)
    right = draw.normal(size=size)
    assert solved(matrix.tolist(), right.tolist()) == pytest.approx(np.linalg.solve(matrix, right).tolist(), rel=1e-6)


def test_shuffling_keeps_values_and_rank_correlations_and_forgets_the_own_value():
    before = people()
    after = apply(before, pay=[("shuffling", {"given": ["age"]})])["pay"].to_numpy()
    assert np.array_equal(np.sort(after), np.sort(before["pay"]))

    def ranks(values):
        return np.argsort(np.argsort(values, kind="stable"), kind="stable")

    age = ranks(before["age"] + np.linspace(0, 0.5, N))
    true = np.corrcoef(age, ranks(before["pay"]))[0, 1]
    assert np.corrcoef(age, ranks(after))[0, 1] == pytest.approx(true, abs=0.03)
    # inside one age nothing of the own value is left
    rows = np.flatnonzero((before["age"] >= 40) & (before["age"] <= 41))
    assert abs(np.corrcoef(before["pay"][rows], after[rows])[0, 1]) < 0.15
    alone = apply(before, pay=[("shuffling", {})])["pay"].to_numpy()
    assert abs(np.corrcoef(before["pay"], alone)[0, 1]) < 0.03


def test_rounding_and_coding_by_hand():
    after = apply({"pay": [-7, 12, 18, 95, None]}, pay=[("rounding", {"base": 5}), ("top-bottom-coding", {"top": 90})])
    assert after["pay"].to_pylist() == [-5, 10, 20, 90, None]
    before = np.full(N, 13)
    drawn = apply({"pay": before}, pay=[("rounding", {"base": 10, "random": True})])["pay"].to_numpy()
    assert set(drawn) == {10, 20} and drawn.mean() == pytest.approx(13, abs=0.2)


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=9), st.sampled_from([1, 2.5, 0.3, 40]))
@settings(max_examples=40, deadline=None)
def test_whole_numbers_keep_promises_that_have_fractions(pay, step):
    for random in (False, True):
        rounded = apply({"pay": pay}, pay=[("rounding", {"base": step, "random": random})])["pay"].to_pylist()
        assert all(value / step == pytest.approx(round(value / step), abs=1e-9) for value in rounded)
    coded = apply({"pay": pay}, pay=[("top-bottom-coding", {"bottom": -step, "top": step})])["pay"].to_pylist()
    assert coded == [min(max(value, -step), step) for value in pay]


@pytest.mark.parametrize("fresh", [False, True])
def test_dates_of_a_person_move_together_and_never_stay(fresh):
    days = pa.array([19_000 + i for i in range(100)], pa.int32()).cast("date32")
    table = pa.table({"id": ["a", "b"] * 50, "day": days, "end": days})
    shift = registry.treatments.build("date-shift", {"days": 9, "fresh": fresh})
    dates = [ColumnPlan(name, Role.QUASI, treatments=(shift,)) for name in ("day", "end")]
    plan = TablePlan((ColumnPlan("id", Role.IDENTIFIER), *dates), entity="id")
    found = treated(table, plan, {})
    assert found["day"].equals(found["end"])
    days = found["day"].cast("int32").to_numpy() - table["day"].cast("int32").to_numpy()
    for start in (0, 1):
        (moved,) = set(days[start::2].tolist())
        assert 1 <= abs(moved) <= 9


def test_shifts_under_other_days_are_independent():
    """From one digest, the difference of two releases told whether dates had moved back or forth: one bit of each."""
    n = 4_000
    days = pa.array([19_000] * n, pa.int32()).cast("date32")
    table = pa.table({"id": [f"p{i}" for i in range(n)], "day": days})
    moved = {}
    for most in (1, 2):
        shift = registry.treatments.build("date-shift", {"days": most})
        plan = TablePlan((ColumnPlan("id", Role.IDENTIFIER), ColumnPlan("day", Role.QUASI, treatments=(shift,))))
        found = treated(table, replace(plan, entity="id"), {})
        moved[most] = found["day"].cast("int32").to_numpy() - 19_000
    # all eight pairs occur, and each as often as any other
    assert np.unique(moved[1] * 10 + moved[2], return_counts=True)[1].tolist() == pytest.approx([n / 8] * 8, rel=0.2)


@pytest.mark.parametrize("joint", [("record-swapping", {"share": 0.5}), ("correlated-noise", {"columns": ["x", "y"]})])
def test_joint_treatments_move_columns_together_wherever_they_stand_in_the_chain(joint):
    numbers = [float(i) for i in range(500)]
    rounding = ("rounding", {"base": 1})
    alike = apply({"x": numbers, "y": numbers}, x=[joint], y=[rounding, joint])
    assert np.allclose(alike["x"].to_numpy(), alike["y"].to_numpy())
    twice = apply({"x": numbers, "y": numbers}, x=[joint, joint], y=[joint, rounding, joint])
    if joint[0] == "record-swapping":
        assert twice["x"].equals(twice["y"]) and not twice["x"].equals(alike["x"])
