from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import hushtable as ht
from hushtable.errors import PolicyError
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.k_anonymity import KAnonymity
from hushtable.policy.columns import ColumnPolicy
from hushtable.policy.policy import Policy

K = [{"k-anonymity": {"k": 2}}]


def refusal(**settings: Any) -> str:
    with pytest.raises(PolicyError) as caught:
        Policy(**{"models": K, **settings})
    return str(caught.value)


def test_lists_mappings_and_single_names() -> None:
    policy = Policy(
        columns={"x": ColumnPolicy(role="insensitive"), "y": {"role": "quasi", "weight": 2}},
        identifiers="name",
        quasi=("age", "zip"),
        sensitive={"disease": None, "pay": ColumnPolicy(role="sensitive", kind="numeric")},
        hierarchies={"zip": "prefix", "age": Intervals(widths=(5,))},
        models=ht.KAnonymity(k=2),
    )
    assert {name: str(c.role) for name, c in policy.columns.items()} == {
        "x": "insensitive",
        "y": "quasi",
        "name": "identifier",
        "age": "quasi",
        "zip": "quasi",
        "disease": "sensitive",
        "pay": "sensitive",
    }
    assert policy.document()["columns"]["age"] == {"role": "quasi", "hierarchy": {"intervals": [5]}}
    assert policy.document()["columns"]["pay"] == {"role": "sensitive", "kind": "numeric"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"quasi": ["age"], "sensitive": ["age"]},
            "columns.age: The column is declared twice: as quasi and as sensitive. Give it one role.",
        ),
        (
            {"quasi": ["age", "age"]},
            "columns.age: The column is declared twice: as quasi and as quasi. Give it one role.",
        ),
        (
            {"columns": {"age": {"role": "quasi"}}, "quasi": ["age"]},
            "columns.age: The column is declared twice: as quasi and as quasi. Give it one role.",
        ),
        (
            {"quasi": {"age": {"role": "sensitive"}}},
            "columns.age: The column is listed under 'quasi' and has the role 'sensitive'. Leave 'role' out.",
        ),
        (
            {"quasi": ["age"], "hierarchies": {"agee": "flat"}},
            "hierarchies.agee: The policy has no column 'agee'. Did you mean 'age'?",
        ),
        (
            {"quasi": {"age": {"hierarchy": "flat"}}, "hierarchies": {"age": "flat"}},
            "hierarchies.age: The column has a hierarchy already. Give one.",
        ),
        ({"quasi": [3]}, "quasi: A column's name is text. Got an int instead."),
        ({"columns": {3: {"role": "quasi"}}}, "columns.3: A column's name is text. Got an int instead."),
        ({"quasi": 3}, "quasi: It must be a list of column names, or a mapping of names to settings."),
        ({"quasi": ["a"], "hierarchies": ["flat"]}, "hierarchies: It must be a mapping of column to hierarchy."),
        ({"quasi": {"age": {"wait": 2}}}, "columns.age.wait: There is no setting 'wait'. Did you mean 'weight'?"),
        ({"quasi": {"age": "flat"}}, "columns.age: It must be a mapping of settings. Got 'flat' instead."),
        ({"sensitve": ["x"], "quasi": ["a"]}, "sensitve: There is no setting 'sensitve'. Did you mean 'sensitive'?"),
        (
            {"quasi": {"age": {"hierarchy": {"interval": [5]}}}},
            "columns.age.hierarchy: Column 'age': there is no hierarchy 'interval'. Did you mean 'intervals'?",
        ),
        (
            {"quasi": {"age": {"hierarchy": {"intervals": {"width": [5]}}}}},
            "columns.age.hierarchy: Column 'age': Intervals has no parameter 'width'. Did you mean 'widths'?",
        ),
        (
            {"quasi": {"a": {"hierarchy": {"tree": {"x": [None]}}}}},
            "columns.a.hierarchy: A label is a null, not text, a number or a date. "
            'Put labels such as "No", "yes" or "null" in quotes: YAML gives them a different meaning.',
        ),
        (
            {"quasi": ["a"], "models": [{"k-anonimity": {"k": 2}}]},
            "models[0]: There is no model 'k-anonimity'. Did you mean 'k-anonymity'?",
        ),
        (
            {"quasi": ["a"], "models": [{"k-anonymity": {"kk": 2}}]},
            "models[0].k-anonymity: KAnonymity has no parameter 'kk'. Did you mean 'k'?",
        ),
        (
            {"quasi": ["a"], "models": ["k-anonymity"]},
            "models[0].k-anonymity: KAnonymity needs the parameter 'k' (an int >= 2).",
        ),
        (
            {"quasi": ["a"], "models": [{"k-anonymity": 5}]},
            "models[0].k-anonymity: Parameters must be given by name. For example {k-anonymity: {k: 5}}.",
        ),
        (
            {"quasi": ["a"], "models": [{"k-anonymity": None, "k": 5}]},
            "models[0]: This is not a single model with its parameters. Write one name with its parameters, indented "
            "below it or in braces: {k-anonymity: {k: 5}}.",
        ),
        (
            {"quasi": ["a"], "models": {"k-anonymity": {"k": 5}}},
            "models: It must be a list of models. Write each model as an item of a list: '- k-anonymity: {k: 5}'.",
        ),
        (
            {"quasi": ["a"], "models": [KAnonymity]},
            "models[0]: This is not a single model with its parameters. Write one name with its parameters, indented "
            "below it or in braces: {k-anonymity: {k: 5}}.",
        ),
        (
            {"quasi": ["a"], "algorithm": "mondrain"},
            "algorithm: There is no algorithm 'mondrain'. Did you mean 'mondrian'?",
        ),
        (
            {"quasi": ["a"], "algorithm": {"mondrian": {"mod": "strict"}}},
            "algorithm.mondrian: Mondrian has no parameter 'mod'. Did you mean 'mode'?",
        ),
        (
            {"quasi": ["a"], "algorithm": KAnonymity(k=2)},
            "algorithm: KAnonymity is not one of the algorithms. For example {mondrian: {mode: strict}}.",
        ),
    ],
)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    assert refusal(**settings) == message


