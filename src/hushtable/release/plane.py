"""Two quasi-identifiers of a release as a plane: a point for each original record, a box for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import UsageError, did_you_mean
from hushtable.hierarchy.base import Coded
from hushtable.release.comparison import RowComparison
from hushtable.schema.columns import Kind


@dataclass(frozen=True)
class Plane:
    """The positions of records and classes.

    Attributes
    ----------
    points : (records, 2) float array
        The original records that are published.
    boxes : (classes, 4) float array
        The area that the published cells of each class cover: left, bottom, right, top.
    labels : pair of tuples of str
        The names of the leaves 0, 1, 2, ... along each axis; none for numbers.
    """

    points: FloatArray
    boxes: FloatArray
    labels: tuple[tuple[str, ...], tuple[str, ...]]


def plane_of(comparison: RowComparison, columns: Sequence[str] | None = None) -> Plane:
    """Return the plane of two quasi-identifiers. Defaults to the first two.

    Numbers are at their values, other values at the positions of their leaves in the hierarchy, with half a step
    around.

    Raises
    ------
    UsageError
        If there are not two columns, or one of them is not a quasi-identifier.
    """
    names = [cells.column.name for cells in comparison.cells]
    chosen = list(names[:2] if columns is None else columns)
    for name in chosen:
        if name not in names:
            raise UsageError(
                f"{name!r} is not a quasi-identifier of this release.",
                code="unknown-column",
                hint=did_you_mean(name, names) or f"Choose two of {', '.join(names)}.",
            )
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise UsageError(
            "Drawing a partition needs two different quasi-identifiers.", code="two-columns", hint="Name two columns."
        )
    kept = comparison.labels >= 0
    used = np.unique(comparison.labels[kept])
    points, lows, highs, labels = [], [], [], []
    for name in chosen:
        j = names.index(name)
        cells = comparison.cells[j]
        coded = cells.column.coded
        where = _leaf_positions(coded)
        half = 0.0 if coded.kind is Kind.NUMERIC else 0.4
        points.append(where[comparison.table.quasi[j].codes[: comparison.n][kept]])
        low, high = (where[_inside(end[used], coded)] for end in cells.extent)
        lows.append(low - half)
        highs.append(high + half)
        labels.append(() if coded.kind is Kind.NUMERIC else tuple(str(label) for label in coded.labels[0]))
    boxes = np.column_stack([*lows, *highs])
    return Plane(np.column_stack(points), boxes, (labels[0], labels[1]))


def _inside(codes: IntArray, coded: Coded) -> IntArray:
    return np.clip(codes, 0, coded.size - 1)


def _leaf_positions(coded: Coded) -> FloatArray:
    """The position of each leaf: its number, or its place in the hierarchy. A missing number is left of all others."""
    if coded.kind is not Kind.NUMERIC:
        return np.arange(coded.size, dtype=np.float64)
    values: FloatArray = coded.values.to_numpy(zero_copy_only=False).astype(np.float64)
    if not coded.missing:
        return values
    step = (values[-1] - values[0]) / 20 if len(values) > 1 else 1.0
    return np.concatenate([[values[0] - step if len(values) else 0.0], values])
