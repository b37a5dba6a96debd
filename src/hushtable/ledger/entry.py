"""The ledger entry of a release: who is in which class, as keyed hashes, and the contents of the classes.

It contains no name, no cell and no value. People and values are keyed hashes that nobody without the ledger's
secret can make; classes are numbers, with their people and with counts of hashed values.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from hushtable.arrays import IntArray
from hushtable.errors import DataError

PersonIds = npt.NDArray[np.uint64]
"""Two numbers per row: the 16 bytes of a person's keyed hash."""


_NONE = np.empty((0, 0), dtype=np.uint64)


@dataclass(frozen=True)
class Entry:
    """One release.

    Attributes
    ----------
    name : str
        Name of the release.
    added : str
        Time when it was added (UTC).
    digest : str
        Keyed digest of the published table: the same release is not added twice.
    sensitive : tuple of str
        The sensitive columns.
    unit : int
        Units per person.
    persons : uint64 array, rows x 2
        Person of each released record.
    records : uint64 array
        Distinguishes the records of one person by their quasi-identifiers.
    classes : int64 array
        The class of each released record.
    counterfeits : int64 array
        Published rows of each class that belong to nobody.
    values : tuple of tuples of str
        For each of these columns, the keyed hashes of its values: the sensitive ones, then the others.
    entry_class, entry_units : int64 arrays
        The joint histogram of the columns: class and units of each entry.
    entry_values : int64 array, entries x columns
        Which of ``values`` an entry has in each column.
    others : tuple of str
        Insensitive columns that are published with the sensitive ones, row by row.
    entry_rows : int64 array
        The published rows of each entry, which an adversary sees. Empty in entries of 0.1.0.
    tags : uint64 array, records x columns
        Keyed hashes of each record's person and value, which only show whether a value has changed. Empty in
        entries of 0.1.0.
    sealed : str
        The promise, readable only with the key; empty in entries of 0.1.0.
    linked : bool
        Whether it is of linked tables: events are not recorded, so no release of the same people can be checked.
    """

    name: str
    added: str
    digest: str
    sensitive: tuple[str, ...]
    unit: int
    persons: PersonIds
    records: npt.NDArray[np.uint64]
    classes: IntArray
    counterfeits: IntArray
    values: tuple[tuple[str, ...], ...]
    entry_class: IntArray
    entry_units: IntArray
    entry_values: IntArray
    others: tuple[str, ...] = ()
    entry_rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    tags: npt.NDArray[np.uint64] = field(default_factory=lambda: _NONE)
    sealed: str = ""
    linked: bool = False

    @property
    def has_changes(self) -> bool:
        """Whether changes of values are known: not in entries of 0.1.0."""
        return self.tags.shape == (len(self.classes), len(self.columns))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values are kept, in the order of ``values``."""
        return (*self.sensitive, *self.others)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counterfeits)

    @property
    def people(self) -> int:
        """Number of people."""
        return len(np.unique(self.persons, axis=0)) if len(self.persons) else 0

    def tags_of(self, column: str) -> npt.NDArray[np.uint64]:
        """Return every record's tag of a column."""
        return self.tags[:, self.columns.index(column)]

    def summary(self) -> dict[str, Any]:
        """Return the summary for ``hushtable ledger list``."""
        return {
            "name": self.name,
            "added": self.added,
            "people": self.people,
            "records": len(self.classes),
            "classes": self.n_classes,
            "counterfeits": int(self.counterfeits.sum()),
            "sensitive": list(self.sensitive),
        }

    def line(self) -> bytes:
        """Return the entry as one line of JSON."""
        data: dict[str, Any] = {}
        for part in fields(self):
            value = getattr(self, part.name)
            data[part.name] = _packed(value) if isinstance(value, np.ndarray) else value
        return json.dumps(data, separators=(",", ":"), sort_keys=True).encode()

    @classmethod
    def of_line(cls, line: bytes) -> Entry:
        """Return the entry that ``line`` wrote."""
        try:
            data = json.loads(line).items()
            given: dict[str, Any] = {name: _unpacked(v) if isinstance(v, Mapping) else v for name, v in data}
            n = len(given["values"])
            given |= {
                "sensitive": tuple(given["sensitive"]),
                # entries of before there were others do not have them
                "others": tuple(given.get("others", ())),
                "values": tuple(tuple(keys) for keys in given["values"]),
                "persons": given["persons"].reshape(-1, 2),
                "tags": given["tags"].reshape(len(given["classes"]), n) if "tags" in given else _NONE,
                "entry_values": given["entry_values"].reshape(len(given["entry_class"]), n),
            }
            return cls(**given)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            # the chain is intact, so this is not tampering
            raise DataError(
                "The ledger was written by another version of hushtable.", code="ledger-version",
                hint="Use that version.",
            ) from None  # fmt: skip


def _packed(array: npt.NDArray[Any]) -> dict[str, str]:
    kind = array.dtype.newbyteorder("<")
    return {"type": kind.str, "data": base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()}


def _unpacked(packed: Mapping[str, str]) -> npt.NDArray[Any]:
    raw = base64.b64decode(packed["data"], validate=True)
    array = np.frombuffer(raw, dtype=np.dtype(packed["type"]))
    return array.astype(array.dtype.newbyteorder("="))
