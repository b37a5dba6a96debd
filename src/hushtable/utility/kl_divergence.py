"""KL divergence: how surprised by the original is somebody who only knows the release.

KL = sum over the distinct original tuples t of ``p(t) log2(p(t) / q(t))``, in bits. ``p(t)`` is the share of
original records with the quasi-identifiers t. ``q`` spreads each class evenly over the combinations of leaves that
its cells cover: ``q(t) = sum over the classes G that cover t of (|G| / N) x product over columns of 1 /
leaves_j(G)``, plus, for suppressed records, ``(suppressed / N) x product of 1 / D_j``. Every class that covers t
counts, not only those t was put into, and the result is exact: an untouched table gives 0. Survey weights, if there are
any, count in place of records.
Its work grows with the number of pairs of a class and a tuple that it covers, so it is no part of a summary.

References
----------
D. Kifer, J. Gehrke, "Injecting utility into anonymized datasets", 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.release.forms.base import Cells
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
    weighs: ClassVar[bool] = True

    def compute(self, comparison: Comparison) -> float:
        """Add up probabilities as logarithms: products over many columns would underflow."""
        # columns whose cells are narrow first: fewer classes have to be followed down
        order = np.argsort(ncp_of_columns(comparison), kind="stable").tolist()
        cells = [comparison.cells[j] for j in order]
        real = np.flatnonzero(comparison.sizes)
        classes, left_out = comparison.represented
        everybody = float(classes.sum()) + left_out
        weight = np.log2(classes[real] / everybody)
        for j in order:
            weight -= np.log2(comparison.by_class(j, comparison.cells[j].leaves)[real])
        lost = float("-inf")
        if comparison.n_suppressed:
            lost = np.log2(left_out / everybody)
            lost -= sum(float(np.log2(c.column.coded.size)) for c in cells)
        of_class = [comparison.by_class(j, np.arange(len(comparison.cells[j])))[real] for j in order]
        divergence = partial(_divergence, everybody, order, cells, of_class, weight, lost)
        # rounding may leave a hair below 0
        return max(float(comparison.over_tuples(divergence)[0]), 0.0)


def _divergence(
    everybody: float,
    order: Sequence[int],
    cells: Sequence[Cells],
    of_class: Sequence[IntArray],
    weight: FloatArray,
    lost: float,
    columns: Sequence[AnyArray],
    records: AnyArray,
) -> FloatArray:
    """Return the sum over some tuples."""
    trie = Trie.of([columns[j] for j in order], [c.column.coded.size for c in cells])
    p = np.empty(len(records))
    p[trie.numbers] = records / everybody
    q = np.full(len(p), lost)
    for group, row in covered_tuples(trie, cells, of_class):
        np.logaddexp2.at(q, row, weight[group])
    return np.array([(p * (np.log2(p) - q)).sum()])
