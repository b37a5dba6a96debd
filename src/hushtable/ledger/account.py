"""An account: the ledger that a policy names, and the commitments of its releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.earlier import Earlier
from hushtable.arrays import BoolArray, IntArray
from hushtable.errors import DataError, counted
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.ledger.describe import describe, person_column, person_keys, renamed, value_keys
from hushtable.ledger.entry import Entry, PersonIds
from hushtable.ledger.judge import check_judgeable
from hushtable.ledger.key import LedgerKey
from hushtable.ledger.ledger import Ledger, held_against
from hushtable.ledger.spelling import Spelling
from hushtable.ledger.verdict import LedgerVerdict
from hushtable.models.compose import AllOf
from hushtable.release.released import Released
from hushtable.table import stats
from hushtable.table.encode import sensitive_column
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import ColumnPlan, TablePlan


@dataclass(frozen=True)
class Account:
    """The ledger of a policy.

    Attributes
    ----------
    file : Path
    person : str
        Column that identifies each record's person.
    key : Path, optional
        The ledger's key, if it is not next to the ledger.
    records : int, optional
        Number of its releases to use, from the first. Defaults to all. It is recorded with a release, so that
        the release can be reproduced after others have been added.
    folder : Path, optional
        Folder that the policy's files are relative to.
    spelling : Spelling
        Names of people, columns and values in the ledger.
    new : bool
        Whether the ledger is new.
    expect_new_people : bool
        Whether a release may have nobody in common with any earlier one.
    held : LedgerVerdict, optional
        Result of the comparison with earlier releases.
    repeating : bool
        Whether a release is being reproduced that was made when the ledger had ``records`` releases.
    """

    file: Path
    person: str
    key: Path | None = None
    records: int | None = None
    folder: Path | None = None
    spelling: Spelling = field(default_factory=Spelling)
    new: bool = False
    expect_new_people: bool = False
    held: LedgerVerdict | None = None
    repeating: bool = False

    @classmethod
    def of(cls, document: Any, folder: Path | None) -> Account | None:
        """Return the account that a policy names, if any; its files are relative to the folder."""
        named = document.get("ledger")
        if named is None:
            return None
        base = folder or Path()
        key = named.get("key")
        return cls(
            file=base / named["file"],
            person=person_column(document, None),
            key=None if key is None else base / key,
            records=named.get("records"),
            folder=folder,
            spelling=Spelling.of(document, folder),
            new=bool(named.get("new")),
            expect_new_people=bool(named.get("expect_new_people")),
        )

    def opened(self) -> tuple[LedgerKey, list[Entry]]:
        """Return the ledger's key and the releases to use.

        Raises
        ------
        DataError
            If the ledger does not exist, was changed, or has fewer releases than before.
        """
        book = Ledger(self.file, key=self.key)
        if not self.repeating and not self.new and not book.exists():
            raise DataError(
                f"There is no ledger {str(self.file)!r}, so earlier releases are unknown.",
                code="no-ledger",
                hint="Restore it, or mount its folder. If nothing was ever published, write 'new: true' below "
                "'ledger' in the policy.",
            )
        key, entries = book.opened()
        if not self.repeating and self.records not in (None, len(entries)):
            raise DataError(
                f"The ledger {str(self.file)!r} has {counted(len(entries), 'release', 'releases')}, but the policy "
                f"expects {self.records} of them ('records').",
                code="ledger-shorter" if len(entries) < (self.records or 0) else "ledger-grown",
                hint="Remove 'records' from the policy: it is there so that 'hushtable verify --rerun' can repeat "
                "the release that it came with. If the ledger lost releases, restore it.",
            )
        if not self.repeating and self.new and entries:
            raise DataError(
                f"The policy says that the ledger {str(self.file)!r} is new, but it has "
                f"{counted(len(entries), 'release', 'releases')}.",
                code="ledger-not-new",
                hint="Remove 'new: true' from the policy: with it, a missing ledger would go unnoticed.",
            )
        if self.records is not None and len(entries) < self.records:
            raise DataError(
                f"The ledger {str(self.file)!r} has {counted(len(entries), 'release', 'releases')}; the release was "
                f"made when it had {self.records}.",
                code="ledger-shorter",
                hint="Give the folder of the policy's files with --files.",
            )
        return key, entries[: self.records]

    def summary(self) -> dict[str, Any]:
        """Return the ledger, the person column, and the result of the comparison, as data."""
        return {"file": str(self.file), "person": self.person, "releases": self.records, **self.result()}

    def result(self) -> dict[str, int]:
        """Return the result of the comparison: only the number of earlier releases is public."""
        if self.held is None:
            return {}
        return {"held_against": self.held.earlier, "of_these_people": self.held.known}

    def pinned(self) -> Account:
        """Return the account as of now; from here on, it uses the releases that exist now."""
        return self if self.repeating else replace(self, records=len(self.opened()[1]), new=False, repeating=True)

    def again(self) -> Account:
        """Return the account as it was when the release was made."""
        return replace(self, repeating=True)

    def check(self, model: AllOf) -> None:
        """Refuse models that cannot be checked across releases."""
        check_judgeable(model)

    def commitments(self, table: pa.Table, columns: TablePlan, model: AllOf) -> Commitments | None:
        """Return the signatures of the people of a table; None if models use no column, or several."""
        keys = model.histogram_keys()
        if len(keys) != 1:
            return None
        key, entries = self.opened()
        return commitments(table, columns, next(iter(keys)), entries, key, self.person, self.spelling)

    def hold(self, release: Released) -> Account:
        """Return the account with the result of comparing a release.

        Raises
        ------
        VerificationError
            If the release breaks a promise in combination with those in the ledger.
        """
        key, entries = self.opened()
        if not entries:
            return replace(self, held=LedgerVerdict(0, 0, 0))
        now = describe(release, key, person=self.person, folder=self.folder)
        verdict = held_against(now, entries, key, expect_new_people=self.expect_new_people)
        verdict.raise_if_refused()
        return replace(self, held=verdict)


# Signatures: the sensitive values of a person's class in the last release that the person was in.
#
# The ledger knows values as keyed hashes. They are recognized among the values of the new table, and among those that
# the policy names (``order``, ``categories``, a taxonomy): a signature may contain a value that nobody has anymore.


_Hashed = tuple[str, ...]


@dataclass(frozen=True)
class Commitments:
    """Commitments of earlier releases to a new one.

    Attributes
    ----------
    columns : TablePlan
        The columns, with the values that a signature needs even if no record has them.
    key : stats.Key
        The sensitive (or joint) column.
    signatures : tuple of sets
        Labels, one for each column of the key.
    of_row : int64 array
        The signature of every row's person; -1 for newcomers and for those whose value has changed.
    left : int64 array
        The signature that a row's person had before the value changed; -1 for all others.
    alone : bool array
        Whether a row's person is the only one with the signature.
    """

    columns: TablePlan
    key: stats.Key
    signatures: tuple[frozenset[_Hashed], ...]
    of_row: IntArray
    left: IntArray
    alone: BoolArray

    def in_codes_of(self, table: EncodedTable) -> Earlier:
        """Return the same in the codes of the encoded table."""
        place = {c.name: {v or "": code for code, v in enumerate(c.coded.labels[0])} for c in table.sensitive}
        sizes = [table.attribute_size((name,)) for name in self.key]

        def code(labels: _Hashed) -> int:
            return int(np.ravel_multi_index([place[n][v] for n, v in zip(self.key, labels, strict=True)], sizes))

        found = tuple(tuple(sorted(map(code, signature))) for signature in self.signatures)
        return Earlier(self.key, found, self.of_row, self.left, self.alone)


def commitments(
    table: pa.Table,
    columns: TablePlan,
    key: stats.Key,
    entries: Sequence[Entry],
    secret: LedgerKey,
    person: str,
    spelling: Spelling,
) -> Commitments | None:
    """Find the signatures of a table's people; None if nobody has one.

    Raises
    ------
    DataError
        If a signature contains a value that neither the table nor the policy names.
    """
    called = tuple(spelling.column(n) for n in key)
    persons, older = person_keys(table, person, secret, spelling)
    plans = {c.name: c for c in columns.columns}
    coded = {n: sensitive_column(plans[n], table, columns, table.num_rows) for n in key}
    labels = {n: [label or "" for label in c.coded.labels[0]] for n, c in coded.items()}
    declared = {n: [*_declared(plans[n])] for n in key}
    named: dict[str, dict[str, str]] = {}
    for n in key:
        every = [*labels[n], *declared[n]]
        hashes, before = value_keys(n, every, secret, spelling)
        older |= before
        named[n] = {h.hex(): v for h, v in reversed(list(zip(hashes, every, strict=True)))}
    entries = renamed(entries, older)
    committed = _classes_of(persons, entries, called)
    of_row, left = (np.full(table.num_rows, -1, dtype=np.int64) for _ in range(2))
    alone = np.zeros(table.num_rows, dtype=np.bool_)
    numbers: dict[frozenset[_Hashed], int] = {}
    wanted = sorted({place for places in committed.values() for place in places})
    signature_of = {(e, c): _signature(entries[e], c, called, [named[n] for n in key]) for e, c in wanted}
    people = [np.bincount(entry.classes) for entry in entries]
    for row, places in committed.items():
        own = tuple(labels[n][int(coded[n].codes[row])] for n in key)
        signature, unknown = signature_of[places[-1]]
        if own in signature and unknown:
            raise DataError(
                f"Earlier classes contained {counted(unknown, 'value', 'values')} of {' and '.join(map(repr, key))} "
                "that neither the table nor the policy names, so no counterfeit can represent them.",
                code="unknown-signature",
                hint="Name all values of the column in the policy, as 'categories' or 'order'.",
            )
        number = numbers.setdefault(signature, len(numbers))
        (of_row if own in signature else left)[row] = number
        # the first of the releases in a row that gave this signature
        e, c = next((p for p, q in pairwise(reversed(places)) if signature_of[q][0] != signature), places[0])
        alone[row] = people[e][c] == 1
    if not numbers:
        return None
    needed = [{*declared[n], *(v[j] for signature in numbers for v in signature)} for j, n in enumerate(key)]
    extra = {n: tuple(sorted(own - set(labels[n]))) for n, own in zip(key, needed, strict=True)}
    changed = tuple(replace(c, values=extra.get(c.name, ())) for c in columns.columns)
    return Commitments(replace(columns, columns=changed), key, tuple(numbers), of_row, left, alone)


def _classes_of(persons: PersonIds, entries: Sequence[Entry], key: stats.Key) -> dict[int, list[tuple[int, int]]]:
    """Return, for each row whose person was published, the releases with these columns and the classes in them."""
    wanted: dict[tuple[int, int], list[int]] = {}
    for row, (a, b) in enumerate(persons.tolist()):
        wanted.setdefault((a, b), []).append(row)
    found: dict[int, list[tuple[int, int]]] = {}
    for e, entry in enumerate(entries):
        if not set(key) <= set(entry.sensitive):
            continue
        for (a, b), c in zip(entry.persons.tolist(), entry.classes.tolist(), strict=True):
            for row in wanted.get((a, b), ()):
                found.setdefault(row, []).append((e, c))
    return found


def _signature(
    entry: Entry, label: int, called: stats.Key, named: Sequence[Mapping[str, str]]
) -> tuple[frozenset[_Hashed], int]:
    """Return the labels of a class's values, and the number of those with an unknown hash."""
    columns = [entry.sensitive.index(n) for n in called]
    start, end = np.searchsorted(entry.entry_class, [label, label + 1])
    found = [
        [own.get(entry.values[column][code]) for own, column, code in zip(named, columns, codes, strict=True)]
        for codes in {tuple(row) for row in entry.entry_values[start:end][:, columns].tolist()}
    ]
    known = [tuple(map(str, labels)) for labels in found if None not in labels]
    return frozenset(known), len(found) - len(known)


def _declared(column: ColumnPlan) -> Iterator[str]:
    """Yield the values that the policy names."""
    yield from column.order
    for values in column.categories.values():
        yield from values
    if isinstance(column.hierarchy, Taxonomy):
        yield from (str(leaf) for leaf in column.hierarchy.read(column.name).columns[0])
