"""Specialising by counts of records that are elsewhere: the same groups as with the records at hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.children import Trees
from hushtable.algorithms.partition.localpk import CountedBranches, Localpk
from hushtable.algorithms.store import BranchCounts
from hushtable.engines import local
from hushtable.errors import HushtableError, IncompatibleError
from hushtable.models.base import Monotone
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import models
from hushtable.testing.cases import random_case
from hushtable.testing.examples import model_examples
from hushtable.testing.plain_store import PlainStore


def far(problem, most: int) -> np.ndarray:
    """The groups of records that are far away."""
    store = PlainStore(problem, 0, most)
    labels = store.labels(Localpk().run(replace(problem, store=store)))
    SEEN.update(store.asked)
    return labels


def alike(one: np.ndarray, other: np.ndarray) -> bool:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


SEEN: Counter[str] = Counter()


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(models)),
    seed=st.integers(0, 10_000),
    rows=st.integers(4, 60),
    most=st.sampled_from([1, 4, 12, 30]),
    entity=st.booleans(),
)
def test_the_same_groups(name, seed, rows, most, entity):
    case = random_case(seed, rows, entity=entity)
    chosen = [KAnonymity(k=2), *model_examples(models[name], case)[:1]]
    try:
        problem = local.problem_of(case.table, case.plan(chosen, Localpk()))
        local.check_feasible(problem)
        want = Localpk().run(problem)
    except HushtableError:
        assume(False)
    assume(Monotone.MERGE in problem.model.flags and not problem.model.part(table_level=True).members)
    assume(problem.table.n_rows == problem.table.n_sample)
    assert alike(far(problem, most), np.asarray(want.labels))


def test_the_property_saw_all_there_is():
    for seed in range(40):
        case = random_case(seed, 60, entity=seed % 2 == 0)
        chosen = [KAnonymity(k=3), *model_examples(models["entropy-l"], case)[:1]]
        problem = local.problem_of(case.table, case.plan(chosen, Localpk()))
        try:
            want = Localpk().run(problem)
        except HushtableError:
            continue
        assert alike(far(problem, 12), np.asarray(want.labels))
    assert min(SEEN[what] for what in ("branches", "finished where it is", "gone back")) > 0


def test_records_elsewhere_are_not_suppressed():
    case = random_case(1, 20)
    problem = local.problem_of(case.table, case.plan([KAnonymity(k=2)], Localpk()))
    nothing = np.empty(0, dtype=np.int64)
    ends = np.empty((0, len(problem.table.quasi)), dtype=np.int64)
    counts = BranchCounts(nothing, nothing, nothing, nothing, nothing, ends, ends)
    branches = CountedBranches(
        problem, Trees(problem.table.quasi), Kinds.of(problem), counts, ends, ends.astype(np.bool_)
    )
    with pytest.raises(IncompatibleError, match="cannot be suppressed"):
        branches.leave_out(None, np.empty(0, dtype=np.bool_))
