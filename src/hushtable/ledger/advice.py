"""Advice: which change to a refused release would be accepted. Every change that is named was judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.ledger.describe import Described, joint
from hushtable.ledger.entry import Entry
from hushtable.ledger.judge import judge
from hushtable.ledger.promise import Promise
from hushtable.ledger.search import Limits
from hushtable.ledger.trace import trace
from hushtable.ledger.verdict import Verdict, counted
from hushtable.models.compose import AllOf

__all__ = ["advised"]

_MOST = 100_000
"""Records of a release up to which changes are tried."""


def advised(now: Described, earlier: Sequence[Entry], promises: Sequence[Promise], verdict: Verdict) -> Verdict:
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
        but = f", but not while {' and '.join(map(repr, linking))} tell which rows are the same" if linking else ""
        advice.append(f"Where people come and go, m-invariance keeps their values hidden{but}.")
    return replace(verdict, advice=tuple(advice))


def _changes(
    now: Described, earlier: Sequence[Entry], promises: Sequence[Promise], verdict: Verdict
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


def _linking(verdict: Verdict) -> list[str]:
    """Return the columns that do nothing but link the rows of several releases."""
    return sorted({name for finding in verdict.findings for name in finding.beside})


def _touched(classes: IntArray, hit: BoolArray) -> IntArray:
    """Return the new classes of some people, and of those who were in earlier classes with them."""
    company = hit.copy()
    for own in classes[:, :-1].T:
        company |= np.isin(own, own[hit & (own >= 0)])
    return np.unique(classes[company & (classes[:, -1] >= 0), -1])


def _rebuilt(now: Described, label: IntArray, stay: BoolArray) -> Described:
    """Return a release with other classes, of some of its records."""
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
    """Return a promise without the models of a column, where it is the new release's."""
    if promise.name:
        return promise
    kept = [m for m in promise.model.members if not any(name in promise.calls(key) for key in m.histogram_keys())]
    return replace(promise, model=AllOf(tuple(kept)))
