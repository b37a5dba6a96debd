"""What a report says about somebody who knows the algorithm."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.registry import templates

PEOPLE = pa.table({"age": list(range(20, 50)), "disease": ["flu", "gout", "HIV"] * 10})


def told(algorithm, **more):
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.DistinctL(l=2)], algorithm=algorithm, **more)
    return " ".join(templates.build("general").report(ht.anonymize(PEOPLE, policy), attacks=False).limits)


@pytest.mark.parametrize(
    ("algorithm", "words"),
    [
        ("anatomy", "secret coins decide which"),
        ("mondrian", "Only checks sensitive values"),
        ("p-first", "A nearer record that a group skipped"),
    ],
)
def test_the_report_says_how_sensitive_values_are_used(algorithm, words):
    assert words in told(algorithm)


def test_what_exceeds_the_promise_is_said_unless_guarded():
    assert "50% more of the people than the models promise" in told("p-first")
    assert "more than the models promise" not in told("p-first", guard=["minimality"])
    assert "more than the models promise" not in told("anatomy")


def test_the_report_says_that_it_is_private():
    assert "This report is a private document." in told("mondrian")
