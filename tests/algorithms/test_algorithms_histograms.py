"""Levels decided from histograms: the groups of Mondrian, found without looking at a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.engines import local
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.t_closeness import TCloseness
from hushtable.testing.plain_store import PlainStore
from support_core import groups_of, plan_of, random_people


@settings(max_examples=25)
@given(
    st.integers(1, 120),
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([[KAnonymity(k=2)], [KAnonymity(k=3), EntropyL(l=1.5)], [DistinctL(l=2)], [TCloseness(t=0.4)]]),
    st.sampled_from([1, 7, 30]),
    st.booleans(),
)
def test_the_groups_are_those_of_the_rows(n, seed, missing, models, most, weighted):
    algorithm = Mondrian()
    problem = local.problem_of(random_people(n, seed, missing), plan_of(models, algorithm=algorithm))
    if weighted:
        units = np.random.default_rng(seed).integers(1, 4, n)
        table = replace(problem.table, row_units=units.astype(np.int64))
        problem = replace(problem, store=table, reference=table.reference(problem.model.histogram_keys()))
    if not problem.model.table_satisfied(problem.reference.whole(), problem.reference)[0]:
        return
    far = algorithm.run(replace(problem, store=PlainStore(problem, 0, most)))
    assert groups_of(far.labels.tolist()) == groups_of(algorithm.run(problem).labels.tolist())
