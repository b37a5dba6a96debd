"""Pair error: how far counts of pairs of values in the release are from the original.

Every quasi-identifier is cut into at most 10 bins of neighboring codes. For each pair of columns, the error is the
total variation distance between the original's joint distribution and the one that the release suggests, where a
class is spread evenly over the values that its cells cover: 0 if all counts agree, 1 if none does. The measure is the
mean over the pairs, or over ``pairs`` randomly drawn ones if there are more. Suppressed records are missing from
the release's counts. A record counts by its survey weight, if there are weights.

References
----------
The two-column case of NIST's k-marginal score: C. Task, K. Bhagat, G. Howarth, "SDNist v2", 2023.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np

from hushtable import rng
from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.params import AtLeast
from hushtable.utility.base import Comparison, Measure

_BINS = 10


@dataclass(frozen=True)
class PairError(Measure):
    """Mean distance between counts of pairs of values, before and after.

    Parameters
    ----------
    pairs : int
        Maximum number of pairs of columns to compare.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> PairError().compute(example())
    0.4
    """

    pairs: Annotated[int, AtLeast(1), "maximum number of pairs of columns"] = 50

    name: ClassVar[str] = "pair-error"
    default: ClassVar[bool] = False
    weighs: ClassVar[bool] = True

    def compute(self, comparison: Comparison) -> float:
        """Average the distances; NaN if there are no two columns."""
        chosen = _pairs(len(comparison.cells), self.pairs, comparison.seed)
        if not chosen:
            return float("nan")
        bins = [_bins(cells.column.coded.size) for cells in comparison.cells]
        shares = {j: _shares(comparison, j, bins[j]) for j in sorted({j for pair in chosen for j in pair})}
        before = comparison.over_tuples(partial(_joint_counts, chosen, bins)).reshape(len(chosen), _BINS * _BINS)
        classes, lost = comparison.represented
        everybody = float(classes.sum()) + lost
        after = np.array([(shares[a].T @ (shares[b] * classes[:, None])).ravel() for a, b in chosen])
        return float(np.abs(before - after).sum(axis=1).mean() / 2 / everybody + lost / everybody / 2)


def _pairs(columns: int, most: int, seed: int) -> list[tuple[int, int]]:
    found = list(combinations(range(columns), 2))
    if len(found) <= most:
        return found
    order = np.argsort(rng.uniform(seed, "pair-error/pairs", len(found)), kind="stable")
    return [found[i] for i in np.sort(order[:most]).tolist()]


def _bins(size: int) -> IntArray:
    """The bin of every code."""
    return np.arange(size) * min(size, _BINS) // size


def _shares(comparison: Comparison, j: int, bins: IntArray) -> FloatArray:
    """Class by class, the share that the release suggests for each bin of column j."""
    shares = np.zeros((len(comparison.sizes), _BINS))
    for b in range(int(bins[-1]) + 1):
        shares[:, b] = comparison.by_class(j, comparison.cells[j].expected((bins == b).astype(np.int64)))
    return shares


def _joint_counts(
    chosen: Sequence[tuple[int, int]], bins: Sequence[IntArray], columns: Sequence[AnyArray], records: AnyArray
) -> FloatArray:
    binned = {j: bins[j][columns[j]] for j in {j for pair in chosen for j in pair}}
    size = _BINS * _BINS
    return np.concatenate(
        [np.bincount(binned[a] * _BINS + binned[b], weights=records, minlength=size) for a, b in chosen]
    )
