"""Several small codes packed into few 64-bit numbers, so that grouping, joining and sorting use numbers, exactly.

Every column has as many bits as its greatest code needs. Columns are packed in order, so numbers compare like the
codes, one column after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as F

from hushtable.arrays import AnyArray, IntArray

_BITS = 62


@dataclass(frozen=True)
class Packing:
    """How the codes of several columns share numbers.

    Attributes
    ----------
    sizes : tuple of int
        How many codes each column has.

    Examples
    --------
    >>> packing = Packing((16, 10, 2**60))
    >>> [number.tolist() for number in packing.pack([np.array([7]), np.array([3]), np.array([5])])]
    [[115], [5]]
    >>> [code.tolist() for code in packing.unpack([np.array([115]), np.array([5])])]
    [[7], [3], [5]]
    """

    sizes: tuple[int, ...]

    @cached_property
    def _bits(self) -> tuple[int, ...]:
        return tuple(max(size - 1, 0).bit_length() for size in self.sizes)

    @cached_property
    def numbers(self) -> tuple[tuple[int, ...], ...]:
        """The columns in each number, the most significant first."""
        groups: list[list[int]] = []
        room = -1
        for j, bits in enumerate(self._bits):
            if room < bits:
                groups.append([])
                room = _BITS
            groups[-1].append(j)
            room -= bits
        return tuple(map(tuple, groups))

    def __len__(self) -> int:
        return len(self.numbers)

    def _shifts(self) -> Iterator[tuple[int, int, int]]:
        """(number, column, left shift of its code)."""
        for at, members in enumerate(self.numbers):
            shift = 0
            for j in reversed(members):
                yield at, j, shift
                shift += self._bits[j]

    def pack(self, codes: Sequence[AnyArray]) -> list[IntArray]:
        """Return the numbers of rows of codes."""
        packed = [np.zeros(len(codes[0]), dtype=np.int64) for _ in self.numbers]
        for at, j, shift in self._shifts():
            packed[at] |= codes[j].astype(np.int64) << shift
        return packed

    def unpack(self, numbers: Sequence[IntArray]) -> list[IntArray]:
        """Return the codes behind numbers, column by column."""
        codes = {j: (numbers[at] >> shift) & ((1 << self._bits[j]) - 1) for at, j, shift in self._shifts()}
        return [codes[j] for j in range(len(self.sizes))]

    def pack_columns(self, codes: Sequence[Column]) -> list[Column]:
        """Return the numbers as expressions; null if a code is null."""
        packed: dict[int, Column] = {}
        for at, j, shift in self._shifts():
            code = F.shiftleft(codes[j].cast("long"), shift)
            packed[at] = packed[at].bitwiseOR(code) if at in packed else code
        return [packed[at] for at in range(len(self))]

    def unpack_columns(self, numbers: Sequence[Column]) -> list[Column]:
        """Return the codes as expressions."""
        codes = {
            j: F.shiftright(numbers[at], shift).bitwiseAND(F.lit((1 << self._bits[j]) - 1)).cast("int")
            for at, j, shift in self._shifts()
        }
        return [codes[j] for j in range(len(self.sizes))]
