"""What a utility measure is: one number about what a release is still good for.

A measure asks a ``Comparison``: what cells cover, how many records have each, and which original values those have.
Rows need not be at hand, and nothing in it names an algorithm, a model or a style of cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from hushtable.params import Parametrised
from hushtable.release.comparison import Comparison

__all__ = ["Comparison", "Measure"]


@dataclass(frozen=True)
class Measure(Parametrised, ABC):
    """Base of all measures: parameters as fields, one formula.

    Class attributes
    ----------------
    name : str
    better : {"lower", "higher"}
    default : bool
        Whether it is part of every summary (cheap and always defined).
    """

    better: ClassVar[str] = "lower"
    default: ClassVar[bool] = True

    @abstractmethod
    def compute(self, comparison: Comparison) -> float:
        """The measure; NaN where it is not defined for this release."""
