"""Classification accuracy of a constant guess: the lower baseline of ``accuracy``.

The share of test records that have the most frequent target of the training part (ties go to the
first).

References
----------
J. Brickell, V. Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data publishing",
2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.utility.base import Comparison
from hushtable.utility.classification import ClassificationMeasure


@dataclass(frozen=True)
class AccuracyMajority(ClassificationMeasure):
    """Accuracy on original records of always guessing the most frequent target.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> AccuracyMajority(test=0.5).compute(example())
    0.5
    """

    name: ClassVar[str] = "accuracy-majority"

    def compute(self, comparison: Comparison) -> float:
        """Count the training part, test on the test part."""
        task = self.task(comparison)
        if task is None:
            return float("nan")
        known = task.tested & (task.target >= 0)
        if not task.trained.any() or not known.any():
            return float("nan")
        guess = np.bincount(task.target[task.trained]).argmax()
        return float(np.mean(task.target[known] == guess))
