"""Correlated noise: several numeric columns get noise with the covariances of the columns themselves.

The noise of the columns in ``columns`` is drawn from the normal distribution with ``sd`` squared times their covariance
matrix. So correlations are preserved in expectation, while independent noise would weaken them. Each of the columns has
this treatment with the same settings.

References
----------
J. Kim, "A method for limiting disclosure in microdata based on random noise and transformation", 1986.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.errors import IncompatibleError
from hushtable.params import Positive
from hushtable.rng import normal_of
from hushtable.schema.columns import Kind
from hushtable.treatments.base import Given, Treatment, covariance


@dataclass(frozen=True)
class CorrelatedNoise(Treatment):
    """Adds noise to several columns that preserves their correlations.

    Parameters
    ----------
    columns : tuple of str
    sd : float

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"age": [30, 30, 60, 60], "pay": [10, 20, 30, 40], "rent": [1, 2, 3, 4]})
    >>> treatment = ht.CorrelatedNoise(columns=["pay", "rent"])
    >>> policy = ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)],
    ...                    insensitive={"pay": {"treatment": treatment}, "rent": {"treatment": treatment}})
    >>> ht.anonymize(table, policy).frame.num_rows
    4
    """

    columns: Annotated[tuple[str, ...], "the columns that get joint noise, at least two"]
    sd: Annotated[float, Positive(), "standard deviation of the noise, relative to that of the columns"] = 0.1

    name: ClassVar[str] = "correlated-noise"
    promise: ClassVar[str] = "Guarantees nothing: normal noise does not bound odds, and outliers stay outliers."
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC, Kind.DATE})
    joint: ClassVar[bool] = True

    def reads(self, entity: str | None) -> tuple[str, ...]:
        """Return all the columns."""
        return self.columns

    def check(self, name: str, treatments: Mapping[str, Sequence[Treatment]]) -> None:
        """Refuse columns that do not get their part of the noise."""
        if name not in self.columns or len(set(self.columns)) != len(self.columns) or len(self.columns) < 2:
            raise IncompatibleError(
                f"The treatment correlated-noise of column {name!r} needs 'columns' with this column and at least one "
                f"other, without repetition.",
                hint=f"Write, for example, columns: [{name}, another].",
            )
        for other in self.columns:
            if self not in treatments.get(other, ()):
                raise IncompatibleError(
                    f"Columns {name!r} and {other!r} get joint noise, but {other!r} has different settings.",
                    hint=f"Give {other!r} the same treatment.",
                )

    def treat(self, given: Given) -> pa.Array:
        """Add this column's part of the noise."""
        names = sorted(self.columns)
        numbers = [given.numbers(name) for name in names]
        factor = triangular([[covariance(a, b) for b in numbers] for a in numbers])
        own = factor[names.index(given.column.name)]
        draws = _draws(given, len(names))
        return given.changed(given.numbers() + self.sd * sum(f * z for f, z in zip(own, draws, strict=True)))


def _draws(given: Given, columns: int) -> list[np.typing.NDArray[np.float64]]:
    """Return independent normal numbers for every row, the same for all columns, even for rows without a value."""
    n, found = len(given.order), []
    for j in range(columns):
        drawn = np.empty(n)
        drawn[given.order] = normal_of(given.coins.uniform(f"{j}/radius", n), given.coins.uniform(f"{j}/turn", n))
        found.append(drawn)
    return found


def triangular(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the lower triangular factor L of a covariance matrix, L L' = matrix; 0 for linearly dependent columns.

    Examples
    --------
    >>> triangular([[4.0, 2.0], [2.0, 10.0]])
    [[2.0, 0.0], [1.0, 3.0]]
    """
    n = len(matrix)
    factor = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = matrix[i][j] - math.fsum(factor[i][k] * factor[j][k] for k in range(j))
            if i == j:
                factor[i][i] = math.sqrt(rest) if rest > 1e-12 * matrix[i][i] else 0.0
            elif factor[j][j]:
                factor[i][j] = rest / factor[j][j]
    return factor
