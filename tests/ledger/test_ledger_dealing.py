"""Dealing, held against all dealings of small classes, written out one by one; and worked examples."""

from __future__ import annotations

import itertools
from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from support_dealing import Plain, dealt, pieces_of, told
from support_ledger import VALUES, described, reference

import hushtable as ht
from hushtable.errors import VerificationError
from hushtable.ledger import dealing
from hushtable.ledger.common import common
from hushtable.ledger.game import Sheet, Truth
from hushtable.ledger.judge import judge
from hushtable.ledger.ledger import Ledger
from hushtable.ledger.trace import trace
from hushtable.models.compose import AllOf
from hushtable.models.distinct_l import DistinctL
from hushtable.table.stats import Histogram

NOBODY = np.zeros(0, dtype=np.int64)
NOTHING = Truth(NOBODY, NOBODY, NOBODY)


def deal(possible: Histogram, sheets: list[Sheet], truth: Truth = NOTHING) -> Histogram:
    return dealing.deal(possible, sheets, truth, np.ones(len(possible), dtype=np.bool_))


def matrix(rows: list[set[int]], counts: list[int]) -> Histogram:
    return Histogram.dense([[n if v in row else 0 for v, n in enumerate(counts)] for row in rows])


def all_dealings(counts: list[int], choices: list[set[int]]) -> list[tuple[int, ...]]:
    values = [v for v, n in enumerate(counts) for _ in range(n)]
    return [d for d in set(itertools.permutations(values)) if all(v in c for v, c in zip(d, choices, strict=True))]


@st.composite
def hands(draw):
    """A class of up to six people, some of whom can have only some of its values."""
    counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4).filter(lambda c: sum(c) <= 6))
    values = range(len(counts))
    choices = [draw(st.sets(st.sampled_from(values), min_size=1)) for _ in range(sum(counts))]
    return counts, choices


@settings(max_examples=300, deadline=None)
@given(hands())
def test_a_value_stays_where_some_dealing_gives_it(hand):
    counts, choices = hand
    n = len(choices)
    sheet = Sheet(np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64), Histogram.dense([counts]), np.array([0]))
    found = deal(matrix(choices, counts), [sheet]).as_matrix(len(counts))
    dealings = all_dealings(counts, choices)
    event("has a dealing" if dealings else "has none")
    if not dealings:
        assert found.tolist() == matrix(choices, counts).as_matrix(len(counts)).tolist()
        return
    possible = [{d[i] for d in dealings} for i in range(n)]
    assert [set(np.flatnonzero(row).tolist()) for row in found] == possible
    certain = Counter(next(iter(p)) for p in possible if len(p) == 1)
    for row, own in zip(found, possible, strict=True):
        if len(own) > 1:
            # those who are not certain share exactly what the others leave
            assert {v: row[v] for v in own} == {v: counts[v] - certain[v] for v in own}


@settings(max_examples=200, deadline=None)
@given(hands(), st.randoms(use_true_random=False))
def test_kinds_are_dealt_with_like_their_people(hand, random):
    """People with the same choices may be counted as one kind; the order of kinds does not matter."""
    counts, choices = hand
    kinds = sorted({tuple(sorted(c)) for c in choices})
    random.shuffle(kinds)
    supply = np.array([sum(tuple(sorted(c)) == k for c in choices) for k in kinds], dtype=np.int64)
    together = deal(
        matrix([set(k) for k in kinds], counts),
        [Sheet(np.zeros(len(kinds), dtype=np.int64), supply, Histogram.dense([counts]), np.array([0]))],
    ).as_matrix(len(counts))  # fmt: skip
    n = len(choices)
    single = Sheet(np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64), Histogram.dense([counts]), np.array([0]))
    alone = deal(matrix(choices, counts), [single]).as_matrix(len(counts))
    for choice, row in zip(choices, alone, strict=True):
        of_kind = together[kinds.index(tuple(sorted(choice)))]
        assert (of_kind > 0).tolist() == (row > 0).tolist()
        # what is certain of several people is not what each of them might have
        assert np.all(of_kind <= row) or (row > 0).sum() == 1


