"""Individual risk, as defined in official statistics.

The adversary has a register of the population, and the table is a sample of it with survey weights. A class has f
people in the table and F in the population; F is not known, but the weights of the class estimate it: F^ = sum of w.
Benedetti and Franconi take F given f as negative binomial with f successes of probability p = f / F^, so, with
q = 1 - p,

    r = E(1 / F | f) = (p^f / f) 2F1(f, f; f + 1; q) = (p / f) 2F1(1, 1; f + 1; q),

with closed forms for small classes: -ln(p) p / q for f = 1, and p / q + ln(p) (p / q)^2 for f = 2. The first form of
the series breaks down for small p; the second, which Euler's transformation gives, does not (see
``laws/joining.py``). Weights below 1 on average represent fewer people than there are records: p is then 1, and
r = 1 / f.

The global risk is the sum of r over all people of the table: the expected number of re-identified people.
``stands_out`` is sdcMicro's count of people whose risk is above 0.1 and above the median by two median absolute
deviations, twice: "higher than the main part of the data".

References
----------
R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data dissemination", 1998;
L. Franconi, S. Polettini, "Individual risk estimation in mu-Argus: a review", 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import UsageError
from hushtable.laws.joining import expected_risk
from hushtable.risk.base import Exposure, Risk
from hushtable.risk.linkage import Comparison, LinkageRisks, Threshold, summarise
from hushtable.risk.sampling import Fraction

_MAIN_PART = 0.1
_CONSISTENT = 1.4826
"""Factor that makes the median absolute deviation estimate a standard deviation, as in R's mad()."""


@dataclass(frozen=True)
class IndividualFinding(LinkageRisks):
    """Individual risks over the people of a table, and their sum.

    Attributes
    ----------
    expected : float
        Expected number of re-identified people: the global risk. ``average`` is their share.
    stands_out : float
        Number of people whose risk is well above that of most.
    population : int
        Size of the population, by the weights or the fraction.
    """

    expected: float
    stands_out: float
    population: int


@dataclass(frozen=True)
class Individual(Risk):
    """Probability of re-identifying a survey respondent through a register, by survey weights; and the expected total.

    Parameters
    ----------
    threshold : float
    comparison : {">", ">="}
    fraction : float, optional
        Share of the population that is in the table, if there are no weights.

    Examples
    --------
    >>> table = Exposure.of({"age": [30, 31, 31]}, weights=[17, 60.5, 49.5])
    >>> found = Individual(threshold=0.1).compute(table)
    >>> round(found.highest, 4), round(found.lowest, 4), round(found.expected, 4)
    (0.1771, 0.0171, 0.2114)
    """

    threshold: Threshold = 0.09
    comparison: Comparison = ">"
    fraction: Fraction = None

    name: ClassVar[str] = "individual"

    def applies(self, exposure: Exposure) -> bool:
        """Whether there are weights, or a fraction instead."""
        return self.fraction is not None or exposure.weighted is not None

    def compute(self, exposure: Exposure) -> IndividualFinding:
        """Assess one table."""
        risk, basis, population = individual_risk(exposure, self.fraction)
        found = summarise(exposure, risk, basis, self.threshold, self.comparison)
        median = _median(risk, exposure.counts)
        spread = _CONSISTENT * _median(np.abs(risk - median), exposure.counts)
        outside = (risk > _MAIN_PART) & (risk > 2 * (median + 2 * spread))
        return IndividualFinding(
            **{name: getattr(found, name) for name in LinkageRisks.__dataclass_fields__},
            expected=found.average * exposure.people,
            stands_out=float(exposure.counts[outside].sum()),
            population=round(population),
        )


def individual_risk(exposure: Exposure, fraction: float | None) -> tuple[FloatArray, str, float]:
    """Return the individual risk of each class, its basis, and the size of the population.

    Examples
    --------
    >>> individual_risk(Exposure.of({"age": [30, 31]}, weights=[8, 5]), None)[0].round(3).tolist()
    [0.297, 0.402]
    """
    whole = np.maximum(exposure.units // exposure.unit, 1)
    if fraction is not None:
        return expected_risk(whole, 0.0, fraction), "sampling fraction", exposure.people / fraction
    if exposure.weighted is None:
        exposure.detailed()  # says where nothing is known of records
        raise UsageError(
            "Individual risk needs survey weights.",
            code="no-weight",
            hint="Give the column of survey weights the role 'weight', or set 'fraction', the share of the "
            "population that is in the table.",
        )
    p = np.minimum(whole / np.maximum(exposure.weighted, 1e-300), 1.0)
    return expected_risk(whole, 0.0, p), "survey weights", float(exposure.weighted.sum())


def _median(values: FloatArray, counts: FloatArray) -> float:
    """Return the median over people; the mean of the middle two if their number is even."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(counts[order])
    half = running[-1] / 2
    low = min(int(np.searchsorted(running, half - 1e-9, side="left")), len(order) - 1)
    high = min(int(np.searchsorted(running, half + 1e-9, side="right")), len(order) - 1)
    return float(values[order[low]] + values[order[high]]) / 2
