"""Conversion of a release to its ledger entry."""

from __future__ import annotations

import datetime
import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray, summed
from hushtable.errors import DataError, UsageError, a_kind
from hushtable.io.canonical import table_digest
from hushtable.io.dictionaries import encode, to_codes
from hushtable.io.text import to_labels
from hushtable.kernels.grouping import number_rows
from hushtable.ledger.entry import Entry, PersonIds
from hushtable.ledger.key import LedgerKey
from hushtable.ledger.promise import Promise, sealed
from hushtable.ledger.spelling import Spelling
from hushtable.ledger.trace import numbered
from hushtable.release.released import Released
from hushtable.table.encoded import EncodedTable


@dataclass(frozen=True)
class Described:
    """A ledger entry of a release, and what must not be written.

    Attributes
    ----------
    entry : Entry
    own : int64 array, records x columns
        The codes of each record's own values, in the order of the entry's records. Never written.
    promise : Promise
        Its promise; its position among the releases is set by the caller.
    older : dict
        Names of people and values in 0.1.0, and their names now, if they differ.
    spelling : Spelling
        Its policy's names of columns, which of them are new, and which have changing values.
    """

    entry: Entry
    own: IntArray
    promise: Promise
    older: Mapping[str, str] = field(default_factory=dict)
    spelling: Spelling = field(default_factory=Spelling)


def person_column(policy: Any, person: str | None) -> str:
    """Return the column that identifies people: the given one, the policy's entity, or the only identifier.

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
                f"The policy has {len(identifiers)} identifiers, so it does not say which column identifies people.",
                code="no-person",
                hint="Name it with --person COLUMN, or as 'entity' in the policy.",
            )
        chosen = identifiers[0]
    return str(chosen)


def person_keys(table: pa.Table, column: str, key: LedgerKey, spelling: Spelling) -> tuple[PersonIds, dict[str, str]]:
    """Return the keyed hashes of the people of a table, row by row, and those that 0.1.0 named differently.

    Raises
    ------
    DataError
        If the column does not exist, or does not identify every row's person.
    """
    if column not in table.column_names:
        raise DataError(
            f"The original has no column {column!r} that identifies people.",
            code="absent-columns",
            hint="Name another with --person.",
        )
    coded = encode(table.column(column))
    codes = to_codes(coded)
    labels = [label or "" for label in to_labels(coded.dictionary).to_pylist()]
    unknown = np.array([not label.strip() for label in labels] + [True])
    if np.any(unknown[codes]):
        raise DataError(
            f"The column {column!r} does not identify a person in {int(np.count_nonzero(unknown[codes]))} of the rows.",
            code="missing-person",
            hint="Fill in these cells, or name another column with --person.",
        )
    spelt = [spelling.person(label) for label in labels]
    made = b"".join(key.person(name) for name in spelt)
    of_value = np.frombuffer(made, dtype="<u8").reshape(-1, 2).astype(np.uint64)
    before = [unicodedata.normalize("NFC", label.strip()) for label in labels]
    older = {key.person(b).hex(): key.person(s).hex() for b, s in zip(before, spelt, strict=True) if b != s}
    found: PersonIds = of_value[codes]
    return found, older


def value_keys(
    column: str, labels: Iterable[str | None], key: LedgerKey, spelling: Spelling
) -> tuple[list[bytes], dict[str, str]]:
    """Return the keyed hash of every value of a column, in the given order, and those that 0.1.0 named differently."""
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
    key: LedgerKey,
    *,
    name: str = "",
    person: str | None = None,
    folder: Path | None = None,
) -> Described:
    """Describe a release for a ledger.

    Parameters
    ----------
    release : Released
        Must have its original.
    key : LedgerKey
        Key of the ledger.
    name : str
    person : str, optional
        Column that identifies each record's person.
    folder : Path, optional
        Folder that the files of its policy are relative to.
    """
    own_words = getattr(release, "described", None)
    if own_words is not None:  # linked tables
        described: Described = own_words(key, name=name, person=person)
        return described
    _check_release(release)
    spelling = Spelling.of(release.policy, folder)
    column = person_column(release.policy, person)
    rows = release.source_rows  # another original is refused here
    persons_of, older = person_keys(release.original([column]), column, key, spelling)
    shown = release.verification.labels[: release.table.num_rows]
    used, label = np.unique(shown, return_inverse=True)
    real = np.flatnonzero(rows >= 0)
    persons = persons_of[rows[real]]
    records = _records(release.encoded, rows[real], persons, key)
    order = np.lexsort((label[real], records, persons[:, 1], persons[:, 0]))
    columns, hashes = _columns(release), []
    called = {c.name: spelling.column(c.name) for c in release.encoded.sensitive}
    for column, _, labels in columns:
        made, before = value_keys(column, labels, key, spelling)
        if column in called and len(set(made)) < len(made):
            # a model that names one spelling would not see the other
            raise DataError(
                f"Column {column!r} contains several spellings of a value, which the ledger considers equal.",
                code="spellings",
                hint="Use one spelling for each value.",
            )
        hashes.append(made)
        older |= before
    codes = np.column_stack([label, *(own for _, own, _ in columns)]).astype(np.int64)
    own = codes[real][order][:, 1:]
    promise = Promise(0, "", release.model, release.reference, called, spelling.ignore_case)
    entry = Entry(
        name=name,
        added=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        digest=key.table(table_digest(release.table)),
        sensitive=tuple(called.values()),
        unit=release.encoded.unit,
        persons=persons[order],
        records=records[order],
        classes=codes[real][order][:, 0],
        counterfeits=np.bincount(label[rows < 0], minlength=len(used)).astype(np.int64),
        values=tuple(tuple(h.hex() for h in own_hashes) for own_hashes in hashes),
        **joint(codes, _units(release, rows)),
        others=tuple(spelling.column(name) for name, _, _ in columns[len(called) :]),
        tags=_tags(persons[order], own, hashes, key),
        sealed=sealed(promise, key),
    )
    return Described(entry, own, promise, older, spelling)


def _check_release(release: Any) -> None:
    """Refuse what a ledger cannot follow."""
    if not isinstance(release, Released):
        raise UsageError(
            f"A ledger needs a release. Got {a_kind(release)}.",
            code="not-a-release",
            hint="Open a saved one with hushtable.open_release(folder, original).",
        )
    release.plan.refuse_treatments("A ledger tracks true values and rows that cannot be linked")
    release.plan.refuse_class_weights("A ledger", "follow")


def _columns(release: Released) -> list[tuple[str, IntArray, Sequence[str | None]]]:
    """Return the sensitive columns, then the insensitive ones of the same rows, with codes and published labels."""
    found: list[tuple[str, IntArray, Sequence[str | None]]] = []
    for column in release.encoded.sensitive:
        # the others are those of suppressed records, whose number and places a reader of the ledger must not learn
        used, codes = np.unique(release.codes_of(column.name), return_inverse=True)
        labels = column.coded.labels[0]
        found.append((column.name, codes.astype(np.int64), [labels[i] for i in used.tolist()]))
    if release.apart:
        return found  # the others are with the people, and the sensitive values separate
    roles = {name: column.get("role") for name, column in release.policy.get("columns", {}).items()}
    others = [name for name in release.table.column_names if roles.get(name) == "insensitive"]
    return [*found, *((name, *_codes_and_labels(release.table.column(name))) for name in others)]


def _units(release: Released, rows: IntArray) -> IntArray:
    """Return the units of every published row; counterfeits count as people here."""
    units, of_row = np.full(len(rows), release.encoded.unit), release.encoded.row_units
    return np.where(rows >= 0, of_row[rows], units) if len(of_row) else units


def _tags(persons: PersonIds, own: IntArray, hashes: Sequence[Sequence[bytes]], key: LedgerKey) -> Any:
    """Hash each record's person with each of its values."""
    out = np.zeros(own.shape, dtype=np.uint64)
    for j, values in enumerate(hashes):
        # 0 stands for no tag
        out[:, j] = np.maximum(_hashed(key.tag, persons, map(values.__getitem__, own[:, j].tolist())), 1)
    return out


