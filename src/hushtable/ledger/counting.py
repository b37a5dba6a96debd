"""Counting worlds: how many there are of a few kinds of people, and how many people have a value on average.

Kind after kind the people are given values, and what is left of the classes is remembered; arrangements that leave the
same are counted together. So the worlds of a small part of the releases are counted exactly: a world is who has which
value, so that an arrangement of a kind counts as often as its people can be exchanged in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np

from hushtable.arrays import FloatArray, IntArray

__all__ = ["Part", "expected"]

_WIDEST = 400
"""A part with more variables has too many worlds to be counted."""

_Rest = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """Some kinds that have nothing to do with others.

    Attributes
    ----------
    open : int64 array
        People of each kind whose value is to be found.
    kind, low, high : int64 arrays
        The variables, kinds ascending, and how many people have each value at least and at most.
    cell, row, weight : int64 arrays
        Where they stand in the equations.
    held : int64 array
        What the equations add up to.
    """

    open: IntArray
    kind: IntArray
    low: IntArray
    high: IntArray
    cell: IntArray
    row: IntArray
    weight: IntArray
    held: IntArray


def expected(part: Part, limit: int) -> FloatArray | None:
    """Return how many people have each value on average over all worlds; None where that takes too many steps.

    All are 0 where there is no world. A value that nobody has in any world has 0.

    Examples
    --------
    >>> def ints(*numbers):
    ...     return np.array(numbers)
    >>> cells = ints(0, 1, 2, 3)
    >>> none, one = 0 * cells, 0 * cells + 1
    >>> two = Part(ints(1, 1), ints(0, 0, 1, 1), none, one, cells, ints(0, 1, 0, 1), one, ints(1, 1))
    >>> expected(two, 100).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    n = len(part.open)
    if len(part.kind) > _WIDEST:
        return None
    links: list[list[tuple[int, int]]] = [[] for _ in part.kind]
    last = [-1] * len(part.held)
    for cell, row, weight in zip(part.cell.tolist(), part.row.tolist(), part.weight.tolist(), strict=True):
        links[cell].append((row, weight))
        last[row] = max(last[row], int(part.kind[cell]))
    cells: list[list[int]] = [[] for _ in range(n)]
    for cell, kind in enumerate(part.kind.tolist()):
        cells[kind].append(cell)
    due: list[list[int]] = [[] for _ in range(n)]
    for row, kind in enumerate(last):
        due[kind].append(row)
    low, high = part.low.tolist(), part.high.tolist()
    layers: list[dict[_Rest, int]] = [{tuple(part.held.tolist()): 1}]
    steps: list[list[tuple[_Rest, _Rest, int, tuple[int, ...]]]] = []
    left = [limit]
    for i in range(n):
        then: dict[_Rest, int] = {}
        made = []
        for rest, ways in layers[-1].items():
            for taken, after in _given(cells[i], int(part.open[i]), rest, links, low, high, left):
                if any(after[row] for row in due[i]):
                    continue
                worth = factorial(int(part.open[i]))
                for number in taken:
                    worth //= factorial(number)
                then[after] = then.get(after, 0) + ways * worth
                made.append((rest, after, worth, taken))
            if left[0] < 0:
                return None
        layers.append(then)
        steps.append(made)
    return _averages(layers, steps, cells, len(part.kind))


def _given(
    cells: Sequence[int],
    people: int,
    rest: _Rest,
    links: list[list[tuple[int, int]]],
    low: list[int],
    high: list[int],
    steps: list[int],
) -> Iterator[tuple[tuple[int, ...], _Rest]]:
    """Give the people of a kind their values in every way that the classes leave open, as long as steps are left."""

    def give(at: int, left: int, now: list[int], taken: list[int]) -> Iterator[tuple[tuple[int, ...], _Rest]]:
        steps[0] -= 1
        if steps[0] < 0:
            return
        if at == len(cells):
            if left == 0:
                yield tuple(taken), tuple(now)
            return
        cell = cells[at]
        most = min([high[cell], left, *(now[row] // weight for row, weight in links[cell])])
        # the values behind this one can take only so many
        least = max(low[cell], left - sum(high[other] for other in cells[at + 1 :]))
        for number in range(least, most + 1):
            for row, weight in links[cell]:
                now[row] -= number * weight
            yield from give(at + 1, left - number, now, [*taken, number])
            for row, weight in links[cell]:
                now[row] += number * weight

    yield from give(0, people, list(rest), [])


def _averages(
    layers: list[dict[_Rest, int]],
    steps: list[list[tuple[_Rest, _Rest, int, tuple[int, ...]]]],
    cells: list[list[int]],
    n_cells: int,
) -> FloatArray:
    out = np.zeros(n_cells)
    total = sum(layers[-1].values())
    if not total:
        return out
    behind: dict[_Rest, int] = dict.fromkeys(layers[-1], 1)
    for i in range(len(steps) - 1, -1, -1):
        before: dict[_Rest, int] = {}
        sums = [0] * len(cells[i])
        for rest, after, worth, taken in steps[i]:
            if after in behind:
                ways = worth * behind[after]
                before[rest] = before.get(rest, 0) + ways
                for j, number in enumerate(taken):
                    sums[j] += number * ways * layers[i][rest]
        for cell, value in zip(cells[i], sums, strict=True):
            out[cell] = value / total
        behind = before
    return out
