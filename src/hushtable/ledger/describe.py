"""From a release to what a ledger keeps of it."""

from __future__ import annotations

import datetime
import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.errors import DataError, UsageError
from hushtable.io.dictionaries import encode, to_codes
from hushtable.io.text import to_labels
from hushtable.kernels.grouping import number_rows
from hushtable.ledger.entry import Entry, PersonIds
from hushtable.ledger.key import Key
from hushtable.ledger.promise import Promise, sealed
from hushtable.ledger.spelling import Spelling
from hushtable.release.released import Released
from hushtable.table.encoded import EncodedTable

__all__ = ["Described", "content_of", "describe", "person_column", "person_keys", "renamed", "value_keys"]


@dataclass(frozen=True)
class Described:
    """What a ledger keeps of a release, and what only the house knows.

    Attributes
    ----------
    entry : Entry
    own : int64 array, records x columns
        The codes of each record's own values, in the order of the entry's records. Never written.
    promise : Promise
        What it promises; its place is behind all earlier releases.
    older : dict
        What people and values were called by 0.1.0, and what they are called now, where that differs.
    unanswered : tuple of str
        Sensitive columns of which the policy does not say that they are new, as earlier releases would call them.
    changing : set of str
        Sensitive columns of which the policy says that values change.
    """

    entry: Entry
    own: IntArray
    promise: Promise
    older: Mapping[str, str] = field(default_factory=dict)
    unanswered: tuple[str, ...] = ()
    changing: frozenset[str] = frozenset()

    def among(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return earlier releases with people and values called as here."""
        return renamed(entries, self.older)


def person_column(policy: Any, person: str | None) -> str:
    """Return the column that says whose a record is: the one given, the policy's entity, or its only identifier.

    Examples
    --------
    >>> person_column({"columns": {"name": {"role": "identifier"}, "age": {"role": "quasi"}}}, None)
    'name'
    """
    columns = policy.get("columns", {})
    chosen = person or (policy.get("ledger") or {}).get("person") or policy.get("entity")
    if chosen is None:
        identifiers = [name for name, column in columns.items() if column.get("role") == "identifier"]
        if len(identifiers) != 1:
            raise UsageError(
                f"The policy has {len(identifiers)} identifiers, so it does not say which column tells people apart.",
                code="no-person",
                hint="Name it with --person COLUMN, or as 'entity' in the policy.",
            )
        chosen = identifiers[0]
    return str(chosen)


def person_keys(table: pa.Table, column: str, key: Key, spelling: Spelling) -> tuple[PersonIds, dict[str, str]]:
    """Return the keyed hashes of the people of a table, row by row, and those that 0.1.0 called otherwise.

    Raises
    ------
    DataError
        If the column is not there, or does not say whose every row is.
    """
    if column not in table.column_names:
        raise DataError(
            f"The original has no column {column!r} that says whose a row is.",
            code="absent-columns",
            hint="Name another with --person.",
        )
    coded = encode(table.column(column))
    codes = to_codes(coded)
    labels = [label or "" for label in to_labels(coded.dictionary).to_pylist()]
    unknown = np.array([not label.strip() for label in labels] + [True])
    if np.any(unknown[codes]):
        raise DataError(
            f"The column {column!r} does not say whose {int(np.count_nonzero(unknown[codes]))} of the rows are.",
            code="missing-person",
            hint="Fill it, or name another with --person.",
        )
    spelt = [spelling.person(label) for label in labels]
    made = b"".join(key.person(name) for name in spelt)
    of_value = np.frombuffer(made, dtype="<u8").reshape(-1, 2).astype(np.uint64)
    before = [unicodedata.normalize("NFC", label.strip()) for label in labels]
    older = {key.person(b).hex(): key.person(s).hex() for b, s in zip(before, spelt, strict=True) if b != s}
    found: PersonIds = of_value[codes]
    return found, older


def value_keys(
    column: str, labels: Iterable[str | None], key: Key, spelling: Spelling
) -> tuple[list[bytes], dict[str, str]]:
    """Return the keyed hash of every value of a column, in the order given, and those that 0.1.0 called otherwise."""
    found, older = [], {}
    for label in labels:
        made = key.value(spelling.column(column), spelling.value(column, label or ""))
        before = key.value(spelling.column(column), label or "")
        found.append(made)
        if before != made:
            older[before.hex()] = made.hex()
    return found, older


def describe(
    release: Released,
    key: Key,
    *,
    name: str = "",
    person: str | None = None,
    folder: Path | None = None,
    place: int = 0,
) -> Described:
    """Describe a release for a ledger.

    Parameters
    ----------
    release : Released
        With the original it was made of.
    key : Key
        The ledger's.
    name : str
    person : str, optional
        The column that says whose a record is.
    folder : Path, optional
        What the files of its policy are relative to.
    place : int
        How many releases there are before it.
    """
    if not isinstance(release, Released):
        raise UsageError(
            f"A ledger takes releases. Got a {type(release).__name__}.",
            code="not-a-release",
            hint="Open a saved one with hushtable.open_release(folder, original).",
        )
    spelling = Spelling.of(release.policy, folder)
    column = person_column(release.policy, person)
    rows = release.source_rows  # another original is refused here
    persons_of, older = person_keys(release.original([column]), column, key, spelling)
    shown = release.verification.labels[: release.table.num_rows]
    used, label = np.unique(shown, return_inverse=True)
    real = np.flatnonzero(rows >= 0)
    persons, classes = persons_of[rows[real]], label[real].astype(np.int64)
    records = _records(release.encoded, rows[real], persons, key)
    order = np.lexsort((classes, records, persons[:, 1], persons[:, 0]))
    columns, others = _columns(release)
    codes = [own for _, own, _ in columns]
    found = [value_keys(name, labels, key, spelling) for name, _, labels in columns]
    hashes = [made for made, _ in found]
    for c, made in zip(release.encoded.sensitive, hashes, strict=False):
        _check_once(c.name, made)
    for _, before in found:
        older |= before
    entry_class, entry_values, entry_units, entry_rows = _joint(label.astype(np.int64), codes, _units(release, rows))
    own = _stacked([c[real][order] for c in codes], len(real))
    called = {c.name: spelling.column(c.name) for c in release.encoded.sensitive}
    promise = Promise(place, "", release.model, release.reference, called, spelling.ignore_case)
    entry = Entry(
        name=name,
        added=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        digest=key.table(content_of(release.table)),
        sensitive=tuple(called.values()),
        unit=release.encoded.unit,
        persons=persons[order],
        records=records[order],
        classes=classes[order],
        counterfeits=np.bincount(label[rows < 0], minlength=len(used)).astype(np.int64),
        values=tuple(tuple(h.hex() for h in own_hashes) for own_hashes in hashes),
        entry_class=entry_class,
        entry_units=entry_units,
        entry_values=entry_values,
        entry_rows=entry_rows,
        others=tuple(spelling.column(name) for name in others),
        tags=_tags(persons[order], own, hashes, key),
        sealed=sealed(promise, key),
    )
    unanswered = tuple(called[c] for c in called if c not in spelling.new)
    settings = release.policy.get("columns", {})
    changing = frozenset(called[c] for c in called if settings.get(c, {}).get("changes"))
    return Described(entry, own, promise, older, unanswered, changing)


def _columns(release: Released) -> tuple[list[tuple[str, IntArray, Sequence[str | None]]], tuple[str, ...]]:
    """Return the sensitive columns and those beside them, with codes and labels; and the names of the latter."""
    found: list[tuple[str, IntArray, Sequence[str | None]]] = [
        (c.name, release.codes_of(c.name), c.coded.labels[0]) for c in release.encoded.sensitive
    ]
    others = _others(release)
    return [*found, *((name, *_coded(release.table.column(name))) for name in others)], others


def _check_once(column: str, hashes: Sequence[bytes]) -> None:
    """Refuse values that differ in their spelling alone: a model that names one would not see the other."""
    if len(set(hashes)) < len(hashes):
        raise DataError(
            f"Column {column!r} spells a value in several ways, which are one to the ledger.",
            code="spellings",
            hint="Write each value in one way.",
        )


def _units(release: Released, rows: IntArray) -> IntArray:
    """Return what every published row counts; counterfeits count as people here."""
    units = np.full(len(rows), release.encoded.unit, dtype=np.int64)
    if len(release.encoded.row_units):
        units[rows >= 0] = release.encoded.row_units[rows[rows >= 0]]
    return units


def _tags(persons: PersonIds, own: IntArray, hashes: Sequence[Sequence[bytes]], key: Key) -> Any:
    """Hash each record's person with each of its values."""
    whose = np.ascontiguousarray(persons, dtype="<u8").tobytes()
    out = np.zeros(own.shape, dtype=np.uint64)
    for j, values in enumerate(hashes):
        made = b"".join(key.tag(whose[16 * i : 16 * i + 16], values[code]) for i, code in enumerate(own[:, j].tolist()))
        # 0 stands for no tag
        out[:, j] = np.maximum(np.frombuffer(made, dtype="<u8"), 1)
    return out


def renamed(entries: Sequence[Entry], older: Mapping[str, str]) -> list[Entry]:
    """Call the people and values of releases of 0.1.0, which did not know other spellings, as they are called now."""
    return [entry if entry.known or not older else _renamed(entry, older) for entry in entries]


def _renamed(entry: Entry, older: Mapping[str, str]) -> Entry:
    persons = np.ascontiguousarray(entry.persons, dtype="<u8")
    raw = persons.tobytes()
    for i in range(len(persons)):
        new = older.get(raw[16 * i : 16 * i + 16].hex())
        if new is not None:
            persons[i] = np.frombuffer(bytes.fromhex(new), dtype="<u8")
    values = tuple(tuple(older.get(v, v) for v in column) for column in entry.values)
    return replace(entry, persons=persons.astype(np.uint64), values=values)


def _records(table: EncodedTable, rows: IntArray, persons: PersonIds, key: Key) -> Any:
    """Hash each record's quasi-identifiers, so that the records of one person can be told apart."""
    numbers, first = number_rows([c.codes[rows] for c in table.quasi], [c.coded.size for c in table.quasi])
    contents = []
    for row in rows[first].tolist():
        cells = [(c.coded.labels[0][int(c.codes[row])] or "").encode("utf-8", "surrogatepass") for c in table.quasi]
        contents.append(hashlib.sha256(b"".join(len(c).to_bytes(8, "little") + c for c in cells)).digest())
    whose = np.ascontiguousarray(persons, dtype="<u8").tobytes()
    made = b"".join(
        key.record(whose[16 * i : 16 * i + 16], contents[number]) for i, number in enumerate(numbers.tolist())
    )
    return np.frombuffer(made, dtype="<u8").astype(np.uint64)


def _others(release: Released) -> tuple[str, ...]:
    """Return the insensitive columns that are published in the same rows as the sensitive ones."""
    if release.apart:
        return ()  # they stand beside the people, and the sensitive values apart
    roles = {name: column.get("role") for name, column in release.policy.get("columns", {}).items()}
    return tuple(name for name in release.table.column_names if roles.get(name) == "insensitive")


def _coded(column: pa.ChunkedArray) -> tuple[IntArray, list[str]]:
    """Return the codes of a column and the text of each; that of a missing cell is empty, and the first."""
    coded, number = encode(column), {"": 0}
    code = [0, *(number.setdefault(label or "", len(number)) for label in to_labels(coded.dictionary).to_pylist())]
    return np.array(code, dtype=np.int64)[to_codes(coded) + 1], list(number)


def _joint(label: IntArray, codes: Sequence[Any], units: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the joint histogram of the columns: classes, codes by column, units and rows of its entries."""
    columns = [label, *codes]
    numbers, first = number_rows(columns, [int(c.max(initial=0)) + 1 for c in columns])
    total = np.zeros(len(first), dtype=np.int64)
    np.add.at(total, numbers, units)
    keep = total > 0
    first = first[keep]
    rows = np.bincount(numbers, minlength=len(total))[keep].astype(np.int64)
    return label[first], _stacked([c[first] for c in codes], len(first)), total[keep], rows


def _stacked(columns: Sequence[Any], rows: int) -> IntArray:
    return np.column_stack(columns).astype(np.int64) if columns else np.empty((rows, 0), dtype=np.int64)


def content_of(table: pa.Table) -> bytes:
    """Return a digest of the published cells, whatever their types in memory and however they are stored."""
    digest = hashlib.sha256()
    for name in table.column_names:
        coded = encode(table.column(name))
        texts = to_labels(coded.dictionary).to_pylist()
        labels = [b"\x01" if v is None else v.encode("utf-8", "surrogatepass") for v in texts]
        order = sorted(range(len(labels)), key=labels.__getitem__)
        place = np.empty(len(labels) + 1, dtype="<i4")
        place[order], place[-1] = np.arange(len(labels)), -1
        digest.update(f"\x00column {len(name)} {name} {len(labels)}".encode("utf-8", "surrogatepass"))
        for at in order:
            digest.update(len(labels[at]).to_bytes(8, "little") + labels[at])
        digest.update(place[to_codes(coded)].tobytes())
    return digest.digest()