@settings(max_examples=200, deadline=None)
@given(hands(), st.sampled_from([2, 3, 7, 232_792_560]))
def test_the_unit_of_counts_does_not_matter(hand, unit):
    counts, choices = hand
    n = len(choices)

    def with_unit(u):
        sheet = Sheet(
            np.zeros(n, dtype=np.int64), np.full(n, u), Histogram.dense([[c * u for c in counts]]), np.array([0])
        )
        return deal(matrix(choices, [c * u for c in counts]), [sheet]).as_matrix(len(counts)) / u

    assert with_unit(unit).tolist() == with_unit(1).tolist()


@st.composite
def histories(draw):
    """Two or three releases of up to six people who keep their values; newcomers, leavers, counterfeits."""
    own = {p: draw(st.sampled_from(VALUES)) for p in range(6)}
    releases = []
    for _ in range(draw(st.integers(2, 3))):
        present = draw(st.sets(st.sampled_from(range(6)), min_size=3))
        people = {p: (draw(st.integers(0, 1)), own[p]) for p in sorted(present)}
        fakes = {c: draw(st.text(VALUES, max_size=1)) for c in sorted({c for c, _ in people.values()})}
        releases.append(Plain(people, fakes if draw(st.integers(0, 3)) == 0 else {}))
    return releases


@settings(max_examples=100, deadline=None)
@given(histories())
def test_nothing_is_excluded_that_could_be_and_everybody_keeps_the_true_value(releases):
    """All ways to give everybody one value for all releases, so that every class holds what it does."""
    now = [described(r, VALUES) for r in releases]
    traces = trace([d.entry for d in now])
    found = common(now[-1], [d.entry for d in now[:-1]], traces, ("disease",), 1)
    if found is None:
        assert not list(told(releases))
        return
    people = sorted({p for r in releases for p in r.people})
    own = {p: v for r in releases for p, (_, v) in r.people.items()}
    left = found.left.as_matrix(len(VALUES))
    possible: dict[int, set[str]] = {p: set() for p in people}
    for values in itertools.product(VALUES, repeat=len(people)):
        world = dict(zip(people, values, strict=True))
        if all(Counter(world[p] for p in group) <= r.counts(c) for r in releases for c, group in r.members().items()):
            for p, v in world.items():
                possible[p].add(v)
    for record, kind in zip(found.record.tolist(), found.kind.tolist(), strict=True):
        kept = {VALUES[v] for v in np.flatnonzero(left[kind])}
        assert possible[people[traces.person[record]]] <= kept
        assert own[people[traces.person[record]]] in kept
    twin = dealt(pieces_of(releases), releases)
    slow = {p.person: c for p, c in zip(pieces_of(releases), twin, strict=True) if p.person is not None}
    for record, kind in zip(found.record.tolist(), found.kind.tolist(), strict=True):
        expected = slow[people[traces.person[record]]]
        assert {VALUES[v]: int(n) for v, n in enumerate(left[kind]) if n} == dict(expected)


def people(**classes: str) -> Plain:
    return Plain({int(m[0]): (i, m[1]) for i, members in enumerate(classes.values()) for m in members.split()})


def verdict_of(releases: list[Plain], model, known=VALUES):
    *earlier, now = (described(r, known) for r in releases)
    return judge(now, [d.entry for d in earlier], AllOf((model,)), reference(releases[-1], known))


TWO = DistinctL(l=2, on="disease")


def test_the_third_value_is_the_third_persons():
    first, later = people(x="1a 2b 3c", y="4d 5b 6c"), people(x="1a 5b 6c", y="2b 3c 4d")
    (finding,) = verdict_of([first, later], TWO).findings
    assert finding.people == 2 and finding.worst == 1.0  # 1 has a, 4 has d
    assert verdict_of([first, first], TWO).ok


def test_somebody_who_left_is_told_by_those_who_stayed():
    first = people(x="1a 2b 3c")
    assert verdict_of([first, people(x="2b 3c 7d 8b 9a")], TWO).ok
    # without a, 2 and 3 are left with b and c
    dealt_out, changed = verdict_of([first, people(x="2b 3c 7d 8b")], TWO).findings
    assert (dealt_out.people, dealt_out.worst) == (changed.people, changed.worst) == (1, 1.0)


def test_what_earlier_releases_told_alone_is_not_held_against_a_new_one():
    first, second = people(x="1a 2b 3c"), people(x="2b 3c 7d 8b")
    assert not verdict_of([first, second], TWO).ok
    assert verdict_of([first, second, second], TWO).ok


