"""Combinations that are on other machines: what a search of the lattice asks of them.

The search itself does not change: wherever it would look at the distinct combinations of a table, or at a table that
was rolled up from them, it asks these for numbers, and for the table itself once it is small enough to be here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from hushtable.arrays import AnyArray, IntArray
from hushtable.table.stats import Key

__all__ = ["Brought", "Elsewhere"]


@dataclass(frozen=True)
class Brought:
    """Combinations that were brought here, in canonical order.

    Attributes
    ----------
    columns : (d, n) integer array
        Leaf codes: of combinations that were rolled up, those of the first one behind each.
    units : int64 array
    sensitive : mapping of Key to int64 array
    """

    columns: AnyArray
    units: IntArray
    sensitive: dict[Key, IntArray]


class Elsewhere(Protocol):
    """Distinct combinations of quasi-identifiers and sensitive values, with their weights."""

    def __len__(self) -> int:
        """How many there are."""

    @property
    def levels(self) -> IntArray:
        """The levels that they were rolled up to."""

    @property
    def fits(self) -> bool:
        """Whether they may be brought here, to be looked at once."""

    @property
    def stays(self) -> bool:
        """Whether they should stay where they are, even if they are to be looked at often."""

    def roll_up(self, node: IntArray) -> Elsewhere:
        """Return them rolled up to the levels of a node; there they are kept until ``close``."""

    def bring(self, *, keep: bool = False) -> Brought:
        """Bring them all here; ``keep`` says that they are going to stay."""

    def pieces(self) -> Iterator[Brought]:
        """Bring them here piece by piece; combinations that differ in sensitive values alone come together."""

    def group_sizes(self) -> tuple[IntArray, IntArray]:
        """Return the sizes that combinations of quasi-identifiers have, ascending, and how many have each."""

    def cube(self, columns: Sequence[int], nodes: Sequence[int]) -> IntArray:
        """Count the nodes of ``levels`` of up to three columns together, as ``leaf_cube`` does.

        ``nodes`` is how many there are of each column.
        """

    def close(self) -> None:
        """Let go of them."""
