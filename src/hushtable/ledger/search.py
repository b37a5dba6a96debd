"""Search for worlds: which values occur in some integer solution of the equations, with HiGHS.

A solution is requested that gives as many people as possible values that no solution so far has given; if the best
one gives none, none of these values occurs in any world. So a few solutions decide all values at once, exactly.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.ledger.counting import IndependentPart

__all__ = ["Limits", "evened", "possible"]

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
