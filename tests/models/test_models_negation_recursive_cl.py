from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import Exact, Sample, agree, samples, verdicts, whole

from hushtable.errors import ParameterError
from hushtable.models.negation_recursive_cl import NegationRecursiveCL
from hushtable.models.recursive_cl import RecursiveCL
from hushtable.registry import models

cs, ls, ns = st.sampled_from([0.5, 1, 1.5, 3]), st.integers(2, 3), st.integers(1, 2)

DON = {0: 7, 1: 6, 2: 5, 3: 3, 4: 1, 5: 1}


def model(c: float, l: int, n: int) -> NegationRecursiveCL:
    return NegationRecursiveCL(c=c, l=l, n=n, on="disease")


def diverse(group: Exact, c: float, l: int) -> bool:
    r = sorted(group.values(), reverse=True)
    return bool(r) and r[0] < Fraction(c) * sum(r[l - 1 :])


def diverse_after_any(group: Exact, c: float, l: int, n: int) -> bool:
    """Strike out every set of n values there is, or all values where there are fewer."""
    return all(
        diverse({v: m for v, m in group.items() if v not in struck}, c, l)
        for struck in combinations(group, min(n, len(group)))
    )


def test_allards_class_withstands_one_statement_at_l_2_but_not_at_3():
    assert verdicts(model(1, 2, 1), DON) == [True]
    assert verdicts(model(1, 3, 1), DON) == [False]


@given(samples(), cs, ls, ns)
def test_equals_striking_out_every_set_of_n_values(sample: Sample, c: float, l: int, n: int):
    agree(model(c, l, n), sample, lambda g: whole(g) >= l + n and diverse_after_any(g, c, l, n))


@given(samples(), cs, ls, ns)
def test_equals_l_plus_n_before_the_statements(sample: Sample, c: float, l: int, n: int):
    assert sample.satisfied(model(c, l, n)) == sample.satisfied(RecursiveCL(c, l + n, on="disease"))


def test_the_equivalence_needs_l_of_2_at_least():
    # At l = 1 a class of 5 and 1 withstands a statement about either, yet 5 < 1.5 * 1 fails.
    group = {0: Fraction(5), 1: Fraction(1)}
    assert diverse_after_any(group, 1.5, 1, 1)
    assert not diverse(group, 1.5, 2)


def test_does_not_survive_adding():
    assert verdicts(model(1, 2, 1), {0: 2, 1: 2, 2: 2, 3: 1}, {0: 3, 1: 2, 2: 2, 3: 1}) == [True, False]


def test_does_not_survive_suppression():
    assert verdicts(model(1, 2, 1), {0: 2, 1: 2, 2: 2, 3: 1}, {0: 2, 1: 2, 2: 2}) == [True, False]


def test_contributes_is_that_of_l_plus_n():
    sample = Sample((DON, {0: 2, 1: 1}))
    got = model(1, 2, 1).contributes(sample.stats(), sample.table())
    assert got.tolist() == [[False, False, True, True, True, True], [False, False, True, True, True, True]]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, DON)).satisfied(model(1, 2, 1)) == [False, True]


def test_infeasible_explains_the_statements():
    assert str(model(1, 2, 1).feasible(Sample(({0: 2, 1: 2},)).table())) == (
        "l=2 with n=1 statements requires l=3 before them: l=3 but 'disease' has 2 distinct values. "
        "Lower l to 2 or less. Here, l stands for l + n, so lowering n helps as well."
    )
    assert model(1, 2, 1).feasible(Sample((DON,)).table()) is None


def test_refuses_n_0_and_is_registered():
    with pytest.raises(ParameterError, match="'n' parameter of NegationRecursiveCL must be an int >= 1"):
        NegationRecursiveCL(c=1, l=2, n=0)
    assert models.build("negation-recursive-cl", {"c": 1, "l": 2, "n": 1, "on": "disease"}) == model(1, 2, 1)
