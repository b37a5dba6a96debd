"""A level of specializations, represented by counts of each kind of record, for records on other machines.

For each group, column and child, there are counts of the kinds of records, and the lowest and highest rank of their
values in every column. These determine the statistics of the children, what they save, and how many records of which
kind move back to a parent. The machine that holds the records takes the first ones in canonical order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.children import Children, Trees, satisfied_children
from hushtable.algorithms.partition.unspecialise import Moved
from hushtable.algorithms.store import BranchCounts, Division
from hushtable.arrays import BoolArray, IntArray
from hushtable.errors import IncompatibleError
from hushtable.kernels.grouping import number_rows
from hushtable.models.compose import AllOf
from hushtable.table.stats import GroupStats, Histogram

__all__ = ["CountedBranches"]


@dataclass(frozen=True)
class CountedChildren(Children):
    """Children whose records are elsewhere: their nodes, and their records by kind."""

    node: IntArray
    owner: IntArray
    kind: IntArray
    count: IntArray


@dataclass(frozen=True)
class _Back:
    """What moves back to parents: whole children, and numbers of records by kind."""

    column: int
    whole: IntArray
    child: IntArray
    kind: IntArray
    count: IntArray


class CountedBranches:
    """The open groups of one level; see ``Branching``.

    Parameters
    ----------
    problem : Problem
    trees : Trees
    kinds : Kinds
    counts : BranchCounts
    heights, closed : (groups, d) arrays

    Attributes
    ----------
    division : Division
        The decisions.
    """

    division: Division

    def __init__(
        self, problem: Problem, trees: Trees, kinds: Kinds, counts: BranchCounts, heights: IntArray, closed: BoolArray
    ) -> None:
        self._problem, self._trees, self._kinds, self._counts = problem, trees, kinds, counts
        self.heights, self.closed = heights, closed
        self.minimum = max(problem.model.min_group_size(), 1) * problem.store.outline.unit

    @property
    def open(self) -> int:
        """Number of groups."""
        return len(self.heights)

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.heights.shape[1])

    def children(self, column: int, model: AllOf) -> CountedChildren | None:
        """Return the children along one column of all groups that can be specialized there."""
        counts, kinds, unit = self._counts, self._kinds, self._problem.store.outline.unit
        mine = np.flatnonzero(counts.column == column)
        if not len(mine):
            return None
        nodes = int(self._trees.nodes[column].max()) + 1
        owner, first = number_rows([counts.group[mine], counts.node[mine]], [self.open, nodes])
        n, kind, count = len(first), counts.kind[mine], counts.count[mine]
        weight = count * kinds.stats.units[kind]
        units = np.zeros(n, dtype=np.int64)
        np.add.at(units, owner, weight)
        histograms = {
            key: Histogram.from_pairs(owner, kinds.values[key][kind], weight, n, unit) for key in model.histogram_keys()
        }
        stats = GroupStats(units, unit, histograms)
        group = counts.group[mine][first]
        low = np.full((n, self.width), np.iinfo(np.int64).max)
        high = np.full((n, self.width), -1)
        np.minimum.at(low, owner, counts.low[mine])
        np.maximum.at(high, owner, counts.high[mine])
        good = satisfied_children(stats, self.minimum, model, self._problem.reference)
        lower = self.heights[group] - self._trees.heights(low, high)
        saves = units * (lower @ self._trees.weights)
        return CountedChildren(column, group, stats, good, saves, counts.node[mine][first], owner, kind, count)

    def kind_counts(
        self, family: CountedChildren, child: IntArray, kinds: Kinds
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return record counts by kind for some children: child (index in ``child``), kind, count."""
        place = np.full(len(family.group), -1, dtype=np.int64)
        place[child] = np.arange(len(child))
        here = np.flatnonzero(place[family.owner] >= 0)
        here = here[np.lexsort((family.kind[here], place[family.owner[here]]))]
        return place[family.owner[here]], family.kind[here], family.count[here]

    def going_back(
        self, family: CountedChildren, child: IntArray, moved: Moved, possible: BoolArray, kinds: Kinds
    ) -> _Back:
        """Return what moves back to the parents for which it is possible."""
        whole = child[moved.dissolved]
        some = child[moved.child]
        goes = possible[family.group[some]]
        return _Back(
            family.column,
            whole[possible[family.group[whole]]],
            some[goes],
            moved.kind[goes],
            moved.count[goes],
        )

    def loss(self, groups: IntArray) -> IntArray:
        """Return the loss of suppressing one unit of each group."""
        return self._trees.loss(self.heights[groups])

    def leave_out(self, family: CountedChildren, children: BoolArray) -> None:
        """Refuse: suppression compares all groups, and only some are here."""
        raise IncompatibleError(
            "Records on other machines cannot be suppressed group by group.",
            hint="Set 'suppression: 0', or let the driver hold the table.",
        )

    def advance(
        self, chosen: IntArray, families: Sequence[CountedChildren | None], back: Sequence[_Back], unfit: BoolArray
    ) -> None:
        """Number the parts of the divided groups: satisfied children, and the records that stay at each parent."""
        groups: list[IntArray] = []
        nodes: list[IntArray] = []
        parts: list[IntArray] = []
        taken: list[tuple[IntArray, ...]] = []
        closed = [np.zeros((0, self.width), dtype=np.bool_)]
        n = 0
        for family in families:
            if family is None:
                continue
            mine = chosen[family.group] == family.column
            stays = ~family.good
            own = [b for b in back if b.column == family.column]
            for b in own:
                stays[b.whole] = True
            some = np.concatenate([b.child for b in own]) if own else np.empty(0, dtype=np.int64)
            kept = mine[some] & ~stays[some]
            parent = np.zeros(self.open, dtype=np.bool_)
            parent[family.group[mine & stays]] = True
            parent[family.group[some[kept]]] = True
            children = np.flatnonzero(mine & ~stays)
            part = np.full(len(family.group), -1, dtype=np.int64)
            part[children] = n + np.arange(len(children))
            of_parent = n + len(children) + np.cumsum(parent) - 1
            part[mine & stays] = of_parent[family.group[mine & stays]]
            groups.append(family.group[mine])
            nodes.append(family.node[mine])
            parts.append(part[mine])
            if len(some):
                kind, count = (np.concatenate([getattr(b, name) for b in own])[kept] for name in ("kind", "count"))
                at = some[kept]
                taken.append((family.group[at], family.node[at], kind, count, of_parent[family.group[at]]))
            below = self.closed | unfit
            closed.append(below[family.group[children]])
            rest = below[np.flatnonzero(parent)]
            rest[:, family.column] = True
            closed.append(rest)
            n += len(children) + int(parent.sum())
        group, node, kind, count, part_of = (_joined([t[i] for t in taken]) for i in range(5))
        self.division = Division(
            chosen,
            _joined(groups),
            _joined(nodes),
            _joined(parts),
            (group, node, kind, count, part_of),
            np.concatenate(closed),
        )


def _joined(parts: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
