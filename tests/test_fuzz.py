"""The fuzzers find what is planted, and nothing in a few cases of their own."""

from __future__ import annotations

from typing import Any

import pytest

from fuzz.campaign import run_batch
from fuzz.cases import ALGORITHMS, MODELS, random_case
from fuzz.plain import complaints
from hushtable.registry import algorithms, models

HEAD = {
    "columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive", "categories": {"a": ["HIV"], "b": ["flu"]}}}
}
SAME = [{"age": "[1, 9]", "disease": "HIV"}] * 3 + [{"age": "> 9", "disease": "flu"}] * 3

PLANTED: list[tuple[str, dict[str, Any]]] = [
    ("k-anonymity", {"k": 4}),
    ("p-sensitive", {"p": 2, "on": "disease"}),
    ("distinct-l", {"l": 2, "on": "disease"}),
    ("p-plus-sensitive", {"p": 2, "on": "disease"}),
    ("p-alpha-sensitive", {"p": 1, "alpha": 0.5, "on": "disease"}),
    ("probabilistic-l", {"l": 1.5, "on": "disease"}),
    ("entropy-l", {"l": 1.1, "on": "disease"}),
    ("recursive-cl", {"c": 9, "l": 2, "on": "disease"}),
    ("negation-recursive-cl", {"c": 9, "l": 1, "n": 1, "on": "disease"}),
    ("l-alpha", {"l": 1, "alpha": 0.5, "on": "disease"}),
    ("alpha-k", {"alpha": 0.9, "k": 2, "on": "disease"}),
    ("alpha-beta-k", {"alpha": 1, "beta": 1, "k": 2, "on": "disease"}),
    ("a-d", {"a": 0.9, "d": 1, "on": "disease"}),
    ("t-closeness", {"t": 0.4, "on": "disease"}),
    ("t-closeness", {"t": 0.4, "distance": "ordered", "on": "disease"}),
    ("beta-likeness", {"beta": 0.9, "on": "disease"}),
    ("delta-disclosure", {"delta": 5, "on": "disease"}),
    ("bayes-optimal", {"theta": 0.5, "on": "disease"}),
    ("m-confidentiality", {"m": 2, "k": 3, "on": "disease"}),
    ("value-bounds", {"bounds": {"HIV": 0.9}, "on": "disease"}),
    ("m-invariance", {"m": 2, "on": "disease"}),
    ("average-risk", {"average": 0.3}),
    ("average-risk", {"maximum": 0.3}),
    ("alp-dif", {"alp": {"HIV": 0.9}, "on": "disease"}),
]


@pytest.mark.parametrize(("name", "parameters"), PLANTED, ids=lambda x: x if isinstance(x, str) else "")
def test_a_planted_violation_is_found(name, parameters):
    policy = {**HEAD, "models": [{name: parameters}]}
    assert any(name in complaint for complaint in complaints(SAME, SAME, policy, ["age"]))


def test_numbers_that_are_too_similar_are_found():
    rows = [{"age": "*", "cost": cost} for cost in (10, 10.5, 80)]
    columns = {"age": {"role": "quasi"}, "cost": {"role": "sensitive"}}
    for eps, wrong in ((0.4, False), (0.5, True)):
        policy = {"columns": columns, "models": [{"eps-m": {"eps": eps, "m": 2, "on": "cost"}}]}
        assert bool(complaints(rows, rows, policy, ["age"])) is wrong


def test_what_else_a_release_must_not_do():
    policy = {**HEAD, "models": [{"k-anonymity": {"k": 2}}], "suppression": 0.1}
    assert complaints(SAME, SAME, policy, ["age"]) == []
    assert complaints(SAME[:5], SAME, policy, ["age"]) == ["more was suppressed than allowed"]
    other = [*SAME[:5], {"age": "> 9", "disease": "HIV"}]
    assert complaints(other, SAME, policy, ["age"]) == ["a sensitive value was published that nobody has"]
    named = {**policy, "columns": {**HEAD["columns"], "name": {"role": "identifier"}}}
    shown = [{**row, "name": "x"} for row in SAME]
    assert complaints(shown, shown, named, ["age"]) == ["an identifier was published"]


def test_some_cases():
    ends, findings = run_batch(10**6, 60)
    assert findings == []
    assert ends["released"] > 10


def test_cases_name_all_models_and_algorithms_but_those_that_need_more_than_a_table():
    assert set(models) - set(MODELS) == {"guarding-nodes", "k-map", "delta-presence"}
    assert set(algorithms) - set(ALGORITHMS) == {"m-invariant"}
    assert random_case(3) == random_case(3)
