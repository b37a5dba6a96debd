"""The judgment: worked examples, earlier promises, and crowds held against a search person by person."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from support_ledger import VALUES, Plain, people, slow_crowds, verdict_of

from hushtable.errors import IncompatibleError, VerificationError
from hushtable.models.alpha_k import AlphaK
from hushtable.models.average_risk import AverageRisk
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.models.probabilistic_l import ProbabilisticL

MODELS = [
    KAnonymity(k=2),
    DistinctL(l=2, on="disease"),
    EntropyL(l=2, on="disease"),
    ProbabilisticL(l=1.5, on="disease"),
]


@st.composite
def histories(draw):
    """Up to four releases of up to nine people."""
    own = {p: draw(st.sampled_from(VALUES)) for p in range(9)}
    out = []
    for _ in range(draw(st.integers(1, 4))):
        present = draw(st.sets(st.sampled_from(range(9)), min_size=1))
        out.append(Plain({p: (draw(st.integers(0, 2)), own[p]) for p in sorted(present)}))
    return out


@settings(max_examples=200, deadline=None)
@given(histories(), st.integers(2, 3))
def test_crowds_are_those_of_the_search_person_by_person(releases, k):
    *earlier, now = releases
    verdict = verdict_of(releases, KAnonymity(k=k))
    assert sum(f.people for f in verdict.findings) == len(slow_crowds(now, earlier, k))
    assert verdict.people == len(now.people)
    assert verdict.known == len(set(now.people) & {p for r in earlier for p in r.people})


FIRST = people(x="1a 2b", y="3a 4c")


@pytest.mark.parametrize("model", MODELS)
def test_the_same_classes_again_tell_nothing_new(model):
    assert verdict_of([FIRST, FIRST, FIRST], model).ok


def test_other_people_tell_nothing():
    assert verdict_of([FIRST, people(x="5a 6b")], KAnonymity(k=2)).ok


def test_regrouping_leaves_one_value():
    verdict = verdict_of([FIRST, people(x="1a 4c", y="2b 3a")], DistinctL(l=2, on="disease"))
    # a is what the classes of 1 and 3 have in common, and so the other value of these classes is that of 4 and 2
    assert [(f.people, f.worst) for f in verdict.findings] == [(4, 1.0)]
    with pytest.raises(VerificationError, match=r"distinct-l\(.*\) fails for 4 people") as caught:
        verdict.raise_if_refused()
    assert caught.value.code == "ledger-refused"


def test_regrouping_leaves_one_person():
    assert not verdict_of([FIRST, people(x="1a 3a", y="2b 4c")], KAnonymity(k=2)).ok


def test_one_newcomer_in_an_old_class_is_known_by_difference():
    later = people(x="1a 2b 5d", y="3a 4c")
    (finding,) = verdict_of([FIRST, later], DistinctL(l=2, on="disease")).findings
    assert finding.people == finding.came == finding.certain == 1
    assert "knows the disease of 1 person with certainty" in finding.sentence()
    (finding,) = verdict_of([FIRST, later], KAnonymity(k=2)).findings
    assert finding.people == 1
    both = people(x="1a 2b 5d 6a", y="3a 4c")
    assert verdict_of([FIRST, both], KAnonymity(k=2)).ok
    assert verdict_of([FIRST, both], DistinctL(l=2, on="disease")).ok


def test_a_newcomer_is_known_by_difference_though_the_old_class_was_cut():
    """Two classes of the new release hold the old class and one person more."""
    first, later = people(x="1a 2b 3a 4b"), people(x="1a 2b", y="3a 4b 5d")
    (finding,) = verdict_of([first, later], DistinctL(l=2, on="disease")).findings
    assert finding.people == 1


def test_one_who_leaves_is_known_by_difference_too():
    first, later = people(x="1a 2b 5d", y="3a 4c"), FIRST
    assert not verdict_of([first, later], KAnonymity(k=2)).ok
    (finding,) = verdict_of([first, people(x="1a 2b")], KAnonymity(k=2)).findings
    assert finding.people == 1
    (finding,) = verdict_of([first, later], DistinctL(l=2, on="disease")).findings
    assert finding.people == finding.left == 1


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
    (finding,) = verdict_of([first, later], ProbabilisticL(l=2, on="disease")).findings
    assert finding.people == 5 and finding.worst == pytest.approx(5 / 3)
    assert verdict_of([first, later], ProbabilisticL(l=1.5, on="disease")).ok


def test_models_that_count_others_are_refused():
    with pytest.raises(IncompatibleError, match="k-map counts people outside"):
        verdict_of([FIRST, FIRST], KMap(k=2))


def test_a_new_release_keeps_the_promises_of_earlier_ones():
    """k-anonymity alone would let through what diversity promised to hide."""
    first, later = people(x="1a 2b 3a 4b", y="5a 6b 7a 8b"), people(x="1a 2b 3a 4b 9c 0c", y="5a 6b 7a 8b")
    assert verdict_of([first, later], KAnonymity(k=2)).ok
    kept, apart = DistinctL(l=2, on="disease"), people(x="1a 3a", y="2b 4b")
    (finding,) = verdict_of([first, apart], KAnonymity(k=2), kept).findings
    assert finding.promised == "release 1" and finding.people == finding.certain == 4
    assert "promised by release 1" in finding.sentence()
    # of 9 and 0, whom only the new release has, the earlier one promised nothing
    assert verdict_of([first, later], KAnonymity(k=2), kept).ok


def test_what_an_earlier_promise_had_lost_before_is_not_lost_again():
    first, second = people(x="1a 2b", y="3a 4b"), people(x="1a 3a", y="2b 4b")
    kept = DistinctL(l=2, on="disease")
    alike = AverageRisk(average=1.0)
    assert not verdict_of([first, second], alike, kept).ok
    assert verdict_of([first, second, second], alike, kept).ok


def test_models_of_the_whole_table_are_kept_too():
    second = people(x="1a 3a", y="2b 4c")
    found = verdict_of([FIRST, second], KAnonymity(k=2), AverageRisk(average=0.5)).findings
    assert {f.promised for f in found if f.model == "average-risk"} == {"release 1"}
    # what was lost before is not lost again
    assert verdict_of([FIRST, second, second], AverageRisk(average=1.0), AverageRisk(average=0.5)).ok


def test_what_several_promises_say_is_said_once():
    second = people(x="1a 4c", y="2b 3a")
    model = DistinctL(l=2, on="disease")
    assert len(verdict_of([FIRST, second], model, model).findings) == 1
