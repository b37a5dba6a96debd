from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import LABELS, Exact, Sample, of_values, people, samples

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.alp_dif import AlpDif
from hushtable.models.base import Monotone
from hushtable.registry import models
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

ILLNESSES = ("HIV", "cancer", "cold", "fever")

TABLE_I = of_values(["HIV", "HIV"], ["cancer", "cold"], ["fever", "fever"], labels=ILLNESSES)
TABLE_II = of_values(["HIV", "HIV", "cancer", "cold", "fever", "fever"], labels=ILLNESSES)
TABLE_III = of_values(["HIV", "HIV", "cancer", "cold"], ["fever", "fever"], labels=ILLNESSES)

bounds = st.dictionaries(st.sampled_from(LABELS), st.sampled_from([0, 0.125, 0.25, 0.5, 0.75, 1]))


def model(alp: dict[str, float], dif: dict[str, float] | None = None) -> AlpDif:
    return AlpDif(alp=alp, dif=dif or {}, on="disease")


def average(groups: list[Exact], value: int) -> Fraction:
    """Equation 2, or 0 for a value that nobody has."""
    having = sum((g.get(value, Fraction(0)) for g in groups), Fraction(0))
    leaked = sum((g[value] * g[value] / people(g) for g in groups if value in g), Fraction(0))
    return leaked / having if having else Fraction(0)


def excesses(groups: list[Exact], alp: dict[str, float], dif: dict[str, float]) -> list[Fraction]:
    out = []
    for group in groups:
        worst = Fraction(-1)
        for value in group:
            mean, leak = average(groups, value), group[value] / people(group)
            if LABELS[value] in {*alp, *dif}:
                above = mean - Fraction(alp.get(LABELS[value], 1)), leak - mean - Fraction(dif.get(LABELS[value], 1))
                worst = max(worst, *above)
        out.append(worst)
    return out


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        (TABLE_I, {"HIV": 1, "fever": 1, "cancer": 1 / 2, "cold": 1 / 2}),
        (TABLE_II, {"HIV": 1 / 3, "fever": 1 / 3, "cancer": 1 / 6, "cold": 1 / 6}),
        (TABLE_III, {"HIV": 1 / 2, "fever": 1, "cancer": 1 / 4, "cold": 1 / 4}),
    ],
)
def test_average_leakage_of_wangs_tables(sample: Sample, expected: dict[str, float]):
    table, stats = sample.table(ILLNESSES, None), sample.stats()
    goal = model(expected)
    got = dict(zip(goal.protected, goal.average_leakage(stats, table)[0], strict=True))
    assert got == pytest.approx(expected)
    # Every class that holds a value leaks its average: DIF is 0, so these bounds just hold.
    assert model(expected, dict.fromkeys(expected, 0.0)).table_satisfied(stats, table).tolist() == [True]
    for illness in expected:
        tighter = {**expected, illness: expected[illness] - 0.001}
        assert model(tighter).table_satisfied(stats, table).tolist() == [False]


@given(*[st.integers(1, 40)] * 2, *[st.integers(0, 40)] * 2)
def test_equation_5(x1: int, x2: int, y1: int, y2: int):
    """ALP_1 - ALP_2 = (y1 x2 - y2 x1)^2 / (x1 x2 y (x1 + x2)) when two classes become one."""
    y1, y2 = min(x1, y1), min(x2, y2)
    if y1 + y2 == 0:
        return
    groups = GroupStats.of(sizes=[x1, x2], disease=[[y1, x1 - y1], [y2, x2 - y2]])
    table = Sample(({0: y1 + y2, 1: x1 + x2 - y1 - y2},)).table()
    goal = model({"HIV": 1})
    drop = goal.average_leakage(groups, table)[0, 0] - goal.average_leakage(groups.whole(), table)[0, 0]
    assert drop == pytest.approx((y1 * x2 - y2 * x1) ** 2 / (x1 * x2 * (y1 + y2) * (x1 + x2)), abs=1e-12)


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), min_size=2, max_size=6))
def test_equation_8(classes: list[tuple[int, int]]):
    """One more class never drops the sum below that of all as one: the square of (8) over its denominators."""
    xs = [x for x, _ in classes]
    ys = [min(x, y) for x, y in classes]
    *head_x, x = xs
    *head_y, y = ys
    before = Fraction(sum(head_y) ** 2, sum(head_x)) + Fraction(y * y, x)
    square = (sum(head_y) * x - sum(head_x) * y) ** 2
    assert before - Fraction(sum(ys) ** 2, sum(xs)) == Fraction(square, sum(head_x) * x * sum(xs))
    assert square >= 0