def _hashed(make: Callable[[bytes, bytes], bytes], persons: PersonIds, parts: Iterable[bytes]) -> Any:
    """Return the hash of each person with one of their attributes, as a number."""
    whose = np.ascontiguousarray(persons, dtype="<u8").tobytes()
    made = b"".join(make(whose[16 * i : 16 * i + 16], part) for i, part in enumerate(parts))
    return np.frombuffer(made, dtype="<u8").astype(np.uint64)


def renamed(entries: Sequence[Entry], older: Mapping[str, str]) -> list[Entry]:
    """Rename the people and values of releases of 0.1.0, which did not know other spellings, to their current names."""
    return [entry if entry.has_changes or not older else _renamed(entry, older) for entry in entries]


def _renamed(entry: Entry, older: Mapping[str, str]) -> Entry:
    raw = np.ascontiguousarray(entry.persons, dtype="<u8").tobytes().hex()
    names = [older.get(name, name) for name in (raw[i : i + 32] for i in range(0, len(raw), 32))]
    persons = np.frombuffer(bytes.fromhex("".join(names)), dtype="<u8").reshape(-1, 2)
    values = tuple(tuple(older.get(v, v) for v in column) for column in entry.values)
    return replace(entry, persons=persons.astype(np.uint64), values=values)


def _records(table: EncodedTable, rows: IntArray, persons: PersonIds, key: LedgerKey) -> Any:
    """Hash each record's quasi-identifiers, so that the records of one person can be distinguished."""
    numbers, first = number_rows([c.codes[rows] for c in table.quasi], [c.coded.size for c in table.quasi])
    contents = []
    for row in rows[first].tolist():
        cells = [(c.coded.labels[0][int(c.codes[row])] or "").encode("utf-8", "surrogatepass") for c in table.quasi]
        contents.append(hashlib.sha256(b"".join(len(c).to_bytes(8, "little") + c for c in cells)).digest())
    return _hashed(key.record, persons, map(contents.__getitem__, numbers.tolist()))


def _codes_and_labels(column: pa.ChunkedArray) -> tuple[IntArray, list[str]]:
    """Return the codes of a column and the text of each; that of a missing cell is empty, and the first."""
    coded, number = encode(column), {"": 0}
    code = [0, *(number.setdefault(label or "", len(number)) for label in to_labels(coded.dictionary).to_pylist())]
    return np.array(code, dtype=np.int64)[to_codes(coded) + 1], list(number)


def joint(codes: IntArray, units: IntArray) -> dict[str, Any]:
    """Return the joint histogram of columns of codes, the first of which is the class, as an entry keeps it.

    Examples
    --------
    >>> {name: part.tolist() for name, part in joint(np.array([[0, 1], [0, 1]]), np.array([1, 1])).items()}
    {'entry_class': [0], 'entry_values': [[1]], 'entry_units': [2], 'entry_rows': [2]}
    """
    numbers, first = numbered(codes)
    total = summed(units, numbers, len(first))
    keep, rows = total > 0, np.bincount(numbers, minlength=len(total)).astype(np.int64)
    held = codes[first[keep]]
    return {
        "entry_class": held[:, 0], "entry_values": held[:, 1:], "entry_units": total[keep], "entry_rows": rows[keep],
    }  # fmt: skip
