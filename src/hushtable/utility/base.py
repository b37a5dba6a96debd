"""What a utility measure is: one number about what a release is still good for.

A measure sees a ``Comparison``: the encoded original, the group of every record and the cells that the groups publish.
Nothing in it names an algorithm, a model or a style of cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.params import Parametrised
from hushtable.release.cells import Cells
from hushtable.table.encoded import EncodedTable

__all__ = ["Comparison", "Measure"]


@dataclass(frozen=True)
class Comparison:
    """A release beside its original, as far as measures look.

    Attributes
    ----------
    table : EncodedTable
        The original.
    labels : int64 array
        The class of every sample row; -1 for suppressed ones.
    cells : tuple of Cells
        What each class publishes, one per quasi-identifier.
    k : int
        The smallest class that the models allow.
    seed : int
    """

    table: EncodedTable
    labels: IntArray
    cells: tuple[Cells, ...]
    k: int = 1
    seed: int = 0

    @property
    def n(self) -> int:
        """Records of the original."""
        return self.table.n_sample

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each class."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.cells[0])).astype(np.int64)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(np.count_nonzero(self.sizes))

    @property
    def n_suppressed(self) -> int:
        """Records left out."""
        return int(np.count_nonzero(self.labels < 0))

    @property
    def n_released(self) -> int:
        """Records that are published."""
        return self.n - self.n_suppressed

    @property
    def weights(self) -> FloatArray:
        """The columns' weights."""
        return np.array([c.weight for c in self.table.quasi])

    def mean_over_records(self, per_class: FloatArray, suppressed: float) -> float:
        """Average a number per class over all original records; a suppressed record counts ``suppressed``."""
        total = float((per_class * self.sizes).sum()) + suppressed * self.n_suppressed
        return total / self.n


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
