"""What classes of an earlier release publish, in the values of a new batch.

Newcomers who join a class are published under its cells, which cover more than the newcomers themselves. What is lost
is measured by the values of the batch that the cells cover; a node keeps its height, and a midpoint counts as the range
that it is the middle of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.attacks.matching import match_chunks
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.kernels.grouping import number_rows
from hushtable.release.forms.base import Cells
from hushtable.release.forms.listed import ListedCells
from hushtable.table.encoded import QuasiColumn

__all__ = ["Covered", "bounded", "covered_values", "values_of"]


@dataclass(frozen=True)
class Covered:
    """What some classes publish in one column.

    Attributes
    ----------
    groups, codes : int64 arrays
        Which of the classes covers which value of the batch.
    heights : int64 array
        The height of the node that each class publishes, for ranges 0 or the root's.
    middles : float array
        The midpoint that each publishes; NaN for none.
    """

    groups: IntArray
    codes: IntArray
    heights: IntArray
    middles: FloatArray

    def __add__(self, other: Covered) -> Covered:
        """Put the other's classes behind these."""
        return Covered(
            np.append(self.groups, other.groups + len(self.heights)),
            np.append(self.codes, other.codes),
            np.append(self.heights, other.heights),
            np.append(self.middles, other.middles),
        )

    def cells(self, column: QuasiColumn, labels: IntArray, of_group: IntArray, n: int) -> ListedCells:
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
        heights = np.zeros(n, dtype=np.int64)
        used = of_group >= 0
        np.maximum.at(heights, of_group[used], self.heights[used])
        middles = np.full(n, np.nan)
        middles[of_group[used]] = self.middles[used]
        return ListedCells(column, offsets, code[first], heights, middles)


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
    view = bounded(view)
    found = []
    for j, (column, cells) in enumerate(zip(quasi, view.cells, strict=True)):
        pairs = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        for part, inside in match_chunks(view, people.take(np.arange(column.coded.size)), [j]):
            code, place = np.nonzero(inside[:, groups])
            pairs.append((place, code + part.start))
        own = np.concatenate([p for p, _ in pairs]), np.concatenate([c for _, c in pairs])
        found.append(Covered(*own, _heights(cells, column)[groups], middles[j]))
    return found


def _middles(cells: Cells) -> FloatArray:
    points = cells.points
    if points is None or points.numbers is None:
        return np.full(len(cells), np.nan)
    return np.where(points.hidden, np.nan, points.numbers)


def bounded(view: View) -> View:
    """Look at a release as at one that publishes the bounds which representatives stand for."""
    return replace(view, cells=tuple(_bounded(cells) for cells in view.cells))


def _bounded(cells: Cells) -> Cells:
    found = cells.bounded
    return cells if found is None else found


def _heights(cells: Cells, column: QuasiColumn) -> IntArray:
    """The heights of published nodes in the batch's hierarchy, which may have fewer levels; a root is its root."""
    top = column.coded.height
    if cells.at_nodes:
        return np.where(cells.height == cells.column.coded.height, top, np.minimum(cells.height, top))
    # a range that would have to hold the missing value is published as the root; a set names it
    return np.where(cells.mixed & ~np.asarray(cells.has_holes), top, 0)
