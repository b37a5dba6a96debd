"""Association of columns before and after: Cramér's V over the columns' bins.

After anonymization, the joint distribution is the one that an analyst would take from the release: classes are spread
evenly over the values that their cells cover. If sensitive values are linked to people only by group, each value of a
group may belong to anyone in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.report.content.utility import Association
from hushtable.report.gather.bins import Bins

__all__ = ["Binned", "associations", "cramers_v"]


@dataclass(frozen=True)
class Binned:
    """A column in bins, before and after.

    Attributes
    ----------
    name : str
    bins : Bins
    before : int64 array
        The bin of every input record; -1 if it is not shown.
    shares : float array, optional
        Share of each class in each bin of a quasi-identifier. None if records keep their value.
    """

    name: str
    bins: Bins
    before: IntArray
    shares: FloatArray | None = None


def associations(
    columns: Sequence[Binned], labels: IntArray, sizes: IntArray, groups: IntArray | None
) -> tuple[Association, ...]:
    """Compare every pair of columns that has at least two bins each.

    Parameters
    ----------
    columns : sequence of Binned
    labels : int64 array
        The class of every input record; -1 for suppressed ones.
    sizes : int64 array
        Records of each class.
    groups : int64 array, optional
        Group in which the sensitive values of every input record are hidden, if there are such groups.
    """
    usable = [c for c in columns if len(c.bins) > 1]
    return tuple(
        Association(
            columns=(a.name, b.name),
            before=round(cramers_v(_joint(a.before, len(a.bins), b.before, len(b.bins))), 4),
            after=round(cramers_v(_after(a, b, labels, sizes, groups)), 4),
        )
        for a, b in itertools.combinations(usable, 2)
    )


def cramers_v(table: FloatArray) -> float:
    """Cramér's V of a contingency table: 0 for independence, 1 if one column determines the other.

    Examples
    --------
    >>> cramers_v(np.array([[5.0, 0.0], [0.0, 5.0]])), cramers_v(np.array([[4.0, 4.0], [1.0, 1.0]]))
    (1.0, 0.0)
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return 0.0
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    chi2 = float(((table - expected) ** 2 / expected).sum())
    return min(float(np.sqrt(max(chi2, 0.0) / (n * least))), 1.0)


def _joint(a: IntArray, n_a: int, b: IntArray, n_b: int) -> FloatArray:
    both = (a >= 0) & (b >= 0)
    return np.bincount(a[both] * n_b + b[both], minlength=n_a * n_b).reshape(n_a, n_b).astype(np.float64)


def _after(a: Binned, b: Binned, labels: IntArray, sizes: IntArray, groups: IntArray | None) -> FloatArray:
    kept = labels >= 0
    if a.shares is None and b.shares is None:
        return _joint(a.before[kept], len(a.bins), b.before[kept], len(b.bins))
    if a.shares is not None and b.shares is not None:
        return np.asarray(a.shares.T @ (b.shares * sizes[:, None]))
    if b.shares is not None:
        return _after(b, a, labels, sizes, groups).T
    if groups is None:
        counts = _joint(labels[kept], len(sizes), b.before[kept], len(b.bins))
        return np.asarray(a.shares.T @ counts)  # type: ignore[union-attr]
    n = int(groups.max()) + 1
    own = _joint(groups[kept], n, a.before[kept], len(a.bins))
    other = _joint(groups[kept], n, b.before[kept], len(b.bins))
    members = np.maximum(np.bincount(groups[kept], minlength=n), 1)
    return np.asarray(own.T @ (other / members[:, None]))
