"""Record the decisions of a run, and replay them on another table.

Which records share a group, which are suppressed and which level a column has is replayed by an algorithm that ignores
the data. Publishing, verifying and saving then use the code of every release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.algorithms.earlier import Counterfeits
from hushtable.arrays import BoolArray, IntArray, first_places
from hushtable.engines import local
from hushtable.hierarchy.base import ROOT
from hushtable.release.guard import Guard
from hushtable.release.plan import Plan
from hushtable.release.recode import Recoded
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.coins import Coins
from hushtable.testing.require import require

COINS = Coins(b"the coins of both worlds")
"""The coins of guards, the same for every table."""


class Incomparable(Exception):
    """A hierarchy built from the data would divide the published values differently, which is another decision."""


@dataclass(frozen=True)
class _Replay(Algorithm):
    """An algorithm that repeats the decisions of another one."""

    decisions: Any = None
    rows: Any = None
    name: ClassVar[str] = "testing-replay"

    @property
    def recoding(self) -> Recoding:  # type: ignore[override]
        """Return how the recorded algorithm recodes."""
        return self.decisions.recoding  # type: ignore[no-any-return]

    def run(self, problem: Problem) -> Partition:
        """Return the recorded partition, in the codes and levels of this table."""
        partition: Partition = self.decisions.partition_of(problem, self.rows)
        _check_judged(problem, partition)
        return partition


def _check_judged(problem: Problem, partition: Partition) -> None:
    """Refuse groups that a model with the whole table's beliefs no longer accepts: they would be merged."""
    model, table = problem.model, problem.table
    if model.may_overlap and not model.minds_cover:
        return
    if len(partition.labels) != table.n_rows:
        raise Incomparable  # beliefs that are estimated from the table are about other people
    stats = table.stats_of(partition.labels, partition.n_groups, model.histogram_keys())
    stats = stats.take(stats.units > 0)
    if not (model.satisfied(stats, problem.reference).all() and model.table_satisfied(stats, problem.reference)[0]):
        raise Incomparable


@dataclass(frozen=True)
class _ReplayContent(Algorithm):
    """Repeats the decisions of another algorithm on a table with the same records in any order."""

    replay: Any = None
    recorded: Any = None
    name: ClassVar[str] = _Replay.name

    @property
    def recoding(self) -> Recoding:  # type: ignore[override]
        """Return how the recorded algorithm recodes."""
        return self.replay.recoding  # type: ignore[no-any-return]

    def run(self, problem: Problem) -> Partition:
        """Return the recorded partition, in the order of these rows.

        One row may represent many, as long as the records of a combination were treated in the same way.
        """
        partition: Partition = self.replay.run(self.recorded)
        before, now = self.recorded.table, problem.store.combinations("decisions are replayed")
        known, asked = (
            np.column_stack([c.codes[: t.n_sample] for c in (*t.quasi, *t.sensitive)]) for t in (before, now)
        )
        if now.n_sample == before.n_sample:
            source = np.empty(now.n_rows, dtype=np.int64)
            source[now.canonical_order] = before.canonical_order
            require(bool(np.array_equal(known[source[: now.n_sample]], asked)), "the engine has different records")
        else:
            # each combination stands for its records
            numbers = np.unique(np.concatenate([known, asked]), axis=0, return_inverse=True)[1].reshape(-1)
            own, numbers = numbers[: len(known)], numbers[len(known) :]
            first = first_places(own, int(own.max()) + 1)
            if not np.array_equal(partition.labels[first[own]], partition.labels[: len(own)]):
                raise Incomparable
            source = first[numbers]
        return replace(partition, labels=partition.labels[source])


@dataclass(frozen=True)
class _Half(Guard):
    """A guard with only some of its actions."""

    guard: Any = None
    groups: bool = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """Return the guard's own name: its coins depend on it."""
        return self.guard.name  # type: ignore[no-any-return]

    def values(self) -> dict[str, Any]:
        """Return the guard's own parameters."""
        return self.guard.values()  # type: ignore[no-any-return]

    def given(self, problem: Problem) -> Problem:
        """Ask the guard, if groups are made."""
        return self.guard.given(problem) if self.groups else problem

    def grouped(self, problem: Problem, partition: Partition, recoding: Recoding, coins: Coins) -> Partition | None:
        """Ask the guard, if groups are made."""
        if not self.groups:
            return partition
        return self.guard.grouped(problem, partition, recoding, coins)  # type: ignore[no-any-return]

    def recoded(self, problem: Problem, recoded: Recoded, coins: Coins) -> Recoded:
        """Ask the guard, if groups are given."""
        return recoded if self.groups else self.guard.recoded(problem, recoded, coins)


