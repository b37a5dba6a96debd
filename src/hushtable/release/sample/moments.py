"""Means and covariances of groups of records, and records drawn from them.

A group is drawn from as Aggarwal and Yu do: evenly along each eigenvector of its covariance, as far to both sides as
gives the variance there. An even draw ends, unlike a normal one: no value lies further from the mean than sqrt(3 d)
standard deviations of d columns, so nothing has to be cut off at a bound, which would be somebody's value.

Eigenvectors are those of the correlations, so units do not matter. They come from Jacobi rotations in plain arithmetic,
group by group: the same bits on every machine, which LAPACK does not promise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray

__all__ = ["DOMINANT", "Moments", "eigen", "moments_of"]

DOMINANT = 0.5
"""If one record makes up more than this share of a group's variance in any direction, columns are drawn apart."""

_SWEEPS = 60
_NOTHING = 1e-16
_FLAT = 1e-9
"""A share of the variance that counts as none: rounding leaves as much."""


@dataclass(frozen=True)
class Moments:
    """What groups of records are summarised by.

    Attributes
    ----------
    means, spreads : float arrays, groups x columns
        Means and standard deviations (divided by n).
    values : float array, groups x columns
        Eigenvalues of the correlations.
    vectors : float array, groups x columns x columns
        Eigenvectors, one in each column of the matrix.
    apart : bool array
        Groups of which covariances are not used: each column is drawn by itself.
    """

    means: FloatArray
    spreads: FloatArray
    values: FloatArray
    vectors: FloatArray
    apart: BoolArray

    def drawn(self, labels: IntArray, luck: FloatArray) -> FloatArray:
        """Return a record for every label.

        Parameters
        ----------
        labels : int64 array
            Group numbers.
        luck : float array, rows x columns
            From 0 up to, but not including, 1.

        Examples
        --------
        >>> group = moments_of(np.array([[1.0], [3.0]]), np.array([0, 2]))
        >>> group.drawn(np.array([0, 0]), np.array([[0.5], [0.0]])).round(4).tolist()
        [[2.0], [0.2679]]
        """
        # even on [-sqrt(3 v), sqrt(3 v)): the variance is v
        steps = np.sqrt(3.0 * self.values)[labels] * (2.0 * luck - 1.0)
        away = _turned(self.vectors.swapaxes(1, 2), labels, steps)
        return np.asarray(self.means[labels] + self.spreads[labels] * away)


def moments_of(records: FloatArray, offsets: IntArray) -> Moments:
    """Return the moments of groups.

    Parameters
    ----------
    records : float array, rows x columns
        Group by group, in an order that follows from the values.
    offsets : int64 array
        Where each group begins, and the end. No group is empty.

    Examples
    --------
    >>> cross = np.repeat([[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]], 2, axis=0)
    >>> found = moments_of(cross, np.array([0, 8]))
    >>> found.means.tolist(), (found.spreads**2).round(4).tolist(), found.values.round(4).tolist()
    ([[0.0, 0.0]], [[2.5, 2.5]], [[0.4, 1.6]])
    """
    start, sizes = offsets[:-1], np.diff(offsets)[:, None]
    labels = np.repeat(np.arange(len(start)), sizes[:, 0])
    low, high = np.minimum.reduceat(records, start), np.maximum.reduceat(records, start)
    # a mean of equal values may differ from them by rounding
    means = np.where(low == high, low, np.add.reduceat(records / sizes[labels], start))
    away = records - means[labels]
    most = np.maximum.reduceat(np.abs(away), start)
    unit = np.where(most > 0, most, 1.0)
    away = away / unit[labels]
    spreads = np.sqrt(np.add.reduceat(away * away, start) / sizes)
    standard = away / np.where(spreads > 0, spreads, 1.0)[labels]
    n_columns = records.shape[1]
    correlations = np.empty((len(start), n_columns, n_columns))
    for i in range(n_columns):
        for j in range(i + 1):
            both = np.add.reduceat(standard[:, i] * standard[:, j], start) / sizes[:, 0]
            correlations[:, i, j] = correlations[:, j, i] = np.where(spreads[:, i] > 0, both, 1.0) if i == j else both
    values, vectors = eigen(correlations)
    apart = _dominated(standard, labels, start, values, vectors)
    return Moments(
        means,
        unit * spreads,
        np.where(apart[:, None], 1.0, values),
        np.where(apart[:, None, None], np.eye(n_columns), vectors),
        apart,
    )


def _dominated(
    standard: FloatArray, labels: IntArray, start: IntArray, values: FloatArray, vectors: FloatArray
) -> BoolArray:
    """Which groups have a direction that hardly anybody varies in, or of whose variance one record has most.

    Drawn records would lie on a line or plane that passes through that record: whoever knows all of its values but one
    could read the last one off. The largest share of a record in any direction is its leverage without the mean.
    """
    flat = values.min(axis=1) <= _FLAT
    along = _turned(vectors, labels, standard)
    sizes = np.bincount(labels)[labels]
    shares = (along * along / np.maximum(values, _FLAT)[labels]).sum(axis=1) / sizes
    return np.asarray(flat | (np.maximum.reduceat(shares, start) > DOMINANT))


def _turned(matrices: FloatArray, labels: IntArray, rows: FloatArray) -> FloatArray:
    """Each row times the matrix of its group, summed in the order of the columns."""
    out = np.zeros_like(rows)
    for i in range(rows.shape[1]):
        out += rows[:, i, None] * matrices[labels, i]
    return out


def eigen(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues and eigenvectors of symmetric matrices, by Jacobi rotations of all of them at once.

    A matrix that is done is not turned any more, so what it gives does not depend on the others.

    Examples
    --------
    >>> values, vectors = eigen(np.array([[[2.0, 1.0], [1.0, 2.0]]]))
    >>> values.round(6).tolist(), np.abs(vectors).round(4).tolist()
    ([[1.0, 3.0]], [[[0.7071, 0.7071], [0.7071, 0.7071]]])
    """
    turned, size = matrices.copy(), matrices.shape[1]
    vectors = np.broadcast_to(np.eye(size), turned.shape).copy()
    upper = np.triu_indices(size, 1)
    for _ in range(_SWEEPS):
        if not np.any(np.abs(turned[:, upper[0], upper[1]]) > _NOTHING):
            break
        for p, q in zip(*upper, strict=True):
            _rotate(turned, vectors, int(p), int(q))
    values = np.maximum(np.einsum("gii->gi", turned), 0.0)
    return values, vectors


def _rotate(turned: FloatArray, vectors: FloatArray, p: int, q: int) -> None:
    """Turn columns p and q, so that what they have in common becomes 0."""
    common = turned[:, p, q]
    open_ = np.abs(common) > _NOTHING
    ratio = (turned[:, q, q] - turned[:, p, p]) / np.where(open_, 2.0 * common, 1.0)
    tangent = np.where(open_, np.where(ratio < 0, -1.0, 1.0) / (np.abs(ratio) + np.sqrt(ratio * ratio + 1.0)), 0.0)
    cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
    sine = (tangent * cosine)[:, None]
    cosine = cosine[:, None]
    for matrix in (turned, turned.swapaxes(1, 2), vectors):
        left, right = matrix[:, :, p].copy(), matrix[:, :, q].copy()
        matrix[:, :, p] = cosine * left - sine * right
        matrix[:, :, q] = sine * left + cosine * right
    turned[open_, p, q] = turned[open_, q, p] = 0.0
