"""Rows that two releases have in common, held against all worlds; and worked examples."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings

import hushtable as ht
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.judge import judge
from hushtable.ledger.ledger import Ledger
from hushtable.ledger.promise import Promise
from hushtable.models.compose import AllOf
from hushtable.models.distinct_l import DistinctL
from hushtable.table.reference import Attribute, Reference

Rows = dict[str, tuple[int, str, str]]
"""Person -> class, illness and weight."""


def table_of(rows: Rows) -> pa.Table:
    columns = zip(*rows.values(), strict=True)
    return pa.table({"who": list(rows), **dict(zip(["age", "ill", "weight"], map(list, columns), strict=True))})


def policy(weight: str = "insensitive", **more) -> ht.Policy:
    columns = {"who": {"role": "identifier"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    return ht.Policy(
        columns={**columns, "weight": {"role": weight}},
        models=more.pop("models", [ht.DistinctL(l=2, on="ill")]),
        algorithm=more.pop("algorithm", {"optimal": {"fixed": {"age": 0}}}), **more,
    )  # fmt: skip


SPRING: Rows = {"P": (1, "flu", "70"), "Q": (1, "HIV", "80")}
AUTUMN: Rows = {"P": (5, "flu", "70"), "R": (5, "HIV", "90")}


def findings(tmp_path, first: Rows, later: Rows, *policies: ht.Policy) -> list[tuple[str, int]]:
    before, now = policies if len(policies) == 2 else [*policies, *policies] or [policy(), policy()]
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(table_of(first), before))
    return [(f.how, f.people) for f in ledger.check(ht.anonymize(table_of(later), now)).findings]


BY_ROWS = "values"


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_one_row_that_both_classes_have_is_the_persons(tmp_path, role):
    # and then the other value of each class is that of the one who left, and of the one who came
    assert findings(tmp_path, SPRING, AUTUMN, policy(role)) == [(BY_ROWS, 3)]


def test_a_missing_cell_links_rows_as_any_other_does(tmp_path):
    first, later = ({w: (c, d, None if e == "70" else e) for w, (c, d, e) in r.items()} for r in (SPRING, AUTUMN))
    assert findings(tmp_path, first, later) == [(BY_ROWS, 3)]


def test_two_rows_with_other_values_are_left_to_two_people(tmp_path):
    """But not to the one who left and the one who came."""
    first = {**SPRING, "S": (1, "gout", "60")}
    later = {"P": (5, "flu", "70"), "S": (5, "gout", "60"), "R": (5, "HIV", "90")}
    assert findings(tmp_path, first, later) == [(BY_ROWS, 2)]


def test_the_same_classes_again_tell_nothing_though_some_cells_have_changed(tmp_path):
    """Whose weight has changed is not known."""
    first = {**SPRING, "S": (1, "gout", "60"), "T": (2, "flu", "70"), "U": (2, "HIV", "75")}
    assert findings(tmp_path, first, {**first, "P": (1, "flu", "71")}) == []


def test_people_who_are_together_with_nobody_whose_row_changed_are_judged(tmp_path):
    """Q's weight has changed, but Q is not together with P, whose row is the only one that both classes have."""
    first = {**SPRING, "T": (2, "flu", "65"), "U": (2, "HIV", "66")}
    later = {**AUTUMN, "Q": (6, "HIV", "81"), "T": (6, "flu", "65"), "U": (6, "gout", "66")}
    assert (BY_ROWS, 1) in findings(tmp_path, first, later)


def test_columns_that_most_people_do_not_keep_are_left_out(tmp_path):
    """Nobody has as many visits as before; by the weight alone P's row is known again."""
    ledger = Ledger(tmp_path / "releases.ledger")
    columns = {**policy().columns, "visits": {"role": "insensitive"}}
    tables = [table_of(SPRING).append_column("visits", pa.array([1, 2])),
              table_of(AUTUMN).append_column("visits", pa.array([3, 4]))]  # fmt: skip
    first, later = (ht.anonymize(table, policy().changed(columns=columns)) for table in tables)
    ledger.add(first)
    assert [f.linking for f in ledger.check(later).findings] == [("weight",)]


def test_a_column_may_have_become_sensitive(tmp_path):
    """Its values went out with the first release already."""
    models = [ht.DistinctL(l=2, on="weight")]
    first = {"P": (1, "flu", "70"), "Q": (1, "HIV", "80")}
    later = {"P": (5, "cold", "70"), "R": (5, "gout", "90")}
    assert findings(tmp_path, first, later, policy(), policy("sensitive", models=models)) != []


