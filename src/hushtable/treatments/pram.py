"""PRAM: each value is kept with a known probability, and otherwise drawn again.

With probability ``keep``, a record publishes its own value; otherwise, one that is drawn from the column's values,
including its own: uniformly, or with ``invariant`` in proportion to their frequencies. In matrix form P = keep I +
(1 - keep) 1 q', with q uniform or equal to the observed shares t; then t P = t, so counts are preserved in expectation
and tables need no correction. (Gouweleeuw et al. build an invariant matrix from any matrix in two stages; this one is
invariant already.) With ``within``, all of this happens inside each stratum.

Promise: without ``invariant`` and for m values, any published value is at most 1 + keep m / (1 - keep) times
as likely under one true value as under another. That is local differential privacy of this column alone, given the
values that occur; other columns may still reveal the true value.

References
----------
J. Gouweleeuw, P. Kooiman, L. Willenborg, P.-P. de Wolf, "Post randomisation for statistical disclosure control: theory
and implementation", 1998.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.params import Between
from hushtable.treatments.base import Given, Treatment


@dataclass(frozen=True)
class Pram(Treatment):
    """Keeps each value with a known probability, and otherwise draws another one.

    Parameters
    ----------
    keep : float
    invariant : bool
    within : tuple of str

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"age": [30, 30, 60, 60], "job": ["baker", "smith", "baker", "smith"]})
    >>> policy = ht.Policy(quasi=["age"], insensitive={"job": {"treatment": ht.Pram(keep=0.5)}},
    ...                    models=[ht.KAnonymity(k=2)])
    >>> set(ht.anonymize(table, policy).frame["job"].to_pylist()) <= {"baker", "smith"}
    True
    """

    keep: Annotated[float, Between(0, 1, closed="left"), "probability that a value is kept without a draw"] = 0.8
    invariant: Annotated[
        bool, "whether values are drawn in proportion to their frequencies, which preserves counts"
    ] = False
    within: Annotated[tuple[str, ...], "columns whose combinations are treated separately"] = ()

    name: ClassVar[str] = "pram"
    promise: ClassVar[str] = (
        "Any published value of the column's m values is at most 1 + keep m / (1 - keep) times as likely under one "
        "true value as under another, unless other columns reveal it. With 'invariant', nothing is guaranteed."
    )

    def reads(self, entity: str | None) -> tuple[str, ...]:
        """Return the strata's columns."""
        return self.within

    def treat(self, given: Given) -> pa.Array:
        """Keep or draw."""
        codes, strata = given.codes, given.strata(self.within)
        picked = _draw_values(given, codes, strata, self.invariant)
        kept = (given.uniform("keep") < self.keep) | (codes < 0)
        return given.chosen(np.where(kept, codes, picked))


def _draw_values(given: Given, codes: IntArray, strata: IntArray, weighted: bool) -> IntArray:
    """Return a value of each row's stratum, drawn uniformly or by frequency."""
    rows = given.valid
    if not len(rows):
        return codes
    size = len(given.column.values)
    pairs, counts = np.unique(strata[rows] * size + codes[rows], return_counts=True)
    ends = np.cumsum(counts if weighted else np.ones(len(pairs), dtype=np.int64))
    owner = pairs // size
    first = np.searchsorted(owner, strata)
    last = np.searchsorted(owner, strata, side="right")
    begin = np.append(0, ends)[first]
    place = np.searchsorted(ends, begin + given.below("draw", np.append(0, ends)[last] - begin), side="right")
    return np.asarray(pairs[np.minimum(place, len(pairs) - 1)] % size, dtype=np.int64)
