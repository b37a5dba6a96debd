"""Encoded columns: quasi-identifiers and sensitive columns, as algorithms and models see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.hierarchy.base import Coded
from hushtable.schema.columns import Cover, Kind
from hushtable.table.reference import Attribute

SCALE = 2**30
"""Width of a whole column's range; spans are compared as integers on this scale."""


def smallest(size: int) -> npt.DTypeLike:
    """Return the smallest unsigned integer type that holds codes below ``size``."""
    return np.min_scalar_type(max(size - 1, 0))


def known_numbers(coded: Coded) -> AnyArray:
    """The number behind each known code of a column of numbers or dates (days), ascending."""
    plain = coded.values.cast(pa.int32()) if coded.kind is Kind.DATE else coded.values
    return np.asarray(plain.to_numpy(zero_copy_only=False))


def published_numbers(coded: Coded, members: IntArray) -> AnyArray:
    """The number behind each known code, as integers if the numbers of all published codes are.

    A fraction that only suppressed records have must not turn a published column of integers into one of floats.

    Parameters
    ----------
    coded : Coded
        A column of numbers or dates.
    members : integer array
        The published codes, possibly with the code of the missing value.

    Examples
    --------
    >>> from hushtable.hierarchy.flat import Flat
    >>> coded = Flat().code(pa.array([1.0, 2.5, 4.0]), Kind.NUMERIC, missing=False, column="x", counts=np.ones(3, int))
    >>> published_numbers(coded, np.array([0, 2])).tolist(), published_numbers(coded, np.array([0, 1])).tolist()
    ([1, 2, 4], [1.0, 2.5, 4.0])
    """
    numbers = known_numbers(coded)
    if numbers.dtype.kind != "f":
        return numbers
    shown = numbers[np.unique(members[members >= int(coded.missing)]) - int(coded.missing)]
    if not len(shown) or np.any(shown != np.trunc(shown)) or np.abs(shown).max() >= 2**53:
        return numbers
    # unpublished ones become arbitrary integers, which are never used
    return np.asarray(np.clip(np.nan_to_num(numbers), -(2.0**53), 2.0**53).astype(np.int64))


def numbers_of(coded: Coded) -> FloatArray | None:
    """The number behind each code (days for dates), NaN for the missing value; None for labels."""
    if coded.kind not in (Kind.NUMERIC, Kind.DATE):
        return None
    numbers = known_numbers(coded).astype(np.float64)
    return np.concatenate([[np.nan], numbers]) if coded.missing else numbers


def scaled_numbers(coded: Coded) -> FloatArray | None:
    """Return the number (for dates: the day) of each leaf on a scale from 0 to 1; NaN for the missing value.

    None for labels, and for columns with infinite values, which have no scale.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> scaled_numbers(example().table.quasi[0].coded).round(2).tolist()
    [0.0, 0.02, 0.37, 0.38, 1.0]
    """
    numbers = numbers_of(coded)
    if numbers is None:
        return None
    first = int(coded.missing)
    known = numbers[first:]
    if not np.isfinite(known).all():
        return None
    scaled = np.full(coded.size, np.nan)
    # halves do not overflow
    width = known[-1] / 2 - known[0] / 2 if len(known) else 0.0
    scaled[first:] = (known / 2 - known[0] / 2) / width if width > 0 else 0.0
    return scaled


def offsets_of(sorted_values: AnyArray) -> FloatArray:
    """Distance of each number from the first, in whole units for integers and in halves for floats.

    Examples
    --------
    >>> offsets_of(np.array([-(2**63), 2**63 - 1])).tolist(), offsets_of(np.array([-1.5e308, 1.5e308])).tolist()
    ([0.0, 1.8446744073709552e+19], [0.0, 1.5e+308])
    """
    if sorted_values.dtype.kind == "i":
        # unsigned differences are exact over the whole int64 range
        first = np.uint64(int(sorted_values[0]) % 2**64)
        return np.asarray((sorted_values.astype(np.int64).view(np.uint64) - first).astype(np.float64))
    return np.asarray(sorted_values / 2 - sorted_values[0] / 2)  # halves do not overflow


class PublishedAs(Protocol):
    """How a column is published, for algorithms; ``hushtable.release.forms`` has the forms."""

    @property
    def any_groups(self) -> bool:
        """Whether classes publish their own cells even if columns are recoded globally."""

    def cover(self, kind: Kind) -> Cover:
        """Return what cells cover beyond the values of a class."""


@dataclass(frozen=True)
class QuasiColumn:
    """One quasi-identifier: its codes, its hierarchy, and how much its detail matters."""

    name: str
    codes: AnyArray
    coded: Coded
    weight: float = 1.0
    form: PublishedAs | None = None
    spellings: bool = False

    @property
    def cover(self) -> Cover:
        """What published cells cover. Defaults to ranges and sets."""
        if self.form is None:
            return Cover.RANGE if self.coded.kind.ordered else Cover.SET
        return self.form.cover(self.coded.kind)

    @cached_property
    def positions(self) -> IntArray:
        """The position of each code on the column's scale, times the weight; spans are differences of these.

        Numbers and dates lie at their value, other kinds at their rank in leaf order. The missing value shares the
        lowest position: its distance from the others is undefined, and partitioning treats it separately.
        """
        coded = self.coded
        first = int(coded.missing)
        n = coded.size - first
        if n <= 1:
            return np.zeros(coded.size, dtype=np.int64)
        if coded.kind in (Kind.NUMERIC, Kind.DATE):
            offset = offsets_of(known_numbers(coded))
            if offset[-1] == 0:  # ... but halves of the least floats vanish
                offset = np.arange(n, dtype=np.float64)
        else:
            offset = np.arange(n, dtype=np.float64)
        scaled = np.rint(offset / offset[-1] * (SCALE * self.weight)).astype(np.int64)
        return np.concatenate([np.zeros(first, dtype=np.int64), scaled])


@dataclass(frozen=True)
class SensitiveColumn:
    """One sensitive column: its codes, hierarchy, sensitivity categories, and whether cells of one code differ."""

    name: str
    codes: AnyArray
    coded: Coded
    categories: IntArray | None = None
    n_categories: int = 0
    spellings: bool = False

    def attribute(self, units: IntArray, unit: int, *, whole: bool = True) -> Attribute:
        """Describe the column to models, given how often each code occurs."""
        coded = self.coded
        return Attribute(
            key=(self.name,),
            labels=tuple(label or "" for label in coded.labels[0]),
            units=units,
            unit=unit,
            ordered=coded.kind.ordered,
            numbers=numbers_of(coded),
            categories=self.categories,
            n_categories=self.n_categories,
            levels=coded.levels,
            level_labels=tuple(tuple(label or "" for label in row) for row in coded.labels),
            whole=whole,
        )
