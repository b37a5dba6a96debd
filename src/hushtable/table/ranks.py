"""Ranks of cells: the order in which rows are worked on and published."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.io.dictionaries import null_last, value_ranks

__all__ = ["dense_ranks"]


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
