"""Every way to deal the values of some classes to their people: what an adversary holds possible."""

from __future__ import annotations

from itertools import product

import numpy as np

from hushtable.arrays import IntArray


def worlds(classes: list[list[int]]) -> IntArray:
    """Return a row per world and a column per person; people of the first class come first.

    ``classes[g][v]`` is how many people of class g have value v.
    """

    def deals(row: list[int]) -> list[tuple[int, ...]]:
        if not any(row):
            return [()]
        return [
            (value, *rest)
            for value, count in enumerate(row)
            if count
            for rest in deals([c - (v == value) for v, c in enumerate(row)])
        ]

    return np.array([sum(parts, ()) for parts in product(*map(deals, classes))], dtype=np.int64)
