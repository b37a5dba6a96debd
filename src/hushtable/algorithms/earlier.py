"""What an algorithm may know about earlier releases of the same people, and add to a new one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.table.coins import record_sums
from hushtable.table.encoded import EncodedTable
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

    def known(self, n: int) -> list[IntArray]:
        """Return what is known about each of the first n rows, as numbers: signatures count in their sorted order."""
        held = sorted(set(self.signatures))
        rank = np.array([*(1 + held.index(s) for s in self.signatures), 0], dtype=np.int64)
        return [rank[self.of_row[:n]], rank[self.left[:n]], self.alone[:n].astype(np.int64)]

    def digest(self, table: EncodedTable) -> bytes:
        """Return a digest of what is known about the table's records; their order does not matter."""
        said = [sorted(set(self.signatures)), record_sums(table, self.known(table.n_sample), 6)]
        return hashlib.sha256(json.dumps(said).encode()).digest()


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
