"""Average class size as ARX counts it: all suppressed records together are one more class.

AECS = N / (classes + 1 if anything is suppressed), where N is the number of records of the original.

References
----------
F. Prasser et al., "Flexible data anonymization using ARX", 2020 (its metric "average equivalence class size").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.table.losses import average_class_size
from hushtable.utility.base import Comparison, Measure


@dataclass(frozen=True)
class AverageClassSize(Measure):
    """Records of the original per class; the suppressed ones are one class.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> round(AverageClassSize().compute(example()), 4)  # 5 / (2 + 1)
    1.6667
    """

    name: ClassVar[str] = "average-class-size"

    def compute(self, comparison: Comparison) -> float:
        """Divide once."""
        return average_class_size(comparison.n, comparison.n_classes, comparison.n_suppressed)
