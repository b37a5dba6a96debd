from __future__ import annotations

import pytest

from hushtable.comparison.outcomes import Condition, Outcomes
from hushtable.errors import NotFound, ParameterError, UsageError
from hushtable.policy.files import policy_files, rebased
from hushtable.policy.policy import Policy

POLICY = Policy(quasi=["age"], sensitive=["pay"], models=[{"k-anonymity": {"k": 2}}]).document()


def row(algorithm: str, risk: float | None, ncp: float | None, **more: float) -> dict:
    values = {} if risk is None else {"prosecutor": risk, "ncp": ncp, **more}
    status = "ok" if values else "not found"
    settings = {"algorithm": algorithm, "models": "k-anonymity k=2", "suppression limit": 0.0, "cells": "intervals"}
    return {**settings, "status": status, "reason": "", "values": values, "seconds": 0.1, "policy": POLICY}


ROWS = (row("a", 0.5, 0.1), row("b", 0.1, 0.3, accuracy=0.7), row("c", 0.09, 0.4, accuracy=0.8), row("d", None, None))
OUTCOMES = Outcomes(ROWS)


@pytest.mark.parametrize(
    ("goal", "where", "chosen"),
    [
        ({}, [], "a"),
        ({"minimise": "prosecutor"}, [], "c"),
        ({"minimise": "ncp"}, ["prosecutor <= 0.1"], "b"),
        ({"minimise": "ncp"}, ["prosecutor < 0.1"], "c"),
        ({"minimise": "ncp"}, ["prosecutor<=0.1", "accuracy >= 0.75"], "c"),
        ({"maximise": "Accuracy"}, [], "c"),
        ({"minimise": "ncp"}, ["ncp > 0.1"], "b"),
    ],
)
def test_the_best_that_fulfils_all(goal, where, chosen):
    found = OUTCOMES.suggest(where=where, **goal)
    assert found.row["algorithm"] == chosen
    assert Policy.from_yaml(found.text()) == Policy(**POLICY)
    assert found.text().startswith("# Suggested by hushtable")


def test_where_none_fulfils_the_closest_is_named():
    with pytest.raises(NotFound) as none:
        OUTCOMES.suggest(minimise="ncp", where=["prosecutor <= 0.08", "ncp <= 0.5"])
    assert "The closest is c with k-anonymity k=2" in none.value.message
    assert "prosecutor is 0.09, not <= 0.08" in none.value.message
    assert none.value.exit_code == 3


def test_a_row_that_lacks_the_quantity_is_not_the_closest():
    with pytest.raises(NotFound, match="closest is c"):
        OUTCOMES.suggest(minimise="ncp", where=["accuracy >= 0.9"])


def test_without_any_release():
    with pytest.raises(NotFound, match="None of the settings produced a release"):
        Outcomes((row("d", None, None),)).suggest()


@pytest.mark.parametrize(
    "text", ["", "prosecutor", "prosecutor == 0.1", "<= 1", "prosecutor <= x", "prosecutor <= nan"]
)
def test_what_is_no_condition(text):
    with pytest.raises(ParameterError, match="A condition must be"):
        Condition.read(text)


def test_bounds_are_compared_unrounded_with_the_models_tolerance():
    assert Condition.read("prosecutor <= 0.09").holds(0.09 + 1e-12)
    assert not Condition.read("prosecutor > 0.09").holds(0.09 + 1e-12)
    assert not Condition.read("prosecutor <= 0.09").holds(1 / 11)
    assert not Condition.read("prosecutor <= 0.09").holds(None)


def test_unknown_quantities_and_two_goals():
    with pytest.raises(UsageError, match="Did you mean 'prosecutor'"):
        OUTCOMES.suggest(minimise="prosecuter")
    with pytest.raises(UsageError, match="--accuracy"):
        Outcomes((row("a", 0.5, 0.1),)).suggest(minimise="accuracy_drop")
    with pytest.raises(UsageError, match="not both"):
        OUTCOMES.suggest("ncp", maximise="ncp")


def test_a_policy_with_faults_is_refused_before_its_files_are_looked_for(tmp_path):
    damaged = {**row("a", 0.1, 0.2), "policy": {**POLICY, "columns": {"age": 0.0}}}
    with pytest.raises(UsageError, match=r"columns\.age"):
        Outcomes((damaged,)).suggest().text(tmp_path)


def test_files_of_a_policy_move_with_it(tmp_path):
    document = {
        "columns": {
            "a": {"role": "quasi", "hierarchy": {"taxonomy": {"file": "a.csv", "delimiter": ","}}},
            "b": {"role": "quasi", "hierarchy": "sub/b.csv"},
            "c": {"role": "quasi", "hierarchy": {"tree": {"file": ["x.csv"]}}},
            "d": {"role": "quasi", "hierarchy": "flat"},
        },
        "background": {"file": "/abs/known.csv", "on": "b", "probability": "p"},
    }
    assert policy_files(document) == ["a.csv", "sub/b.csv", "/abs/known.csv"]
    for ledger, then in (
        ("r.ledger", {"file": "../in/r.ledger"}),
        ({"file": "r.ledger", "key": "/safe/r.key", "person": "who"},
         {"file": "../in/r.ledger", "key": "/safe/r.key", "person": "who"}),
        ({"file": "r.ledger", "key": "k/r.key"}, {"file": "../in/r.ledger", "key": "../in/k/r.key"}),
    ):  # fmt: skip
        # a policy that lost its ledger would judge a release as the first
        assert rebased({**document, "ledger": ledger}, tmp_path / "in", tmp_path / "out")["ledger"] == then
    moved = rebased(document, tmp_path / "in", tmp_path / "out")
    assert policy_files(moved) == ["../in/a.csv", "../in/sub/b.csv", "/abs/known.csv"]
    assert policy_files(document) == ["a.csv", "sub/b.csv", "/abs/known.csv"]


def test_a_frontier_of_the_smallest_class_prefers_greater_ones():
    def row(smallest, ncp):
        return {"values": {"k-map-smallest": smallest, "ncp": ncp}}

    found = Outcomes((row(5.0, 0.2), row(2.0, 0.1), row(2.0, 0.2)), "k-map-smallest", "ncp")
    assert found.frontier == (0, 1)
