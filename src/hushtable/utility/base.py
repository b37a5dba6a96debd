"""The base of utility measures: one number about what a release is still good for.

A measure asks a ``Comparison``: what cells cover, how many records have each, and which original values those have.
It needs no rows, and depends on no algorithm, model or style of cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from hushtable.params import Parametrised
from hushtable.release.comparison import Comparison

__all__ = ["Comparison", "Measure", "Measured"]


class Measured(float):
    """A measure's number with a description.

    Examples
    --------
    >>> Measured(0.75, "predicting 'income'")
    0.75 (predicting 'income')
    >>> Measured(0.75, "") + 1
    1.75
    """

    about: str

    def __new__(cls, value: float, about: str = "") -> Self:
        """Create a float, and keep the description."""
        made = super().__new__(cls, value)
        made.about = about
        return made

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override] # for pickle: float takes one
        return float(self), self.about

    def __repr__(self) -> str:
        return f"{float(self)!r} ({self.about})" if self.about else repr(float(self))


@dataclass(frozen=True)
class Measure(Parametrised, ABC):
    """Base of all measures: parameters as fields, one formula.

    Class attributes
    ----------------
    name : str
    better : {"lower", "higher"}
    default : bool
        Whether it is part of every summary (cheap and always defined).
    weighs : bool
        Whether records count by their survey weights, if there are any.
    """

    better: ClassVar[str] = "lower"
    default: ClassVar[bool] = True
    weighs: ClassVar[bool] = False

    def about(self, comparison: Comparison) -> str:
        """Return what the number is about, if it depends on more than the release; empty otherwise."""
        return "by survey weights" if self.weighs and comparison.weighted else ""

    @abstractmethod
    def compute(self, comparison: Comparison) -> float:
        """Return the measure; NaN if it is not defined for this release."""
