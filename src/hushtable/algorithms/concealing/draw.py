"""Drawing who gets which crowd: a perfect matching of a regular graph in which every edge is equally likely.

The crowds follow from the quasi-identifiers, so an adversary who knows these and the algorithm can make them again.
What is secret is which record of a crowd's k people is published with it. Here it is drawn such that each of the k has
the chance 1/k:

- An even number of crowds a person: edges are paired at every crowd and at every person. The pairs chain all edges to
  cycles, and of each cycle every other edge is kept: a coin says which half. Half as many crowds a person are left, and
  each edge is among them with the chance 1/2.
- An odd number d: one perfect matching is found. For each connected part a draw keeps that matching, with the chance
  1/d, or what is left without it.

Both steps give every edge the same chance whatever the pairs and the matching are, so coins draw these, too. By a
public rule there would be a handful of matchings for thousands of people: whoever knows one record, or how often values
go with quasi-identifiers, could tell which of them it is. With two crowds a person there is nothing to draw but one
coin a cycle.

References
----------
H. Gabow, "Using Euler partitions to edge color bipartite multigraphs", 1976.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hushtable.arrays import BoolArray, IntArray
from hushtable.table.coins import Coins

__all__ = ["draw_matching"]


def draw_matching(crowds: IntArray, coins: Coins) -> IntArray:
    """Return one person of each crowd, everybody for one crowd; each of a crowd's people with the same chance.

    Parameters
    ----------
    crowds : int64 array
        Crowds x k: people, everybody in k crowds and in none of them twice.
    coins : Coins

    Examples
    --------
    >>> crowds = np.array([[0, 1], [1, 2], [2, 0]])
    >>> sorted({tuple(draw_matching(crowds, Coins(bytes([i]))).tolist()) for i in range(20)})
    [(0, 1, 2), (1, 2, 0)]
    """
    n, degree = crowds.shape
    crowd, person = np.repeat(np.arange(n), degree), crowds.reshape(-1).astype(np.int64)
    # edges that were settled in an odd step
    fixed = np.full(n, -1, dtype=np.int64)
    left = degree
    while left > 1:
        turn = f"{left} left"
        if left % 2:
            matched, part = _matching(crowd, person, n, coins, turn)
            parts, place = np.unique(part, return_inverse=True)
            stop = (coins.uniform(turn, len(parts)) * left < 1)[place.reshape(-1)]
            settled = stop & matched
            fixed[crowd[settled]] = person[settled]
            keep = ~stop & ~matched
            left -= 1
        else:
            keep = _half(crowd, person, coins, turn)
            left //= 2
        crowd, person = crowd[keep], person[keep]
    fixed[crowd] = person
    return fixed


def _matching(crowd: IntArray, person: IntArray, n: int, coins: Coins, turn: str) -> tuple[BoolArray, IntArray]:
    """Return the edges of one perfect matching of the crowds that are left, and the connected part of every edge.

    Crowds and people are numbered by lot, because the search prefers low numbers.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    crowd, person = (
        np.argsort(coins.words(f"{turn}: {side}", n), kind="stable")[ends]
        for side, ends in (("crowds", crowd), ("people", person))
    )
    ones = np.ones(len(crowd), dtype=np.int8)
    found = maximum_bipartite_matching(csr_array((ones, (crowd, person)), shape=(n, n)), perm_type="column")
    both = csr_array((ones, (crowd, n + person)), shape=(2 * n, 2 * n))
    _, part = connected_components(both, directed=False)
    return np.asarray(found[crowd] == person), part[crowd].astype(np.int64)


def _half(crowd: IntArray, person: IntArray, coins: Coins, turn: str) -> BoolArray:
    """Keep every other edge of each cycle of paired edges."""
    lots = (coins.words(f"{turn}: {side}", len(crowd)) for side in ("crowds", "people"))
    beside = [_paired(side, own).tolist() for side, own in zip((crowd, person), lots, strict=True)]
    colour = [-1] * len(crowd)
    cycle = [0] * len(crowd)
    n_cycles = 0
    for first in range(len(crowd)):
        if colour[first] >= 0:
            continue
        edge, shade = first, 0
        while colour[edge] < 0:
            colour[edge], cycle[edge] = shade, n_cycles
            edge = beside[shade][edge]
            shade = 1 - shade
        n_cycles += 1
    chosen = coins.uniform(turn, n_cycles) < 0.5
    return np.asarray(np.array(colour) == chosen[np.array(cycle, dtype=np.int64)])


def _paired(vertex: IntArray, lots: npt.NDArray[np.uint64]) -> IntArray:
    """Return, for every edge, the one that lots pair it with at its vertex, of which each has an even number."""
    order = np.lexsort((lots, vertex))
    partner = np.empty(len(vertex), dtype=np.int64)
    partner[order[0::2]], partner[order[1::2]] = order[1::2], order[0::2]
    return partner
