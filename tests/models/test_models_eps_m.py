import itertools
from fractions import Fraction

import numpy as np
import pytest
from count_tables import KEY, Counts, count_tables, holds, stats
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.base import Monotone
from hushtable.models.eps_m import EpsM
from hushtable.table.reference import Attribute, Reference


def numbered(counts, numbers):
    return counts.table(ordered=True, numbers=np.array(numbers, dtype=np.float64))


def similar(x, y, eps, relative):
    """Whether y lies around x; None is a missing value."""
    if x is None or y is None:
        return x is y
    return abs(Fraction(y) - Fraction(x)) <= (Fraction(eps) * abs(Fraction(x)) if relative else Fraction(eps))


def twin(row, unit, numbers, eps, relative):
    people = sum(row) // unit
    if not people:
        return float("inf")
    shares = [Fraction(1, people)]
    for x, count in zip(numbers, row, strict=True):
        if count:
            near = sum(c for y, c in zip(numbers, row, strict=True) if similar(x, y, eps, relative))
            shares.append(Fraction(near, sum(row)))
    return float(max(shares))


def columns(n_values, missing):
    """Numbers in code order (ascending), the first one missing or not."""
    numbers = st.lists(st.integers(-12, 12), min_size=n_values, max_size=n_values, unique=True).map(sorted)
    return numbers.map(lambda xs: [None, *xs[1:]] if missing else xs)


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.0]), st.booleans(), st.booleans())
def test_score_equals_the_slow_twin(data, eps, relative, missing):
    counts = data.draw(count_tables())
    numbers = data.draw(columns(counts.matrix.shape[1], missing))
    table = numbered(counts, [np.nan if x is None else x for x in numbers])
    score = EpsM(eps=eps, m=2, relative=relative, on="disease").score(counts.groups, table)
    expected = [twin(row, counts.unit, numbers, eps, relative) for row in counts.matrix.tolist()]
    assert score.tolist() == pytest.approx(expected)


def test_codes_need_not_follow_the_numbers():
    counts = Counts(np.array([[1, 1, 1, 1]]), 1)
    score = EpsM(eps=1, m=2, on="disease").score(counts.groups, numbered(counts, [5, 1, 6, 2]))
    assert score.tolist() == [0.5]


def test_distances_are_not_at_the_mercy_of_rounding():
    counts = Counts(np.array([[1, 1, 1]]), 1)
    table = numbered(counts, [0.1, 0.2, 0.3])
    assert EpsM(eps=0.1, m=2, on="disease").score(counts.groups, table).tolist() == [1.0]
    assert EpsM(eps=0.0999, m=2, on="disease").score(counts.groups, table).tolist() == pytest.approx([1 / 3])


def test_with_eps_zero_a_value_is_similar_to_itself_alone():
    counts = Counts(np.array([[3, 1, 2]]), 1)
    for relative in (False, True):
        model = EpsM(eps=0, m=2, relative=relative, on="disease")
        assert model.score(counts.groups, numbered(counts, [0, 1, 2])).tolist() == [0.5]


def test_merging_two_satisfied_groups_may_violate():
    # 9 and 11 are not similar to each other, but both are to 10
    assert EpsM.monotone is Monotone.NONE
    counts = Counts(np.array([[0, 1, 0, 1], [1, 0, 1, 0]]), 1)
    table = numbered(counts, [9, 10, 11, 100])
    model = EpsM(eps=1, m=2, on="disease")
    assert holds(model, counts.groups, table) == [True, True]
    assert holds(model, counts.groups.whole(), table) == [False]


def test_adding_or_removing_a_record_may_violate():
    table = numbered(Counts(np.array([[1, 1]]), 1), [1, 9])
    model = EpsM(eps=1, m=2, on="disease")
    assert holds(model, stats([[1, 1], [2, 1], [1, 0]]), table) == [True, False, False]


def test_one_person_with_many_values_hides_nobody():
    counts = Counts(np.array([[2, 2, 2], [6, 6, 6]]), 6)
    model = EpsM(eps=1, m=2, on="disease")
    assert holds(model, counts.groups, numbered(counts, [1, 9, 20])) == [False, True]


def groupings(items):
    """All partitions of a short list."""
    if not items:
        yield []
        return
    for rest in groupings(items[1:]):
        yield [[items[0]], *rest]
        for i in range(len(rest)):
            yield [*rest[:i], [items[0], *rest[i]], *rest[i + 1 :]]


@example([1, 2, 3, 6, -6], 1.0, False, 2)
@example([2, 4, 6, -1, -6], 0.5, True, 2)
@example([-2, -4, -6, 1, 6], 0.5, True, 2)
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-6, 6), min_size=1, max_size=5),
    st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    st.booleans(),
    st.integers(2, 3),
)
def test_infeasible_only_where_no_grouping_exists(values, eps, relative, m):
    numbers = sorted(set(values))
    units = np.array([values.count(x) for x in numbers])
    table = Reference.of(len(values), Attribute(KEY, list(map(str, numbers)), units, numbers=np.array(numbers, float)))
    model = EpsM(eps=eps, m=m, relative=relative, on="disease")
    if model.feasible(table) is not None:
        for grouping in groupings(values):
            matrix = np.array([[g.count(x) for x in numbers] for g in grouping])
            assert not all(holds(model, stats(matrix), table))


def test_infeasible_says_why():
    counts = Counts(np.array([[2, 2, 1]]), 1)
    table = numbered(counts, [10, 11, 50])
    reason = EpsM(eps=1, m=2, on="disease").feasible(table)
    assert reason is not None
    assert "0.8 of the records lie within eps=1 of each other in 'disease'" in reason.message
    assert EpsM(eps=0.5, m=2, on="disease").feasible(table) is None
    few = EpsM(eps=0, m=6, on="disease").feasible(table)
    assert few is not None
    assert few.message == "m=6 but the table has 5 people."


def test_refusals():
    with pytest.raises(PolicyError, match="not a column of numbers or dates"):
        EpsM(eps=1, m=2, on="disease").feasible(Reference.of(2, Attribute.of("disease", ["a"], [2])))
    with pytest.raises(ParameterError, match="'m' parameter of EpsM must be an int >= 2"):
        EpsM(eps=1, m=1)
    with pytest.raises(ParameterError, match="'eps' parameter of EpsM"):
        EpsM(eps=-1, m=2)
    assert EpsM(eps=1, m=3).min_group_size() == 3


def test_groupings_are_all_partitions():
    assert len(list(groupings([1, 2, 3, 4]))) == 15
    assert all(sorted(itertools.chain(*g)) == [1, 2, 3] for g in groupings([1, 2, 3]))
