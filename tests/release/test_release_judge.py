"""Who may be which record: the linear-time answer compared with every perfect matching."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.engines import local
from hushtable.errors import UsageError, VerificationError
from hushtable.release.judge import consistent_pairs, judge, possible_pairs
from hushtable.testing.naive import possible_by_force


@st.composite
def graphs(draw):
    """Up to seven records and people; record i covers person i, whatever else it covers."""
    n = draw(st.integers(1, 7))
    return [{i} | draw(st.sets(st.integers(0, n - 1), max_size=3)) for i in range(n)]


@settings(max_examples=60)
@given(graphs())
def test_possible_pairs_are_those_of_all_perfect_matchings(covers):
    n = len(covers)
    found = [set() for _ in range(n)]
    matchings = (m for m in permutations(range(n)) if all(person in covers[r] for r, person in enumerate(m)))
    for matching in matchings:
        for record, person in enumerate(matching):
            found[record].add(person)
    record, person = np.array([(r, p) for r in range(n) for p in sorted(covers[r])]).T
    possible = possible_pairs(record, person, np.arange(n), np.arange(n), n, n)
    assert set(zip(record[possible].tolist(), person[possible].tolist(), strict=True)) == {
        (r, p) for r in range(n) for p in found[r]
    }
    assert possible_by_force(covers) == found


def test_a_matching_that_is_none_is_refused():
    with pytest.raises(VerificationError, match="do not cover its own person"):
        possible_pairs(np.array([0]), np.array([0]), np.arange(2), np.arange(2), 2, 2)


def test_consistent_pairs_need_every_column():
    first = np.array([0, 2, 3]), np.array([0, 1, 1])
    second = np.array([0, 1, 3]), np.array([0, 0, 1])
    record, person = consistent_pairs([first, second], [np.array([0, 1, 1]), np.array([0, 0, 1])])
    assert list(zip(record.tolist(), person.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 1), (1, 2)]


PEOPLE = pa.table({"age": [20, 21, 40, 41], "disease": ["flu", "HIV", "flu", "gout"]})
POLICY = ht.Policy(quasi=["age"], sensitive=["disease"], models=[{"k-concealment": {"k": 2}}], algorithm="k-concealing")


def judged(cells):
    """Judge other cells than those that were published for four people."""
    plan = POLICY.plan()
    release = local.run(PEOPLE, plan)
    shown = pa.table({"age": pa.array(cells).dictionary_encode(), "disease": PEOPLE.column("disease")})
    return judge(release.problem, plan.table, release.recoded, shown, np.arange(4))


def test_cells_are_read_as_published():
    good = judged(["{20, 21}", "{20, 21}", "{40, 41}", "{40, 41}"])
    assert good.ok and good.evidence[0].achieved == 2
    ring = judged(["{20, 21}", "{21, 40}", "{40, 41}", "{20, 41}"])
    assert ring.ok and ring.classes == 4


def test_covering_alone_is_not_enough():
    """Both persons of 40 and 41 are covered twice, but 20 fits one record alone."""
    found = judged(["{20, 21}", "{21, 40}", "{40, 41}", "{40, 41}"])
    assert not found.ok and found.evidence[0].achieved == 1


def test_an_unknown_label_covers_nobody():
    assert not judged(["{20, 22}", "{20, 21}", "{40, 41}", "{40, 41}"]).ok
    with pytest.raises(VerificationError, match="own person"):
        judged(["{21, 22}", "{20, 21}", "{40, 41}", "{40, 41}"])


def test_a_saved_release_is_verified_with_its_original(tmp_path):
    ht.anonymize(PEOPLE, POLICY).save(tmp_path / "out")
    assert ht.verify(tmp_path / "out" / "release.csv", POLICY, original=PEOPLE).ok
    with pytest.raises(UsageError, match="verified with the original"):
        ht.verify(tmp_path / "out" / "release.csv", POLICY)
