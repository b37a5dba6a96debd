"""The frontier of a top-down partition: all groups of a level, and the rows they own.

Everything is a struct of arrays: a level costs a few kernel calls and a few calls of the model, regardless of its
number of groups. Working memory is the row-major copy of the codes that is being rearranged, plus 4 bytes per row for
its original position.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.regions import TreeBuilder
from hushtable.arrays import AnyArray, BoolArray, IntArray, inverted, joined_ranges
from hushtable.kernels.bounds import bounds, column_bounds
from hushtable.kernels.partition import balanced_cuts, split_children, split_rows, split_ties, spread_labels
from hushtable.models.base import Stat
from hushtable.models.compose import AllOf
from hushtable.parallel import over_groups
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import SCALE, QuasiColumn
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class Proposals:
    """Cuts proposed for some groups of a level; each makes two or more children.

    Attributes
    ----------
    group : int64 array
        The group of the level that a proposal divides.
    column : int64 array
        The quasi-identifier that it cuts.
    offsets : int64 array
        Children ``offsets[p]:offsets[p + 1]`` belong to proposal p.
    starts, ends, units : int64 arrays
        Row range and units of each child.
    cuts : int64 array
        The highest code of each child, except for the last child of a proposal.
    """

    group: IntArray
    column: IntArray
    offsets: IntArray
    starts: IntArray
    ends: IntArray
    units: IntArray
    cuts: IntArray

    @classmethod
    def none(cls) -> Proposals:
        """Return no proposals."""
        empty = np.empty(0, dtype=np.int64)
        return cls(empty, empty, np.zeros(1, dtype=np.int64), empty, empty, empty, empty)

    @classmethod
    def binary(
        cls,
        group: IntArray,
        column: IntArray,
        rows: tuple[IntArray, IntArray, IntArray],
        units: tuple[IntArray, IntArray],
        cuts: IntArray,
    ) -> Proposals:
        """Return proposals with two children each: where the rows of each child start and end, and their units."""
        starts, middle, ends = rows
        return cls(
            group,
            column,
            2 * np.arange(len(group) + 1, dtype=np.int64),
            _interleave(starts, middle),
            _interleave(middle, ends),
            _interleave(*units),
            _interleave(cuts, cuts),
        )

    def __len__(self) -> int:
        return len(self.group)

    def all_children(self, satisfied: BoolArray) -> BoolArray:
        """Return which proposals have only satisfied children."""
        if not len(self):
            return np.empty(0, dtype=np.bool_)
        return np.logical_and.reduceat(satisfied, self.offsets[:-1])

    def children_of(self, chosen: IntArray) -> IntArray:
        """Return the numbers of these proposals' children."""
        lengths = np.diff(self.offsets)[chosen]
        return joined_ranges(self.offsets[:-1][chosen], lengths)

    def take(self, chosen: BoolArray | IntArray) -> Proposals:
        """Return some of the proposals."""
        if chosen.dtype == np.bool_ and chosen.all():
            return self
        index: IntArray = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        kids = self.children_of(index)
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[index])]).astype(np.int64)
        return Proposals(
            self.group[index], self.column[index], offsets,
            self.starts[kids], self.ends[kids], self.units[kids], self.cuts[kids],
        )  # fmt: skip

    @staticmethod
    def concat(parts: Sequence[Proposals]) -> Proposals:
        """Return the proposals of all parts."""
        parts = [part for part in parts if len(part)]
        if len(parts) < 2:
            return parts[0] if parts else Proposals.none()
        groups, columns, starts, ends, units, cuts = (
            np.concatenate([getattr(p, name) for p in parts])
            for name in ("group", "column", "starts", "ends", "units", "cuts")
        )
        lengths = np.concatenate([[0], *(np.diff(p.offsets) for p in parts)])
        return Proposals(groups, columns, np.cumsum(lengths).astype(np.int64), starts, ends, units, cuts)


class GroupLevel(Protocol):
    """The groups of a level, represented by their rows or by histograms."""

    width: int

    def propose(self, turn: int, accepted: Proposals) -> Proposals:
        """Return each undivided group's cut of its widest column but ``turn``, if every child is large enough."""

    def judge(self, proposals: Proposals, model: AllOf, reference: Reference) -> BoolArray:
        """Return which proposed children satisfy a groupwise model."""


