"""Counting worlds of a few kinds of people, and the average number of people with each value.

People are assigned values kind by kind, and the remainders of the classes are remembered; arrangements with the same
remainder are counted together. So the worlds of a small part of the releases are counted exactly: a world is who has
which value, so an arrangement of a kind counts as often as its people can be permuted in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from math import factorial, prod

import numpy as np

from hushtable.arrays import FloatArray, IntArray

__all__ = ["IndependentPart", "expected"]

_WIDEST = 400
"""A part with more variables has too many worlds to count."""

_Rest = tuple[int, ...]
_Cell = tuple[int, int, list[tuple[int, int]]]
"""Bounds on the number of people with a value, and their weights in the equations."""


@dataclass(frozen=True)
class IndependentPart:
    """Some kinds that are independent of others.

    Attributes
    ----------
    open : int64 array
        People of each kind whose value is to be determined.
    kind, low, high : int64 arrays
        The variables, kinds ascending, and bounds on the number of people with each value.
    cell, row, weight : int64 arrays
        Their positions in the equations.
    held : int64 array
        Right-hand sides of the equations.
    """

    open: IntArray
    kind: IntArray
    low: IntArray
    high: IntArray
    cell: IntArray
    row: IntArray
    weight: IntArray
    held: IntArray


def expected(part: IndependentPart, limit: int) -> FloatArray | None:
    """Return the average number of people with each value over all worlds; None if that takes too many steps.

    All are 0 if there is no world. A value that nobody has in any world has 0.

    Examples
    --------
    >>> def ints(*numbers):
    ...     return np.array(numbers)
    >>> cells = ints(0, 1, 2, 3)
    >>> none, one = 0 * cells, 0 * cells + 1
    >>> two = IndependentPart(ints(1, 1), ints(0, 0, 1, 1), none, one, cells, ints(0, 1, 0, 1), one, ints(1, 1))
    >>> expected(two, 100).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    n = len(part.open)
    if len(part.kind) > _WIDEST:
        return None
    cells: list[_Cell] = [(low, high, []) for low, high in zip(part.low.tolist(), part.high.tolist(), strict=True)]
    for cell, row, weight in zip(part.cell.tolist(), part.row.tolist(), part.weight.tolist(), strict=True):
        cells[cell][2].append((row, weight))
    last = np.zeros(len(part.held), dtype=np.int64)
    np.maximum.at(last, part.row, part.kind[part.cell])
    ends = np.searchsorted(part.kind, np.arange(n + 1))
    left = [limit]
    # what the kinds so far leave of the classes, in how many ways, and how many people have each value in all of these
    worlds: dict[_Rest, tuple[int, list[int]]] = {tuple(part.held.tolist()): (1, [])}
    for i in range(n):
        then: dict[_Rest, tuple[int, list[int]]] = {}
        mine, due, size = cells[ends[i] : ends[i + 1]], np.flatnonzero(last == i).tolist(), int(part.open[i])
        for rest, (ways, people) in worlds.items():
            for taken, after in _given(mine, size, rest, left):
                if any(after[row] for row in due):
                    continue
                worth = factorial(size) // prod(map(factorial, taken))
                so_far, others = then.get(after, (0, repeat(0)))
                own = chain((x * worth for x in people), (number * ways * worth for number in taken))
                then[after] = so_far + ways * worth, [a + b for a, b in zip(own, others, strict=False)]
            if left[0] < 0:
                return None
        worlds = then
    total, sums = next(iter(worlds.values()), (1, [0] * len(part.kind)))
    return np.array([number / total for number in sums])


def _given(
    cells: Sequence[_Cell], people: int, rest: _Rest, steps: list[int]
) -> Iterator[tuple[tuple[int, ...], _Rest]]:
    """Assign values to the people of a kind in every way that the classes allow, as long as steps are left."""

    def give(at: int, left: int, now: list[int], taken: list[int]) -> Iterator[tuple[tuple[int, ...], _Rest]]:
        steps[0] -= 1
        if steps[0] < 0:
            return
        if at == len(cells):
            if left == 0:
                yield tuple(taken), tuple(now)
            return
        low, high, links = cells[at]
        most = min([high, left, *(now[row] // weight for row, weight in links)])
        # the later values can take only a limited number
        least = max(low, left - sum(high for _, high, _ in cells[at + 1 :]))
        for number in range(least, most + 1):
            for row, weight in links:
                now[row] -= number * weight
            yield from give(at + 1, left - number, now, [*taken, number])
            for row, weight in links:
                now[row] += number * weight

    yield from give(0, people, list(rest), [])
