"""What a violating group can keep when it is divided: never less than any division does keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.engines import local
from hushtable.errors import IncompatibleError
from hushtable.models.t_closeness import TCloseness
from hushtable.registry import models
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats
from hushtable.testing.cases import random_case
from hushtable.testing.examples import model_examples


@settings(max_examples=250, deadline=None)
@given(
    name=st.sampled_from(sorted(models)),
    seed=st.integers(0, 10_000),
    rows=st.integers(2, 40),
    parts=st.integers(1, 12),
    entity=st.booleans(),
    data=st.data(),
)
def test_no_division_keeps_more(name, seed, rows, parts, entity, data):
    case = random_case(seed, rows, entity=entity)
    chosen = model_examples(models[name], case, 2)
    assume(chosen)
    try:
        problem = local.problem_of(case.table, case.plan(chosen[:1], Mondrian(), suppression=1.0))
    except IncompatibleError:
        assume(False)
    table, model = problem.table, problem.model.part(table_level=False)
    assume(model.members and table.n_rows == table.n_sample)
    keys = sorted(problem.model.histogram_keys())
    whole = data.draw(st.lists(st.integers(0, 2), min_size=table.n_rows, max_size=table.n_rows))
    inside = data.draw(st.lists(st.integers(0, parts - 1), min_size=table.n_rows, max_size=table.n_rows))
    groups = table.stats_of(np.array(whole), 3, keys)
    fine = np.array(whole) * parts + np.array(inside)
    divided = table.stats_of(fine, 3 * parts, keys)
    there = np.flatnonzero(divided.units > 0)
    good = model.satisfied(divided.take(there), problem.reference)
    kept = np.zeros(3, dtype=np.int64)
    np.add.at(kept, there[good] // parts, divided.units[there[good]])
    some = np.flatnonzero(groups.units > 0)
    assert (model.keepable(groups.take(some), problem.reference) >= kept[some]).all()
    if table.unit == 1:
        sizes = divided.units[there[good]]
        assert sizes.min(initial=10**9) >= model.least_people(problem.reference)


@pytest.mark.parametrize(("distance", "most"), [("equal", 4), ("ordered", 6)])
def test_t_closeness_keeps_what_is_close(distance, most):
    table = Reference.of(20, Attribute.of("pay", [1, 2], [10, 10], ordered=True))
    groups = GroupStats.of(sizes=[10, 4], pay=[[8, 2], [2, 2]])
    model = TCloseness(t=0.0, distance=distance, on="pay")
    assert model.keepable(groups, table)[1] == 4
    # two of each by equal distance; by convexity, of 0.3 at least 0.3 goes
    assert model.keepable(groups, table)[0] == (most if distance == "equal" else 7)
