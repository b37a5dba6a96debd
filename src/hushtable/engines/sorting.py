"""The order of a release's rows from codes alone: by all their published cells, as in ``published_order``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.stored import StoredTable
from hushtable.io.dictionaries import to_codes
from hushtable.kernels.grouping import number_rows
from hushtable.release.recode import Recoded
from hushtable.schema.columns import Role
from hushtable.table.plan import TablePlan
from hushtable.table.ranks import dense_ranks

__all__ = ["SortKey", "first_of_equals", "order_by", "sort_keys"]

_SLICE = 1 << 20


@dataclass(frozen=True)
class SortKey:
    """A sort key: ``rank[codes]``, or the codes themselves.

    Attributes
    ----------
    codes : integer array
        One per source row; -1 is the last entry of ``rank``.
    rank : int64 array, optional
    size : int
        A bound on the ranks.
    """

    codes: AnyArray
    rank: IntArray | None
    size: int

    def of(self, start: int, end: int) -> AnyArray:
        """Return the ranks of some rows."""
        return self.at(slice(start, end))

    def at(self, rows: slice | AnyArray) -> AnyArray:
        """Return the ranks of these rows."""
        codes = self.codes[rows]
        return codes if self.rank is None else self.rank[codes]


def sort_keys(stored: StoredTable, coded: pa.Table, recoded: Recoded, plan: TablePlan) -> list[SortKey]:
    """Return the sort keys of the published rows, in the policy's order of columns.

    Adjacent quasi-identifiers form one key: the rank of a class.
    """
    place = {cells.column.name: j for j, cells in enumerate(recoded.cells)}
    keys: list[SortKey] = []
    waiting: list[tuple[IntArray, int]] = []

    def flush() -> None:
        if waiting:
            rank, first = number_rows([r for r, _ in waiting], [n for _, n in waiting])
            keys.append(SortKey(recoded.labels, np.append(rank, 0), len(first)))
            waiting.clear()

    for column in plan.columns:
        if column.role is Role.QUASI:
            waiting.append(dense_ranks(recoded.published[place[column.name]]))
            continue
        if not column.role.published:
            continue
        flush()
        if column.name in stored.ranks:
            keys.append(SortKey(stored.rank_of(column.name), None, stored.ranks[column.name]))
        else:
            keys.append(_in_memory(coded.column(column.name).chunk(0)))
    flush()
    return keys


def _in_memory(column: pa.DictionaryArray) -> SortKey:
    rank, size = dense_ranks(column.dictionary)
    codes: AnyArray = column.indices.to_numpy(zero_copy_only=False)
    if column.indices.null_count:
        codes = to_codes(column)
    return SortKey(codes, np.append(rank, 0), size)


def first_of_equals(keys: Sequence[SortKey], order: AnyArray) -> IntArray:
    """Return 0 and the places at which rows in this order differ from their predecessor.

    Examples
    --------
    >>> key = SortKey(np.array([0, 1, 0, 1], dtype=np.uint8), None, 2)
    >>> first_of_equals([key], np.array([0, 2, 1, 3])).tolist()
    [0, 2]
    """
    new = np.zeros(len(order), dtype=np.bool_)
    new[:1] = True
    for key in keys:
        ranks = key.at(order)
        new[1:] |= ranks[1:] != ranks[:-1]
    return np.flatnonzero(new)


def order_by(keys: Sequence[SortKey], labels: AnyArray) -> AnyArray:
    """Return the rows with a label from 0, sorted by the keys; equal rows in their order.

    Keys and row numbers are packed into 8 bytes and sorted in place, so that sorting takes no further memory.

    Examples
    --------
    >>> key = SortKey(np.array([0, 1, 0, 1], dtype=np.uint8), np.array([5, 2]), 6)
    >>> order_by([key], np.array([0, 0, -1, 1])).tolist()
    [1, 3, 0]
    """
    n = len(labels)
    packed = np.zeros(n, dtype=np.int64)
    span = 1
    for key in keys:
        if span * key.size >= 2**62:
            packed, first = number_rows([packed], [span])
            span = len(first)
        for start in range(0, n, _SLICE):
            part = packed[start : start + _SLICE]
            part *= key.size
            part += key.of(start, start + _SLICE)
        span *= key.size
    dtype = np.uint32 if n < 2**32 else np.int64
    bits = max(n - 1, 1).bit_length()
    if span << bits >= 2**63:
        packed, first = number_rows([packed], [span])
        span = len(first)
    if span << bits >= 2**63:
        # beyond two thousand million different rows
        order = np.argsort(packed, kind="stable")
        return order[labels[order] >= 0].astype(dtype)
    released = 0
    for start in range(0, n, _SLICE):
        part = packed[start : start + _SLICE]
        kept = np.flatnonzero(labels[start : start + _SLICE] >= 0)
        rows = (part[kept] << bits) | (kept + start)
        packed[released : released + len(kept)] = rows
        released += len(kept)
    packed = packed[:released]
    packed.sort()
    out = np.empty(released, dtype=dtype)
    mask = (1 << bits) - 1
    for start in range(0, released, _SLICE):
        out[start : start + _SLICE] = packed[start : start + _SLICE] & mask
    return out