def gap_columns(quasi: Sequence[QuasiColumn]) -> list[int]:
    """Return the columns that have both missing and other values.

    Such a column gets an extra column before all others, which says whether a value is missing: separating missing
    values is the widest cut.
    """
    return [j for j, c in enumerate(quasi) if c.coded.missing and c.coded.size > 1]


def column_spans(quasi: Sequence[QuasiColumn], gaps: Sequence[int], low: IntArray, high: IntArray) -> IntArray:
    """Return the width of each group in each column, those for missing values first; -1 if it has one value."""
    spans = np.empty_like(low)
    for at, j in enumerate([*gaps, *range(len(quasi))]):
        column = quasi[j]
        if at < len(gaps):
            spans[:, at] = round(SCALE * column.weight)
        else:
            spans[:, at] = column.positions[high[:, at]] - column.positions[low[:, at]]
    spans[high == low] = -1
    return spans


def _interleave(first: IntArray, second: IntArray) -> IntArray:
    out = np.empty(2 * len(first), dtype=np.int64)
    out[0::2], out[1::2] = first, second
    return out


CHUNK = 2048
"""Number of groups whose widths a core compares at once: keeps a level's memory small compared with the rows."""


class Frontier:
    """The groups of the current level, the finished ones, and the rows they own.

    Parameters
    ----------
    problem : Problem
    kept : bool array
        Rows that take part.
    relaxed : bool
        Whether a cut may divide records with equal codes.
    children : bool
        Whether nominal columns are divided into the children of the covering node.
    """

    def __init__(self, problem: Problem, kept: BoolArray, *, relaxed: bool, children: bool) -> None:
        self._table = table = problem.table
        self._model = problem.model
        self._relaxed = relaxed
        self._children = children
        self._minimum = problem.model.min_group_size() * table.unit
        self._gaps = self._split_off()
        self._owner = np.array(self._gaps + list(range(len(table.quasi))), dtype=np.int64)
        self.width = len(self._owner)
        self._rows = problem.order if relaxed else None
        dtype = np.uint32 if table.n_rows < 2**32 else np.uint64
        if kept.all():
            self._index = np.arange(table.n_rows, dtype=dtype)
        else:
            self._index = np.flatnonzero(kept if self._rows is None else kept[self._rows]).astype(dtype)
        self._work = self._matrix()
        self._tree = TreeBuilder()
        zero = np.zeros(1, dtype=np.int64)
        end = np.array([len(self._index)], dtype=np.int64)
        self._done: list[tuple[AnyArray, AnyArray, AnyArray]] = []
        self._ruled_out: Counter[int] = Counter()
        self._begin_level(zero, end, self._units(zero, end), zero)

    def _split_off(self) -> list[int]:
        """Return the columns that get an extra column, which says whether a value is missing."""
        return gap_columns(self._table.quasi)

    def _matrix(self) -> AnyArray:
        quasi = self._table.quasi
        dtype = np.result_type(np.uint8, *(c.codes.dtype for c in quasi))
        work = np.empty((len(self._index), self.width), dtype=dtype)
        everything = len(work) == self._table.n_rows and self._rows is None
        rows = None if everything else self._originals(0, len(work))
        for at, j in enumerate(self._owner):
            codes = quasi[j].codes if rows is None else quasi[j].codes[rows]
            work[:, at] = codes > 0 if at < len(self._gaps) else codes
        return work

    def _begin_level(self, starts: IntArray, ends: IntArray, units: IntArray, nodes: IntArray) -> None:
        divisible = units >= 2 * self._minimum
        self._finish(starts[~divisible], ends[~divisible], nodes[~divisible])
        self._starts, self._ends = starts[divisible], ends[divisible]
        self._group_units, self._nodes = units[divisible], nodes[divisible]
        if len(self._starts):
            self._rank()

    def _rank(self) -> None:
        """Decide in which order each group's columns are tried."""
        self._order = np.empty((self.open, self.width), dtype=np.min_scalar_type(self.width))
        self._eligible = np.empty(self.open, dtype=np.int16)
        self._widest = np.empty(self.open, dtype=np.int64)
        over_groups(self._starts, self._ends, self._rank_columns, CHUNK)

    def _finish(self, *group: IntArray) -> None:
        """Store finished groups, as small integers: at k = 5, there is one for every few rows."""
        starts, ends, nodes = (part.astype(self._index.dtype) for part in group)
        self._done.append((starts, ends, nodes))

    def _rank_columns(self, groups: slice) -> None:
        """Order each group's columns from the widest to the narrowest; those with one value come last."""
        low, high = bounds(self._work, self._starts[groups], self._ends[groups])
        spans = column_spans(self._table.quasi, self._gaps, low, high)
        self._eligible[groups] = np.count_nonzero(spans >= 0, axis=1)
        self._widest[groups] = spans.max(axis=1)
        self._order[groups] = np.argsort(-spans, axis=1, kind="stable")

    @property
    def open(self) -> int:
        """Number of groups that may still be divided."""
        return len(self._starts)

    def share_done(self) -> float:
        """Share of the rows whose group is finished."""
        return 1.0 - float((self._ends - self._starts).sum()) / max(len(self._index), 1)

    def propose(self, turn: int, accepted: Proposals) -> Proposals:
        """Return each undivided group's cut of its widest column but ``turn``, if every child is large enough."""
        waiting = np.ones(self.open, dtype=np.bool_)
        waiting[accepted.group] = False
        group = np.flatnonzero(waiting)
        group = group[self._eligible[group] > turn]
        dims = self._order[group, turn].astype(np.int64)
        if not len(group):
            return Proposals.none()
        whole = np.zeros(len(group), dtype=np.bool_)
        if self._children:
            by_children = np.array([self._has_children(d) for d in range(self.width)])
            whole = by_children[dims]
        parts = []
        if not whole.all():
            cut = self._halve if self._relaxed else self._cut
            parts.append(cut(group[~whole], dims[~whole]))
        if whole.any():
            parts.append(self._branch(group[whole], dims[whole]))
        proposals = Proposals.concat(parts)
        return proposals.take(proposals.all_children(proposals.units >= self._minimum))

    def _has_children(self, dim: int) -> bool:
        coded = self._table.quasi[self._owner[dim]].coded
        return dim >= len(self._gaps) and coded.kind is Kind.NOMINAL and coded.height > 1 and coded.contiguous

    def _cut(self, group: IntArray, dims: IntArray) -> Proposals:
        starts, ends = self._starts[group], self._ends[group]
        cuts, left, right = self._choose(group, dims)
        large = np.minimum(left, right) >= self._minimum
        group, dims, cuts, left, right = group[large], dims[large], cuts[large], left[large], right[large]
        starts, ends = starts[large], ends[large]
        middle = split_rows(self._work, self._index, starts, ends, dims, cuts)
        return Proposals.binary(group, self._owner[dims], (starts, middle, ends), (left, right), cuts)

    def _choose(self, group: IntArray, dims: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return where groups are cut in these columns, and the units on either side."""
        starts, ends = self._starts[group], self._ends[group]
        return balanced_cuts(
            self._work, self._index, self._table.row_units, starts, ends, dims,
            *column_bounds(self._work, starts, ends, dims),
        )  # fmt: skip

    def _halve(self, group: IntArray, dims: IntArray) -> Proposals:
        starts, ends = self._starts[group], self._ends[group]
        weights = self._table.row_units
        if len(weights) and self._rows is not None:
            weights = weights[self._rows]
        middle, left = split_ties(self._work, self._index, weights, starts, ends, dims)
        right = self._group_units[group] - left
        return Proposals.binary(group, self._owner[dims], (starts, middle, ends), (left, right), middle)

    def _branch(self, group: IntArray, dims: IntArray) -> Proposals:
        parts = []
        for g, dim in zip(group, dims, strict=True):
            coded = self._table.quasi[self._owner[dim]].coded
            codes = self._work[self._starts[g] : self._ends[g], dim]
            low, high = codes.min(), codes.max()
            level = next(h for h in range(coded.height + 1) if coded.levels[h][low] == coded.levels[h][high])
            edges = split_children(
                self._work,
                self._index,
                int(self._starts[g]),
                int(self._ends[g]),
                int(dim),
                coded.levels[level - 1],
            )
            cuts = np.array([self._work[s:e, dim].max() for s, e in itertools.pairwise(edges)], np.int64)
            parts.append(
                Proposals(
                    np.array([g]),
                    self._owner[[dim]],
                    np.array([0, len(cuts)], dtype=np.int64),
                    edges[:-1],
                    edges[1:],
                    self._units(edges[:-1], edges[1:]),
                    cuts,
                )
            )
        return Proposals.concat(parts)

    def _units(self, starts: IntArray, ends: IntArray) -> IntArray:
        if not len(self._table.row_units):
            return ends - starts
        if len(starts) == 1:
            own = slice(int(starts[0]), int(ends[0]))
            return np.array([self._table.row_units[self._originals(own.start, own.stop)].sum()], dtype=np.int64)
        total = np.cumsum(self._table.row_units[self._originals(0, len(self._index))])
        total = np.concatenate([[0], total]).astype(np.int64)
        return total[ends] - total[starts]

    def _originals(self, start: int, end: int) -> AnyArray:
        rows = self._index[start:end]
        return rows if self._rows is None else self._rows[rows]

    def children_stats(self, proposals: Proposals, model: AllOf) -> GroupStats:
        """Return the statistics of all proposed children that the model needs."""
        return self._stats(proposals.starts, proposals.ends, proposals.units, model)

    def judge(self, proposals: Proposals, model: AllOf, reference: Reference) -> BoolArray:
        """Return which proposed children satisfy a groupwise model, in chunks that keep histograms small.

        A proposal with a child that violates one part of the model is not compared with the others. Parts that have
        ruled out most come first.
        """
        if model.stats_needed() == frozenset({Stat.SIZE}):
            return model.satisfied(self.children_stats(proposals, model), reference)
        at = np.arange(len(proposals)) // (CHUNK // 2)
        models, n = model.by_histogram, int(at[-1]) + 1
        return np.concatenate([self._judge(proposals.take(at == i), models, reference) for i in range(n)])

    def _judge(self, proposals: Proposals, models: Sequence[AllOf], reference: Reference) -> BoolArray:
        satisfied = np.ones(len(proposals.starts), dtype=np.bool_)
        standing = np.ones(len(proposals), dtype=np.bool_)
        for i in sorted(range(len(models)), key=lambda i: -self._ruled_out[i]):
            some = proposals.take(standing)
            kept = models[i].satisfied(self.children_stats(some, models[i]), reference)
            accepted = some.all_children(kept)
            self._ruled_out[i] += len(accepted) - int(np.count_nonzero(accepted))
            satisfied[proposals.children_of(np.flatnonzero(standing))] = kept
            standing[standing] = accepted
            if not standing.any():
                break
        return satisfied

    def table_stats(self, model: AllOf) -> tuple[GroupStats, int]:
        """Return the statistics of the current table, and the number of finished groups, which come first."""
        starts = np.concatenate([d[0] for d in self._done]).astype(np.int64)
        ends = np.concatenate([d[1] for d in self._done]).astype(np.int64)
        n_done = len(starts)
        starts, ends = np.concatenate([starts, self._starts]), np.concatenate([ends, self._ends])
        return self._stats(starts, ends, self._units(starts, ends), model), n_done

    def _stats(self, starts: IntArray, ends: IntArray, units: IntArray, model: AllOf) -> GroupStats:
        if model.stats_needed() == frozenset({Stat.SIZE}):
            return GroupStats(units, self._table.unit)
        rows = self._index if self._rows is None else self._rows[self._index]
        return self._table.stats(rows, starts, ends, model.histogram_keys())

    def widths(self, proposals: Proposals) -> IntArray:
        """Return how wide the widest column of each proposal's group is."""
        return self._widest[proposals.group]

    def advance(self, accepted: Proposals) -> None:
        """Divide the groups whose cut was accepted; the others are finished."""
        finished = np.ones(self.open, dtype=np.bool_)
        finished[accepted.group] = False
        self._finish(self._starts[finished], self._ends[finished], self._nodes[finished])
        self._begin_level(accepted.starts, accepted.ends, accepted.units, self._grow(accepted))

    def _grow(self, accepted: Proposals) -> IntArray:
        """Add the accepted cuts to the tree of regions; return the children's nodes."""
        nodes = np.empty(len(accepted.starts), dtype=np.int64)
        at = self._nodes[accepted.group]
        lengths = np.diff(accepted.offsets)
        for turn in range(int(lengths.max(initial=1)) - 1):
            more = np.flatnonzero(lengths > turn + 1)
            first = accepted.offsets[:-1][more] + turn
            left, right = self._tree.split(at[more], accepted.column[more], accepted.cuts[first])
            nodes[first], nodes[first + 1] = left, right
            at = at.copy()
            at[more] = right
        return nodes

    def partition(self) -> Partition:
        """Return the finished partition, groups numbered from the top left of the tree."""
        starts, ends, nodes = (np.concatenate([d[i] for d in self._done]).astype(np.int64) for i in range(3))
        # nothing more will be cut, and the labels need the memory
        self._work = np.empty((0, self.width), dtype=np.uint8)
        number = inverted(np.argsort(starts, kind="stable"))
        rows = self._originals(0, len(self._index))
        labels = spread_labels(rows, starts, ends, number, self._table.n_rows)
        tree = None if self._relaxed else self._tree.tree(nodes, number)
        return Partition(labels, len(starts), regions=tree)


def divide(frontier: Frontier, problem: Problem) -> Partition:
    """Cut groups as long as the models hold, and spend the suppression budget on outliers."""
    group_model = problem.model.part(table_level=False)
    table_model = problem.model.part(table_level=True)
    while frontier.open:
        problem.progress(frontier.share_done(), "partitioning")
        accepted = accepted_cuts(frontier, group_model, problem)
        if table_model.members:
            accepted = commit_prefix(frontier, accepted, table_model, problem.reference)
        frontier.advance(accepted)
    partition = frontier.partition()
    if problem.budget and not table_model.members:
        from hushtable.algorithms.shave import shave

        partition = shave(problem, partition)
    return partition


def accepted_cuts(level: GroupLevel, model: AllOf, problem: Problem) -> Proposals:
    """Return the cuts of one level that the groupwise models accept: for each group, the best one possible."""
    accepted = Proposals.none()
    for turn in range(level.width):
        proposals = level.propose(turn, accepted)
        if not len(proposals):
            continue  # too small to evaluate; the next column may still divide
        satisfied = level.judge(proposals, model, problem.reference)
        accepted = Proposals.concat([accepted, proposals.take(proposals.all_children(satisfied))])
    return accepted


CHECKS = 64
"""Maximum number of evaluations of the table per level."""


def commit_prefix(frontier: Frontier, accepted: Proposals, model: AllOf, reference: Reference) -> Proposals:
    """Return as many of the cuts, widest group first, as keep the table satisfied.

    Bisection finds the longest satisfied prefix; the cut after it is dropped, and the search continues with the rest
    until ``CHECKS`` is used up. The result was evaluated as a whole, so it is satisfied even if the model is not
    monotone.
    """
    if not len(accepted):
        return accepted
    standing, n_done = frontier.table_stats(model)
    everything = GroupStats.concat([standing, frontier.children_stats(accepted, model)])

    def holds(chosen: IntArray) -> bool:
        keep = np.ones(len(standing), dtype=np.bool_)
        keep[n_done + accepted.group[chosen]] = False
        groups = np.concatenate([np.flatnonzero(keep), len(standing) + accepted.children_of(chosen)])
        return bool(model.table_satisfied(everything.take(groups), reference)[0])

    chosen = satisfied_prefix(np.lexsort((accepted.group, -frontier.widths(accepted))), holds)
    return accepted.take(chosen)


def satisfied_prefix(order: IntArray, holds: Callable[[IntArray], bool]) -> IntArray:
    """Return as many of the steps, in this order, as keep the table satisfied; sorted.

    Parameters
    ----------
    order : int64 array
        The steps, in the order in which they are committed.
    holds : callable
        Whether the table is satisfied after these steps; called at most about ``CHECKS`` times.

    Examples
    --------
    >>> satisfied_prefix(np.array([2, 0, 1]), lambda steps: 0 not in steps).tolist()
    [1, 2]
    """
    rest, checks = order, CHECKS
    committed = rest[:0]
    while len(rest) and checks > 0:
        low, high = 0, len(rest)
        checks -= 1
        if holds(np.concatenate([committed, rest])):
            return np.sort(np.concatenate([committed, rest]))
        high -= 1
        while low < high and checks > 0:
            middle = (low + high + 1) // 2
            checks -= 1
            if holds(np.concatenate([committed, rest[:middle]])):
                low = middle
            else:
                high = middle - 1
        committed = np.concatenate([committed, rest[:low]])
        rest = rest[low + 1 :]
    return np.sort(committed)
