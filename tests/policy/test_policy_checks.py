from __future__ import annotations

from typing import Any

import pytest

import hushtable as ht
from hushtable.errors import IncompatibleError, PolicyError
from hushtable.policy.policy import Policy
from hushtable.schema.columns import Role

K = [{"k-anonymity": {"k": 2}}]


def refused(**settings: Any) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        Policy(**{"models": K, **settings})
    return caught.value


@pytest.mark.parametrize(
    ("settings", "code", "message"),
    [
        ({"sensitive": ["s"]}, "no-quasi", "columns: The policy has no quasi-identifier. Give at least one column"),
        ({"quasi": ["a"], "models": []}, "no-model", "models: The policy has no privacy model. Add one"),
        (
            {"quasi": {"a": {"categories": {"x": ["1"]}}}},
            "not-for-role",
            "columns.a.categories: The column's role is quasi, but 'categories' is for sensitive columns",
        ),
        (
            {"quasi": ["a"], "identifiers": {"i": {"hierarchy": "flat"}}},
            "not-for-role",
            "columns.i.hierarchy: The column's role is identifier",
        ),
        ({"quasi": ["a"], "insensitive": {"i": {"hierarchy": "flat"}}}, "not-for-role", "columns.i.hierarchy"),
        ({"quasi": ["a"], "sensitive": {"s": {"weight": 2}}}, "not-for-role", "columns.s.weight"),
        ({"quasi": ["a"], "sensitive": {"s": {"cells": "sets"}}}, "not-for-role", "columns.s.cells"),
        (
            {"quasi": {"a": {"kind": "numeric", "order": ["1"]}}},
            "not-ordinal",
            "columns.a.order: The column's kind is numeric, but 'order' is for ordinal columns. "
            "Remove it or write 'kind: ordinal'.",
        ),
        ({"quasi": {"a": {"kind": "ordinal"}}}, "no-order", "columns.a.kind: An ordinal column needs 'order'."),
        (
            {"quasi": {"a": {"order": ["x", "y", "x"]}}},
            "value-twice",
            "columns.a.order: 1 of the 3 values are listed twice.",
        ),
        (
            {"quasi": ["a"], "sensitive": {"s": {"categories": {"x": [1, 2], "y": ["1"]}}}},
            "value-twice",
            "columns.s.categories: 1 of the 3 values are listed twice.",
        ),
        (
            {"quasi": ["age"], "identifiers": ["person"], "entity": "persn"},
            "unknown-column",
            "entity: The policy has no column 'persn'. Did you mean 'person'?",
        ),
        (
            {"quasi": ["age", "person"], "entity": "person"},
            "entity-role",
            "entity: 'person' identifies each row's person; if published, it would link the rows of a person. "
            "Give the column the role 'identifier'.",
        ),
        (
            {"quasi": ["a"], "sensitive": ["s"], "models": [*K, {"entropy-l": {"l": 2, "on": "a"}}]},
            "not-sensitive",
            "models[1]: entropy-l is set on 'a', which is not a sensitive column. Sensitive columns: s.",
        ),
        (
            {"quasi": ["a"], "models": [{"entropy-l": {"l": 2}}]},
            "no-sensitive",
            "models[0]: entropy-l protects a sensitive column, but the policy declares none.",
        ),
        (
            {"quasi": ["a"], "sensitive": ["disease"], "background": {"file": "b.csv", "on": "desease"}},
            "not-sensitive",
            "background.on: 'desease' is not a sensitive column. Did you mean 'disease'?",
        ),
        (
            {"quasi": ["a"], "background": {"file": "b.csv", "on": "a"}},
            "not-sensitive",
            "background.on: 'a' is not a sensitive column. Give a column the role 'sensitive'.",
        ),
    ],
)
def test_contradictions_are_refused(settings: dict[str, Any], code: str, message: str) -> None:
    error = refused(**settings)
    assert error.code == code
    assert str(error).startswith(message)


def test_models_that_need_tables_are_refused_without_them() -> None:
    with pytest.raises(IncompatibleError, match="k-map needs a population table"):
        Policy(quasi=["a"], models=[ht.KMap(k=2)])
    assert Policy(quasi=["a"], models=[ht.KMap(k=2)], population="p.csv").population == "p.csv"
    bayes = {"quasi": ["a"], "sensitive": ["s"], "models": [ht.BayesOptimal(theta=0.5, background=True)]}
    with pytest.raises(IncompatibleError, match="bayes-optimal needs a background table"):
        Policy(**bayes)
    assert Policy(**bayes, background={"file": "b.csv", "on": "s"}).background is not None


def test_wildcards_are_refused_for_models_that_do_not_survive_merging() -> None:
    bayes = ht.BayesOptimal(theta=0.5, background=True)
    with pytest.raises(IncompatibleError, match="wildcard"):
        Policy(
            quasi=["a"],
            sensitive=["s"],
            models=[bayes],
            background={"file": "b.csv", "on": "s"},
            missing="wildcard",
        )


def test_order_alone_and_empty_settings_are_fine() -> None:
    policy = Policy(
        quasi={"a": {"order": ["low", "high"]}},
        identifiers=["id"],
        sensitive={"s": {"categories": {}, "hierarchy": "flat"}},
        models=K,
        entity="id",
    )
    assert policy.columns["a"].order == ("low", "high")


@pytest.mark.parametrize("setting", [{"same_as": "b"}, {"changes": True}])
def test_what_only_the_ledger_reads_is_refused_where_it_reads_nothing(setting):
    with pytest.raises(PolicyError) as caught:
        ht.Policy(quasi={"a": setting}, models=[ht.KAnonymity(k=2)])
    assert [fault.code for fault in caught.value.faults] == ["not-for-role"]


def test_what_a_plan_refuses_is_refused_when_the_policy_is_made() -> None:
    univariate = {"models": K, "algorithm": "optimal-univariate"}
    with pytest.raises(IncompatibleError, match="exactly one quasi-identifier"):
        Policy(quasi=["a", "b"], **univariate)
    with pytest.raises(PolicyError, match="'b', which is not a quasi-identifier"):
        Policy(quasi=["a"], models=[ht.KAnonymity(k=2, combinations=[["b"]])])
    # the table's columns decide which ones are quasi-identifiers
    unfinished = Policy(rest="quasi", **univariate)
    assert unfinished.for_columns(["a"]).plan().table.named(Role.QUASI) == ("a",)
    with pytest.raises(IncompatibleError, match="exactly one quasi-identifier"):
        unfinished.for_columns(["a", "b"])
