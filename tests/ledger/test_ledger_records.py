"""People with several records, whose shares are dealt and bounded: held against every world that the rows allow."""

from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import event, given, settings
from support_ledger import Plain

import hushtable as ht
from fuzz.histories import Held, Release, beliefs
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.judge import judge
from hushtable.ledger.ledger import Ledger
from hushtable.ledger.promise import Promise
from hushtable.models.compose import AllOf
from hushtable.models.distinct_l import DistinctL
from hushtable.table.reference import Attribute, Reference

VALUES, UNIT = "abc", 2
TWO = DistinctL(l=2, on="disease")
TABLE = Reference.of(9, Attribute.of("disease", VALUES, [3, 3, 3]))


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
        entry_rows=np.array([sum(n == cell for n in zip(classes.tolist(), own[:, 0].tolist(), strict=True))
                             for cell in sorted(cells)], dtype=np.int64),
        tags=np.array([[1 + ord(release.people[r][1]) * 100 + r // 2] for r in records], dtype=np.uint64),
    )  # fmt: skip
    return Described(entry, own, Promise(1, "", AllOf((TWO,)), TABLE))


def worlds(releases: list[Plain]) -> dict[int, set[str]]:
    """Every record's values in all worlds."""
    plain = [
        Release(("disease",), tuple(Held(r // 2, r % 2, label, (v,)) for r, (label, v) in release.people.items()))
        for release in releases
    ]
    found = beliefs(plain, ("disease",))
    assert found is not None
    return {2 * who + which: {v for (v,), p in shares.items() if p} for ((who, which), _), shares in found.items()}


@st.composite
def histories(draw):
    """Two releases of up to eight records, with all records of a person or none."""
    records = [0, 2, 3, 4, 6, *draw(st.sets(st.sampled_from([1, 5, 7])))]
    own = {r: draw(st.sampled_from(VALUES)) for r in records}
    out = []
    for _ in range(2):
        away = draw(st.sets(st.integers(1, 3), max_size=2))
        shown = [r for r in records if r // 2 not in away]
        out.append(Plain({r: (draw(st.integers(0, 1)), own[r]) for r in shown}))
    return out


@settings(max_examples=200, deadline=None)
@given(histories())
def test_no_record_is_known_from_two_releases_that_pass(releases):
    before, now = (described(r) for r in releases)
    alone = [worlds([plain]) for plain in releases]
    known = {
        r for r, values in worlds(releases).items()
        if len(values) == 1 and not any(len(world.get(r, "ab")) == 1 for world in alone)
    }  # fmt: skip
    event("somebody is known" if known else "nobody is")
    assert not known or not judge(now, [before.entry], [now.promise]).ok


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
    assert [f.certain for f in findings if f.how == "values"] == [1]
