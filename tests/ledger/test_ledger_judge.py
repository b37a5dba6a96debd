"""The judgement, held against a search person by person; and worked examples."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from support_ledger import VALUES, Plain, described, reference, slow_changes, slow_common, slow_crowds, slow_exchanges

from hushtable.errors import IncompatibleError, VerificationError
from hushtable.ledger.common import common
from hushtable.ledger.judge import judge
from hushtable.ledger.trace import trace
from hushtable.models.alpha_k import AlphaK
from hushtable.models.average_risk import AverageRisk
from hushtable.models.compose import AllOf
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.models.probabilistic_l import ProbabilisticL

MODELS = [
    KAnonymity(k=2),
    KAnonymity(k=3),
    DistinctL(l=2, on="disease"),
    EntropyL(l=2, on="disease"),
    ProbabilisticL(l=1.5, on="disease"),
]


@st.composite
def histories(draw):
    """Up to four releases of up to nine people; most keep their value."""
    own = {p: draw(st.sampled_from(VALUES)) for p in range(9)}
    releases = []
    for _ in range(draw(st.integers(1, 4))):
        present = draw(st.sets(st.sampled_from(range(9)), min_size=1))
        people = {}
        for p in sorted(present):
            if draw(st.integers(0, 9)) == 0:
                own[p] = draw(st.sampled_from(VALUES))
            people[p] = (draw(st.integers(0, 2)), own[p])
        fakes = {c: draw(st.text(VALUES, max_size=1)) for c in sorted({c for c, _ in people.values()})}
        releases.append(Plain(people, fakes if draw(st.booleans()) else {}))
    return releases


def known_to(plain: Plain, draw_order: str) -> str:
    used = {v for _, v in plain.people.values()} | set("".join(plain.fakes.values()))
    return "".join(v for v in draw_order if v in used)


def verdict_of(releases: list[Plain], model, orders=None):
    *earlier, now = releases
    orders = orders or [VALUES] * len(releases)
    known = [known_to(r, order) for r, order in zip(releases, orders, strict=True)]
    entries = [described(r, k).entry for r, k in zip(earlier, known, strict=False)]
    return judge(described(now, known[-1]), entries, AllOf((model,)), reference(now, known[-1]))


@settings(max_examples=300, deadline=None)
@given(histories(), st.sampled_from(MODELS), st.lists(st.permutations(VALUES), min_size=4, max_size=4))
def test_the_judgement_is_that_of_the_search_person_by_person(releases, model, orders):
    orders = ["".join(order) for order in orders[: len(releases)]]
    *earlier, now = releases
    known = known_to(now, orders[-1])
    table = reference(now, known)
    verdict = verdict_of(releases, model, orders)
    found = {f.how.split()[1] + f.how.split()[2]: f.people for f in verdict.findings}
    if isinstance(model, KAnonymity):
        expected = {"thecrowd": len(slow_crowds(now, earlier, model, table))}
    else:
        expected = {
            "whattheir": len(slow_common(now, earlier, model, known, table)),
            "whatwas": len(
                slow_changes(now, earlier, model, known, table) | slow_exchanges(now, earlier, model, known, table)
            ),
        }
    assert found == {how: people for how, people in expected.items() if people}
    assert verdict.ok == (not found)
    assert verdict.people == len(now.people)
    assert verdict.known == len(set(now.people) & {p for r in earlier for p in r.people})


@settings(max_examples=150, deadline=None)
@given(histories())
def test_everybody_in_the_new_release_keeps_the_true_value_whatever_has_changed(releases):
    *earlier, now = (described(r, VALUES) for r in releases)
    entries = [d.entry for d in earlier]
    traces = trace([*entries, now.entry])
    found = common(now, entries, traces, ("disease",), 1)
    if found is None:
        return
    left = found.left.as_matrix(len(VALUES))
    for record, kind in zip(found.record.tolist(), found.kind.tolist(), strict=True):
        if found.present[kind]:
            assert left[kind, now.own[traces.row[record], 0]] > 0


def people(**classes: str) -> Plain:
    """``people(x="1a 2b")``: class x holds person 1 with value a and person 2 with value b."""
    return Plain({int(m[0]): (i, m[1]) for i, members in enumerate(classes.values()) for m in members.split()})


FIRST = people(x="1a 2b", y="3a 4c")


@pytest.mark.parametrize("model", MODELS[:1] + MODELS[2:])
def test_the_same_classes_again_tell_nothing_new(model):
    assert verdict_of([FIRST, FIRST, FIRST], model).ok


def test_other_people_tell_nothing():
    assert verdict_of([FIRST, people(x="5a 6b")], KAnonymity(k=2)).ok


def test_regrouping_leaves_one_value():
    verdict = verdict_of([FIRST, people(x="1a 4c", y="2b 3a")], DistinctL(l=2, on="disease"))
    # a is what the classes of 1 and 3 have in common, and so the other value of these classes is that of 4 and 2
    assert [(f.people, f.worst) for f in verdict.findings] == [(4, 1.0)]
    with pytest.raises(VerificationError, match=r"distinct-l\(.*\) breaks for 4 people") as caught:
        verdict.raise_if_refused()
    assert caught.value.code == "ledger-refused"


def test_regrouping_leaves_one_person():
    assert not verdict_of([FIRST, people(x="1a 3a", y="2b 4c")], KAnonymity(k=2)).ok


def test_one_newcomer_in_an_old_class_is_known_by_difference():
    later = people(x="1a 2b 5d", y="3a 4c")
    dealt, finding = verdict_of([FIRST, later], DistinctL(l=2, on="disease")).findings
    assert finding.people == 1 and "added or taken away" in finding.how
    assert dealt.people == 1 and "in common" in dealt.how
    (finding,) = verdict_of([FIRST, later], KAnonymity(k=2)).findings
    assert finding.people == 1
    both = people(x="1a 2b 5d 6a", y="3a 4c")
    assert verdict_of([FIRST, both], KAnonymity(k=2)).ok
    assert verdict_of([FIRST, both], DistinctL(l=2, on="disease")).ok


def test_a_newcomer_is_known_by_difference_though_the_old_class_was_cut():
    """Two classes of the new release hold the old class and one person more."""
    first, later = people(x="1a 2b 3a 4b"), people(x="1a 2b", y="3a 4b 5d")
    dealt, finding = verdict_of([first, later], DistinctL(l=2, on="disease")).findings
    assert finding.people == dealt.people == 1


def test_one_who_leaves_is_known_by_difference_too():
    first, later = people(x="1a 2b 5d", y="3a 4c"), FIRST
    assert not verdict_of([first, later], KAnonymity(k=2)).ok
    (finding,) = verdict_of([first, people(x="1a 2b")], KAnonymity(k=2)).findings
    assert finding.people == 1
    # nobody has d any more: what is left of it for 5 is nothing that the new release knows
    dealt, finding = verdict_of([first, later], DistinctL(l=2, on="disease")).findings
    assert finding.people == dealt.people == 1


def test_classes_that_leave_whole_tell_nothing():
    assert verdict_of([FIRST, people(x="1a 2b")], KAnonymity(k=2)).ok


def test_all_earlier_releases_count_not_only_the_last():
    first, second = people(x="1a 2b 3c 4d"), people(x="1a 2b", y="3c 4d")
    third = people(x="1a 3c", y="2b 4d")
    assert verdict_of([first, second], KAnonymity(k=2)).ok
    assert verdict_of([first, third], KAnonymity(k=2)).ok
    assert not verdict_of([first, second, third], KAnonymity(k=2)).ok


def test_a_changed_value_is_a_removal_and_an_insertion():
    later = people(x="1d 2b", y="3a 4c")
    assert verdict_of([FIRST, later], ProbabilisticL(l=1, on="disease")).ok
    (finding,) = verdict_of([FIRST, later], DistinctL(l=2, on="disease")).findings
    # 2, whose value did not change, is alone with it; so the other values are those that 1 had and has
    assert finding.people == 2


def test_a_model_of_the_whole_table_is_judged_on_what_is_left():
    second = people(x="1a 3a", y="2b 4c")
    assert verdict_of([FIRST, second], AverageRisk(average=1.0)).ok
    assert not verdict_of([FIRST, second], AverageRisk(average=0.5)).ok


def test_a_model_of_people_and_values_counts_the_crowd_too():
    """Of each four in a class two are in both: what they may have is that of four, but they are two."""
    first, later = people(x="1a 2b 3a 4b"), people(x="1a 2b 5a 6b", y="3a 4b 7a 8b")
    assert verdict_of([first, later], AlphaK(alpha=0.5, k=2, on="disease")).ok
    (finding,) = verdict_of([first, later], AlphaK(alpha=0.5, k=3, on="disease")).findings
    assert finding.people == 8 and finding.worst == 2 and finding.bound == ">= 3 people"
    assert verdict_of([first, first], AlphaK(alpha=0.5, k=4, on="disease")).ok


def test_values_that_only_an_earlier_release_knows_have_their_share():
    """Five leave, three of them with d, which nobody has any more; a and b, which others have, are not all of it."""
    first, later = people(x="1d 2d 3d 4a 5b 6c 7b"), people(x="6c 7b", y="8a 9b")
    for finding in verdict_of([first, later], ProbabilisticL(l=2, on="disease")).findings:
        assert finding.people == 5 and finding.worst == pytest.approx(5 / 3)
    assert len(verdict_of([first, later], ProbabilisticL(l=2, on="disease")).findings) == 2
    assert verdict_of([first, later], ProbabilisticL(l=1.5, on="disease")).ok


def test_models_that_count_others_are_refused():
    with pytest.raises(IncompatibleError, match="k-map counts people outside"):
        verdict_of([FIRST, FIRST], KMap(k=2))
