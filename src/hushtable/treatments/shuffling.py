"""Shuffling: the column's values are reassigned so that rank correlations with other columns are preserved.

The reading of Muralidhar and Sarathy for one confidential column: all columns are replaced by the normal scores of
their ranks; rank correlations rho become those of a normal distribution, r = 2 sin(pi rho / 6); the treated column's
scores are regressed on those of ``given`` with these; a new score is drawn for every record from the regression (fit
plus normal residual); and the record with the i-th largest new score gets the i-th largest value.
So every value occurs as often as before, rank correlations with ``given`` are preserved in expectation, and given those
columns, a record's published value does not depend on its own. Without ``given``, values are assigned at random.

References
----------
K. Muralidhar, R. Sarathy, "Data shuffling: a new masking approach for numerical data", 2006.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import FloatArray
from hushtable.errors import DataError
from hushtable.rng import normal_quantiles, sin_half_turns
from hushtable.schema.columns import Kind
from hushtable.schema.prepare import Prepared
from hushtable.treatments.base import Given, Treatment, covariance, spread


@dataclass(frozen=True)
class Shuffling(Treatment):
    """Reassigns the column's values so that rank correlations with other columns are preserved.

    Parameters
    ----------
    given : tuple of str

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"age": [30, 30, 60, 60], "pay": [1, 2, 3, 4]})
    >>> policy = ht.Policy(quasi=["age"], insensitive={"pay": {"treatment": ht.Shuffling(given=["age"])}},
    ...                    models=[ht.KAnonymity(k=2)])
    >>> sorted(ht.anonymize(table, policy).frame["pay"].to_pylist())
    [1, 2, 3, 4]
    """

    given: Annotated[tuple[str, ...], "columns whose rank correlations with this one are preserved"] = ()

    name: ClassVar[str] = "shuffling"
    promise: ClassVar[str] = (
        "Guarantees that a published value is drawn independently of the record's own, given the other columns; odds "
        "are not bounded, since those columns may reveal much."
    )
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC, Kind.ORDINAL, Kind.DATE})

    def reads(self, entity: str | None) -> tuple[str, ...]:
        """Return the columns whose rank correlations are preserved."""
        return self.given

    def treat(self, given: Given) -> pa.Array:
        """Draw new scores, and assign the values by their ranks."""
        codes, rows = given.codes, given.valid
        others = [given.others[name] for name in self.given]
        ranks = [_ranks(column)[rows] for column in (*others, given.column)]
        normal = [[_normal_correlation(a, b) for b in ranks] for a in ranks]
        own = normal.pop()[:-1]
        slopes = solved([row[:-1] for row in normal], own)
        fit = np.zeros(len(codes))
        for slope, column in zip(slopes, others, strict=True):
            fit += slope * np.append(normal_quantiles(_middle(column)), 0.0)[column.codes()]
        rest = 1 - math.fsum(slope * r for slope, r in zip(slopes, own, strict=True))
        drawn = (fit + math.sqrt(max(rest, 0.0)) * given.normal("residual"))[rows]
        lots = given.coins.words("ties", len(rows))
        out = codes.copy()
        out[rows[np.lexsort((lots, drawn))]] = np.sort(codes[rows])
        return given.chosen(out)


def _normal_correlation(first: FloatArray, second: FloatArray) -> float:
    """Return the correlation of normal numbers whose ranks have this correlation."""
    if first is second:
        return 1.0
    spreads = spread(first) * spread(second)
    rho = covariance(first, second) / spreads if spreads else 0.0
    return float(2 * sin_half_turns(np.array([min(max(rho, -1.0), 1.0) / 6]))[0])


def _ranks(column: Prepared) -> FloatArray:
    """Return the share of records below, row by row; the middle if missing."""
    return np.append(_middle(column), 0.5)[column.codes()]


def _middle(column: Prepared) -> FloatArray:
    """The mid-rank of each value, as a share of the records."""
    if column.kind is Kind.NOMINAL and len(column.values) > 2:
        raise DataError(
            f"Column {column.name!r} is nominal with more than two values, which have no ranks.",
            code="no-ranks",
            hint="Name an ordered column in 'given', or declare the order.",
        )
    counts = column.counts()
    total = int(counts.sum())
    return np.asarray((np.cumsum(counts) - counts / 2) / max(total, 1))


def solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Solve a symmetric system of equations; linearly dependent columns get 0.

    Examples
    --------
    >>> solved([[2.0, 1.0], [1.0, 3.0]], [3.0, 4.0])
    [1.0, 1.0]
    """
    n = len(right)
    rows = [[*matrix[i], right[i]] for i in range(n)]
    used: list[int] = []
    for i in range(n):
        if abs(rows[i][i]) <= 1e-9 * max(abs(matrix[i][i]), 1e-300):
            continue
        used.append(i)
        for j in range(n):
            if j != i:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [b - factor * a for a, b in zip(rows[i], rows[j], strict=True)]
    return [rows[i][n] / rows[i][i] if i in used else 0.0 for i in range(n)]
