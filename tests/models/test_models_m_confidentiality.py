from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from count_tables import Counts, count_tables, holds, stats
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable import registry
from hushtable.errors import ParameterError
from hushtable.models.alpha_k import AlphaK
from hushtable.models.m_confidentiality import MConfidentiality, allowed_share, credibility
from hushtable.table.reference import Attribute, Reference


@settings(max_examples=100, deadline=None)
@given(count_tables(), st.integers(2, 4), st.integers(3, 8))
def test_satisfied_equals_the_slow_twin(counts, m, k):
    m = min(m, k - 1)
    share = allowed_share(m, k)
    expected = []
    for row in counts.matrix.tolist():
        size = Fraction(sum(row), counts.unit)
        expected.append(size >= k and max(row) <= (share + 1e-9) * sum(row))
    assert holds(MConfidentiality(m=m, k=k, on="disease"), counts.groups, counts.table()) == expected


def worst_credibility(row, k, refused):
    """Deal the values of a class to its members in every way; the first b of them are a block that was refused.

    Returns the greatest chance of a member of the block, or of the rest, to have any one value, over all deals in which
    the block (or the rest, where that is as large) is refused for any value.
    """
    values = [v for v, count in enumerate(row) for _ in range(count)]
    n, worlds = len(values), set()

    def deal(left, dealt):
        if not left:
            worlds.add(dealt)
        for v in set(left):
            rest = list(left)
            rest.remove(v)
            deal(rest, (*dealt, v))

    deal(values, ())
    worst = Fraction(0)
    for b in range(k, n + 1):
        known = [w for w in worlds if refused(w[:b]) or (n - b >= k and refused(w[b:]))]
        for v in set(values):
            for part in (slice(0, b), slice(b, n)):
                size = len(values[part])
                if known and size:
                    worst = max(worst, Fraction(sum(w[part].count(v) for w in known), len(known) * size))
    return worst


@pytest.mark.parametrize("row", [[1, 1, 1, 1], [1] * 5, [2, 1, 1, 1, 1, 1], [2, 2, 2, 1, 1]])
@pytest.mark.parametrize(("m", "k"), [(2, 3), (2, 4), (3, 4)])
def test_no_refused_block_makes_a_value_more_credible(row, m, k):
    share = allowed_share(m, k)
    worst = worst_credibility(row, k, lambda block: max(map(block.count, block)) > share * len(block))
    if holds(MConfidentiality(m=m, k=k, on="disease"), stats([row]), Counts(np.array([row]), 1).table()) == [True]:
        assert worst <= Fraction(1, m)


def exact(n, x, block, share):
    """E[X | X > share block] / block over all places of the x of n members who have the value; None if impossible."""
    counts = [sum(i < block for i in places) for places in combinations(range(n), x)]
    counts = [c for c in counts if c > share * block]
    return sum(counts) / len(counts) / block if counts else None


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 7), st.integers(3, 13), st.integers(1, 4), st.integers(2, 4))
def test_credibility_is_never_below_the_exact_one(k, n, x, m):
    """The binomial bound holds for every class that is satisfied, of any size, and every block of it."""
    m = min(m, k - 1)
    share = allowed_share(m, k)
    if x > share * n:
        n = int(np.ceil(x / share))
    for block in range(k, min(n, 13) + 1):
        if n > 13:
            # large classes: only the count matters, so a hypergeometric by its own formula
            from math import comb

            chances = {
                c: comb(block, c) * comb(n - block, x - c) for c in range(min(block, x) + 1) if c > share * block
            }
            chances = {c: p for c, p in chances.items() if p}
            found = sum(c * p for c, p in chances.items()) / sum(chances.values()) / block if chances else None
        else:
            found = exact(n, x, block, share)
        if found is not None:
            assert found <= credibility(block, share) + 1e-12
            assert found <= 1 / m + 1e-12


def test_the_limit_is_tight_and_holds_for_large_blocks():
    for m, k in ((2, 6), (5, 6), (2, 30)):
        share = allowed_share(m, k)
        assert max(credibility(b, share) for b in range(k, 2000)) <= 1 / m
        assert max(credibility(b, share + 1e-4) for b in range(k, 2000)) > 1 / m


def test_wong_s_pair_is_certain_under_two_diversity_and_refused_here():
    """Two people with q1 and five with q2, two of all seven have HIV, and half of a class may have it.

    The five would have been published alone, whatever they have; so would the pair, unless both of it have HIV.
    """
    row = [2, 1, 1, 1, 1, 1]
    assert holds(AlphaK(alpha=0.5, k=2, on="disease"), stats([row]), Counts(np.array([row]), 1).table()) == [True]
    assert exact(7, 2, 2, 0.5) == credibility(2, 0.5) == 1.0
    # with blocks of six or more the same class is fine: both in the same six are a third of it
    assert allowed_share(2, 6) > 2 / 7
    assert holds(MConfidentiality(m=2, k=6, on="disease"), stats([row]), Counts(np.array([row]), 1).table()) == [True]
    assert exact(7, 2, 6, allowed_share(2, 6)) == 1 / 3
    assert holds(MConfidentiality(m=2, k=3, on="disease"), stats([row]), Counts(np.array([row]), 1).table()) == [False]


def test_infeasible():
    table = Reference.of(8, Attribute.of("disease", ["a", "b", "c"], [5, 2, 1]))
    reason = MConfidentiality(m=2, k=6, on="disease").feasible(table)
    assert reason is not None
    assert reason.message.startswith("m=2 and k=6 allow a value a share of 0.322")
    assert "makes up 0.625 of the table" in reason.message and "value-bounds" in str(reason.hint)
    few = MConfidentiality(m=2, k=9, on="disease").feasible(table)
    assert few is not None and few.message.startswith("k=9 but the table has 8")
    even = Reference.of(8, Attribute.of("disease", "abcd", [2, 2, 2, 2]))
    assert MConfidentiality(m=2, k=6, on="disease").feasible(even) is None


def test_parameters():
    with pytest.raises(ParameterError, match="must be below 'k'"):
        MConfidentiality(m=4, k=4)
    with pytest.raises(ParameterError, match="'m' parameter of MConfidentiality"):
        MConfidentiality(m=1, k=4)
    assert MConfidentiality(m=2, k=4).min_group_size() == 4


@pytest.mark.parametrize("algorithm", ["mondrian", "datafly", "k-member", "top-down-specialization", "mdav"])
def test_adult_has_a_release(adult, algorithm):
    table = adult.slice(0, 1500).select(["age", "sex", "race", "occupation"])
    policy = ht.Policy(
        quasi={"age": {"hierarchy": {"intervals": [5, 10, 20]}}, "sex": {}, "race": {}},
        sensitive=["occupation"],
        models=[ht.KAnonymity(k=4), MConfidentiality(m=2, k=6)],
        algorithm=registry.algorithms.build(algorithm, None),
    )
    release = ht.anonymize(table, policy)
    assert release.verify().ok
