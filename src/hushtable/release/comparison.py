"""A release beside its original, and the measures that compare the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.registry import measures
from hushtable.release.cells import Cells
from hushtable.table.encoded import EncodedTable

__all__ = ["Comparison", "measure_all"]


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
    linked : bool
        Whether every published record stands beside its own sensitive values.
    """

    table: EncodedTable
    labels: IntArray
    cells: tuple[Cells, ...]
    k: int = 1
    seed: int = 0
    linked: bool = True

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


def measure_all(comparison: Comparison, names: Sequence[str] | None = None) -> dict[str, float]:
    """Compute the named measures with their default parameters, or every measure that is part of a summary.

    Parameters
    ----------
    comparison : Comparison
    names : sequence of str, optional
        As in the registry, in the order wanted. Left out: all with ``default``, by name.

    Returns
    -------
    dict
        Name -> number; NaN where a measure is not defined for this release.

    Raises
    ------
    UsageError
        If there is no measure of that name.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> measure_all(example(), ["ncp", "discernibility"])
    {'ncp': 0.4, 'discernibility': 13}
    """
    if names is None:
        names = [name for name, measure in measures.items() if measure.default]
    return {name: measures.build(name).compute(comparison) for name in names}
