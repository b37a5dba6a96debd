"""Frequencies of frequencies: all that estimators of the population know about a table."""

from __future__ import annotations

from dataclasses import dataclass

from hushtable.arrays import IntArray
from hushtable.risk.base import Exposure

__all__ = ["Frequencies"]


@dataclass(frozen=True)
class Frequencies:
    """How many classes of the table have each size.

    Attributes
    ----------
    sizes : int64 array
        The sizes j that occur, ascending.
    counts : int64 array
        s_j, the classes of each size.

    Examples
    --------
    >>> import numpy as np
    >>> f = Frequencies(np.array([1, 3]), np.array([4, 2]))
    >>> f.people, f.classes, f.of(1), f.of(2)
    (10, 6, 4, 0)
    """

    sizes: IntArray
    counts: IntArray

    @classmethod
    def of_classes(cls, exposure: Exposure) -> Frequencies:
        """Count the classes of a table."""
        return cls(*exposure.frequencies())

    @property
    def people(self) -> int:
        """Return n."""
        return int((self.sizes * self.counts).sum())

    @property
    def classes(self) -> int:
        """Return u."""
        return int(self.counts.sum())

    def of(self, size: int) -> int:
        """Return s_j."""
        return int(self.counts[self.sizes == size].sum())
