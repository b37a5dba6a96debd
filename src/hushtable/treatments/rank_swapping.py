"""Rank swapping: values are swapped with others of nearly the same rank.

Records are sorted by the column, ties in a secret order. Starting with the lowest, each record that has not been
swapped yet is swapped with another such record whose rank is higher by at most ``window`` of all records. So every
value occurs as often as before, and no record's value moves by more than that share of the ranks. If all records in the
window have been swapped already, the record keeps its value.

References
----------
R. Moore, "Controlled data-swapping techniques for masking public use microdata sets", 1996.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.params import Between
from hushtable.schema.columns import Kind
from hushtable.treatments.base import Given, Treatment


@dataclass(frozen=True)
class RankSwapping(Treatment):
    """Swaps values with others of nearly the same rank.

    Parameters
    ----------
    window : float

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"age": [30, 30, 60, 60], "pay": [1, 2, 3, 4]})
    >>> policy = ht.Policy(quasi=["age"], insensitive={"pay": {"treatment": ht.RankSwapping(window=0.3)}},
    ...                    models=[ht.KAnonymity(k=2)])
    >>> sorted(ht.anonymize(table, policy).frame["pay"].to_pylist())
    [1, 2, 3, 4]
    """

    window: Annotated[float, Between(0, 1, closed="right"), "largest distance of ranks, as a share of all records"] = (
        0.05
    )

    name: ClassVar[str] = "rank-swapping"
    promise: ClassVar[str] = "Guarantees nothing: a published value may be the record's own, and is always near it."
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC, Kind.ORDINAL, Kind.DATE})

    def treat(self, given: Given) -> pa.Array:
        """Swap along the ranks."""
        codes, rows = given.codes, given.valid
        lots = given.coins.words("ties", len(rows))
        ranked = rows[np.lexsort((lots, codes[rows]))]
        partner = swap_ranks(max(math.ceil(self.window * len(rows)), 1), given.coins.uniform("partner", len(rows)))
        out = codes.copy()
        out[ranked] = codes[ranked][partner]
        return given.chosen(out)


def swap_ranks(window: int, luck: np.typing.NDArray[np.float64]) -> IntArray:
    """Return the rank that each rank is swapped with; its own if it is not swapped.

    Parameters
    ----------
    window : int
    luck : float64 array
        A number from [0, 1) for each rank.

    Examples
    --------
    >>> swap_ranks(1, np.array([0.1, 0.9, 0.5, 0.5, 0.0])).tolist()
    [1, 0, 3, 2, 4]
    """
    n = len(luck)
    partner = list(range(n))
    free = list(range(n + 1))  # the next rank from here on that has not swapped, as far as known

    def next_free(rank: int) -> int:
        found = rank
        while free[found] != found:
            found = free[found]
        while free[rank] != found:
            free[rank], rank = found, free[rank]
        return found

    for rank, chance in enumerate(luck.tolist()):
        if free[rank] != rank:
            continue
        free[rank] = rank + 1
        room = min(window, n - 1 - rank)
        found = next_free(rank + 1 + min(int(chance * room), max(room - 1, 0)))
        if found > rank + room:
            found = next_free(rank + 1)
        if found <= rank + room:
            partner[rank], partner[found], free[found] = found, rank, found + 1
    return np.array(partner, dtype=np.int64)