def test_the_people_of_anatomy_are_not_linked_to_values(tmp_path):
    """Its insensitive columns stand beside the people, and the sensitive values apart."""
    anatomy = policy(algorithm="anatomy", models=[ht.DistinctL(l=2, on="ill")])
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(table_of(SPRING), anatomy))
    (entry,) = ledger.entries()
    assert entry.others == () and entry.columns == ("ill",)


def test_entries_of_before_have_no_others(tmp_path):
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(table_of(SPRING), policy()))
    (entry,) = ledger.entries()
    assert entry.columns == ("ill", "weight") and entry.summary()["sensitive"] == ["ill"]
    assert Entry.of_line(entry.line()).others == ("weight",)
    old = replace(entry, values=entry.values[:1], others=(), entry_values=entry.entry_values[:, :1])
    data = json.loads(old.line())
    for part in ("others", "tags", "sealed"):
        del data[part]
    assert Entry.of_line(json.dumps(data).encode()).columns == ("ill",)


def entry_of(rows: dict[int, tuple[int, str, str]], values: tuple[str, str]) -> Described:
    labels = sorted({label for label, _, _ in rows.values()})
    persons = np.array([[p, 0] for p in rows], dtype=np.uint64)
    classes = np.array([labels.index(label) for label, _, _ in rows.values()], dtype=np.int64)
    own = np.array([[values[0].index(d), values[1].index(e)] for _, d, e in rows.values()], dtype=np.int64)
    order = np.argsort(classes, kind="stable")
    ones = np.ones(len(rows), dtype=np.int64)
    hashes = tuple(tuple(f"hash of {v}" for v in known) for known in values)
    return Described(
        Entry("", "", "", ("ill",), 1, persons, persons[:, 0].copy(), classes, np.zeros(len(labels), dtype=np.int64),
              hashes, classes[order], ones, own[order], ("weight",),
              tags=(own * 10 + persons[:, :1] + 1).astype(np.uint64)),
        own, Promise(1, "", AllOf(()), Reference.of(0)),
    )  # fmt: skip


def worlds(releases: list[dict[int, tuple[int, str, str]]]) -> dict[int, set[str]]:
    """The illnesses that everybody in both releases can have, if each person has one row for all time."""
    people = sorted(set().union(*releases))
    rows = sorted({(d, e) for r in releases for _, d, e in r.values()})
    possible: dict[int, set[str]] = {p: set() for p in people}
    for world in itertools.product(rows, repeat=len(people)):
        has = dict(zip(people, world, strict=True))
        if all(sorted((c, *has[p]) for p, (c, _, _) in r.items()) == sorted(r.values()) for r in releases):
            for p in people:
                possible[p].add(has[p][0])
    return possible


@st.composite
def histories(draw):
    """Two releases of people with one row each; every class has two illnesses."""
    own = {p: ("ab"[p % 2], draw(st.sampled_from("xyz"))) for p in range(5)}
    out = []
    for _ in range(2):
        labels = [draw(st.integers(0, 2)) for _ in own]  # those of class 2 are not in it
        for label in (1, 0):
            if len({own[p][0] for p in own if labels[p] == label}) < 2:
                labels = [1 - label if own_label == label else own_label for own_label in labels]
        release = {p: (labels[p], *own[p]) for p in own if labels[p] < 2}
        out.append(release if len({d for _, d, _ in release.values()}) > 1 else {p: (0, *own[p]) for p in own})
    return out


@settings(max_examples=80, deadline=None)
@given(histories())
def test_nobody_in_two_releases_that_pass_is_known_by_rows(releases):
    both = set(releases[0]) & set(releases[1])
    known = {p for p, illnesses in worlds(releases).items() if len(illnesses) == 1 and p in both}
    event("somebody is known" if known else "nobody is")
    before, now = (entry_of(r, ("ab", "xyz")) for r in releases)
    count = [sum(d == v for _, d, _ in releases[1].values()) for v in "ab"]
    table = Reference.of(len(releases[1]), Attribute.of("ill", ["a", "b"], count))
    verdict = judge(now, [before.entry], [Promise(1, "", AllOf((DistinctL(l=2, on="ill"),)), table)])
    assert not known or not verdict.ok
