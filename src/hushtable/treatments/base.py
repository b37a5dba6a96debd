"""The base of treatments, which change the values of one column before records are grouped.

A treated table replaces the original: algorithms group it, cells are made from it, models are verified on it,
and sensitive and other columns publish its values. So a release never claims more than holds for the values that it
shows. Each treatment states its own promise in ``promise``; most promise nothing.

Draws come from coins of the local secret, never from the policy's seed, which is public: anyone who knows the noise
can remove it. They are assigned to records in an order that depends only on their values, so rows may come in any
order.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import DataError, IncompatibleError
from hushtable.kernels.grouping import number_rows
from hushtable.params import Parametrised
from hushtable.rng import normal_of
from hushtable.schema.columns import Kind, Role
from hushtable.schema.prepare import Prepared
from hushtable.table.coins import Coins

__all__ = ["Given", "Treatment", "covariance", "spread"]

_PUBLISHED = frozenset({Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE})


@dataclass(frozen=True)
class Given:
    """The input of a treatment.

    Attributes
    ----------
    column : Prepared
        The column's values and the code of each row.
    others : mapping of str to Prepared
        The other columns that the treatment reads, untreated.
    order : int64 array
        The rows in an order that depends only on their values.
    coins : Coins
    entity : str, optional
        The policy's column that identifies each row's person.
    """

    column: Prepared
    others: Mapping[str, Prepared]
    order: IntArray
    coins: Coins
    entity: str | None = None

    @property
    def codes(self) -> IntArray:
        """Each row's position among the column's values, -1 if missing."""
        return self.column.codes()

    @property
    def valid(self) -> IntArray:
        """The rows with a value, in canonical order."""
        return self.order[self.codes[self.order] >= 0]

    def dealt(self, drawn: Any) -> Any:
        """Return the draws of the rows with a value, row by row; 0 for the others."""
        out = np.zeros(len(self.column), dtype=np.asarray(drawn).dtype)
        out[self.valid] = drawn
        return out

    def uniform(self, stream: str) -> FloatArray:
        """Return a number from [0, 1) for each row."""
        found: FloatArray = self.dealt(self.coins.uniform(stream, len(self.valid)))
        return found

    def below(self, stream: str, limits: IntArray) -> IntArray:
        """Return a number from 0 to limit - 1 for each row."""
        found: IntArray = self.dealt(self.coins.below(stream, limits[self.valid]))
        return found

    def normal(self, stream: str) -> FloatArray:
        """Return a standard normal number for each row."""
        n = len(self.valid)
        return np.asarray(
            self.dealt(normal_of(self.coins.uniform(f"{stream}/radius", n), self.coins.uniform(f"{stream}/turn", n)))
        )

    def strata(self, names: Sequence[str]) -> IntArray:
        """Return the stratum of each row: its combination of values in these columns."""
        if not names:
            return np.zeros(len(self.column), dtype=np.int64)
        found = [self.others[name] for name in names]
        return number_rows([one.codes() + 1 for one in found], [len(one.values) + 1 for one in found])[0]

    def numbers(self, name: str | None = None) -> FloatArray:
        """Return a column's values row by row as numbers, dates as days; NaN if missing."""
        column = self.column if name is None else self.others[name]
        if column.kind not in (Kind.NUMERIC, Kind.DATE):
            raise DataError(
                f"Column {column.name!r} is {column.kind}, but the treatment needs numbers.",
                code="not-numeric",
                hint="Name another column, or choose another treatment.",
            )
        return np.append(_as_numbers(column), np.nan)[column.codes()]

    def chosen(self, codes: IntArray) -> pa.Array:
        """Return the values of these codes, row by row; -1 is missing."""
        return self.column.values.take(pa.array(codes, mask=codes < 0))

    def changed(self, numbers: FloatArray, *, whole: bool = True) -> pa.Array:
        """Return numbers as values of the column's type; NaN is missing.

        Parameters
        ----------
        numbers : float64 array
        whole : bool
            Whether whole numbers stay whole.
        """
        gone = np.isnan(numbers)
        if whole and not pa.types.is_floating(self.column.values.type):
            limit = 2.0**31 - 1 if self.column.kind is Kind.DATE else np.nextafter(2.0**63, 0)
            rounded = np.clip(np.rint(np.where(gone, 0.0, numbers)), -limit, limit).astype(np.int64)
            found = pa.array(rounded, mask=gone)
            return found.cast(pa.int32()).cast(pa.date32()) if self.column.kind is Kind.DATE else found
        return pa.array(numbers, mask=gone)


