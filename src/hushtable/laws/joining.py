"""The relation of a table to the population it was drawn from, and the population size of a class.

Symbols: a class has f people in the table and F in the population; the table has n of the N people, pi = n / N.

Without a population table, F is not known, and f / pi is a poor guess: a person who is unique in a sparse table is
often unique in the population. So Pitman's random partition is fitted to the class sizes of the table (see
``laws/pitman.py``) and continued from n to N people. The people who join a class of f are then, for n and N large,
negative binomial:

    F - f given f has shape r = f - alpha and success probability p = (theta + n) / (theta + N).

With alpha = theta = 0 this is the law of mu-ARGUS, which knows pi but not how sparse the table is: on a tenth of Adult
it states a third of the true marketer risk, the fitted law more than nine tenths. Three things follow:

    E(F | f) = f + (f - alpha)(1 - p) / p,
    E(1 / F | f) = (p / f) 2F1(1, 1 + alpha; f + 1; 1 - p),
    P(F < k | f) = I_p(f - alpha, k - f),  the regularized incomplete beta function.

Survey weights give the size N of the population (their sum) and, for a class of f people, the number that the class
represents: with F^ the sum of its weights, p = f / F^ and alpha = 0 this is the individual risk of Benedetti and
Franconi (see ``risk/individual.py``).

If everybody in the table is unique, alpha is 1: uniques of the table count as uniques of the population.

References
----------
N. Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", 2001; R. Benedetti,
L. Franconi, "Statistical and technological solutions for controlled data dissemination", 1998 (alpha = theta = 0).
"""

from __future__ import annotations

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.laws.frequencies import Frequencies
from hushtable.laws.pitman import fit

_SMALL = 40


def continued(table: Frequencies, fraction: float) -> tuple[float, float]:
    """Return alpha and p of the law of F given f, fitted to a table that is ``fraction`` of the population."""
    n = table.people
    population = max(n / fraction, n)
    if table.classes == n:
        return 1.0, n / population
    theta, alpha = fit(table)
    return alpha, (theta + n) / (theta + population)


def register_risk(
    units: IntArray, unit: int, population: IntArray | None = None, fraction: float | None = None
) -> FloatArray:
    """Return 1 / F of each class, or its expectation if only the ``fraction`` of the population is known.

    F is at least the people of the class, and at least 1. Without either input, it is the people of the class.

    Examples
    --------
    >>> register_risk(np.array([1, 2]), 1, population=np.array([4, 1])).tolist()
    [0.25, 0.5]
    """
    if fraction is not None:
        law = continued(Frequencies.of_units(units, unit), fraction)
        return expected_risk(np.maximum(units // unit, 1), *law)
    people = np.maximum(units / unit, 1.0)
    return np.asarray(1.0 / (people if population is None else np.maximum(population, people)))


def expected_risk(sizes: IntArray, alpha: float, p: float | FloatArray) -> FloatArray:
    """E(1 / F | f) for classes of ``sizes`` people.

    Examples
    --------
    >>> expected_risk(np.array([1, 2]), 0.5, 1.0).tolist()
    [1.0, 0.5]
    >>> [round(float(expected_risk(np.array([1]), alpha, 0.1)[0]), 4) for alpha in (0.0, 0.5, 1.0)]
    [0.2558, 0.4805, 1.0]
    """
    if not isinstance(p, np.ndarray):
        distinct, place = np.unique(sizes, return_inverse=True)
        return expected_risk(distinct, alpha, np.full(len(distinct), p))[place]
    f = sizes.astype(np.float64)
    risk = np.empty(len(f))
    small = (f <= _SMALL) & (p <= 0.5)
    risk[small] = _small_classes(sizes[small], alpha, p[small])
    risk[~small] = _by_series(f[~small], alpha, p[~small])
    return np.asarray(np.clip(risk, 0.0, 1.0 / f))


def _by_series(f: FloatArray, alpha: float, p: FloatArray) -> FloatArray:
    """Return the hypergeometric series; terms soon fall below 4^-f or 2^-k, so large classes need few."""
    term = np.ones(len(f))
    total = term.copy()
    for k in range(2 * _SMALL):
        term *= (k + 1 + alpha) * (1 - p) / (f + 1 + k)
        total += term
    return np.asarray(p / f * total)


def _small_classes(sizes: IntArray, alpha: float, p: FloatArray) -> FloatArray:
    """From the closed form of f = 1 upward: f E_f = 1 - (f - alpha)(1 - p) / p E_(f+1).

    For p <= 1/2 errors shrink from each f to the next. (SciPy's hyp2f1 fails for some of these.)
    """
    odds, logs = (1 - p) / p, -np.log(p)
    # (p^-alpha - 1) / alpha, and its limit -ln(p)
    one = (np.expm1(alpha * logs) / alpha if alpha else logs) / odds
    found = np.where(sizes == 1, one, 0.0)
    for f in range(1, int(sizes.max(initial=1))):
        one = (1 - f * one) / (odds * (f - alpha)) if f > alpha else (logs / (1 - p) - 1) / odds
        found = np.where(sizes == f + 1, one, found)
    return np.asarray(found)


def fewer_than(k: int, sizes: IntArray, alpha: float, p: float) -> FloatArray:
    """P(F < k | f) for classes of ``sizes`` people.

    Examples
    --------
    >>> fewer_than(2, np.array([1, 2]), 0.0, 0.25).tolist()
    [0.25, 0.0]
    """
    from scipy.special import betainc

    distinct, place = np.unique(sizes, return_inverse=True)
    f = distinct.astype(np.float64)
    chance = np.zeros(len(distinct))
    small = f < k
    # a class that nobody joins: all its law is on F = f
    shape = np.maximum(f[small] - alpha, 1e-300)
    chance[small] = betainc(shape, k - f[small], p)
    return np.asarray(chance[place])


def any_member_found(risk: FloatArray, household: IntArray) -> FloatArray:
    """1 - product of (1 - r) over the members of each household, numbered from 0.

    Examples
    --------
    >>> any_member_found(np.array([0.5, 0.5, 0.2]), np.array([0, 0, 1])).round(2).tolist()
    [0.75, 0.2]
    """
    with np.errstate(divide="ignore"):
        kept = np.log1p(-np.minimum(risk, 1.0))
    return np.asarray(-np.expm1(np.bincount(household, np.maximum(kept, -800.0))))
