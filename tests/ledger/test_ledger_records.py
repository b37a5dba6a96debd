"""People with several records, whose shares are dealt and bounded: held against every world that the rows allow."""

from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import event, given, settings
from support_dealing import Plain
from test_ledger_worlds import worlds

import hushtable as ht
from hushtable.ledger.common import common
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.judge import judge
from hushtable.ledger.ledger import Ledger
from hushtable.ledger.trace import trace
from hushtable.models.compose import AllOf
from hushtable.models.distinct_l import DistinctL
from hushtable.table.reference import Attribute, Reference

VALUES, UNIT = "abc", 2


def described(release: Plain) -> Described:
    """Records 2p and 2p + 1 are those of person p, and share the person where both are there."""
    records = sorted(release.people)
    labels = sorted(release.members())
    classes = np.array([labels.index(release.people[r][0]) for r in records], dtype=np.int64)
    own = np.array([[VALUES.index(release.people[r][1])] for r in records], dtype=np.int64)
    several = Counter(r // 2 for r in records)
    cells: Counter[tuple[int, int]] = Counter()
    for r, c, v in zip(records, classes.tolist(), own[:, 0].tolist(), strict=True):
        cells[c, v] += UNIT // several[r // 2]
    entry_class, values = np.array(sorted(cells), dtype=np.int64).T
    persons = np.array([[r // 2, 0] for r in records], dtype=np.uint64)
    entry = Entry(
        "", "", "", ("disease",), UNIT, persons, np.array(records, dtype=np.uint64), classes,
        np.zeros(len(labels), dtype=np.int64), (tuple(VALUES),), entry_class,
        np.array([cells[cell] for cell in sorted(cells)], dtype=np.int64), values[:, None],
    )  # fmt: skip
    return Described(entry, own)


@st.composite
def histories(draw, steady: bool):
    """Two releases of up to eight records; where steady, with all records of a person or none."""
    records = [0, 2, 3, 4, 6, *draw(st.sets(st.sampled_from([1, 5, 7])))]
    own = {r: draw(st.sampled_from(VALUES)) for r in records}
    out = []
    for _ in range(2):
        away = draw(st.sets(st.integers(1, 3), max_size=2))
        shown = [r for r in records if r // 2 not in away and (steady or r % 2 == 0 or draw(st.integers(0, 3)))]
        out.append(Plain({r: (draw(st.integers(0, 1)), own[r]) for r in shown}))
    return out


@settings(max_examples=150, deadline=None)
@given(histories(steady=False))
def test_nothing_is_excluded_that_a_record_has_in_some_world(releases):
    before, now = (described(r) for r in releases)
    traces = trace([before.entry, now.entry])
    found = common(now, [before.entry], traces, ("disease",), UNIT)
    if found is None:
        return
    left = found.left.as_matrix(len(VALUES))
    event("something is excluded" if (left == 0).any() else "nothing is")
    number = {p: i for i, p in enumerate(sorted({r // 2 for plain in releases for r in plain.people}))}
    places = [dict(zip(sorted(plain.people), d.entry.classes.tolist(), strict=True))
              for plain, d in zip(releases, (before, now), strict=True)]  # fmt: skip
    for r, possible in worlds(releases).items():
        own = [place.get(r, -1) for place in places]
        mine = np.flatnonzero((traces.classes == own).all(axis=1) & (traces.person == number[r // 2]))
        assert len(mine)
        for kind in found.kind[np.isin(found.record, mine)]:
            assert all(left[kind, VALUES.index(v)] > 0 for v in possible)


@settings(max_examples=200, deadline=None)
@given(histories(steady=True))
def test_no_record_is_known_from_two_releases_that_pass(releases):
    before, now = (described(r) for r in releases)
    alone = [worlds([plain]) for plain in releases]
    known = {
        r for r, values in worlds(releases).items()
        if len(values) == 1 and not any(len(world.get(r, "ab")) == 1 for world in alone)
    }  # fmt: skip
    event("somebody is known" if known else "nobody is")
    table = Reference.of(9, Attribute.of("disease", VALUES, [3, 3, 3]))
    assert not known or not judge(now, [before.entry], AllOf((DistinctL(l=2, on="disease"),)), table).ok


def test_people_with_other_numbers_of_records_are_bounded_together(tmp_path):
    """One record of P, Q and R have c, a and a, since neither class leaves them more; so it is c that S has."""
    policy = ht.Policy(
        identifiers=["who"], quasi=["age"], sensitive=["ill"], entity="who", models=[ht.DistinctL(l=2, on="ill")],
        algorithm={"optimal": {"fixed": {"age": 0}}},
    )  # fmt: skip

    def release(rows: str) -> ht.Release:
        who, age, ill = zip(*rows.split(), strict=True)
        return ht.anonymize(pa.table({"who": list(who), "age": [int(a) for a in age], "ill": list(ill)}), policy)

    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(release("P1c P1b Q1a R1a T1a U1b"))
    findings = ledger.check(release("P2c P3b Q2a R2a S2c T3a V3b")).findings
    assert [f.people for f in findings if "in common" in f.how] == [1]
