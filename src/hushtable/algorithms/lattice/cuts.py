"""Cuts through the hierarchies: each column has a set of nodes, and each leaf lies under exactly one of them.

A cut has one node per leaf. All steps of a column, up or down, are tried at once: they concern different leaves, so
the table with all steps applied shows the groups of each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Reads, Recoding
from hushtable.algorithms.lattice.space import SearchSpace
from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import ParameterError, did_you_mean
from hushtable.hierarchy.base import Coded
from hushtable.kernels.grouping import number_rows
from hushtable.kernels.tuples import group_tuples
from hushtable.table.losses import ncp
from hushtable.table.stats import Histogram


@dataclass(frozen=True)
class CutAlgorithm(Algorithm):
    """Base of the algorithms that move a cut node by node, guided by information about a target column.

    Parameters
    ----------
    target : str, optional
        The sensitive column whose values are the classes. Defaults to the first.
    """

    target: Annotated[str | None, "sensitive column for measuring information. Defaults to the first"] = None

    recoding: ClassVar[Recoding] = Recoding.GLOBAL
    reads_sensitive: ClassVar[Reads] = Reads.CHOOSES
    disclosure: ClassVar[str] = (
        "The values of the target decide which step comes next, by their entropy over many records at a time."
    )


@dataclass(frozen=True)
class CutGroups:
    """The groups of a cut.

    Attributes
    ----------
    of_tuple : int64 array
        The group of each distinct tuple.
    first : int64 array
        One tuple of each group.
    sizes : int64 array
        Units per group.
    lost : bool array
        Which groups violate a groupwise model.
    """

    of_tuple: IntArray
    first: IntArray
    sizes: IntArray
    lost: BoolArray


class CutTable:
    """A table for algorithms on cuts.

    Parameters
    ----------
    problem : Problem
    target : str, optional
        The sensitive column for measuring information. Defaults to the first.
    """

    def __init__(self, problem: Problem, target: str | None = None) -> None:
        problem = problem.collapsed("a cut through the hierarchies is moved node by node")
        self.problem = problem
        self.space = SearchSpace(problem.table, problem.model.histogram_keys())
        self.trees = [NodeTree.of(c.coded) for c in problem.table.quasi]
        self._groupwise = problem.model.part(table_level=False)
        self._tablewise = problem.model.part(table_level=True)
        self._everything = np.ones(len(self.space.base), dtype=np.bool_)
        self.target = self._target(target)
        measured = [self._information(j) for j in range(self.space.d)]
        self.gain: list[FloatArray] = [m[0] for m in measured]
        self.mixed: list[BoolArray] = [m[1] for m in measured]

    def _target(self, name: str | None) -> str | None:
        names = [c.name for c in self.problem.table.sensitive]
        if name is not None and name not in names:
            hint = did_you_mean(name, names) or "Give a column the role 'sensitive'."
            raise ParameterError(f"The target {name!r} is not a sensitive column.", hint=hint)
        return name or next(iter(names), None)

    def _information(self, j: int) -> tuple[FloatArray, BoolArray]:
        """The value of separating the children of each node of column j, and whether it concerns several classes.

        With a target: the entropy of its values among the records under the node, minus the mean of the children's.
        Without: the decrease of the column's loss, times the column's weight.
        """
        table, tree = self.problem.table, self.trees[j]
        column = table.quasi[j]
        n = table.n_sample
        leaves = column.codes[:n].astype(np.int64)
        weights = table.row_units[:n] if len(table.row_units) else np.ones(n, dtype=np.int64)
        classes = np.zeros(n, dtype=np.int64)
        if self.target is not None:
            classes = table.code_column((self.target,))[0][:n].astype(np.int64)
        by_leaf = Histogram.from_pairs(leaves, classes, weights, column.coded.size)
        units, spread, several = np.zeros(tree.size), np.zeros(tree.size), np.zeros(tree.size, dtype=np.bool_)
        below = np.zeros(tree.size)
        for nodes in tree.paths[::-1]:
            here, place = np.unique(nodes, return_inverse=True)
            hist = by_leaf.merge(place.reshape(-1).astype(np.int64), len(here))
            units[here] = hist.totals()
            several[here] = hist.distinct() > 1
            if self.target is None:
                spread[here] = ncp(column.coded, np.bincount(place.reshape(-1)), units[here])
                several[here] = True
            else:
                share = hist.shares()
                spread[here] = -hist.sum(share * np.log2(share)) * units[here]
        for upper, lower in zip(tree.paths[:-1], tree.paths[1:], strict=True):
            child, first = np.unique(lower, return_index=True)
            moved = child[upper[first] != child]
            np.add.at(below, upper[first][upper[first] != child], spread[moved])
        whole = float(weights.sum()) / column.weight if self.target is None else units
        return np.maximum(spread - below, 0) / np.maximum(whole, 1), several

    def with_column(self, cut: Sequence[IntArray], j: int, nodes: IntArray) -> list[IntArray]:
        """Return a cut with different nodes in column j."""
        return [nodes if i == j else other for i, other in enumerate(cut)]

    def owners(self, groups: CutGroups, j: int, node_of_leaf: IntArray) -> IntArray:
        """Return which step of column j each group belongs to, given the node of every leaf that takes a step."""
        return np.asarray(node_of_leaf[self.space.base.columns[j, groups.first]])

    def lost_by(self, groups: CutGroups, owner: IntArray, n: int) -> IntArray:
        """Return the units in violating groups of each owner."""
        out = np.zeros(n, dtype=np.int64)
        np.add.at(out, owner[groups.lost], groups.sizes[groups.lost])
        return out

    def group(self, cut: Sequence[IntArray]) -> CutGroups:
        """Group the table at a cut."""
        sizes = np.array([tree.size for tree in self.trees], dtype=np.int64)
        base = self.space.base
        space = math.prod(int(s) for s in sizes)
        if space < 2**62:
            strides = np.concatenate([np.cumprod(sizes[::-1])[::-1][1:], [1]]).astype(np.int64)
            leaves = np.array([len(nodes) for nodes in cut], dtype=np.int64)
            at = np.concatenate([[0], np.cumsum(leaves)[:-1]]).astype(np.int64)
            lut = np.concatenate(list(cut)).astype(np.int32)
            group, units, first = group_tuples(
                base.packed, base.units, self.space.blocks, lut, at, leaves, strides, space
            )
        else:
            looked_up = [nodes[base.columns[j]] for j, nodes in enumerate(cut)]
            group, first = number_rows(looked_up, [int(s) for s in sizes])
            units = np.zeros(len(first), dtype=np.int64)
            np.add.at(units, group, base.units)
        stats = self.space.stats_of(group, len(first), self._everything)
        lost = ~self._groupwise.satisfied(stats, self.problem.reference) & (units > 0)
        return CutGroups(group, first, units, lost)

    def fits(self, groups: CutGroups) -> bool:
        """Whether the models hold after the violating groups are suppressed, within the budget."""
        gone = int(groups.sizes[groups.lost].sum())
        if gone > self.problem.budget or gone == self.space.units:
            return False
        if not self._tablewise.members:
            return True
        stats = self.space.stats_of(groups.of_tuple, len(groups.first), self._everything)
        kept = np.flatnonzero(~groups.lost & (groups.sizes > 0))
        return bool(self._tablewise.table_satisfied(stats.take(kept), self.problem.reference)[0])

    def partition(self, cut: Sequence[IntArray], **notes: Any) -> Partition:
        """Return the partition of a cut that fits."""
        groups = self.group(cut)
        number = np.where(groups.lost, -1, np.cumsum(~groups.lost) - 1)
        levels = tuple(tree.level[nodes] for tree, nodes in zip(self.trees, cut, strict=True))
        names = [c.name for c in self.problem.table.quasi]
        said = {
            **notes,
            "target": self.target,
            "cut_sizes": {name: len(np.unique(nodes)) for name, nodes in zip(names, cut, strict=True)},
        }
        labels = number[groups.of_tuple][self.space.of_row]
        return Partition(labels, int((~groups.lost).sum()), cuts=levels, notes=said)


# A column's hierarchy as a tree of distinct nodes: a chain of nodes above the same leaves counts as its lowest.
#
# Algorithms that cut through a hierarchy instead of using one level traverse this tree.


@dataclass(frozen=True)
class NodeTree:
    """Nodes ``0 .. size - 1``; the leaves are the column's codes.

    Attributes
    ----------
    paths : (depth + 1, leaves) int64 array
        ``paths[k, leaf]`` is the node above a leaf k steps below the root; the leaf itself if its path is shorter.
    level : int64 array
        The lowest level of the hierarchy that has each node.
    depth : int64 array
        Number of steps from each node to the root.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hushtable.schema.columns import Kind
    >>> coded = Coded(Kind.NOMINAL, pa.array(["a", "b", "c"]), False,
    ...               (np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 0, 0])),
    ...               (("a", "b", "c"), ("ab", "c"), ("*",)))
    >>> tree = NodeTree.of(coded)
    >>> tree.paths.tolist()
    [[4, 4, 4], [3, 3, 2], [0, 1, 2]]
    >>> tree.level.tolist(), tree.leaves.tolist()
    ([0, 0, 0, 1, 2], [1, 1, 1, 2, 3])
    >>> tree.above(np.array([3, 3, 2])).tolist(), tree.below(np.array([3, 3, 2])).tolist()
    ([4, 4, 4], [0, 1, 2])
    """

    paths: IntArray
    level: IntArray
    depth: IntArray

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.level)

    @cached_property
    def leaves(self) -> IntArray:
        """Number of leaves that each node covers."""
        own = np.zeros(self.size, dtype=np.int64)
        for k, nodes in enumerate(self.paths):
            np.add.at(own, nodes[self.depth[nodes] == k], 1)
        return own

    def above(self, cut: IntArray) -> IntArray:
        """Return the parent of each leaf's node in a cut; the root for the root."""
        return self.paths[np.maximum(self.depth[cut] - 1, 0), np.arange(len(cut))]

    def below(self, cut: IntArray) -> IntArray:
        """Return the child of each leaf's node in a cut that is above the leaf; the leaf for a leaf."""
        return self.paths[np.minimum(self.depth[cut] + 1, len(self.paths) - 1), np.arange(len(cut))]

    @classmethod
    def of(cls, coded: Coded) -> NodeTree:
        """Build the tree of a coded hierarchy, level by level from the leaves."""
        above = np.arange(coded.size, dtype=np.int64)
        level = [0] * coded.size
        rows = [above]
        for h in range(1, coded.height + 1):
            group = coded.levels[h]
            pairs = np.unique(np.column_stack([group, above]), axis=0)
            children = np.bincount(pairs[:, 0], minlength=len(coded.labels[h]))
            number = np.full(len(children), -1, dtype=np.int64)
            single = children[pairs[:, 0]] == 1
            number[pairs[single, 0]] = pairs[single, 1]
            new = np.flatnonzero(children > 1)
            number[new] = len(level) + np.arange(len(new))
            level += [h] * len(new)
            above = number[group]
            rows.append(above)
        paths = [rows[-1]]
        place = np.full(coded.size, len(rows) - 1)
        depth = np.zeros(len(level), dtype=np.int64)
        while (paths[-1] != rows[0]).any():
            place = _next_lower(np.array(rows), place)
            paths.append(np.array(rows)[place, rows[0]])
            depth[paths[-1]] = np.where(paths[-1] == paths[-2], depth[paths[-1]], len(paths) - 1)
        return cls(np.array(paths), np.array(level, dtype=np.int64), depth)


def _next_lower(rows: IntArray, place: IntArray) -> IntArray:
    """Return, for every leaf, the next lower row that names a different node; the lowest row if there is none."""
    leaf = np.arange(rows.shape[1])
    now = rows[place, leaf]
    place = place.copy()
    moving = (place > 0) & (rows[place, leaf] == now)
    while moving.any():
        place[moving] -= 1
        moving = (place > 0) & (rows[place, leaf] == now)
    return place