def test_dif_is_what_forbids_an_unequal_spread():
    # ALP of HIV = (3 * 3/4 + 1 * 1/4) / 4 = 0.625; the first class leaks 0.75, 0.125 above, the second less.
    sample = Sample(({0: 3, 1: 1}, {0: 1, 1: 3}))
    stats, table = sample.stats(), sample.table()
    assert model({"HIV": 0.7}, {"HIV": 0.125}).satisfied(stats, table).tolist() == [True, True]
    assert model({"HIV": 0.7}, {"HIV": 0.12}).satisfied(stats, table).tolist() == [False, True]
    assert model({"HIV": 0.7}, {"HIV": 0.12}).score(stats, table) == pytest.approx([0.005, -0.075])
    assert model({}, {"HIV": 0.12}).table_satisfied(stats, table).tolist() == [False]
    assert model({}, {"cancer": 0.125}).table_satisfied(stats, table).tolist() == [True]


@given(samples(), bounds, bounds)
def test_equals_its_twin(sample: Sample, alp: dict[str, float], dif: dict[str, float]):
    if not alp and not dif:
        return
    goal, stats, table = model(alp, dif), sample.stats(), sample.table()
    expected = excesses(sample.exact(), alp, dif)
    assert goal.score(stats, table) == pytest.approx([float(e) for e in expected], abs=1e-12)
    assert goal.satisfied(stats, table).tolist() == [e <= 0 for e in expected]
    assert goal.table_satisfied(stats, table).tolist() == [all(e <= 0 for e in expected)]


@given(samples(), samples(), samples(), bounds)
def test_candidate_tables_are_judged_apart(a: Sample, b: Sample, c: Sample, dif: dict[str, float]):
    parts = [replace(s, unit=6) for s in (a, b, c)]
    goal, table = model({"HIV": 0.5}, dif), parts[0].table()
    each = [p.stats() for p in parts]
    offsets = np.cumsum([0] + [len(p) for p in each])
    together = replace(GroupStats.concat(each), tables=offsets)
    assert goal.score(together, table) == pytest.approx(np.concatenate([goal.score(p, table) for p in each]))
    expected = [bool(goal.table_satisfied(p, table)[0]) for p in each]
    assert goal.table_satisfied(together, table).tolist() == expected


@given(samples(), st.data())
def test_theorem_1_merging_never_raises_the_average(sample: Sample, data: st.DataObject):
    goal, stats, table = model(dict.fromkeys(LABELS, 1.0)), sample.stats(), sample.table()
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(stats), max_size=len(stats)))
    merged = stats.merge(np.array(labels), 3)
    assert (goal.average_leakage(merged, table) <= goal.average_leakage(stats, table) + 1e-12).all()


@given(samples())
def test_theorem_2_one_class_reaches_the_share_of_the_table(sample: Sample):
    goal, table = model(dict.fromkeys(LABELS, 1.0)), sample.table()
    shares = table.attribute(("disease",)).distribution()
    got = goal.average_leakage(sample.stats().whole(), table)[0]
    assert got == pytest.approx(shares[[LABELS.index(label) for label in goal.protected]])


def test_theorem_3_does_not_reach_untouched_classes():
    """Merging the last two classes lowers the average, so the difference of the first, left alone, outgrows dif."""
    stats = GroupStats.of(sizes=[4, 2, 8], disease=[[3, 1], [2, 0], [1, 7]])
    merged = stats.merge([0, 1, 1], 2)
    table = Sample(({0: 6, 1: 8},)).table()
    # It leaks 3/4; the average falls from (9/4 + 2 + 1/8) / 6 to (9/4 + 9/10) / 6.
    goal = model({"HIV": 0.75}, {"HIV": 0.2})
    assert goal.average_leakage(stats, table) == pytest.approx(np.array([[4.375 / 6]]))
    assert goal.average_leakage(merged, table) == pytest.approx(np.array([[0.525]]))
    assert goal.satisfied(stats, table)[0]
    assert not goal.satisfied(merged, table)[0]
    # The merged class itself obeys the theorem: 2/2 was 0.27 above the average, 3/10 is below it.
    assert not goal.satisfied(stats, table)[1]
    assert goal.satisfied(merged, table)[1]


