"""The results of specializing groups, wherever their records are: children, and queries about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.unspecialise import Moved
from hushtable.arrays import BoolArray, IntArray
from hushtable.models.compose import AllOf
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

_STEP = 1 << 10
"""Resolution of column weights; savings are compared as integers."""


@dataclass(frozen=True)
class Children:
    """The result of specializing one column in all groups where that is possible.

    Attributes
    ----------
    column : int
    group : int64 array
        The group that each child comes from, ascending.
    stats : GroupStats
        Of the children.
    good : bool array
        Which children satisfy the model.
    saves : int64 array
        Number of levels that each child's records descend in the hierarchies, over all columns.
    """

    column: int
    group: IntArray
    stats: GroupStats
    good: BoolArray
    saves: IntArray


class Trees:
    """The hierarchies, with leaves in depth-first order: a node is a range of ranks.

    Parameters
    ----------
    quasi : sequence of QuasiColumn

    Attributes
    ----------
    ranks : list of int64 arrays
        The rank of each leaf code.
    nodes : list of (height + 1, leaves) integer arrays
        ``nodes[j][height][rank]`` is a node of column j.
    weights : int64 array
        The value of a level of each column.
    """

    def __init__(self, quasi: Sequence[QuasiColumn]) -> None:
        self.ranks = [c.coded.depth_first for c in quasi]
        self.nodes = [
            np.stack([level[np.argsort(rank)] for level in c.coded.levels])
            for c, rank in zip(quasi, self.ranks, strict=True)
        ]
        self.weights = np.array([round(_STEP * c.weight) for c in quasi], dtype=np.int64)

    def heights(self, low: IntArray, high: IntArray) -> IntArray:
        """Return the height of the lowest node between two ranks, group by column."""
        heights = np.zeros_like(low)
        for j, nodes in enumerate(self.nodes):
            for h in range(len(nodes) - 1):
                heights[:, j] += nodes[h][low[:, j]] != nodes[h][high[:, j]]
        return heights

    def loss(self, heights: IntArray) -> IntArray:
        """Return the weighted number of levels between nodes of these heights and the roots."""
        full = np.array([len(nodes) - 1 for nodes in self.nodes], dtype=np.int64)
        lost: IntArray = (full - heights) @ self.weights
        return lost


class Branching(ABC):
    """The groups of a level that may still be specialized; their records are here or elsewhere.

    Attributes
    ----------
    trees : Trees
    heights : (groups, d) int64 array
        The height of the lowest node that covers a group in each column.
    closed : (groups, d) bool array
        Columns in which a group is not specialized.
    minimum : int
        Minimum units of a satisfied group.
    """

    trees: Trees
    heights: IntArray
    closed: BoolArray
    minimum: int

    @property
    def open(self) -> int:
        """Number of groups."""
        return len(self.heights)

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.heights.shape[1])

    def loss(self, groups: IntArray) -> IntArray:
        """Return the loss of suppressing one unit of each group: the levels between its nodes and the roots."""
        return self.trees.loss(self.heights[groups])

    @abstractmethod
    def children(self, column: int, model: AllOf) -> Children | None:
        """Return the children along one column of all groups that can be specialized there."""

    @abstractmethod
    def kind_counts(self, family: Any, child: IntArray, kinds: Kinds) -> tuple[IntArray, IntArray, IntArray]:
        """Return record counts by kind for some children: child (index in ``child``), kind, count."""

    @abstractmethod
    def going_back(self, family: Any, child: IntArray, moved: Moved, possible: BoolArray, kinds: Kinds) -> Any:
        """Return the records with the lowest lots, which move back to parents for which it is ``possible``."""

    @abstractmethod
    def leave_out(self, family: Any, children: BoolArray) -> None:
        """Suppress the records of some children."""

    @abstractmethod
    def advance(self, chosen: IntArray, families: Sequence[Any], back: Sequence[Any], unfit: BoolArray) -> None:
        """Divide groups and continue with their parts."""


def satisfied_children(stats: GroupStats, minimum: int, model: AllOf, reference: Reference) -> BoolArray:
    """Return which children satisfy the model; those that are too small are not evaluated."""
    good = stats.units >= minimum
    large = np.flatnonzero(good)
    good[large] = model.satisfied(stats.take(large), reference)
    return good
