"""Worlds: which values a kind of people can have, exactly, and how likely each is.

Bounds come first: the people of a kind have as many values as their number, and so have those of a class, so the lower
(upper) bounds of some leave the rest to the others. The open variables fall into independent parts.
The worlds of a small part are counted (``hushtable.ledger.counting``). For a larger one, integer solutions are
searched (``hushtable.ledger.search``): which values occur in some world is then exact too, and their probabilities
are taken from the most even table that satisfies all equations. A part that neither decides is undecided, and
people in it are not accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.ledger.counting import IndependentPart, expected
from hushtable.ledger.kinds import System
from hushtable.ledger.search import Limits, evened, possible

__all__ = ["Worlds", "solve"]

_TURNS = 200


@dataclass(frozen=True)
class Worlds:
    """What all worlds have in common.

    Attributes
    ----------
    share : float array
        Average number of people of its kind with the value of each variable; 0 if nobody has it in any world.
    undecided : bool array
        Which kinds are in a part that was not decided.
    """

    share: FloatArray
    undecided: BoolArray


def solve(system: System, limits: Limits, hopeless: Callable[[IntArray], BoolArray] | None = None) -> Worlds:
    """Find which values everybody can have.

    Parameters
    ----------
    system : System
    limits : Limits
        Time limits.
    hopeless : function, optional
        Returns which kinds break a model even if everything within their upper bounds is possible. Large parts
        with such kinds are not searched, and everything within the bounds is assumed to be possible in them.
    """
    low, high, sound = bounded(system)
    settled = np.where(low == high, low, 0)
    share = settled.astype(np.float64)
    # people without any value left are in no world
    undecided = np.bincount(system.kind, minlength=len(system.size)) == 0
    undecided[system.kind[~sound]] = True
    free = low < high
    if not free.any():
        return Worlds(share, _spread(system, undecided))
    open_people = system.size - np.bincount(system.kind, settled, len(system.size)).astype(np.int64)
    taken = np.bincount(system.row, system.weight * settled[system.cell], len(system.held))
    rest = system.held - taken.astype(np.int64)
    lost = np.zeros(len(system.size), dtype=np.bool_) if hopeless is None else hopeless(high)
    for cells, links in _parts(system, free):
        kinds, kind = np.unique(system.kind[cells], return_inverse=True)
        rows, row = np.unique(system.row[links], return_inverse=True)
        part = IndependentPart(
            open_people[kinds], kind, low[cells], high[cells],
            np.searchsorted(cells, system.cell[links]), row, system.weight[links], rest[rows],
        )  # fmt: skip
        found = _found(part, limits, bool(lost[kinds].any()))
        if found is None:
            # of those who break a model anyway, everything that the bounds leave is taken to be possible
            share[cells] = (part.open / np.bincount(kind, minlength=len(kinds)))[kind]
            undecided[kinds[~lost[kinds]]] = True
        else:
            share[cells] = found
    return Worlds(share, _spread(system, undecided))


def _found(part: IndependentPart, limits: Limits, lost: bool) -> FloatArray | None:
    found = expected(part, limits.steps)
    if found is None and not lost:
        occurs = possible(part, limits) if len(part.kind) <= limits.cells else None
        found = None if occurs is None else evened(part, occurs)
    return found if found is not None and found.any() else None


def bounded(system: System) -> tuple[IntArray, IntArray, BoolArray]:
    """Bound every variable, and return which of them contradict others."""
    kind, cell, row, weight = system.kind, system.cell, system.row, system.weight
    low = np.zeros(len(kind), dtype=np.int64)
    high = system.size[kind]
    np.minimum.at(high, cell, system.held[row] // weight)
    for _ in range(_TURNS):
        most, least = (np.bincount(kind, x, len(system.size)).astype(np.int64) for x in (high, low))
        new_low = np.maximum(low, system.size[kind] - most[kind] + high)
        new_high = np.minimum(high, system.size[kind] - least[kind] + low)
        up, down = (np.bincount(row, weight * x[cell], len(system.held)).astype(np.int64) for x in (new_high, new_low))
        room = new_low[cell] + (system.held - down)[row] // weight
        lack = new_high[cell] - (up - system.held)[row] // weight
        np.minimum.at(new_high, cell, room)
        np.maximum.at(new_low, cell, lack)
        if np.array_equal(new_low, low) and np.array_equal(new_high, high):
            break
        low, high = new_low, new_high
        if np.any(low > high):
            break
    return low, high, low <= high


def _parts(system: System, free: BoolArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the independent parts of the open variables, as variables and their positions in the equations."""
    cells, links = np.flatnonzero(free), np.flatnonzero(free[system.cell])
    label = _connected(system, links)[system.kind]
    cells = cells[np.argsort(label[cells], kind="stable")]
    links = links[np.argsort(label[system.cell[links]], kind="stable")]
    starts = np.unique(label[cells])[1:]
    ends = (np.searchsorted(own, starts) for own in (label[cells], label[system.cell[links]]))
    yield from zip(*map(np.split, (cells, links), ends), strict=True)


def _connected(system: System, links: IntArray) -> IntArray:
    """Label the kinds: kinds that share an equation have the same label."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(system.size)
    ends = (system.kind[system.cell[links]], n + system.row[links])
    graph = csr_array((np.ones(len(links), dtype=np.int8), ends), shape=2 * (n + len(system.held),))
    return np.asarray(connected_components(graph, directed=False)[1][:n], dtype=np.int64)


def _spread(system: System, undecided: BoolArray) -> BoolArray:
    """Mark kinds that share a class with a contradictory one as undecided too."""
    if not undecided.any():
        return undecided
    label = _connected(system, np.arange(len(system.cell)))
    return np.isin(label, np.unique(label[undecided]))
