"""xxHash64 of rows of whole numbers: Spark's ``xxhash64``, so that both engines get the same hashes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hushtable.arrays import AnyArray, IntArray

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(p)
    for p in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
)
_SEED = np.uint64(42)  # Spark's


def hash_rows(columns: Sequence[AnyArray | int], n: int) -> IntArray:
    """Return a hash of each of n rows; a column is an array or one number for all rows.

    Examples
    --------
    >>> hash_rows([np.array([1, 1, 2]), 7], 3).tolist()
    [9148010362968143645, 9148010362968143645, 538740968392105321]
    """
    state = np.full(n, _SEED, dtype=np.uint64)
    for column in columns:
        if np.ndim(column):
            cells = np.asarray(column, dtype=np.int64).view(np.uint64)
        else:
            cells = np.array([int(column) % 2**64], dtype=np.uint64)
        state = state + _P5 + np.uint64(8)
        state ^= _turned(cells * _P2, 31) * _P1
        state = _turned(state, 27) * _P1 + _P4
        state = (state ^ (state >> np.uint64(33))) * _P2
        state = (state ^ (state >> np.uint64(29))) * _P3
        state ^= state >> np.uint64(32)
    return state.view(np.int64)


def _turned(words: npt.NDArray[np.uint64], by: int) -> npt.NDArray[np.uint64]:
    return (words << np.uint64(by)) | (words >> np.uint64(64 - by))
