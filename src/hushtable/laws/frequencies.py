"""Frequencies of frequencies: the only input that population estimators take from a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.arrays import IntArray


@dataclass(frozen=True)
class Frequencies:
    """Number of classes of the table by size.

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
    def of_units(cls, units: IntArray, unit: int = 1) -> Frequencies:
        """Count classes of these sizes, in whole people, rounded down but at least one.

        Examples
        --------
        >>> import numpy as np
        >>> Frequencies.of_units(np.array([1, 3, 1])).counts.tolist()
        [2, 1]
        """
        sizes, counts = np.unique(np.maximum(units // unit, 1), return_counts=True)
        return cls(sizes, counts.astype(np.int64))

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