def _as_numbers(column: Prepared) -> FloatArray:
    values = column.values
    values = values.cast(pa.int32()) if column.kind is Kind.DATE else values
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def covariance(first: FloatArray, second: FloatArray) -> float:
    """Return the covariance of numbers, exact to the last bit in any order of the rows; missing ones are skipped.

    Examples
    --------
    >>> covariance(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.3333333333333333
    """
    both = ~(np.isnan(first) | np.isnan(second))
    n = int(np.count_nonzero(both))
    if not n:
        return 0.0
    a, b = first[both], second[both]
    a, b = a - math.fsum(a.tolist()) / n, b - math.fsum(b.tolist()) / n
    return math.fsum((a * b).tolist()) / n


def spread(numbers: FloatArray) -> float:
    """Return the standard deviation of numbers without those that are missing."""
    return math.sqrt(max(covariance(numbers, numbers), 0.0))


@dataclass(frozen=True)
class Treatment(Parametrised, ABC):
    """Base of all treatments: parameters as fields, one column in, one column out.

    Class attributes
    ----------------
    name : str
    promise : str
        Its guarantee, or "Guarantees nothing: ..." with the reason, in a sentence or two.
    kinds : frozenset of Kind
        The kinds of column that it accepts.
    roles : frozenset of Role
    coarsens : bool
        Whether the published value is a function of the true one: equal values stay equal. Otherwise, it is drawn.
    joint : bool
        Whether columns with equal settings are treated with the same coins, and so move together.
    per_person : bool
        Whether all rows of one person are treated in the same way.
    record_by_record : bool
        Whether a record's published value depends on no other record's value. Otherwise, published values would reveal
        those of suppressed records, so suppression is refused.
    """

    promise: ClassVar[str] = ""
    kinds: ClassVar[frozenset[Kind]] = frozenset(Kind)
    roles: ClassVar[frozenset[Role]] = _PUBLISHED
    coarsens: ClassVar[bool] = False
    joint: ClassVar[bool] = False
    per_person: ClassVar[bool] = False
    record_by_record: ClassVar[bool] = False

    @property
    def draws(self) -> bool:
        """Whether the published value does not depend only on the true one."""
        return not self.coarsens

    @property
    def per_release(self) -> bool:
        """Whether another policy gives different values, so that two releases of one table cannot be joined by them."""
        return False

    def reads(self, entity: str | None) -> tuple[str, ...]:
        """Return the other columns that it reads."""
        return ()

    def check(self, name: str, treatments: Mapping[str, Sequence[Treatment]]) -> None:
        """Refuse settings that contradict those of other columns.

        Parameters
        ----------
        name : str
            The treated column.
        treatments : mapping of str to sequence of Treatment
            Those of all columns.

        Raises
        ------
        IncompatibleError
        """

    def based_in(self, folder: Path | None) -> Treatment:
        """Return the same treatment with its files resolved in this folder."""
        return self

    def ready(self) -> None:
        """Refuse a run that lacks an input, before any work is done.

        Raises
        ------
        UsageError
        """

    @abstractmethod
    def treat(self, given: Given) -> pa.Array:
        """Return the values that replace the column's, row by row; missing ones stay missing."""

    def check_kind(self, name: str, kind: Kind) -> None:
        """Refuse a kind of column that it does not accept."""
        if kind not in self.kinds:
            takes = " and ".join(sorted(str(one) for one in self.kinds))
            raise IncompatibleError(
                f"The treatment {self.name} accepts {takes} columns, but {name!r} is {kind}.",
                hint="Choose another treatment, or declare another 'kind'.",
            )
