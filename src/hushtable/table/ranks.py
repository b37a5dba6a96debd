"""Ranks of cells: the order in which rows are processed and published, and which breaks ties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.io.dictionaries import null_last, value_ranks
from hushtable.kernels.grouping import number_rows
from hushtable.schema.columns import Role
from hushtable.schema.prepare import check_publishable
from hushtable.table.plan import TablePlan


def dense_ranks(column: pa.ChunkedArray | pa.Array) -> tuple[IntArray, int]:
    """Rank cells (text by UTF-8 bytes, nulls first); equal cells share a rank. Returns ranks and a bound on them.

    Examples
    --------
    >>> dense_ranks(pa.array(["b", None, "a", "b"]))[0].tolist()
    [2, 0, 1, 2]
    """
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int64), 1
    array = column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    rank = np.append(value_ranks(array.dictionary), 0)
    return rank[null_last(array).to_numpy(zero_copy_only=False)], len(rank)


def rest_rank(table: pa.Table, plan: TablePlan) -> IntArray | None:
    """Rank of the published cells that are neither quasi nor sensitive; None if there are none."""
    names = plan.named(Role.INSENSITIVE)
    if not names:
        return None
    for name in names:
        check_publishable(name, table.column(name).type)
    ranks = [dense_ranks(table.column(name)) for name in names]
    return number_rows([r for r, _ in ranks], [n for _, n in ranks])[0]


def with_spellings(
    ties: IntArray | Callable[[], IntArray] | None, table: pa.Table, names: list[str]
) -> IntArray | Callable[[], IntArray] | None:
    """Let the published cells of these columns break ties too: rows with equal codes may be spelled differently."""
    return _Spelt(table.select(names), ties) if names else ties


@dataclass(frozen=True)
class _Spelt:
    """Ranks by earlier ranks first, then by the cells of some columns."""

    table: pa.Table
    ties: IntArray | Callable[[], IntArray] | None

    def __call__(self) -> IntArray:
        columns, sizes = zip(*(dense_ranks(column) for column in self.table.columns), strict=True)
        if self.ties is not None:
            others = self.ties() if callable(self.ties) else self.ties
            columns, sizes = (others, *columns), (int(others.max(initial=0)) + 1, *sizes)
        return number_rows(list(columns), list(sizes))[0]
