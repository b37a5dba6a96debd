"""Non-uniform entropy: the bits that generalization removed; rare values carry more of them than common ones.

E = sum over records i and columns j of ``-log2(n(v_ij) / n(c_ij))``, where ``n(v)`` is how many original records
have the original value v, and ``n(c)`` how many have a value that the published cell c covers. A suppressed cell
covers the whole table, ``n = N``. Divided by the same sum with everything suppressed (N times the sum of the
columns' entropies), it ranges from 0 to 1; a table of constant columns has nothing to lose: 0.

References
----------
A. de Waal, L. Willenborg, "Information loss through global recoding and local suppression", 1999; A. Gionis, T.
Tassa, "k-anonymization with minimal loss of information", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.table.losses import lost_bits
from hushtable.utility.base import Comparison, Measure


@dataclass(frozen=True)
class NonUniformEntropy(Measure):
    """Share of the original's bits that is lost.

    Parameters
    ----------
    bits : bool
        Whether to return the number of bits instead of the share.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> round(NonUniformEntropy(bits=True).compute(example()), 4)  # age: 4 x 1 + log2(5); city: 2 x 1 + log2(5/3)
    9.0589
    >>> round(NonUniformEntropy().compute(example()), 4)
    0.4906
    """

    bits: Annotated[bool, "number of bits instead of the share of all"] = False

    name: ClassVar[str] = "non-uniform-entropy"

    def compute(self, comparison: Comparison) -> float:
        """Add bits value by value, so that an unchanged table gives exactly 0."""
        n, removed, everything = comparison.n, 0.0, 0.0
        for j, cells in enumerate(comparison.cells):
            values = comparison.values(j)
            counts = values.counts(cells.column.coded.size)
            # the last entry serves cell -1: suppressed
            published = np.append(cells.covered(counts), n)[values.cell]
            # sorted, so that the sum does not depend on the order of the classes
            removed += float(np.sort(values.records * lost_bits(published, counts[values.code])).sum())
            everything += float((counts * lost_bits(np.full(len(counts), n), counts)).sum())
        if self.bits:
            return removed
        return removed / everything if everything > 0 else 0.0
