"""Every store of tuples gives the same answers, and therefore the same groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem
from hushtable.algorithms.store import Brought
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines import local
from hushtable.errors import HushtableError, IncompatibleError
from hushtable.models.base import Monotone, PrivacyModel
from hushtable.release.plan import Plan
from hushtable.table.coins import Coins
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import Key
from hushtable.testing.cases import Case
from hushtable.testing.plain_store import PlainGroups, PlainStore, PlainTuples
from hushtable.testing.release_checks import Answer
from hushtable.testing.require import require


def check_store(
    models: Sequence[PrivacyModel],
    algorithm: Algorithm,
    case: Case,
    make: Callable[[Case, Plan, int, int], Any] | None = None,
    *,
    suppression: float = 0.0,
    driver: int = 1,
    most: int = 10,
    asked: Counter[str] | None = None,
) -> Answer:
    """Run an algorithm on a store and on local records: expect the same groups, or a refusal by the store.

    Parameters
    ----------
    models, algorithm, case
    make : callable, optional
        Returns a store, given the case, its plan and the two limits. Each of its answers is compared with that of a
        store in plain Python. Defaults to checking only the latter.
    suppression : float
    driver, most : int
        Maximum number of combinations on the driver, and of records or combinations of a group in one task.
    asked : Counter, optional
        Counts the questions.

    Examples
    --------
    >>> from hushtable.algorithms.partition.mondrian import Mondrian
    >>> from hushtable.models.k_anonymity import KAnonymity
    >>> from hushtable.testing import random_case
    >>> check_store([KAnonymity(k=2)], Mondrian(), random_case(1, 20)).name
    'RELEASED'
    """
    try:
        plan = case.plan(models, algorithm, suppression=suppression)
    except IncompatibleError:
        return Answer.INCOMPATIBLE
    problem = local.problem_of(case.table, plan)
    model = problem.model
    alone = problem.table.n_rows == problem.table.n_sample
    if not alone or Monotone.MERGE not in model.flags or model.minds_cover or model.part(table_level=True).members:
        return Answer.INCOMPATIBLE
    want = _tried(lambda: _run(problem, algorithm))
    twin = PlainStore(problem, driver, most)
    store = twin if make is None else _Paired(make(case, plan, driver, most), twin)
    got = _tried(lambda: _run(replace(problem, store=store), algorithm))
    if asked is not None:
        asked.update(twin.asked)
    if isinstance(got, IncompatibleError):
        return Answer.INCOMPATIBLE
    if isinstance(want, HushtableError) or isinstance(got, HushtableError):
        require(type(got) is type(want) and str(got) == str(want), "a store leads to a different error")
        return Answer.NOT_FOUND
    require(_alike(twin.labels(got), np.asarray(want.labels)), "a store leads to different groups")
    require(got.levels == want.levels and dict(got.notes) == dict(want.notes), "a store leads to a different result")
    return Answer.RELEASED


def _run(problem: Problem, algorithm: Algorithm) -> Partition:
    local.check_feasible(problem)
    return algorithm.run(problem)


def _tried(call: Callable[[], Partition]) -> Partition | HushtableError:
    try:
        return call()
    except HushtableError as error:
        return error


def _alike(one: AnyArray, other: AnyArray) -> bool:
    """Whether two labelings define the same groups and suppress the same rows."""
    if not np.array_equal(one < 0, other < 0):
        return False
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


def _same(what: str, mine: Sequence[AnyArray], theirs: Sequence[AnyArray]) -> None:
    """Compare columns of entries in any order."""
    one, other = (sorted(zip(*(np.asarray(c).tolist() for c in side), strict=True)) for side in (mine, theirs))
    require(one == other, f"a store gives a different answer: {what}")


def _entries(counts: Any, names: Sequence[str]) -> list[AnyArray]:
    return [column for name in names for column in np.atleast_2d(np.asarray(getattr(counts, name)).T)]


class _Paired:
    """Two stores that get the same questions; returns the answers of the second."""

    def __init__(self, store: Any, twin: PlainStore) -> None:
        self._store, self._twin = store, twin
        require(store.fits == twin.fits, "a store counts different combinations")
        require(store.digest == twin.digest, "a store has a different digest")
        require(store.sample_units == twin.sample_units, "a store has a different size")
        outlines = store.outline, twin.outline
        for mine, theirs in zip(*((*o.quasi, *o.sensitive) for o in outlines), strict=True):
            same = mine.name == theirs.name and mine.coded.labels == theirs.coded.labels
            require(same, "a store has different columns")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._twin, name)

    @property
    def far(self) -> _Paired:
        return self

    def combinations(self, why: str) -> EncodedTable:
        theirs = self._twin.combinations(why)
        tables = self._store.combinations(why), theirs
        rows = [[*(c.codes for c in t.quasi), *(c.codes for c in t.sensitive), t.row_units] for t in tables]
        if tables[0].unit == 1:
            _same("combinations", *rows)
        return theirs

    def tuples(self, keys: Sequence[Key]) -> _PairedTuples:
        return _PairedTuples(self._store.far.tuples(keys), self._twin.tuples(keys))

    def recode(self, levels: IntArray, left_out: AnyArray) -> None:
        self._store.far.recode(levels, left_out)
        self._twin.recode(levels, left_out)

    def groups(self, coins: Coins | None = None) -> _PairedGroups:
        return _PairedGroups(self._store.far.groups(coins), self._twin.groups(coins))


class _PairedTuples:
    def __init__(self, store: Any, twin: PlainTuples) -> None:
        self._store, self._twin = store, twin
        require(len(store) == len(twin) and store.fits == twin.fits, "a store rolls up differently")
        require(store.levels.tolist() == twin.levels.tolist(), "a store rolls up to a different node")

    def __len__(self) -> int:
        return len(self._twin)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._twin, name)

    def roll_up(self, node: IntArray) -> _PairedTuples:
        return _PairedTuples(self._store.roll_up(node), self._twin.roll_up(node))

    def bring(self, *, keep: bool = False) -> Brought:
        theirs = self._twin.bring(keep=keep)
        mine = self._store.bring()
        for one, other in zip(_columns(mine), _columns(theirs), strict=True):
            require(np.array_equal(one, other), "a store returns different combinations, or a different order")
        return theirs

    def pieces(self) -> Iterator[Brought]:
        parts = [list(side.pieces()) for side in (self._store, self._twin)]
        whole = [[np.concatenate(c) for c in zip(*(_columns(p) for p in side), strict=True)] for side in parts]
        _same("pieces", *whole)
        yield from parts[1]

    def group_sizes(self) -> tuple[IntArray, IntArray]:
        theirs = self._twin.group_sizes()
        _same("sizes", self._store.group_sizes(), theirs)
        return theirs

    def cube(self, columns: Sequence[int], nodes: Sequence[int]) -> IntArray:
        theirs = self._twin.cube(columns, nodes)
        require(np.array_equal(self._store.cube(columns, nodes), theirs), "a store counts different cubes")
        return theirs

    def close(self) -> None:
        self._store.close()
        self._twin.close()


def _columns(brought: Brought) -> list[AnyArray]:
    return [*brought.columns, brought.units, *(brought.sensitive[key] for key in sorted(brought.sensitive))]


class _PairedGroups:
    def __init__(self, store: Any, twin: PlainGroups) -> None:
        self._store, self._twin = store, twin
        require(store.most == twin.most, "a store has a different limit")

    def __len__(self) -> int:
        return len(self._twin)

    @property
    def most(self) -> int:
        return self._twin.most

    def counts(self, groups: IntArray, keys: Sequence[Key]) -> Any:
        theirs = self._twin.counts(groups, keys)
        mine = self._store.counts(groups, keys)
        _same("counts", *([*_totals(side[0], keys)] for side in (mine, theirs)))
        return theirs

    def cut(self, *arguments: Any) -> None:
        self._store.cut(*arguments)
        self._twin.cut(*arguments)

    def kinds(self) -> Any:
        theirs, mine = self._twin.kinds(), self._store.kinds()
        require(mine.stats.units.tolist() == theirs.stats.units.tolist(), "a store returns different kinds")
        for key, values in theirs.values.items():
            require(np.array_equal(mine.values[key], values), "a store returns different kinds")
        return theirs

    def extents(self, groups: IntArray) -> Any:
        theirs = self._twin.extents(groups)
        for one, other in zip(self._store.extents(groups), theirs, strict=True):
            require(np.array_equal(one, other), "a store measures groups differently")
        return theirs

    def branches(self, *arguments: Any) -> Any:
        theirs = self._twin.branches(*arguments)
        names = ("group", "column", "node", "kind", "count", "low", "high")
        _same("branches", *(_entries(side, names) for side in (self._store.branches(*arguments), theirs)))
        return theirs

    def divide(self, *arguments: Any) -> None:
        self._store.divide(*arguments)
        self._twin.divide(*arguments)

    def finish(self, *arguments: Any) -> Partition:
        self._store.finish(*arguments)
        return self._twin.finish(*arguments)


def _totals(counts: Any, keys: Sequence[Key]) -> list[AnyArray]:
    """Sum entries that differ only in irrelevant columns."""
    found: Counter[tuple[int, ...]] = Counter()
    columns = [counts.group, counts.column, counts.code, *(counts.values[key] for key in keys)]
    for *entry, units in zip(*(c.tolist() for c in columns), counts.units.tolist(), strict=True):
        found[tuple(entry)] += units
    return [*np.array(list(found), dtype=np.int64).T, np.array(list(found.values()), dtype=np.int64)]
