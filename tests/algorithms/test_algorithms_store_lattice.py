"""Searching combinations that are elsewhere: the same nodes judged in the same order, the same verdicts and notes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice import branch_and_bound, space
from hushtable.algorithms.lattice.objectives import OBJECTIVES
from hushtable.errors import IncompatibleError, NotFound
from hushtable.hierarchy.base import Coded
from hushtable.models.compose import AllOf
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_sensitive import PSensitive
from hushtable.registry import algorithms
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.encoded import EncodedTable
from hushtable.testing.plain_store import PlainStore


def tree(generator, leaves: int, height: int) -> Coded:
    """A random hierarchy: every level merges nodes of the one below, neighbors or not."""
    levels, names = [np.arange(leaves)], [tuple(map(str, range(leaves)))]
    for h in range(1, height + 1):
        n = len(names[-1])
        above = np.zeros(n, dtype=np.int64) if h == height else generator.integers(0, max(n // 2, 1), n)
        _, above = np.unique(above, return_inverse=True)
        levels.append(above[levels[-1]])
        names.append(tuple(f"{h}-{i}" for i in range(int(above.max()) + 1)))
    return Coded(Kind.NOMINAL, pa.array(names[0]), False, tuple(levels), tuple(names))


def problem(seed: int, rows: int, suppression: float, models) -> Problem:
    generator = np.random.default_rng(seed)
    quasi = []
    for j in range(int(generator.integers(2, 5))):
        coded = tree(generator, int(generator.integers(2, 7)), int(generator.integers(1, 4)))
        codes = np.sort(generator.integers(0, coded.size, (2, rows)), axis=0)[0].astype(np.uint8)
        # every leaf occurs: codes are those of the data
        codes[: coded.size] = np.arange(coded.size)[:rows]
        quasi.append(QuasiColumn(f"q{j}", codes, coded, weight=float(generator.integers(1, 3))))
    sensitive = []
    for name in ("s", "t"):
        coded = tree(generator, 3, 1)
        sensitive.append(SensitiveColumn(name, generator.integers(0, 3, rows).astype(np.uint8), coded))
    weights = generator.integers(1, 4, rows) if seed % 3 == 0 else np.empty(0, dtype=np.int64)
    table = EncodedTable(tuple(quasi), tuple(sensitive), rows, rows, row_units=weights)
    model = AllOf.bound_to(models, ("s", "t"))
    return Problem(table, model, table.reference(model.histogram_keys()), suppression)


def same(mine, want) -> None:
    assert mine.levels == want.levels
    assert mine.notes == want.notes
    assert list(mine.space) == list(want.space)
    for name, column in want.space.items():
        # every bit: values decide between nodes
        assert mine.space[name].tolist() == column.tolist(), name
    assert mine.n_groups == want.n_groups


MODELS = {
    "size": [KAnonymity(k=3)],
    "one column": [KAnonymity(k=2), EntropyL(l=1.5, on="s")],
    "two columns": [PSensitive(p=2)],
}


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(["optimal", "samarati", "datafly", "incognito"]),
    models=st.sampled_from(sorted(MODELS)),
    objective=st.sampled_from(sorted(n for n, kind in OBJECTIVES.items() if not kind.by_population)),
    seed=st.integers(0, 10_000),
    rows=st.integers(8, 90),
    suppression=st.sampled_from([0.0, 0.05, 0.2, 0.5]),
    limit=st.sampled_from([1, 5, 30, 1000]),
)
def test_the_same_search(name, models, objective, seed, rows, suppression, limit):
    given_ = problem(seed, rows, suppression, MODELS[models])
    parameters = {"objective": objective} if name != "datafly" else {}
    algorithm = algorithms.build(name, parameters)
    try:
        algorithm.check(given_.model, suppression)
    except IncompatibleError:
        assume(False)
    store = PlainStore(given_, limit, 1)
    far = replace(given_, store=store)
    with pytest.MonkeyPatch.context() as patch:
        # small tables are to take the ways of large ones
        patch.setattr(space, "WORTH_ROLLING", 6)
        patch.setattr(branch_and_bound, "MANY", 12)
        patch.setattr(branch_and_bound, "PATIENCE", 2)
        try:
            want = algorithm.run(given_)
        except NotFound:
            with pytest.raises(NotFound):
                algorithm.run(far)
            return
        mine = algorithm.run(far)
    same(mine, want)
    assert (store.labels(mine) < 0).tolist() == (want.labels < 0).tolist()
    assert store.asked["closed"] <= store.asked["rolled up"]


def test_what_does_not_fit_is_told_by_its_sizes_or_judged_in_pieces():
    given_ = problem(5, 80, 0.2, MODELS["one column"])
    store = PlainStore(given_, 3, 1)
    algorithm = algorithms.build("optimal", {})
    same(algorithm.run(replace(given_, store=store)), algorithm.run(given_))
    assert store.asked["sizes"] and store.asked["pieces"]


@pytest.mark.parametrize("models", ["one column", "two columns"])
@pytest.mark.parametrize("objective", ["average-class-size", "discernibility"])
def test_nodes_that_sizes_rule_out_are_the_same(objective, models):
    """Only the near search left out such nodes, so the far one listed more, and could choose another of equal value."""
    for seed in range(3):
        given_ = problem(seed, 40, 0.5, MODELS[models])
        algorithm = algorithms.build("optimal", {"objective": objective})
        same(algorithm.run(replace(given_, store=PlainStore(given_, 30, 1))), algorithm.run(given_))
