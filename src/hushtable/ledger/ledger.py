"""Ledger: the releases of the same people, in order of publication."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.errors import DataError, UsageError, counted
from hushtable.ledger.describe import Described, describe, joint, renamed
from hushtable.ledger.entry import Entry
from hushtable.ledger.journal import Journal
from hushtable.ledger.judge import judge
from hushtable.ledger.key import LedgerKey
from hushtable.ledger.kinds import History
from hushtable.ledger.promise import Promise, opened
from hushtable.ledger.search import Limits
from hushtable.ledger.trace import trace
from hushtable.ledger.verdict import LedgerFinding, LedgerVerdict
from hushtable.models.compose import AllOf
from hushtable.params import typed
from hushtable.release.released import Released

_FEW = 5
"""Minimum number of common people for a question."""


class Ledger:
    """An append-only, checked file of releases of the same people.

    It keeps keyed hashes of people and values and the classes' counts: no names, no cells, no values.

    Parameters
    ----------
    path : path
        The file. The first ``add`` creates it.
    key : path, optional
        The file of its secret and its head. Defaults to the same name followed by ``.key``. Keep it where only the
        owner of the data can read it: without it, the ledger reveals nothing and cannot be continued.
    person : str, optional
        Column that identifies each record's person. Defaults to the policy's ``entity``, or its only identifier.
    folder : path, optional
        Folder that the files of a release's policy are relative to.
    patience : float
        Seconds to wait for another process that is using the ledger.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> people = pa.table({"name": list("abcd"), "age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(identifiers=["name"], quasi=["age"], sensitive=["disease"], models=[ht.DistinctL(l=2)])
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(Path(folder.name) / "releases.ledger")
    >>> ledger.add(ht.anonymize(people, policy), name="spring").earlier
    0
    >>> moved = people.set_column(1, "age", pa.array([30, 52, 53, 31]))
    >>> ledger.check(ht.anonymize(moved, policy)).ok
    False
    >>> [entry.name for entry in ledger.entries()]
    ['spring']
    >>> folder.cleanup()
    """

    @typed
    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        key: str | os.PathLike[str] | None = None,
        person: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        patience: float = 30.0,
    ) -> None:
        self.path = Path(path)
        if not self.path.name:
            raise UsageError("The path of the ledger names no file.", code="empty-path", hint="Name a file.")
        self.person = person
        self.folder = None if folder is None else Path(folder)
        self._journal = Journal(self.path, None if key is None else Path(key), patience=patience)

    @property
    def key_path(self) -> Path:
        """Path of the secret."""
        return self._journal.key_path

    def exists(self) -> bool:
        """Whether the ledger exists."""
        return self._journal.exists()

    def entries(self) -> list[Entry]:
        """Return the entry of every release, oldest first; the whole file is checked."""
        return self.opened()[1]

    def overlap(self) -> IntArray:
        """Return the number of people that every two releases have in common: releases x releases.

        Examples
        --------
        >>> Ledger("there is none").overlap().tolist()
        []
        """
        people = [_people(entry) for entry in self.entries()]
        shared = [[len(np.intersect1d(a, b, assume_unique=True)) for b in people] for a in people]
        return np.array(shared, dtype=np.int64).reshape(len(people), len(people))

    def opened(self) -> tuple[LedgerKey, list[Entry]]:
        """Return the key and the entry of every release."""
        with self._journal.reading() as opened:
            return opened.key, [Entry.of_line(line) for line in opened.records]

    def check(self, release: Released | Any, *, expect_new_people: bool = False) -> LedgerVerdict:
        """Check a release together with all releases in the ledger; changes nothing.

        A release that is in the ledger itself is checked together with those before it. Linked tables are refused if
        a person in them is in an earlier release, and so is every later release of their people.

        Parameters
        ----------
        release : Release or LinkedRelease
        expect_new_people : bool
            Whether it may have nobody in common with any earlier one.
        """
        key, entries = self.opened()
        now = describe(release, key, person=self.person, folder=self.folder)
        at = _place(now.entry, entries)
        before = entries if at is None else entries[:at]
        verdict = held_against(now, before, key, expect_new_people=expect_new_people)
        return verdict if at is None else replace(verdict, already=entries[at].name or f"release {at + 1}")

    def add(self, release: Released | Any, *, name: str = "", expect_new_people: bool = False) -> LedgerVerdict:
        """Add a release that may follow the earlier ones.

        Parameters
        ----------
        release : Release or LinkedRelease
        name : str
            Name for the release.
        expect_new_people : bool
            Whether it may have nobody in common with any earlier one.

        Raises
        ------
        VerificationError
            If a model breaks in combination with earlier releases; the ledger stays unchanged.
        UsageError
            If the same release is in the ledger already, or if a question must be answered first.
        DataError
            If the ledger was changed.
        OutputError
            If another process does not release it, or it cannot be written.
        """
        if not self.exists():
            # a release that cannot be added makes no ledger either
            self.check(release).raise_if_refused()
        with self._journal.changing() as (opened, append):
            entries = [Entry.of_line(line) for line in opened.records]
            now = describe(release, opened.key, name=name, person=self.person, folder=self.folder)
            at = _place(now.entry, entries)
            if at is not None:
                raise UsageError(
                    f"The same release is in the ledger already: {entries[at].name or 'without a name'}, number "
                    f"{at + 1}, added {entries[at].added}.",
                    code="already-added",
                    hint="Nothing was added.",
                )
            verdict = held_against(now, entries, opened.key, expect_new_people=expect_new_people)
            verdict.raise_if_refused()
            append(now.entry.line())
        return verdict


def held_against(
    now: Described, entries: Sequence[Entry], key: LedgerKey, *, expect_new_people: bool = False
) -> LedgerVerdict:
    """Check a release together with earlier ones: by its own promise, and by theirs."""
    earlier, promises = renamed(entries, now.older), [now.promise, *opened(entries, key)]
    cases = {promise.ignores_case for promise in promises} | ({False} if len(promises) <= len(entries) else set())
    if len(cases) > 1:
        raise DataError(
            "Releases of one ledger must agree on whether case matters ('case: ignore').",
            code="ledger-case",
            hint="Set 'case' as in the earlier releases, or add them to a new ledger, from their originals.",
        )
    singles = [entry for entry in earlier if not entry.linked]
    verdict = _with_linked(now, earlier)
    if verdict.ok and not now.entry.linked:
        promises = [replace(now.promise, release=len(singles)), *opened(singles, key)]
        verdict = advised(now, singles, promises, judge(now, singles, promises))
        verdict = replace(verdict, earlier=len(earlier))
    asked = []
    if entries and not verdict.known and not expect_new_people:
        asked.append(
            "Nobody in this release is in an earlier one. If they are all new, confirm it with --expect-new-people "
            "(in a policy: 'expect_new_people: true' below 'ledger'); if not, people were named differently before."
        )
    for name, column in now.promise.called.items():
        if singles and name not in now.spelling.new and not any(column in entry.columns for entry in singles):
            asked.append(
                f"No earlier release has a column {column!r}. Name its earlier name in the policy with "
                f"'same_as: ...' below the column, or write 'same_as: false' if it is new."
            )
    asked += _changed(now, singles)
    return replace(verdict, asked=tuple(asked))


def _with_linked(now: Described, earlier: Sequence[Entry]) -> LedgerVerdict:
    """Refuse a release of people who are in an earlier one, if either of the two has linked tables.

    What their events reveal together cannot be judged, so nothing is accepted that would depend on it.
    """
    mine, findings = _people(now.entry), []
    known = np.zeros(len(mine), dtype=np.bool_)
    for number, entry in enumerate(earlier, start=1):
        shared = np.isin(mine, _people(entry))
        known |= shared
        if shared.any() and (entry.linked or now.entry.linked):
            name = entry.name or f"release {number}"
            findings.append(LedgerFinding("linked-tables", {}, "linked", int(shared.sum()), 0.0, "", promised=name))
    return LedgerVerdict(len(earlier), len(mine), int(known.sum()), tuple(findings))


def _people(entry: Entry) -> Any:
    """Return the people of a release, each once."""
    return np.unique(np.ascontiguousarray(entry.persons).view("V16").ravel())


def _changed(now: Described, earlier: Sequence[Entry]) -> list[str]:
    """Ask about sensitive columns in which most people have a different value from the last release."""
    history = History([*earlier, now.entry], now.own)
    asked = []
    for name, column in now.promise.called.items():
        before = [e for e, entry in enumerate(earlier) if entry.has_changes and column in entry.columns]
        if not before or name in now.spelling.changing:
            continue
        same = history.same(column, before[-1], -1)
        if len(same) >= _FEW and 2 * np.count_nonzero(same) < len(same):
            asked.append(
                f"Most people have a different value of {column!r} than before. If their values changed, write "
                f"'changes: true' below the column in the policy; if not, values are spelled or coded differently."
            )
    return asked


def _place(entry: Entry, entries: list[Entry]) -> int | None:
    """Return the position of the same release: the same table, of the same people in the same classes."""
    parts = ("persons", "records", "classes", "entry_class", "entry_values", "entry_units")
    for at, other in enumerate(entries):
        # 0.1.0 made its digests otherwise
        same = other.digest == entry.digest or not other.has_changes
        if same and all(np.array_equal(getattr(other, part), getattr(entry, part)) for part in parts):
            return at
    return None


# Advice: which change to a refused release would be accepted. Every change that is named was judged.


_MOST = 100_000
"""Maximum number of records of a release for which changes are tried."""


def advised(
    now: Described, earlier: Sequence[Entry], promises: Sequence[Promise], verdict: LedgerVerdict
) -> LedgerVerdict:
    """Return the verdict with the changes that would be accepted."""
    if not earlier or not verdict.findings:
        return verdict
    advice = []
    if len(now.entry.classes) <= _MOST:
        for words, changed, kept in _changes(now, earlier, promises, verdict):
            if judge(changed, earlier, kept, limits=Limits(seconds=10, cells=20_000)).ok:
                advice.append(f"{words} would be accepted.")
    if not advice:
        advice.append("Publish the same classes as before, or unions of them.")
    if any(f.how == "values" for f in verdict.findings):
        linking = _linking(verdict)
        but = f", but not while {' and '.join(map(repr, linking))} reveal which rows are the same" if linking else ""
        advice.append(f"If people come and go, m-invariance keeps their values hidden{but}.")
    return replace(verdict, advice=tuple(advice))


def _changes(
    now: Described, earlier: Sequence[Entry], promises: Sequence[Promise], verdict: LedgerVerdict
) -> Iterator[tuple[str, Described, Sequence[Promise]]]:
    traces = trace([*earlier, now.entry])
    hit = np.zeros(len(traces.person), dtype=np.bool_)
    for finding in verdict.findings:
        hit[finding.records] = True
    entry = now.entry
    touched = _touched(traces.classes, hit)
    if 1 < len(touched) < entry.n_classes:
        label = np.arange(entry.n_classes)
        label[touched] = touched[0]
        words = f"Merging {len(touched):,} of its {entry.n_classes:,} classes into one"
        yield words, _rebuilt(now, label, np.ones(len(entry.classes), dtype=np.bool_)), promises
    came = hit & (traces.row >= 0) & ~(traces.classes[:, :-1] >= 0).any(axis=1)
    if came.any():
        stay = np.ones(len(entry.classes), dtype=np.bool_)
        stay[traces.row[came]] = False
        people = counted(len(np.unique(traces.person[came])), "person who came", "people who came")
        if stay.any():
            words = f"Leaving {people} for a release with more newcomers"
            yield words, _rebuilt(now, np.arange(entry.n_classes), stay), promises
    for name in sorted({c for f in verdict.findings for c in f.columns}):
        lacking = _lacking(now, name)
        yield f"Without the column {name!r} it", lacking, [_without(promise, name) for promise in promises]
    linking, lacking = _linking(verdict), now
    if len(linking) > 1:
        # one of them may be enough to find rows again
        for name in linking:
            lacking = _lacking(lacking, name)
        yield f"Without the columns {' and '.join(map(repr, linking))} it", lacking, promises


def _linking(verdict: LedgerVerdict) -> list[str]:
    """Return the columns that only link the rows of several releases."""
    return sorted({name for finding in verdict.findings for name in finding.linking})


def _touched(classes: IntArray, hit: BoolArray) -> IntArray:
    """Return the new classes of some people, and of those who shared earlier classes with them."""
    company = hit.copy()
    for own in classes[:, :-1].T:
        company |= np.isin(own, own[hit & (own >= 0)])
    return np.unique(classes[company & (classes[:, -1] >= 0), -1])


def _rebuilt(now: Described, label: IntArray, stay: BoolArray) -> Described:
    """Return a release with different classes, of some of its records."""
    entry, own = now.entry, now.own[stay]
    _, number = np.unique(label[entry.classes[stay]], return_inverse=True)
    n = int(number.max()) + 1
    of_class = np.zeros(entry.n_classes, dtype=np.int64)
    of_class[entry.classes[stay]] = number
    fakes = np.bincount(of_class[label], entry.counterfeits, n).astype(np.int64)
    codes = np.column_stack([number, own]).astype(np.int64)
    made = replace(
        entry, persons=entry.persons[stay], records=entry.records[stay], classes=codes[:, 0],
        tags=entry.tags[stay], counterfeits=fakes, **joint(codes, np.full(len(codes), entry.unit)),
    )  # fmt: skip
    return replace(now, entry=made, own=own)


def _lacking(now: Described, name: str) -> Described:
    """Return a release without one of its columns."""
    entry = now.entry
    keep = [j for j, column in enumerate(entry.columns) if column != name]
    made = replace(
        entry, sensitive=tuple(c for c in entry.sensitive if c != name),
        others=tuple(c for c in entry.others if c != name), values=tuple(entry.values[j] for j in keep),
        entry_values=entry.entry_values[:, keep], tags=entry.tags[:, keep],
    )  # fmt: skip
    return replace(now, entry=made, own=now.own[:, keep])


def _without(promise: Promise, name: str) -> Promise:
    """Return a promise without the models of a column, if it is the new release's."""
    if promise.name:
        return promise
    kept = [m for m in promise.model.members if not any(name in promise.calls(key) for key in m.histogram_keys())]
    return replace(promise, model=AllOf(tuple(kept)))
