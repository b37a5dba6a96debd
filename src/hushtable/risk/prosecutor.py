"""Prosecutor risk.

The adversary knows that a person is in the table and looks for the record. In a class of f people the right one is
picked with probability 1 / f. Highest, average and lowest risk are taken over the people of the table; the average is
(number of classes) / (number of people). A person is at risk if 1 / f is above the threshold. With an entity column,
a class may contain less than one person (the person's other rows are in other classes): its risk is 1, and the average
is (sum over classes of the lesser of f and 1) / (number of people).

References
----------
K. El Emam, "Guide to the de-identification of personal health information", 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.risk.base import Exposure, Risk
from hushtable.risk.linkage import Comparison, LinkageRisks, Threshold, summarise


@dataclass(frozen=True)
class Prosecutor(Risk):
    """Probability of re-identifying a person who is known to be in the table: 1 / (people in the class).

    Parameters
    ----------
    threshold : float
        Risk above which a person is at risk. The default is what European and Canadian regulators require of published
        clinical reports.
    comparison : {">", ">="}

    Examples
    --------
    >>> found = Prosecutor(threshold=0.5).compute(Exposure.of({"age": [30, 31, 31, 31]}))
    >>> found.highest, found.average, found.share_at_risk
    (1.0, 0.5, 0.25)
    >>> eleven = Exposure.of({"age": [30] * 11})
    >>> Prosecutor(threshold=0.09).compute(eleven).share_at_risk
    1.0
    """

    threshold: Threshold = 0.09
    comparison: Comparison = ">"

    name: ClassVar[str] = "prosecutor"

    def compute(self, exposure: Exposure) -> LinkageRisks:
        """Assess one table."""
        return summarise(exposure, exposure.risks, "table", self.threshold, self.comparison)