def test_a_counterfeit_may_have_any_value():
    first, later = people(x="1a 2b 3c", y="4d 5b 6c"), people(x="1a 5b 6c", y="2b 3c 4d")
    first.fakes, later.fakes = {0: "b", 1: "b"}, {0: "b", 1: "b"}
    # of a, b, b and c, 2 and 3 have b or c, but the counterfeit may have a
    assert verdict_of([first, later], TWO).ok
    later.fakes = {}
    (finding,) = verdict_of([first, later], TWO).findings
    assert finding.people == 2


def test_values_that_are_certainly_others_do_not_count():
    """1 and 2 are known to be healthy (a): d is that of one of two, not of one of four."""
    earlier, now = described(people(x="1a 2a"), VALUES), described(people(x="1a 2a 3a 4d"), VALUES)
    found = common(now, [earlier.entry], trace([earlier.entry, now.entry]), ("disease",), 1)
    assert found is not None
    of_person = dict(zip((found.record + 1).tolist(), found.left.as_matrix(4)[found.kind].tolist(), strict=True))
    assert of_person == {1: [2, 0, 0, 0], 2: [2, 0, 0, 0], 3: [1, 0, 0, 1], 4: [1, 0, 0, 1]}
    assert found.told.all()


def test_a_class_without_a_dealing_is_left_as_it_is():
    """1 and 2 both need the only b; what the second class excludes stays excluded, whatever the first."""
    classes = Histogram.dense([[2, 1, 0], [1, 0, 1]])
    sheet = Sheet(np.array([0, 0, 0, 1, 1]), np.ones(5, dtype=np.int64), classes, np.zeros(2, dtype=np.int64))
    possible = Histogram.dense([[0, 1, 0], [0, 1, 0], [2, 1, 0], [1, 0, 0], [1, 0, 1]])
    found = deal(possible, [sheet]).as_matrix(3).tolist()
    assert found[:3] == [[0, 1, 0], [0, 1, 0], [2, 1, 0]]
    assert found[3:] == [[1, 0, 0], [0, 0, 1]]


def test_a_dealing_that_takes_somebodys_true_value_is_none():
    classes = Histogram.dense([[1, 1]])
    sheet = Sheet(np.array([0, 0]), np.ones(2, dtype=np.int64), classes, np.zeros(1, dtype=np.int64))
    possible = Histogram.dense([[1, 0], [1, 1]])
    assert deal(possible, [sheet]).as_matrix(2).tolist() == [[1, 0], [0, 1]]
    kept = deal(possible, [sheet], Truth(np.array([1]), np.array([0]), np.array([1]))).as_matrix(2).tolist()
    assert kept == [[1, 0], [1, 1]]


def test_a_class_whose_people_and_values_do_not_go_up_is_left_as_it_is():
    sheet = Sheet(np.array([0, 0]), np.ones(2, dtype=np.int64), Histogram.dense([[2, 1]]), np.zeros(1, dtype=np.int64))
    possible = Histogram.dense([[2, 0], [2, 1]])
    assert deal(possible, [sheet]).as_matrix(2).tolist() == [[2, 0], [2, 1]]


def test_a_lower_bound_is_not_taken_from_the_counts_of_others():
    """One of the first two has a, since there is one b: still the third has a in two of three worlds."""
    sheet = Sheet(np.array([0, 0]), np.array([2, 1]), Histogram.dense([[2, 1]]), np.zeros(1, dtype=np.int64))
    possible = Histogram.dense([[2, 1], [2, 1]])
    assert deal(possible, [sheet]).as_matrix(2).tolist() == [[2, 1], [2, 1]]


def test_values_that_are_certain_of_several_people_are_theirs_and_nobody_elses():
    """Two are in both classes and have one a and one b: two b are left of the first class to its other three."""
    classes = [Histogram.dense([[2, 3, 0]]), Histogram.dense([[1, 1, 1]])]
    sheets = [
        Sheet(np.array([0, 0, -1]), np.array([2, 3, 0]), classes[0], np.zeros(1, dtype=np.int64)),
        Sheet(np.array([0, -1, 0]), np.array([2, 0, 1]), classes[1], np.zeros(1, dtype=np.int64)),
    ]
    possible = Histogram.dense([[1, 1, 0], [2, 3, 0], [1, 1, 1]])
    assert deal(possible, sheets).as_matrix(3).tolist() == [[1, 1, 0], [1, 2, 0], [0, 0, 1]]