def test_is_monotone_in_no_way():
    assert AlpDif.monotone is Monotone.NONE

    def holds(goal: AlpDif, disease: list[list[int]]) -> bool:
        stats = GroupStats.of(sizes=np.sum(disease, axis=1), disease=disease)
        table = Sample(({0: 1, 1: 1},)).table()
        return bool(goal.table_satisfied(stats, table)[0])

    even = model({}, {"HIV": 0.1})
    assert holds(even, [[3, 1], [9, 3], [1, 11]])
    assert not holds(even, [[3, 1], [10, 14]])  # merged the last two
    low = model({"HIV": 0.5})
    assert holds(low, [[1, 1]])
    assert not holds(low, [[2, 1]])  # added
    assert not holds(low, [[1, 0]])  # suppressed


@given(samples(), bounds, bounds)
def test_feasible_is_exact(sample: Sample, alp: dict[str, float], dif: dict[str, float]):
    if not alp and not dif:
        return
    goal, table = model(alp, dif), sample.table()
    assert (goal.feasible(table) is None) == bool(goal.table_satisfied(table.whole(), table)[0])


def test_infeasible_names_the_share():
    table = TABLE_II.table(ILLNESSES, None)
    assert str(model({"HIV": 0.3}).feasible(table)) == (
        "alp=0.3 for value 1 of 'alp', but that value makes up 0.333333 of 'disease', and no grouping leaks less on "
        "average. "
        "Raise alp for it to 0.3334 or more."
    )
    assert model({"HIV": 1 / 3}, {"HIV": 0}).feasible(table) is None


@given(samples(), bounds)
def test_contributes_is_every_value_but_the_worst(sample: Sample, alp: dict[str, float]):
    if not alp:
        return
    goal, stats, table = model(alp), sample.stats(), sample.table()
    got = goal.contributes(stats, table)
    for row, group, worst in zip(got, sample.exact(), excesses(sample.exact(), alp, {}), strict=True):
        held = [v for v in group if LABELS[v] in alp]
        if not held:
            assert not row.any()
            continue
        assert 1 <= (~row).sum() <= len(held)
        for v in held:
            own = max(
                average(sample.exact(), v) - Fraction(alp[LABELS[v]]),
                group[v] / people(group) - 1 - average(sample.exact(), v),
            )
            if worst - own > Fraction(1, 10**9):
                assert row[v]


def test_a_group_without_people_or_protected_values_leaks_nothing():
    sample = Sample(({}, {1: 2}, {0: 1, 1: 1}))
    assert model({"HIV": 0.4}).score(sample.stats(), sample.table()).tolist() == pytest.approx([-1, -1, 0.1])


def test_refuses_unknown_values_when_evaluated_and_before():
    goal, table = model({"hiv": 0.4}), TABLE_II.table(ILLNESSES, None)
    for call in (lambda: goal.feasible(table), lambda: goal.score(TABLE_II.stats(), table)):
        with pytest.raises(PolicyError, match="Column 'disease' has no value 'hiv'") as raised:
            call()
        assert raised.value.code == "unknown-value"
        assert raised.value.hint


def test_a_published_file_need_not_hold_every_protected_value():
    whole = TABLE_II.table(ILLNESSES, None).attribute(("disease",))
    published = Reference(6, 1, {whole.key: replace(whole, whole=False)})
    assert model({"HIV": 0.3, "plague": 0.1}).score(TABLE_II.stats(), published) == pytest.approx([1 / 3 - 0.3])


def test_the_order_of_the_groups_does_not_change_a_bit_of_the_score():
    generator = np.random.default_rng(1)
    counts = generator.integers(1, 9, (40, 4))
    table = Reference(int(counts.sum()), 1, {("disease",): TABLE_II.table(ILLNESSES, None).attribute(("disease",))})
    goal = model({"HIV": 0.2, "cold": 0.1})
    groups = GroupStats.of(counts.sum(axis=1), disease=counts)
    want = goal.average_leakage(groups, table).tolist()
    for _ in range(20):
        assert goal.average_leakage(groups.take(generator.permutation(40)), table).tolist() == want


def test_parameters_are_checked_and_travel_as_policy_data():
    with pytest.raises(
        ParameterError, match=r"'alp' parameter of AlpDif must be a mapping of str to float in \[0, 1\]"
    ):
        AlpDif(alp={"HIV": 1.5})
    with pytest.raises(ParameterError, match="protects no value"):
        AlpDif(alp={})
    built = models.build("alp-dif", {"alp": {"HIV": 0.5}, "dif": {"HIV": 0}, "on": "disease"})
    assert built == model({"HIV": 0.5}, {"HIV": 0})
    assert hash(built) == hash(model({"HIV": 0.5}, {"HIV": 0}))
    assert AlpDif.build(built.values()) == built
    assert json.loads(json.dumps(AlpDif.schema()))["properties"]["alp"]["additionalProperties"]["maximum"] == 1
