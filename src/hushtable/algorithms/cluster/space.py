"""Records as points: quasi-identifiers as coordinates on comparable scales.

Numbers, dates (days) and ordinal labels (ranks) become numbers on the requested scale: in standard deviations, in
shares of the range, or unscaled. The distance between two nominal labels is 1, or the height of the lowest node above
both (1 for the root). A missing value is 1 away from every value and 0 from another missing one. A column's weight
multiplies its distances. All of it is computed from the distinct values and their counts, so that the order of the
records does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import DataError
from hushtable.kernels.metric import Metric
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import QuasiColumn, known_numbers, offsets_of
from hushtable.table.encoded import EncodedTable

Scale: TypeAlias = Literal["standard", "range", "none"]


@dataclass(frozen=True)
class Space:
    """Records as points.

    Attributes
    ----------
    rows : int64 array
        The table's row behind each point, in an order that does not depend on the input's: it breaks ties.
    points : float64 array
        Records x columns: numbers (NaN: missing), or codes of nominal labels.
    metric : Metric
        How they are compared.
    units : int64 array, optional
        Weight of each record in a group's size; None if every record is a person.
    unit : int
        Units per person.
    """

    rows: IntArray
    points: FloatArray
    metric: Metric
    units: IntArray | None = None
    unit: int = 1

    @classmethod
    def of(cls, table: EncodedTable, rows: IntArray, *, scale: Scale = "standard", hierarchical: bool = True) -> Space:
        """Place these rows of a table.

        Raises
        ------
        DataError
            If a column has numbers too far apart to compare unscaled.

        Examples
        --------
        >>> from hushtable.utility.example import example
        >>> space = Space.of(example().table, np.arange(5), scale="range")
        >>> space.points[:, 0].round(2).tolist(), space.points[:, 1].tolist()
        ([0.0, 0.02, 0.37, 0.38, 1.0], [1.0, 0.0, 2.0, 2.0, 2.0])
        >>> space.metric.steps[1].tolist()  # squared: Oslo is as far from Bergen as North is high
        [0.0, 0.25, 1.0, 0.0]
        """
        columns = [_coordinates(c, c.codes[rows], scale) for c in table.quasi]
        points = np.ascontiguousarray(np.column_stack(columns)) if len(rows) else np.zeros((0, len(table.quasi)))
        units = table.row_units[rows] if len(table.row_units) else None
        if units is not None and np.all(units == table.unit):
            return cls(rows, points, _metric(table, points, hierarchical))
        return cls(rows, points, _metric(table, points, hierarchical), units, table.unit if units is not None else 1)

    def only(self, columns: Sequence[int]) -> Space:
        """Return the same records in some of the columns."""
        points, at, m = np.ascontiguousarray(self.points[:, columns]), list(columns), self.metric
        plain = not m.labels[at].any() and not bool(np.isnan(points).any())
        own = (m.labels[at], m.missing[at], m.start[at], m.size[at], m.height[at], m.above, m.steps[at], m.nested[at])
        metric = Metric(plain, *own)
        return replace(self, points=points, metric=metric)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def weights(self) -> IntArray:
        """The units of every point; 1 without an entity column."""
        return np.ones(len(self), dtype=np.int64) if self.units is None else self.units

    @property
    def total(self) -> int:
        """All records' units."""
        return len(self.rows) if self.units is None else int(self.units.sum())


def _coordinates(column: QuasiColumn, codes: IntArray, scale: Scale) -> FloatArray:
    coded = column.coded
    if coded.kind is Kind.NOMINAL:
        return codes.astype(np.float64)
    first = int(coded.missing)
    counts = np.bincount(codes, minlength=coded.size)[first:]
    place = np.full(coded.size, np.nan)
    if coded.size > first:
        place[first:] = _scaled(column, counts, scale) * column.weight
    return place[codes]


def _scaled(column: QuasiColumn, counts: IntArray, scale: Scale) -> FloatArray:
    """The coordinate of each known code."""
    offset, unit = _offsets(column)
    width = float(offset[-1])
    if scale == "none":
        if not width * unit < 1e150:
            raise DataError(
                f"Column {column.name!r} has numbers too far apart to compare unscaled.",
                code="range-too-wide",
                hint="Use 'scale: standard' or 'scale: range'.",
            )
        return offset * unit
    share = offset / width if width > 0 else np.zeros(len(offset))
    if scale == "range":
        return share
    n = max(int(counts.sum()), 1)
    mean = float((counts * share).sum()) / n
    deviation = float(np.sqrt((counts * (share - mean) ** 2).sum() / n))
    # a constant column becomes all zeros
    return (share - mean) / deviation if deviation > 0 else np.zeros(len(share))


def _offsets(column: QuasiColumn) -> tuple[FloatArray, float]:
    """Distance of each known code from the lowest, and its unit."""
    coded = column.coded
    if coded.kind is Kind.ORDINAL:
        return np.arange(len(coded.values), dtype=np.float64), 1.0
    numbers = known_numbers(coded)
    return offsets_of(numbers), 1.0 if numbers.dtype.kind == "i" else 2.0


def _metric(table: EncodedTable, points: FloatArray, hierarchical: bool) -> Metric:
    d = len(table.quasi)
    labels = np.array([c.coded.kind is Kind.NOMINAL for c in table.quasi], dtype=np.bool_)
    start, size, height = (np.zeros(d, dtype=np.int64) for _ in range(3))
    levels: list[IntArray] = [np.zeros(1, dtype=np.int64)]
    nested = np.ones(d, dtype=np.bool_)
    steps = np.zeros((d, max((c.coded.height for c in table.quasi), default=0) + 2))
    at = 1
    for j in np.flatnonzero(labels):
        column = table.quasi[j]
        coded = column.coded
        used = coded.levels[:-1] if hierarchical and coded.height > 0 else coded.levels[:1]
        start[j], size[j], height[j] = at, coded.size, len(used)
        nested[j] = coded.contiguous
        levels += [np.asarray(level, dtype=np.int64) for level in used]
        at += coded.size * len(used)
        steps[j, : len(used) + 1] = (np.arange(len(used) + 1) / len(used) * column.weight) ** 2
    return Metric(
        plain=not labels.any() and not bool(np.isnan(points).any()),
        labels=labels,
        missing=np.array([c.weight**2 for c in table.quasi], dtype=np.float64),
        start=start,
        size=size,
        height=height,
        above=np.concatenate(levels),
        steps=steps,
        nested=nested,
    )
