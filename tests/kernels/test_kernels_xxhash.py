"""xxHash64 of rows, held against the specification's slow form, one number at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hushtable.kernels.xxhash import hash_rows

MASK = 2**64 - 1
P1, P2, P3 = 11400714785074694791, 14029467366897019727, 1609587929392839161
P4, P5 = 9650029242287828579, 2870177450012600261
LONGS = st.integers(-(2**63), 2**63 - 1)


def slow(numbers: list[int]) -> int:
    def turned(word: int, by: int) -> int:
        return ((word << by) | (word >> (64 - by))) & MASK

    state = 42
    for number in numbers:
        state = (state + P5 + 8) & MASK
        state ^= (turned(number * P2 & MASK, 31) * P1) & MASK
        state = (turned(state, 27) * P1 + P4) & MASK
        state = ((state ^ (state >> 33)) * P2) & MASK
        state = ((state ^ (state >> 29)) * P3) & MASK
        state ^= state >> 32
    return state - 2**64 if state >= 2**63 else state


@given(st.lists(st.tuples(LONGS, LONGS), min_size=1, max_size=5), LONGS)
def test_rows_are_hashed_as_specified(rows, constant):
    columns = [np.array([row[j] for row in rows], dtype=np.int64) for j in (0, 1)]
    assert hash_rows([*columns, constant], len(rows)).tolist() == [slow([*row, constant]) for row in rows]


def test_small_codes_are_hashed_by_their_value():
    assert hash_rows([np.array([3, 200], dtype=np.uint8)], 2).tolist() == [slow([3]), slow([200])]


def test_no_column_and_no_row():
    assert hash_rows([], 2).tolist() == [42, 42] and hash_rows([np.empty(0, dtype=np.int64)], 0).tolist() == []
