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

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.attacks.matching import match_chunks
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.kernels.grouping import number_rows
from hushtable.release.cells import Cells
from hushtable.schema.columns import CellStyle
from hushtable.table.encoded import QuasiColumn, numbers_of

__all__ = ["Covered", "JoinedCells", "covered_values", "ranged", "values_of"]


@dataclass(frozen=True)
class JoinedCells(Cells):
    """The cells of one column, one per class: nodes where every class publishes one.

    Attributes
    ----------
    heights : int64 array
        The height of the node that each class publishes, for ranges 0 or the root's.
    nodes : bool array
        Which classes publish a node of the hierarchy.
    middles : float array
        The midpoint that each class publishes, which need not be that of the batch's values; NaN for none.
    """

    heights: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    nodes: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    middles: FloatArray = field(default_factory=lambda: np.empty(0))

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

    def representatives(self, numbers: FloatArray) -> FloatArray:
        """Return the published midpoints on another scale, which is linear and goes on beyond the batch's values."""
        known, first = numbers_of(self.column.coded), int(self.column.coded.missing)
        # halves do not overflow
        width = 0.0 if known is None or len(known) == first else known[-1] / 2 - known[first] / 2
        if known is None or not width > 0:
            return super().representatives(numbers)
        share = (self.middles / 2 - known[first] / 2) / width
        return np.asarray(numbers[first] + share * (numbers[-1] - numbers[first]))


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
    middles : float array
        The midpoint that each publishes; NaN for none.
    """

    groups: IntArray
    codes: IntArray
    heights: IntArray
    nodes: BoolArray
    middles: FloatArray

    def __add__(self, other: Covered) -> Covered:
        """Put the other's classes behind these."""
        return Covered(
            np.append(self.groups, other.groups + len(self.heights)),
            np.append(self.codes, other.codes),
            np.append(self.heights, other.heights),
            np.append(self.nodes, other.nodes),
            np.append(self.middles, other.middles),
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
        middles = np.full(n, np.nan)
        middles[of_group[used]] = self.middles[used]
        return JoinedCells(column, offsets, code[first], None, heights, nodes, middles)


def values_of(column: QuasiColumn, codes: AnyArray) -> pa.Array:
    """The batch's values as they were understood, whatever stands for a missing one."""
    place = codes.astype(np.int64) - int(column.coded.missing)
    return column.coded.values.take(pa.array(place, mask=place < 0))


def covered_values(view: View, quasi: Sequence[QuasiColumn], groups: IntArray) -> list[Covered]:
    """Return for each column what these classes publish, in the values of the batch."""
    spans = [column.coded.size for column in quasi]
    every = {c.name: values_of(c, np.minimum(np.arange(max(spans)), c.coded.size - 1)) for c in quasi}
    people = People.of_table(view, pa.table(every), "The batch")
    middles = [_middles(cells)[groups] for cells in view.cells]
    view = ranged(view)
    found = []
    for j, (column, cells) in enumerate(zip(quasi, view.cells, strict=True)):
        pairs = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        for part, inside in match_chunks(view, people.take(np.arange(column.coded.size)), [j]):
            code, place = np.nonzero(inside[:, groups])
            pairs.append((place, code + part.start))
        own = np.concatenate([p for p, _ in pairs]), np.concatenate([c for _, c in pairs])
        nodes = np.full(len(groups), cells.style is CellStyle.NODES)
        found.append(Covered(*own, _heights(cells, column)[groups], nodes, middles[j]))
    return found


def _middles(cells: Cells) -> FloatArray:
    if cells.style is not CellStyle.MIDPOINT:
        return np.full(len(cells), np.nan)
    return np.asarray(cells.labels().to_numpy(zero_copy_only=False), dtype=np.float64)


def ranged(view: View) -> View:
    """Look at a release as at one that publishes the ranges which midpoints are the middle of."""
    return replace(view, cells=tuple(_ranged(cells) for cells in view.cells))


def _ranged(cells: Cells) -> Cells:
    if cells.style is not CellStyle.MIDPOINT:
        return cells
    return replace(cells, column=replace(cells.column, style=CellStyle.INTERVALS))


def _heights(cells: Cells, column: QuasiColumn) -> IntArray:
    """The heights of published nodes in the batch's hierarchy, which may have fewer levels; a root is its root."""
    top = column.coded.height
    if cells.style is CellStyle.NODES:
        return np.where(cells.height == cells.column.coded.height, top, np.minimum(cells.height, top))
    # a range that would have to hold the missing value is published as the root; a set names it
    return np.where(cells.mixed & (cells.style is not CellStyle.SETS), top, 0)
