"""Searching combinations that are elsewhere: the same nodes judged in the same order, the same verdicts and notes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.algorithms.base import Problem
from hushtable.algorithms.store import Brought
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
from hushtable.table.encoded import EncodedTable, QuasiColumn, SensitiveColumn


class Away:
    """Combinations as lists of numbers, grouped with dictionaries: what Spark does, one after the other."""

    def __init__(self, coded, keys, rows, levels, limit, log):
        self.coded, self.keys, self.levels, self.limit, self.log = coded, keys, levels, limit, log
        # (leaf codes of the first record, sensitive codes) -> units
        self.rows = dict(sorted(rows.items()))

    def __len__(self):
        return len(self.rows)

    @property
    def fits(self):
        return len(self) <= self.limit

    @property
    def stays(self):
        return len(self) > self.limit // 2

    def roll_up(self, node):
        self.log["rolled"] += 1
        groups, first = defaultdict(int), {}
        for (leaf, values), units in self.rows.items():
            above = tuple(int(c.levels[h][code]) for c, h, code in zip(self.coded, node, leaf, strict=True))
            first[above] = min(first.get(above, leaf), leaf)
            groups[above, values] += units
        rows = {(first[g], v): u for (g, v), u in groups.items()}
        return Away(self.coded, self.keys, rows, np.array(node), self.limit, self.log)

    def bring(self, *, keep=False):
        assert self.fits and not (keep and self.stays)
        return self._brought(self.rows)

    def pieces(self):
        self.log["pieces"] += 1
        assert not self.fits
        number = -(-len(self) // self.limit)
        for piece in range(number):
            some = {row: u for row, u in self.rows.items() if hash(row[0]) % number == piece}
            if some:
                yield self._brought(some)

    def _brought(self, rows):
        leaves = np.array([leaf for leaf, _ in rows], dtype=np.int64).T.reshape(len(self.coded), -1)
        codes = {k: np.array([v[i] for _, v in rows], dtype=np.int64) for i, k in enumerate(self.keys)}
        return Brought(leaves, np.array(list(rows.values()), dtype=np.int64), codes)

    def group_sizes(self):
        self.log["sizes"] += 1
        units = defaultdict(int)
        for (leaf, _), u in self.rows.items():
            units[leaf] += u
        return np.unique(np.array(list(units.values()), dtype=np.int64), return_counts=True)

    def cube(self, columns, nodes):
        out = np.zeros([*nodes, 1, 1][:3], dtype=np.int64)
        for (leaf, _), u in self.rows.items():
            above = [int(self.coded[j].levels[self.levels[j]][leaf[j]]) for j in columns]
            out[tuple([*above, 0, 0][:3])] += u
        return out

    def close(self):
        self.log["closed"] += 1


class AwayStore:
    """A table whose combinations are elsewhere."""

    fits = False

    def __init__(self, outline, far):
        self.outline, self._far, self.recoded = outline, far, None

    @property
    def far(self):
        return self

    @property
    def sample_units(self):
        return self.outline.sample_units

    def tuples(self, keys):
        assert list(keys) == self._far.keys
        return self._far

    def recode(self, levels, left_out):
        self.recoded = tuple(levels), left_out


def away(problem: Problem, limit: int) -> tuple[Problem, dict[str, int]]:
    """The problem with its combinations elsewhere."""
    table, keys = problem.table, sorted(problem.model.histogram_keys())
    rows = defaultdict(int)
    values = [table.code_column(key)[0] for key in keys]
    for i in range(table.n_sample):
        leaf = tuple(int(c.codes[i]) for c in table.quasi)
        rows[leaf, tuple(int(v[i]) for v in values)] += int(table.row_units[i]) if len(table.row_units) else 1
    log = defaultdict(int)
    coded = [c.coded for c in table.quasi]
    far = Away(coded, keys, rows, np.zeros(len(coded), dtype=np.int64), limit, log)
    return replace(problem, store=AwayStore(table, far)), log


def tree(generator, leaves: int, height: int) -> Coded:
    """A random hierarchy: every level merges nodes of the one below, neighbours or not."""
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


def left_out(given: Problem, far: Problem) -> np.ndarray:
    """Which rows lie in groups that are left out."""
    nodes, left = far.store.recoded
    levels = [c.coded.levels[h] for c, h in zip(given.table.quasi, nodes, strict=True)]
    lost = {tuple(int(n[c]) for n, c in zip(levels, leaf, strict=True)) for leaf in left.T}
    rows = zip(*(n[c.codes].tolist() for n, c in zip(levels, given.table.quasi, strict=True)), strict=True)
    return np.array([row in lost for row in rows])


MODELS = {
    "size": [KAnonymity(k=3)],
    "one column": [KAnonymity(k=2), EntropyL(l=1.5, on="s")],
    "two columns": [PSensitive(p=2)],
}


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(["optimal", "samarati", "datafly", "incognito"]),
    models=st.sampled_from(sorted(MODELS)),
    objective=st.sampled_from(sorted(OBJECTIVES)),
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
    far, log = away(given_, limit)
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
    assert left_out(given_, far).tolist() == (want.labels < 0).tolist()
    assert log["closed"] <= log["rolled"]


def test_what_does_not_fit_is_told_by_its_sizes_or_judged_in_pieces():
    given_ = problem(5, 80, 0.2, MODELS["one column"])
    far, log = away(given_, 3)
    algorithm = algorithms.build("optimal", {})
    same(algorithm.run(far), algorithm.run(given_))
    assert log["sizes"] and log["pieces"]
