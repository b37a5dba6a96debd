"""Search for worlds: which values occur in some integer solution of the equations, with HiGHS.

A solution is requested that gives as many people as possible values that no solution so far has given; if the best
one gives none, none of these values occurs in any world. So a few solutions decide all values at once, exactly.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from math import factorial, prod

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray

_TURNS = 5_000
_NEAR = 1e-7


@dataclass
class Limits:
    """Limits of a check.

    Parameters
    ----------
    seconds : float
        After this time, the search stops, and undecided parts are not accepted.
    steps : int
        Steps of counting a part's worlds before they are searched instead.
    cells : int
        A part with more variables is not searched.
    """

    seconds: float = 60.0
    steps: int = 20_000
    cells: int = 100_000
    _until: float = field(default=0.0, init=False)

    @property
    def left(self) -> float:
        """Return the seconds that are left; the clock starts at the first call."""
        now = time.monotonic()
        self._until = self._until or now + self.seconds
        return max(self._until - now, 0.0)


def possible(part: IndependentPart, limits: Limits) -> BoolArray | None:
    """Return which variables are above 0 in some world; None if that was not decided, or if there is no world."""
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, vstack

        n = len(part.kind)
        kinds = csr_array((np.ones(n), (part.kind, np.arange(n))), shape=(len(part.open), n))
        rows = csr_array((part.weight.astype(np.float64), (part.row, part.cell)), shape=(len(part.held), n))
        total = np.concatenate([part.open, part.held])
        equations = LinearConstraint(vstack([kinds, rows]), total, total)
        seen = part.low > 0
        while limits.left > 0:
            wanted = ~seen
            found = milp(
                -wanted.astype(np.float64),
                integrality=np.ones(n),
                bounds=Bounds(part.low, part.high),
                constraints=equations,
                options={"time_limit": limits.left, "mip_rel_gap": 0.5},
            )
            if found.x is None:
                return None
            world = np.rint(found.x).astype(np.int64)
            if not _solves(part, world):
                return None
            new = wanted & (world >= 1)
            if not new.any():
                # the best that could be is known too: below one person there is nobody
                best = found.mip_dual_bound
                return seen if found.status == 0 and best is not None and -best < 1 - _NEAR else None
            seen |= new
            if seen.all():
                return seen
    except (ImportError, MemoryError, ValueError, RuntimeError):
        # if the solver gives no answer for any reason, nothing was decided
        return None
    return None


def _solves(part: IndependentPart, world: IntArray) -> bool:
    """Whether whole numbers satisfy all equations: the solver computes with fractions."""
    people, held = np.zeros_like(part.open), np.zeros_like(part.held)
    np.add.at(people, part.kind, world)
    np.add.at(held, part.row, part.weight * world[part.cell])
    inside = (part.low <= world) & (world <= part.high)
    return bool(inside.all()) and np.array_equal(people, part.open) and np.array_equal(held, part.held)


def evened(part: IndependentPart, occurs: BoolArray) -> FloatArray | None:
    """Return the most even table that satisfies all equations, over the possible values; None if none is found."""
    x = np.where(occurs, 1.0, 0.0)
    weight = part.weight.astype(np.float64)
    heaviest = np.zeros(len(part.held))
    np.maximum.at(heaviest, part.row, weight)
    # all classes at once: each takes its share of the step
    share = weight / heaviest[part.row] / np.bincount(part.cell, minlength=1).max()
    for _ in range(_TURNS):
        x *= (part.open / np.maximum(np.bincount(part.kind, x, len(part.open)), _NEAR))[part.kind]
        sums = np.bincount(part.row, weight * x[part.cell], len(part.held))
        off = np.abs(sums - part.held).max(initial=0.0)
        if off <= _NEAR * max(1.0, float(part.held.max(initial=1))):
            return x
        ratio = np.log(np.maximum(part.held, _NEAR) / np.maximum(sums, _NEAR))
        x *= np.exp(np.bincount(part.cell, ratio[part.row] * share, len(x)))
    return None


# Counting worlds of a few kinds of people, and the average number of people with each value.
#
# People are assigned values kind by kind, and the remainders of the classes are remembered; arrangements with the
# same remainder are counted together. So the worlds of a small part of the releases are counted exactly: a world is
# who has which value, so an arrangement of a kind counts as often as its people can be permuted in it.


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
