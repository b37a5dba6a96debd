"""What a utility measure is: one number about what a release is still good for.

A measure asks a ``Comparison``: what cells cover, how many records have each, and which original values those have.
Rows need not be at hand, and nothing in it names an algorithm, a model or a style of cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from hushtable.params import Parametrised
from hushtable.release.comparison import Comparison

__all__ = ["Comparison", "Measure", "Measured"]


class Measured(float):
    """A measure's number that says what it is about.

    Examples
    --------
    >>> Measured(0.75, "predicting 'income'")
    0.75 (predicting 'income')
    >>> Measured(0.75, "") + 1
    1.75
    """

    about: str

    def __new__(cls, value: float, about: str = "") -> Self:
        """Make a float, and keep the words."""
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
        Whether records count as their survey weights, where there are any.
    """

    better: ClassVar[str] = "lower"
    default: ClassVar[bool] = True
    weighs: ClassVar[bool] = False

    def about(self, comparison: Comparison) -> str:
        """What the number is about, where it depends on more than the release; empty otherwise."""
        return "by survey weights" if self.weighs and comparison.weighted else ""

    @abstractmethod
    def compute(self, comparison: Comparison) -> float:
        """The measure; NaN where it is not defined for this release."""
