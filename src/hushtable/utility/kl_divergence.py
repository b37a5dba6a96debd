"""KL divergence: how surprised by the original is somebody who only knows the release.

KL = sum over the distinct original tuples t of ``p(t) log2(p(t) / q(t))``, in bits. ``p(t)`` is the share of
original records with the quasi-identifiers t. ``q`` spreads each class evenly over the combinations of leaves that
its cells cover: ``q(t) = sum over the classes G that cover t of (|G| / N) x product over columns of 1 /
leaves_j(G)``, plus, for suppressed records, ``(suppressed / N) x product of 1 / D_j``. Every class that covers t
counts, not only those t was put into, and the result is exact: an untouched table gives 0.
Its work grows with the number of pairs of a class and a tuple that it covers, so it is no part of a summary.

References
----------
D. Kifer, J. Gehrke, "Injecting utility into anonymized datasets", 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.utility.base import Comparison, Measure
from hushtable.utility.ncp import ncp_of_columns
from hushtable.utility.trie import Trie, covered_tuples

__all__ = ["KLDivergence"]


@dataclass(frozen=True)
class KLDivergence(Measure):
    """Bits per record lost between the original's joint distribution and the one that the release suggests.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> round(KLDivergence().compute(example()), 4)  # q: 2/5 x 1/4 and 2/5 x 1/2, each + 1/5 x 1/15; 1/5 x 1/15
    1.0719
    """

    name: ClassVar[str] = "kl-divergence"
    default: ClassVar[bool] = False

    def compute(self, comparison: Comparison) -> float:
        """Add up probabilities as logarithms: products over many columns would underflow."""
        # columns whose cells are narrow first: fewer classes have to be followed down
        order = np.argsort(ncp_of_columns(comparison), kind="stable")
        cells = [comparison.cells[j] for j in order]
        trie = Trie.of([c.column.codes[: comparison.n] for c in cells], [c.column.coded.size for c in cells])
        p = np.bincount(trie.numbers) / comparison.n
        real = np.flatnonzero(comparison.sizes)
        weight = np.full(len(comparison.sizes), -np.inf)
        weight[real] = np.log2(comparison.sizes[real] / comparison.n)
        for c in cells:
            weight[real] -= np.log2(c.leaves[real])
        q = np.full(len(p), -np.inf)
        if comparison.n_suppressed:
            domain = sum(float(np.log2(c.column.coded.size)) for c in cells)
            q[:] = np.log2(comparison.n_suppressed / comparison.n) - domain
        for group, row in covered_tuples(trie, cells, real):
            np.logaddexp2.at(q, row, weight[group])
        # rounding may leave a hair below 0
        return max(float((p * (np.log2(p) - q)).sum()), 0.0)