@dataclass(frozen=True)
class Decisions:
    """The decisions of a run.

    Attributes
    ----------
    plan : Plan
    labels : int64 array
        The group of every row; -1 for suppressed ones.
    partition : Partition
    quasi : tuple of QuasiColumn
        The columns in the recorded run.
    n_sample : int
        Rows of the table, without those of a population.
    sensitive : mapping of str to sequences
        The values behind the codes of counterfeits.
    """

    plan: Plan
    labels: IntArray
    partition: Partition
    quasi: tuple[QuasiColumn, ...]
    n_sample: int
    sensitive: Mapping[str, Sequence[str | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: pa.Table, plan: Plan, *, one_more: bool = True) -> Decisions:
        """Run a plan and record its decisions; if requested and there are several classes, suppress one more."""
        halves = tuple(_Half(guard, groups=True) for guard in plan.guards)
        problem = local.problem_of(table, plan)
        partition, recoded = local.solve(problem, replace(plan, guards=halves))
        labels = np.asarray(recoded.labels if recoded.buckets is None else recoded.buckets, dtype=np.int64)
        shown = labels[: table.num_rows]
        groups, sizes = np.unique(shown[shown >= 0], return_counts=True)
        # a crowd covers people of other groups, so all of them are published
        if one_more and len(groups) > 1 and partition.crowds is None:
            # the first of the smallest ones, which is often at the end of a range
            labels = np.where(labels == groups[np.argmin(sizes)], -1, labels)
        names = {c.name: c.coded.labels[0] for c in problem.table.sensitive}
        return cls(plan, labels, partition, problem.table.quasi, table.num_rows, names)

    @property
    def recoding(self) -> Recoding:
        """How groups become cells."""
        return self.plan.algorithm.recoding

    @property
    def suppressed(self) -> IntArray:
        """The rows that are not published."""
        return np.flatnonzero(self.labels[: self.n_sample] < 0)

    def replayed(self, rows: IntArray) -> Plan:
        """Return the plan that repeats the decisions on a table with these rows of the recorded one."""
        guards = tuple(_Half(guard) for guard in self.plan.guards)
        # the plan's own checks already ran for the recorded algorithm
        plan = replace(self.plan, guards=(), coins=COINS, suppression=1.0)
        object.__setattr__(plan, "algorithm", _Replay(self, rows))
        object.__setattr__(plan, "guards", guards)
        return plan

    def partition_of(self, problem: Problem, rows: IntArray) -> Partition:
        """Return the recorded partition for another table."""
        labels = np.concatenate([self.labels[: self.n_sample][rows], self.labels[self.n_sample :]])
        groups, compact = np.unique(labels[labels >= 0], return_inverse=True)
        labels[labels >= 0] = compact
        columns = list(zip(problem.table.quasi, self.quasi, strict=True))
        kept = np.flatnonzero(self.labels[: self.n_sample][rows] >= 0)
        levels = cuts = None
        if self.partition.cuts is not None:
            pairs = zip(columns, self.partition.cuts, strict=True)
            cuts = tuple(_same_cut(new, old, cut, kept, rows[kept]) for (new, old), cut in pairs)
        elif self.partition.levels is not None:
            wanted = zip(columns, self.partition.levels, strict=True)
            levels = tuple(_same_level(new, old, level, kept, rows[kept]) for (new, old), level in wanted)
        fakes = self.partition.counterfeits
        if fakes is not None:
            now = {c.name: {label: i for i, label in enumerate(c.coded.labels[0])} for c in problem.table.sensitive}
            there = np.isin(fakes.groups, groups)
            codes = {
                name: np.array(
                    [now[name].get(self.sensitive[name][c], -1) for c in own[there].tolist()], dtype=np.int64
                )
                for name, own in fakes.codes.items()
            }
            if any((own < 0).any() for own in codes.values()):
                raise Incomparable
            fakes = Counterfeits(np.searchsorted(groups, fakes.groups[there]), codes)
        blanked, by_column = self.partition.blanked, self.partition.by_column
        if blanked is not None:
            if any(not np.array_equal(_agree(new, np.arange(len(rows)), labels), _agree(old, rows, labels))
                   for new, old in columns):  # fmt: skip
                raise Incomparable
            blanked = {name: own[groups] for name, own in blanked.items()}
        if by_column is not None:
            by_column = {name: self._own_groups(own, rows, labels) for name, own in by_column.items()}
        return replace(
            self.partition,
            labels=labels,
            n_groups=len(groups),
            levels=levels,
            cuts=cuts,
            regions=None,
            counterfeits=fakes,
            crowds=self._own_crowds(rows),
            blanked=blanked,
            by_column=by_column,
        )

    def _own_groups(self, own: IntArray, rows: IntArray, labels: IntArray) -> IntArray:
        """The groups of one column, for another table; suppressed rows have none."""
        found = np.where(labels >= 0, np.concatenate([own[: self.n_sample][rows], own[self.n_sample :]]), -1)
        found[found >= 0] = np.unique(found[found >= 0], return_inverse=True)[1]
        return found

    def _own_crowds(self, rows: IntArray) -> tuple[IntArray, IntArray] | None:
        """The crowds, with their rows in another table."""
        if self.partition.crowds is None:
            return None
        offsets, members = self.partition.crowds
        now = np.argsort(rows, kind="stable").astype(np.int64)
        return offsets, now[members]


def _agree(column: QuasiColumn, rows: IntArray, labels: IntArray) -> BoolArray:
    """Which groups have a common value."""
    own = labels[: len(rows)]
    pairs = np.unique(np.column_stack([own, column.codes[rows]])[own >= 0], axis=0)
    return np.asarray(np.bincount(pairs[:, 0]) == 1)


def _alike(first: IntArray, second: IntArray) -> bool:
    """Whether two arrays of numbers define the same groups."""
    both = len(np.unique(np.column_stack([first, second]), axis=0)) if len(first) else 0
    return both == len(np.unique(first)) == len(np.unique(second))


def _same_level(new: QuasiColumn, old: QuasiColumn, level: int, kept: IntArray, before: IntArray) -> int:
    """The level that groups the published rows as a level of the recorded hierarchy does."""
    if level == old.coded.height:
        return new.coded.height
    codes, nodes = new.codes[kept], old.coded.levels[level][old.codes[before]]
    # masks are counted from the longest value
    first: list[int] = [level + new.coded.height - old.coded.height, level]
    for h in [*first, *range(int(level > 0), new.coded.height)]:
        if h > 0 and tuple(new.coded.labels[min(h, new.coded.height)]) == (ROOT,):
            continue  # suppressed records alone had other nodes
        if 0 <= h < new.coded.height and (h > 0) == (level > 0) and _alike(new.coded.levels[h][codes], nodes):
            return int(h)
    raise Incomparable


def _same_cut(new: QuasiColumn, old: QuasiColumn, cut: IntArray, kept: IntArray, before: IntArray) -> IntArray:
    """The cut through a hierarchy that groups the published rows in the same way."""
    found = np.zeros(new.coded.size, dtype=np.int64)
    codes, of_row = new.codes[kept].astype(np.int64), old.codes[before].astype(np.int64)
    for level in np.unique(cut[of_row]).tolist():
        here = np.flatnonzero(cut[of_row] == level)
        h = _same_level(new, old, level, kept[here], before[here])
        found[np.isin(new.coded.levels[h], new.coded.levels[h][codes[here]])] = h
    if not _alike(_cut_nodes(new, found, codes), _cut_nodes(old, cut, of_row)):
        raise Incomparable
    return found


def _cut_nodes(column: QuasiColumn, cut: IntArray, codes: IntArray) -> IntArray:
    """A number for the node that each code is published at."""
    nodes = np.choose(cut[codes], [level[codes] for level in column.coded.levels])
    return np.asarray(cut[codes] * column.coded.size + nodes, dtype=np.int64)


def by_content(table: pa.Table, plan: Plan) -> Plan:
    """Return a plan that replays decisions on rows in another order, as on Spark; other plans unchanged."""
    if not isinstance(plan.algorithm, _Replay):
        return plan
    replay = _ReplayContent(plan.algorithm, local.problem_of(table, plan))
    plan = replace(plan)
    object.__setattr__(plan, "algorithm", replay)
    return plan
