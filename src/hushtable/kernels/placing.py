"""Positions of rows in a table sorted by kind: each row takes the next place of its kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.compile import dispatch


def next_places(kinds: AnyArray, following: IntArray) -> AnyArray:
    """Return the place of every row, the next free one of its kind; -1 for rows of kind -1.

    ``following`` holds the next free place of every kind, and is updated.

    Examples
    --------
    >>> following = np.array([0, 10])
    >>> next_places(np.array([1, 0, -1, 1], dtype=np.int32), following).tolist(), following.tolist()
    ([10, 0, -1, 11], [1, 12])
    """
    places = np.empty(len(kinds), dtype=np.int32)
    dispatch(_next_loops, _next_numpy, len(kinds))(kinds, following, places)
    return places


def _next_numpy(kinds: Any, following: Any, places: Any) -> None:
    order = np.argsort(kinds, kind="stable")
    sorted_kinds = kinds[order]
    first = np.searchsorted(sorted_kinds, sorted_kinds)
    shown = sorted_kinds >= 0
    found = np.where(shown, following[sorted_kinds] + np.arange(len(kinds)) - first, -1)
    places[order] = found
    np.add.at(following, sorted_kinds[shown], 1)


def _next_loops(kinds: Any, following: Any, places: Any) -> None:
    for i in range(len(kinds)):
        kind = kinds[i]
        if kind < 0:
            places[i] = -1
        else:
            places[i] = following[kind]
            following[kind] += 1
