"""What classes of an earlier release publish, in the values of a new batch.

Newcomers who join a class are published under its cells, which cover more than the newcomers themselves. What is lost
is measured by the values of the batch that the cells cover; a node keeps its height, and a midpoint counts as the range
that it is the middle of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.attacks.matching import match_chunks, tells_no_bounds
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.kernels.grouping import number_rows
from hushtable.release.cells import Cells
from hushtable.release.centroid import CentroidCells
from hushtable.schema.columns import CellStyle
from hushtable.table.encoded import QuasiColumn

__all__ = ["Covered", "JoinedCells", "covered_values", "values_of"]


@dataclass(frozen=True)
class JoinedCells(Cells):
    """The cells of one column, one per class: nodes where every class publishes one.

    Attributes
    ----------
    heights : int64 array
        The height of the node that each class publishes, for ranges 0 or the root's.
    nodes : bool array
        Which classes publish a node of the hierarchy.
    """

    heights: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    nodes: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))

    @property
    def style(self) -> CellStyle:
        """Return how the cells are written; nodes beside other cells count as sets of what they cover."""
        if not self.nodes.any():
            return super().style
        return CellStyle.NODES if self.nodes.all() else CellStyle.SETS

    @cached_property
    def height(self) -> IntArray:
        """Height of the published node, or of the lowest that covers what is published."""
        return np.maximum(self._covering_height(), self.heights)


@dataclass(frozen=True)
class Covered:
    """What some classes publish in one column.

    Attributes
    ----------
    groups, codes : int64 arrays
        Which of the classes covers which value of the batch.
    heights : int64 array
        The height of the node that each class publishes, for ranges 0 or the root's.
    nodes : bool array
        Whether each publishes a node of the hierarchy.
    """

    groups: IntArray
    codes: IntArray
    heights: IntArray
    nodes: BoolArray

    def __add__(self, other: Covered) -> Covered:
        """Put the other's classes behind these."""
        return Covered(
            np.append(self.groups, other.groups + len(self.heights)),
            np.append(self.codes, other.codes),
            np.append(self.heights, other.heights),
            np.append(self.nodes, other.nodes),
        )

    def cells(self, column: QuasiColumn, labels: IntArray, of_group: IntArray, n: int) -> JoinedCells:
        """What n classes publish: the values of the batch that are covered, not those alone that are there.

        Parameters
        ----------
        column : QuasiColumn
        labels : int64 array
            The class of every row of the batch.
        of_group : int64 array
            The class that each of these became; -1 for none.
        n : int
        """
        owner = np.concatenate([labels, of_group[self.groups]])
        code = np.concatenate([column.codes.astype(np.int64), self.codes])
        real = owner >= 0
        owner, code = owner[real], code[real]
        _, first = number_rows([owner, code], [n, column.coded.size])
        offsets = np.searchsorted(owner[first], np.arange(n + 1)).astype(np.int64)
        heights, nodes = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
        used = of_group >= 0
        np.maximum.at(heights, of_group[used], self.heights[used])
        np.logical_or.at(nodes, of_group[used], self.nodes[used])
        return JoinedCells(column, offsets, code[first], None, heights, nodes)


def values_of(column: QuasiColumn, codes: AnyArray) -> pa.Array:
    """The batch's values as they were understood, whatever stands for a missing one."""
    place = codes.astype(np.int64) - int(column.coded.missing)
    return column.coded.values.take(pa.array(place, mask=place < 0))


def covered_values(view: View, quasi: Sequence[QuasiColumn], groups: IntArray) -> list[Covered]:
    """Return for each column what these classes publish, in the values of the batch.

    None are covered by representatives, which tell no bounds.
    """
    spans = [column.coded.size for column in quasi]
    every = {c.name: values_of(c, np.minimum(np.arange(max(spans)), c.coded.size - 1)) for c in quasi}
    people = People.of_table(view, pa.table(every), "The batch")
    ranged = replace(view, cells=tuple(_ranged(cells) for cells in view.cells))
    found = []
    for j, (column, cells) in enumerate(zip(quasi, ranged.cells, strict=True)):
        pairs = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        if not tells_no_bounds(cells):
            for part, inside in match_chunks(ranged, people.take(np.arange(column.coded.size)), [j]):
                code, place = np.nonzero(inside[:, groups])
                pairs.append((place, code + part.start))
        own = np.concatenate([p for p, _ in pairs]), np.concatenate([c for _, c in pairs])
        nodes = np.full(len(groups), cells.style is CellStyle.NODES)
        found.append(Covered(*own, _heights(cells, column)[groups], nodes))
    return found


def _ranged(cells: Cells) -> Cells:
    if isinstance(cells, CentroidCells) or cells.style is not CellStyle.MIDPOINT:
        return cells
    return replace(cells, column=replace(cells.column, style=CellStyle.INTERVALS))


def _heights(cells: Cells, column: QuasiColumn) -> IntArray:
    """The heights of published nodes in the batch's hierarchy, which may have fewer levels; a root is its root."""
    top = column.coded.height
    if cells.style is CellStyle.NODES:
        return np.where(cells.height == cells.column.coded.height, top, np.minimum(cells.height, top))
    # a range that would have to hold the missing value is published as the root; a set names it
    return np.where(cells.mixed & (cells.style is not CellStyle.SETS), top, 0)
