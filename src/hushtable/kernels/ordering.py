"""Sorting inside kernels: numba's own sorts take a second to compile, these a fifth of it."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["sort_between", "stable_order"]


def sort_between(values: Any, begin: Any, end: Any) -> None:
    """Sort ``values[begin:end]`` in place (heap sort).

    Examples
    --------
    >>> numbers = np.array([9, 3, 1, 2, 0])
    >>> sort_between(numbers, 1, 5)
    >>> numbers.tolist()
    [9, 0, 1, 2, 3]
    """
    n = end - begin
    for step in range(n // 2 + n - 1):
        # the first half of the steps make a heap; each of the others moves its greatest to the end
        last = n
        root = n // 2 - 1 - step
        if root < 0:
            last = n - 1 - (step - n // 2)
            root = 0
            greatest = values[begin]
            values[begin] = values[begin + last]
            values[begin + last] = greatest
        x = values[begin + root]
        child = 2 * root + 1
        while child < last:
            if child + 1 < last and values[begin + child + 1] > values[begin + child]:
                child += 1
            if values[begin + child] <= x:
                break
            values[begin + root] = values[begin + child]
            root = child
            child = 2 * root + 1
        values[begin + root] = x


def stable_order(keys: Any) -> Any:
    """Return where the keys are in ascending order, equal ones as they come (merge sort from the bottom).

    Examples
    --------
    >>> stable_order(np.array([2, 1, 2, 0])).tolist()
    [3, 1, 0, 2]
    """
    n = len(keys)
    order = np.empty(n, np.int64)
    other = np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle = min(begin + width, n)
            end = min(begin + 2 * width, n)
            a, b = begin, middle
            for at in range(begin, end):
                if a < middle and (b >= end or keys[order[a]] <= keys[order[b]]):
                    other[at] = order[a]
                    a += 1
                else:
                    other[at] = order[b]
                    b += 1
        order, other = other, order
        width *= 2
    return order
