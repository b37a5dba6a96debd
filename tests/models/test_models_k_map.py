import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.base import Monotone, Stat, Threat
from hushtable.models.k_map import KMap
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

PEOPLE = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=6)


def groups_of(pairs):
    sample, population = np.array(pairs, dtype=np.int64).T
    return GroupStats(sample, population=population)


@given(PEOPLE, st.integers(2, 9))
def test_satisfied_where_the_population_has_k(pairs, k):
    table = Reference(sum(s for s, _ in pairs), population=sum(p for _, p in pairs))
    assert KMap(k=k).satisfied(groups_of(pairs), table).tolist() == [p >= k for _, p in pairs]
    assert (KMap(k=k).feasible(table) is None) == (sum(p for _, p in pairs) >= k)


@given(PEOPLE, st.integers(2, 9), st.integers(0, 3))
def test_adding_and_merging_keep_it(pairs, k, newcomers):
    groups, table = groups_of(pairs), Reference(9, population=99)
    model = KMap(k=k)
    before = model.satisfied(groups, table)
    # a record joins, with whatever people of the population its cell brings
    grown = GroupStats(groups.units + 1, population=groups.population + newcomers)
    assert model.satisfied(grown, table)[before].all()
    if before.all():
        assert model.satisfied(groups.whole(), table).all()


def test_removing_a_record_may_narrow_the_cell():
    # ages 1 and 100 published as 1-100 cover 50 people; without the second record the cell is 1 and covers one
    assert KMap.monotone == Monotone.ADD | Monotone.MERGE
    table = Reference(2, population=50)
    before, after = GroupStats(np.array([2, 1]), population=np.array([50, 1])).take([0]), groups_of([(1, 1)])
    assert KMap(k=5).satisfied(before, table).tolist() == [True]
    assert KMap(k=5).satisfied(after, table).tolist() == [False]


def test_needs_a_population():
    assert KMap.needs == {Stat.SIZE, Stat.POPULATION}
    assert KMap.threat is Threat.IDENTITY
    with pytest.raises(PolicyError, match=r"needs a population table. Give `population:` in the policy"):
        KMap(k=2).feasible(Reference.of(5))
    with pytest.raises(PolicyError, match="needs a population table"):
        KMap(k=2).score(GroupStats.of(sizes=[3]), Reference.of(5))


def test_infeasible_says_how_many_there_are():
    reason = KMap(k=5).feasible(Reference(3, population=4))
    assert reason is not None
    assert str(reason) == (
        "k=5 but the population table has 4 people. Lower k to 4 or less, or provide a larger population table."
    )


def test_k_is_at_least_two():
    with pytest.raises(ParameterError, match="'k' parameter of KMap must be an int >= 2"):
        KMap(k=1)
