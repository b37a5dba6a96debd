"""Following people through releases, against a slow follower of one person at a time."""

from __future__ import annotations

import unicodedata
from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import hushtable as ht
from hushtable.ledger.entry import Entry
from hushtable.ledger.ledger import Ledger
from hushtable.ledger.trace import trace

RELEASE = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=8)


def entry(records: list[tuple[int, int, int]]) -> Entry:
    """One release of (person, quasi-identifiers, class), in the order that the ledger keeps."""
    kept = sorted(records)
    persons = np.array([[person, 7] for person, _, _ in kept], dtype=np.uint64).reshape(-1, 2)
    record, classes = (np.array([r[j] for r in kept], dtype=kind) for j, kind in ((1, np.uint64), (2, np.int64)))
    none = np.zeros(0, dtype=np.int64)
    return Entry("", "", "", (), 1, persons, record, classes, np.zeros(3, dtype=np.int64), (), none, none,
                 none.reshape(0, 0))  # fmt: skip


def followed(releases: list[list[tuple[int, int, int]]]) -> Counter[tuple[int, tuple[int, ...]]]:
    """The traces of everybody: a record continues one that looked the same, else the first one that is free."""
    found: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for person in {r[0] for release in releases for r in release}:
        threads: list[tuple[int, dict[int, int]]] = []
        for e, release in enumerate(releases):
            left = sorted(((c, q) for p, q, c in release if p == person))
            free = list(range(len(threads)))
            for same in (True, False):
                for c, q in list(left):
                    at = next((t for t in free if not same or threads[t][0] == q), None)
                    if at is not None:
                        threads[at] = (q, {**threads[at][1], e: c})
                        free.remove(at)
                        left.remove((c, q))
            threads += [(q, {e: c}) for c, q in left]
        found.update((person, tuple(t.get(e, -1) for e in range(len(releases)))) for _, t in threads)
    return found


@given(st.lists(RELEASE, min_size=1, max_size=4).filter(lambda releases: any(releases)))
def test_everybody_is_followed_like_one_by_one(releases):
    traces = trace([entry(release) for release in releases])
    people = sorted({r[0] for release in releases for r in release})
    rows = zip(traces.person.tolist(), traces.classes.tolist(), strict=True)
    assert Counter((people[p], tuple(c)) for p, c in rows) == followed(releases)
    last = sorted(releases[-1])
    for person, classes, row in zip(traces.person, traces.classes, traces.row, strict=True):
        if row >= 0:
            assert (people[person], classes[-1]) == (last[row][0], last[row][2])
        else:
            assert classes[-1] == -1
    assert np.count_nonzero(traces.row >= 0) == len(last)


@pytest.mark.parametrize("older", [0, 3])
@pytest.mark.parametrize("rows", [1, 2])
def test_whoever_has_several_records_is_known_by_name_when_their_cells_change(tmp_path, rows, older):
    def table(pairs, shift):
        people = [(who, 10 * group + shift) for group, pair in enumerate(pairs) for who in pair for _ in range(rows)]
        return pa.table({"who": [p for p, _ in people], "age": [age for _, age in people]})

    policy = ht.Policy(identifiers=["who"], entity="who", quasi=["age"], models=[ht.KAnonymity(k=2)])
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(table(["ab", "cd"], 0), policy))
    assert ledger.check(ht.anonymize(table(["ba", "dc"], older), policy)).ok
    verdict = ledger.check(ht.anonymize(table(["ac", "bd"], older), policy))
    assert [f.people for f in verdict.findings] == [4] and verdict.findings[0].worst == 1


def test_a_second_record_later_does_not_cut_what_was_known_before():
    first, second, third = [(0, 0, 0), (1, 0, 0)], [(0, 1, 0), (1, 1, 1)], [(0, 1, 2), (0, 2, 2), (1, 1, 2)]
    traces = trace([entry(first), entry(second), entry(third)])
    assert sorted(traces.classes.tolist()) == [[-1, -1, 2], [0, 0, 2], [0, 1, 2]]


def test_releases_without_sensitive_columns_are_read_again(tmp_path):
    people = pa.table({"who": list("abcd"), "age": [1, 1, 5, 5]})
    policy = ht.Policy(identifiers=["who"], quasi=["age"], models=[ht.KAnonymity(k=2)])
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(people, policy), name="spring")
    (kept,) = ledger.entries()
    assert kept.sensitive == () and kept.entry_values.shape == (2, 0)
    assert ledger.check(ht.anonymize(people, policy)).already == "spring"
    # the same table to look at, of the same people in other classes
    moved = people.set_column(1, "age", pa.array([1, 5, 1, 5]))
    assert ledger.check(ht.anonymize(moved, policy)).already == "" and not ledger.check(ht.anonymize(moved, policy)).ok


def test_a_name_is_the_same_however_its_letters_are_stored(tmp_path):
    ages = {"Zoë": 1, "b": 1, "c": 5, "d": 5}
    people = pa.table({"who": list(ages), "age": list(ages.values())})
    policy = ht.Policy(identifiers=["who"], quasi=["age"], models=[ht.KAnonymity(k=2)])
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(people, policy))
    apart = people.set_column(0, "who", pa.array([unicodedata.normalize("NFD", f" {who} ") for who in ages]))
    assert apart["who"].to_pylist() != people["who"].to_pylist()
    assert ledger.check(ht.anonymize(apart, policy)).already == "release 1"
