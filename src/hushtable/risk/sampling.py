"""How the table relates to the population it was drawn from, and what that says about a class's population.

Symbols: a class has f people in the table and F in the population; the table is a share pi of the population.

Without a population table F is not known. If everybody is in the table with probability pi, independently, and nothing
is known beforehand about F (a prior proportional to 1 / F), then F given f is negative binomial: the number of
draws until f people are in the table,

    P(F = h | f) = C(h - 1, f - 1) pi^f (1 - pi)^(h - f),   h >= f.

Two things follow. The expected risk of a person in the class is

    E(1 / F | f) = (pi / f) 2F1(1, 1; f + 1; 1 - pi),

which is -pi ln(pi) / (1 - pi) for f = 1 and 1 / f for pi = 1. And the chance that fewer than k people of the population
are in the class is that of f or more of k - 1 people being in the table.

References
----------
R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data dissemination", 1998;
A. Capobianchi, S. Polettini, M. Lucarelli, "Strategy for the implementation of individual risk methodology into
mu-ARGUS", 2001.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.params import Between
from hushtable.risk.base import Exposure

__all__ = ["Fraction", "Sampling", "expected_risk", "fewer_than"]

Fraction = Annotated[
    float | None,
    Between(0, 1, closed="right"),
    "share of the population that is in the table; left out, the population table's, or 1 where there is none",
]


_SMALL = 40


@dataclass(frozen=True)
class Sampling:
    """The population behind a table.

    Attributes
    ----------
    basis : str
        ``population table``: classes are counted in it. ``sampling fraction``: they are estimated. ``table``: the
        table is taken for the whole population, the worst case, because nothing else is known.
    fraction : float
        Share of the population that is in the table.
    population : int
        People in the population.

    Examples
    --------
    >>> Sampling.of(Exposure.of({"age": [30, 31]}), 0.1)
    Sampling(basis='sampling fraction', fraction=0.1, population=20)
    >>> Sampling.of(Exposure.of({"age": [30, 31]}), None)
    Sampling(basis='table', fraction=1.0, population=2)
    """

    basis: str
    fraction: float
    population: int

    @classmethod
    def of(cls, exposure: Exposure, fraction: float | None) -> Sampling:
        """Take the given fraction, or the population table, or the table itself, in this order."""
        people = exposure.people
        if fraction is not None:
            return cls("sampling fraction", fraction, max(round(people / fraction), 1))
        size = exposure.population_size
        if exposure.population is not None and size:
            # whoever is in the table is in the population, whatever its table says
            size = max(size, round(people))
            return cls("population table", min(people / size, 1.0), size)
        return cls("table", 1.0, max(round(people), 1))

    def counted(self, exposure: Exposure) -> FloatArray | None:
        """Return F of each class where it is known: from the population table, or from the table itself."""
        if self.basis == "population table" and exposure.population is not None:
            return np.maximum(exposure.population.astype(np.float64), np.maximum(exposure.counts, 1.0))
        return np.maximum(exposure.counts, 1.0) if self.basis == "table" else None


def expected_risk(sizes: IntArray, fraction: float) -> FloatArray:
    """E(1 / F | f) for classes of ``sizes`` people.

    Examples
    --------
    >>> expected_risk(np.array([1, 2]), 1.0).tolist()
    [1.0, 0.5]
    >>> round(float(expected_risk(np.array([1]), 0.1)[0]), 4)
    0.2558
    """
    distinct, place = np.unique(sizes, return_inverse=True)
    risk = np.empty(len(distinct))
    small = distinct <= _SMALL
    risk[small] = _small_classes(fraction)[distinct[small] - 1]
    risk[~small] = _by_series(distinct[~small].astype(np.float64), fraction)
    return np.asarray(np.minimum(risk, 1.0 / distinct)[place])


def _by_series(f: FloatArray, pi: float) -> FloatArray:
    """The hypergeometric series; its terms fall below 4^-f after f of them, so large classes need few."""
    term = np.ones(len(f))
    total = term.copy()
    for k in range(2 * _SMALL):
        term *= (k + 1) * (1 - pi) / (f + 1 + k)
        total += term
    return np.asarray(pi / f * total)


def _small_classes(pi: float) -> FloatArray:
    """E(1 / F | f) for f = 1, 2, ...: neighbours are related by E_f = 1 / f - (1 - pi) / pi E_(f+1).

    Taken upwards or downwards, whichever makes errors shrink. (SciPy's hyp2f1 fails for some of these.)
    """
    risk = np.empty(_SMALL)
    odds = (1 - pi) / pi
    if pi <= 0.5:
        risk[0] = -math.log(pi) / odds
        for f in range(1, _SMALL):
            risk[f] = (1 / f - risk[f - 1]) / odds
    else:
        risk[-1] = _by_series(np.array([float(_SMALL)]), pi)[0]
        for f in range(_SMALL - 1, 0, -1):
            risk[f - 1] = 1 / f - odds * risk[f]
    return risk


def fewer_than(k: int, sizes: IntArray, fraction: float) -> FloatArray:
    """P(F < k | f) for classes of ``sizes`` people: at least f of k - 1 people are in the table.

    Examples
    --------
    >>> fewer_than(2, np.array([1, 2]), 0.25).tolist()
    [0.25, 0.0]
    """
    from scipy.special import bdtrc

    distinct, place = np.unique(sizes, return_inverse=True)
    chance = np.zeros(len(distinct))
    small = distinct < k
    chance[small] = bdtrc(distinct[small].astype(np.float64) - 1, k - 1, fraction)
    return np.asarray(chance[place], dtype=np.float64)
