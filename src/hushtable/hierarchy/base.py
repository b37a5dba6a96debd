"""The base of hierarchies: levels of coarser and coarser labels above the values of one column.

A ``Hierarchy`` is a recipe (a frozen dataclass, data in a policy); ``code`` applies it to the values that occur in
a column and returns a ``Coded`` hierarchy: integer look-up arrays that every algorithm works on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.params import Parametrised
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    from hushtable.hierarchy.naming import Naming
    from hushtable.hierarchy.spans import Below

__all__ = ["ROOT", "Coded", "Hierarchy"]

ROOT = "*"
"""The label of a top node without information."""


@dataclass(frozen=True)
class Coded:
    """A column's domain and its hierarchy, as arrays.

    Codes ``0 .. size - 1`` are the leaves. If ``missing`` is true, code 0 is the missing value, a separate leaf
    that joins the others only in the root, and ``values[c - 1]`` is the value of code ``c``; otherwise ``values[c]``.

    Attributes
    ----------
    kind : Kind
    values : pyarrow.Array
        The value of every leaf except the missing one, in code order: numeric order for numbers and dates, the
        declared order for ordinal columns, otherwise depth-first order of the tree with labels in sorted UTF-8, so
        that the leaves of a node are neighbors.
    missing : bool
    levels : tuple of int64 arrays
        ``levels[h][code]`` is the node above the leaf at height h. ``levels[0]`` is the identity; the last level
        has exactly one node. Node numbers of a level run from 0 in order of their first leaf.
    labels : tuple of tuples of str or None
        ``labels[h][node]``. The missing value's own node has the label None.
    naming : Naming, optional
        How nodes that were made from the data are named. Their labels here depend on all values of the column,
        including those of suppressed records, and must not be published. ``Cells`` names published nodes.
    declared : bool
        Whether the policy lists the leaves, so that a leaf reveals nothing about the records.

    Examples
    --------
    >>> c = Coded(Kind.NOMINAL, pa.array(["a", "b"]), False,
    ...           (np.array([0, 1]), np.array([0, 0])), (("a", "b"), ("*",)))
    >>> c.size, c.height
    (2, 1)
    >>> c.leaves(1).tolist()
    [2]
    """

    kind: Kind
    values: pa.Array
    missing: bool
    levels: tuple[IntArray, ...]
    labels: tuple[tuple[str | None, ...], ...]
    naming: Naming | None = None
    declared: bool = False

    @property
    def size(self) -> int:
        """Number of leaves, including the missing value: D in the loss formulas."""
        return len(self.levels[0])

    @property
    def height(self) -> int:
        """Number of generalization steps from a leaf to the root."""
        return len(self.levels) - 1

    def leaves(self, level: int) -> IntArray:
        """Return the number of leaves below each node of a level."""
        return np.bincount(self.levels[level], minlength=len(self.labels[level])).astype(np.int64)

    @cached_property
    def contiguous(self) -> bool:
        """Whether every node's leaves are neighbors in code order."""
        return all(bool(np.all(np.diff(level) >= 0)) for level in self.levels)

    @cached_property
    def depth_first(self) -> IntArray:
        """Each leaf's rank in depth-first order of the tree, so that the leaves of a node are neighbors."""
        if self.contiguous:
            return np.arange(self.size, dtype=np.int64)
        rank = np.empty(self.size, dtype=np.int64)
        rank[np.lexsort(self.levels)] = np.arange(self.size)
        return rank


@dataclass(frozen=True)
class Hierarchy(Parametrised, ABC):
    """A recipe for a hierarchy: one subclass per file, found through the registry."""

    in_a_policy: ClassVar[str] = ""
    """An example in a policy, in YAML."""

    @property
    def of_policy(self) -> bool:
        """Whether the policy alone determines the nodes above a value and the number of levels."""
        return False

    @abstractmethod
    def code(self, values: pa.Array, kind: Kind, *, missing: bool, column: str, counts: IntArray) -> Coded:
        """Apply the recipe.

        Parameters
        ----------
        values : pyarrow.Array
            The distinct values that occur in the column, in any order, without nulls: int64 or float64 for numeric
            columns, date32 for dates, string for nominal and ordinal ones (ordinal: in the declared order, which
            must be kept).
        kind : Kind
        missing : bool
            Whether the column has missing values.
        column : str
            The column's name, for error messages.
        counts : int64 array
            Number of occurrences of each of ``values``.

        Raises
        ------
        HierarchyError
            If values are not covered or levels do not nest. The message names the column and the number of values
            concerned, never the values.
        """

    def below(self, labels: Sequence[str], column: str) -> list[Below | None]:
        """Return the values, or ranges of values, below published labels, without the data.

        Parameters
        ----------
        labels : sequence of str
            All labels that a column publishes except the root, sorted. If the recipe lists no values, they are inferred
            from these.
        column : str
            The column's name, for error messages.

        Returns
        -------
        list of sequences of str or Span, or None
            None for a label that is a value and not a node; by default, for all labels.
        """
        return [None] * len(labels)

    def leaves(self, column: str) -> Sequence[str]:
        """Return all values that the recipe lists, whether they occur or not; by default, none."""
        return ()

    def contents(self, column: str) -> Sequence[Sequence[str]]:
        """Return the levels that a file says, which the policy only names; by default, none."""
        return ()