def test_a_model_that_takes_the_name_of_another_is_refused() -> None:
    @dataclass(frozen=True)
    class Mine(KAnonymity):
        name: ClassVar[str] = "k-anonymity"

    told = refusal(quasi=["a"], models=[Mine(k=2)])
    where = "hushtable.models.k_anonymity.KAnonymity"
    assert told.startswith(f"models[0]: There is a model 'k-anonymity' already: {where}.")


def test_numbers_and_dates_listed_as_values_become_text() -> None:
    policy = Policy(
        quasi={
            "a": {"order": [1, 2.0, 2.5]},
            "b": {"hierarchy": Taxonomy(tree={1: [10, 11.5], 2: [datetime.date(1899, 1, 2)]})},
        },
        sensitive={"s": {"categories": {1: [5, None], "open": "x"}}},
        missing_values=[-999, "?"],
        models=K,
    )
    assert policy.columns["a"].order == ("1", "2", "2.5")
    assert policy.columns["b"].hierarchy == {"tree": {"1": ("10", "11.5"), "2": ("1899-01-02",)}}
    assert policy.columns["s"].categories == {"1": ("5", ""), "open": ("x",)}
    assert policy.missing_values == ("-999", "?")


def test_a_boolean_among_values_is_refused() -> None:
    told = refusal(quasi=["a"], sensitive={"s": {"categories": {"x": [True]}}})
    assert told.startswith("columns.s.categories: A label is a bool, not text")


def test_hierarchies_are_held_in_their_shortest_form() -> None:
    forms = {"flat": {"flat": {}}, "prefix": {"prefix": {"mask": "*"}}, "c.csv": {"taxonomy": {"file": "c.csv"}}}
    for short, long in forms.items():
        assert Policy(quasi={"a": {"hierarchy": long}}, models=K).columns["a"].hierarchy == short


def test_paths_may_be_path_objects() -> None:
    assert Policy(quasi=["a"], models=K, population=Path("x") / "p.csv").population == "x/p.csv"
    roles = {"identifiers": ["i"], "quasi": ["a"], "sensitive": ["s"]}
    given = {"ledger": Path("x.ledger"), "background": {"file": Path("b.csv"), "on": "s"}}
    written = {"ledger": {"file": "x.ledger", "key": "k"}, "background": {"file": "b.csv", "on": "s"}}
    assert Policy(**roles, models=K, **given).ledger.file == "x.ledger"
    given["ledger"] = {"file": Path("x.ledger"), "key": Path("k")}
    assert Policy(**roles, models=K, **given) == Policy(**roles, models=K, **written)
