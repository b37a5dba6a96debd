"""What an algorithm may know about earlier releases of the same people, and add to a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hushtable.arrays import BoolArray, IntArray
from hushtable.table.stats import Key


@dataclass(frozen=True)
class Earlier:
    """The signatures that people have from earlier releases: the sets of sensitive values of their classes.

    Attributes
    ----------
    key : Key
        The sensitive (or joint) column.
    signatures : tuple of tuples of int
        Codes of that column, ascending.
    of_row : int64 array
        The signature of every row's person; -1 for newcomers, and for people whose value has changed.
    left : int64 array
        The signature that a row's person had before the value changed; -1 for all others.
    alone : bool array
        People who alone received their signature: nobody else was in the first class with it.
    """

    key: Key
    signatures: tuple[tuple[int, ...], ...]
    of_row: IntArray
    left: IntArray
    alone: BoolArray


@dataclass(frozen=True)
class Counterfeits:
    """Invented records for values of a signature that nobody present has.

    Attributes
    ----------
    groups : int64 array
        The group of each.
    codes : mapping of str to int64 array
        Its code in every sensitive column.
    """

    groups: IntArray
    codes: Mapping[str, IntArray]

    def __len__(self) -> int:
        return len(self.groups)
