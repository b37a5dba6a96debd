"""Names of nodes that were made from the data.

Most nodes are named by the policy: ``Europe``, ``[20, 30)``, ``2024-Q1``. A hierarchy that is built from the values of
a column has no such names. Naming a node after all values under it would publish values that only suppressed records
have. So these nodes get their names when cells are published, from the published values only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import BoolArray, IntArray


@dataclass(frozen=True)
class Naming(ABC):
    """Naming of a node by the published values below it.

    ``ranged`` says whether a name gives the first and the last value, so that a reader can exclude all others.
    """

    ranged: ClassVar[bool] = False

    def made(self, labels: Sequence[str | None]) -> BoolArray:
        """Return which nodes of a level are named by published values; the missing value's node has no label."""
        return np.array([label is not None for label in labels], dtype=np.bool_)

    def local(self, labels: Sequence[str | None]) -> BoolArray:
        """Return which nodes directly above the leaves are below no node that the policy names, except the root.

        Classes below these are named by their values even if the lowest node above them is the root: which node
        that is would reveal something about the values of others.
        """
        return np.zeros(len(labels), dtype=np.bool_)

    def sort_keys(self, labels: pa.Array) -> pa.Array:
        """Sort key of siblings, which does not depend on values elsewhere in the column."""
        return labels

    @abstractmethod
    def names(self, labels: Sequence[str], first: Sequence[str], last: Sequence[str], longest: IntArray) -> list[str]:
        """Name nodes.

        Parameters
        ----------
        labels : sequence of str
            The labels of the nodes in ``Coded``, which depend on all values of the column.
        first, last : sequences of str
            The first and the last published value below each node, in leaf order.
        longest : int64 array
            The length of the longest published value, in characters.
        """


@dataclass(frozen=True)
class Ends(Naming):
    """The first and the last published value: ``aachen..bonn``, ``[17, 24]``.

    Parameters
    ----------
    pattern : str
        Format of the two.
    quoted : str
        Values that match this regular expression are put into quotes.
    declared : frozenset of str
        Labels that the policy declares and that stay unchanged.

    Examples
    --------
    >>> Ends("{}..{}").names(["aachen..celle"] * 2, ["aachen", "bonn"], ["bonn", "bonn"], np.array([6, 4]))
    ['aachen..bonn', 'bonn']
    """

    pattern: str
    quoted: str = ""
    declared: frozenset[str] = frozenset()

    ranged: ClassVar[bool] = True

    def made(self, labels: Sequence[str | None]) -> BoolArray:
        """All nodes that the policy does not name."""
        return np.array([label is not None and label not in self.declared for label in labels], dtype=np.bool_)

    def local(self, labels: Sequence[str | None]) -> BoolArray:
        """All but the open ends that the policy declares."""
        named = self.declared - {"*"}
        return np.array([label is not None and label not in named for label in labels], dtype=np.bool_)

    def names(self, labels: Sequence[str], first: Sequence[str], last: Sequence[str], longest: IntArray) -> list[str]:
        """Write both ends, or the only value."""
        pairs = zip(self.quote(first), self.quote(last), first, last, strict=True)
        return [quoted if a == b else self.pattern.format(quoted, other) for quoted, other, a, b in pairs]

    def quote(self, values: Sequence[str]) -> list[str]:
        """Quote the values that could make two different nodes look the same."""
        if not self.quoted:
            return list(values)
        text = pa.array(values, pa.string())
        odd = pc.match_substring_regex(text, self.quoted)
        inside = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
        found: list[str] = pc.if_else(odd, inside, text).to_pylist()
        return found


@dataclass(frozen=True)
class Masked(Naming):
    """The remaining part of a value, and a mask for every additional character of the longest published value.

    Examples
    --------
    >>> Masked("*").names(["14*****"], ["14248"], ["14250"], np.array([5]))
    ['14***']
    """

    mask: str
    from_end: bool = True

    def sort_keys(self, labels: pa.Array) -> pa.Array:
        """Return the remaining parts; the number of masks depends on the longest value of the column."""
        trim = pc.utf8_rtrim if self.from_end else pc.utf8_ltrim
        return trim(labels, self.mask)

    def names(self, labels: Sequence[str], first: Sequence[str], last: Sequence[str], longest: IntArray) -> list[str]:
        """Fill up with masks."""
        kept = self.sort_keys(pa.array(labels, pa.string())).to_pylist()
        if self.from_end:
            return [text.ljust(length, self.mask) for text, length in zip(kept, longest.tolist(), strict=True)]
        return [text.rjust(length, self.mask) for text, length in zip(kept, longest.tolist(), strict=True)]
