"""An adversary who writes down every world that the published classes allow, held against the ledger's judgement."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import event, given, settings
from support_dealing import Plain
from support_ledger import described, reference

from hushtable.ledger.judge import _CHANGED, judge
from hushtable.models.compose import AllOf
from hushtable.models.distinct_l import DistinctL

TWO = DistinctL(l=2, on="disease")


def worlds(releases: list[Plain]) -> dict[int, set[str]]:
    """Everybody's values in all worlds: one value for each person, so that every class holds what was published."""
    people = sorted({p for r in releases for p in r.people})
    left = {(e, c): r.counts(c) for e, r in enumerate(releases) for c in r.members()}
    where = {p: [(e, r.people[p][0]) for e, r in enumerate(releases) if p in r.people] for p in people}
    possible: dict[int, set[str]] = {p: set() for p in people}
    world: dict[int, str] = {}

    def live(rest: list[int]) -> None:
        if not rest:
            for person, value in world.items():
                possible[person].add(value)
            return
        person, *others = rest
        for value in {v for v, n in left[where[person][0]].items() if n}:
            if all(left[at][value] for at in where[person]):
                for at in where[person]:
                    left[at][value] -= 1
                world[person] = value
                live(others)
                for at in where[person]:
                    left[at][value] += 1

    live(people)
    return possible


def verdict_of(releases: list[Plain]):
    known = ["".join(sorted({v for _, v in r.people.values()} | set("".join(r.fakes.values())))) for r in releases]
    *earlier, now = (described(r, k) for r, k in zip(releases, known, strict=True))
    return judge(now, [d.entry for d in earlier], AllOf((TWO,)), reference(releases[-1], known[-1]))


@st.composite
def histories(draw, people: int, releases: int):
    """Releases of people who keep their values, each of them with two values or more in every class."""
    own = {p: draw(st.sampled_from("abc" if p else "a")) for p in range(people - 1)} | {people - 1: "b"}
    out = []
    for _ in range(releases):
        labels = [draw(st.integers(0, 2)) for _ in own]  # those of class 2 are not in it
        for label in (1, 0):
            if len({own[p] for p in own if labels[p] == label}) < 2:
                labels = [1 - label if own_label == label else own_label for own_label in labels]
        plain = Plain({p: (labels[p], own[p]) for p in own if labels[p] < 2})
        out.append(plain if len(set(plain.people.values())) > 1 else Plain({p: (0, v) for p, v in own.items()}))
    return out


def newly_known(releases: list[Plain]) -> set[int]:
    """Who has a single value left, and had several without the last release."""
    before, after = worlds(releases[:-1]), worlds(releases)
    return {p for p, values in after.items() if len(values) == 1 and len(before.get(p, "ab")) > 1}


@settings(max_examples=100, deadline=None)
@given(histories(people=5, releases=2))
def test_nobody_is_known_from_two_releases_that_pass(releases):
    assert all(len(plain.counts(c)) > 1 for plain in releases for c in plain.members())
    known = newly_known(releases)
    event("somebody is known" if known else "nobody is")
    assert not known or not verdict_of(releases).ok


def people(**classes: str) -> Plain:
    return Plain({int(m[0]): (i, m[1]) for i, members in enumerate(classes.values()) for m in members.split()})


@pytest.mark.parametrize(
    "releases",
    [
        # the two in both classes have one a and one b, since neither class leaves them more of either
        [people(x="1a 2b 3b"), people(x="1a 2b 4a")],
        # 3 and 4 have a and b; what is left of the new class to 2 and 5 is a and c, and 2 has b or c
        [people(x="1b 2c", y="3b 4a"), people(x="5a 4a 3b 2c")],
        [people(x="1a 2b 3a 4b 5c"), people(x="2b 3a 5c", y="4b 6c")],
    ],
)
def test_how_many_of_the_people_have_a_value_is_bounded_in_all_their_classes(releases):
    assert newly_known(releases)
    verdict = verdict_of(releases)
    assert max(f.people for f in verdict.findings) >= len(newly_known(releases))


def test_one_who_left_and_one_who_came_are_known_however_the_others_were_regrouped():
    """No class is left together, and every value is in all classes; but b went and a came."""
    first, later = people(x="1b 2a 3b", y="4b 5a"), people(x="4b 2a", y="3b 5a 6a")
    assert newly_known([first, later]) == {1, 6}
    (finding,) = verdict_of([first, later]).findings
    assert finding.people == 2 and "added or taken away" in finding.how
    # two who came with another value each: either may be the one whose value went
    assert verdict_of([first, people(x="4b 2a 7b", y="3b 5a 6a")]).ok


def test_what_an_exchange_told_before_is_not_held_against_a_new_release():
    first, later = people(x="1b 2a 3b", y="4b 5a"), people(x="4b 2a", y="3b 5a 6a")
    still = people(x="4b 2a", y="3b 5a 6a 7b")
    assert not verdict_of([first, later]).ok
    (finding,) = verdict_of([first, later, later]).findings
    assert finding.people == 1  # 6 is published again, and is known; of 1, who left before, nothing is new
    assert not verdict_of([first, still, later]).ok


def test_what_an_exchange_seemed_to_tell_before_is_held_against_a_new_release_that_tells_the_truth():
    """1 had b for a while, so that a seemed to be the value of 5, who left; it is b."""
    first, wrong = people(x="1a 2c", y="3a 4c 5b"), people(x="1b 3a", y="2c 4c")
    later = people(x="1a 4c 6c 7a", y="2c 3a")
    changed = [
        {f.how: f.people for f in verdict_of([*earlier, later]).findings}[_CHANGED]
        for earlier in ([first], [wrong], [first, wrong])
    ]
    assert changed == [1, 2, 3]


def test_what_two_releases_tell_is_found_though_a_third_one_tells_the_people_apart():
    """By the last two 1 and 2 have one b and one c; the first one has them in two classes."""
    first = people(x="0b 2c", y="1b 3b 4c 5c 6c 7b")
    second, third = people(x="0b 3b 4c 5c", y="1b 2c 6c 7b"), people(x="0b 1b 3b 4c", y="2c 5c 6c 7b")
    assert not verdict_of([second, third]).ok
    assert not verdict_of([first, second, third]).ok


def test_a_class_that_contradicts_others_by_a_changed_value_is_not_bounded():
    """1 and 2 have a and a now; the earlier class has one a, so one of them has changed and nothing follows of 3."""
    assert verdict_of([people(x="1a 2b 3b"), people(x="1a 2a 4b")]).ok
    assert not verdict_of([people(x="1a 2b 3b"), people(x="1a 2b 4a")]).ok