def test_people_whose_records_count_differently_in_their_releases_are_not_bounded():
    """The same, if the two are not the same share of their classes: only the values that nobody else leaves count."""
    classes = [Histogram.dense([[2, 4, 0]]), Histogram.dense([[2, 1, 1]])]
    sheets = [
        Sheet(np.array([0, 0, -1]), np.array([2, 4, 0]), classes[0], np.zeros(1, dtype=np.int64)),
        Sheet(np.array([0, -1, 0]), np.array([3, 0, 1]), classes[1], np.zeros(1, dtype=np.int64)),
    ]
    possible = Histogram.dense([[2, 1, 0], [2, 4, 0], [2, 1, 1]])
    found = dealing.deal(possible, sheets, NOTHING, np.array([False, True, True])).as_matrix(3)
    assert found.tolist() == [[2, 1, 0], [2, 4, 0], [0, 0, 1]]


def two_tables():
    def table(rows):
        return pa.table({"who": [r[0] for r in rows], "age": [r[1] for r in rows], "d": [r[2] for r in rows]})

    return (
        table(
            [("P", 1, "HIV"), ("Q", 1, "flu"), ("S", 1, "cold"), ("X", 2, "gout"), ("Y", 2, "flu"), ("Z", 2, "cold")]
        ),
        table(
            [("P", 5, "HIV"), ("Y", 5, "flu"), ("Z", 5, "cold"), ("Q", 6, "flu"), ("S", 6, "cold"), ("X", 6, "gout")]
        ),
    )


def plain_policy(**more):
    return ht.Policy(
        identifiers=["who"], quasi=["age"], sensitive=["d"], models=[ht.DistinctL(l=2)],
        algorithm={"optimal": {"fixed": {"age": 0}}}, **more,
    )  # fmt: skip


def test_a_ledger_refuses_the_release_that_leaves_one_value_to_somebody(tmp_path):
    first, later = two_tables()
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(first, plain_policy()))
    verdict = ledger.check(ht.anonymize(later, plain_policy()))
    assert [(f.people, f.worst) for f in verdict.findings] == [(2, 1.0)]
    with pytest.raises(VerificationError, match="breaks for 2 people in what their classes have in common"):
        ht.anonymize(later, plain_policy(ledger=str(ledger.path)))
    assert ledger.check(ht.anonymize(first, plain_policy())).already


@pytest.mark.parametrize(("rows", "more"), [(1, 0), (2, 0), (3, 0), (1, 1)])
def test_people_with_several_records_are_dealt_with_record_by_record(tmp_path, rows, more):
    """The same with every record twice or thrice, or with two records of P, each of them half a person."""
    first, later = (pa.concat_tables([*[t] * rows, t.slice(0, more)]) for t in two_tables())
    policy = plain_policy(entity="who")
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(first, policy))
    (finding,) = ledger.check(ht.anonymize(later, policy)).findings
    assert finding.people == 2


def test_values_that_the_new_release_does_not_know_are_dealt_too(tmp_path):
    """Nobody in the new release has gout; so it is X's who left, and P has HIV."""
    first, later = two_tables()
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(first, plain_policy()))
    kept = later.filter(pa.array([who != "X" for who in later["who"].to_pylist()]))
    (finding, *_) = ledger.check(ht.anonymize(kept, plain_policy())).findings
    assert finding.people == 2


def test_a_release_with_one_of_two_joint_columns_narrows_down_what_is_dealt(tmp_path):
    first, later = two_tables()
    later = later.append_column("e", pa.array(["x"] * later.num_rows))
    joint = ht.Policy(
        identifiers=["who"], quasi=["age"], sensitive=["d", "e"], models=[ht.DistinctL(l=2, on=["d", "e"])],
        algorithm={"optimal": {"fixed": {"age": 0}}},
    )  # fmt: skip
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(first, plain_policy()))
    (finding,) = ledger.check(ht.anonymize(later, joint)).findings
    # Q and S, Y and Z can only have flu and cold: the new classes leave gout to X and HIV to P
    assert finding.people == 2


def test_the_order_of_rows_does_not_matter(tmp_path):
    first, later = two_tables()
    ledger = Ledger(tmp_path / "releases.ledger")
    ledger.add(ht.anonymize(first, plain_policy()))
    told_of = [
        ledger.check(ht.anonymize(later.take(order), plain_policy())).findings
        for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 4, 0, 5, 1, 3])
    ]
    assert told_of[0] and told_of[0] == told_of[1] == told_of[2]
