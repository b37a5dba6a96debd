"""CAVG: the average class size, in multiples of the smallest class that the models allow.

CAVG = (N / groups) / k, where N is the number of *released* records and k the smallest class that the models
allow. 1 is the optimum; suppressed records are in no class and do not count. Not defined if nothing
was released.

References
----------
K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006; Sun et al. 2011, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.utility.base import Comparison, Measure


@dataclass(frozen=True)
class NormalisedClassSize(Measure):
    """Average number of released records in a class, divided by k.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> NormalisedClassSize().compute(example())  # (4 / 2) / 2
    1.0
    """

    name: ClassVar[str] = "cavg"

    def compute(self, comparison: Comparison) -> float:
        """Divide twice."""
        if not comparison.n_classes:
            return float("nan")
        return comparison.n_released / comparison.n_classes / comparison.k
