from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hushtable as ht
from hushtable.datasets import adult_policy, patients_policy
from hushtable.errors import IncompatibleError, ParameterError, PolicyError
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.policy.policy import Policy
from hushtable.registry import models
from hushtable.release.forms.nodes import Nodes
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.testing.cases import chosen_forms

DESIGN = """
columns:
  name:     {role: identifier}
  age:      {role: quasi, kind: numeric, hierarchy: {intervals: [5, 10, 20]}}
  postcode: {role: quasi, hierarchy: {prefix: "*"}}
  country:  {role: quasi, hierarchy: country.csv, weight: 2}
  disease:  {role: sensitive, categories: {top secret: [HIV, Cancer], secret: [Phthisis, Hepatitis], non secret: [Flu]}}
models:     [{k-anonymity: {k: 5}}, {p-alpha-sensitive: {p: 3, alpha: 1, on: disease}}]
algorithm:  {mondrian: {mode: relaxed}}
suppression: 0.02
missing: own_category
cells: sets            # nodes | intervals | sets | midpoint
seed: 7
"""

# what YAML gives another meaning, or needs quotes for
NASTY = [
    "on", "no", "y", "YES", "null", "~", "", " ", "a b", "a-b", "it's", 'say "x"', "a: b", "a #b", "- a", "? a", "&a",
    "*a", "!a", "%a", "@a", "`a", "{a}", "[a]", "|", ">", "1", "01", "1e3", "1.50", ".5", "0x1f", "1:30", "2020-01-01",
    "<<", "=", "é", "名前", "имя", "اسم", "😀", "a\nb", "a\tb", " lead", "trail ", "\u2028", "\x85", "\ufeff", "true",
    "-", "---", "...",
    "x" * 300, "columns", "order", "role", "self",
]  # fmt: skip

names = st.one_of(st.sampled_from(NASTY), st.text(max_size=12))
labels = st.lists(names, max_size=4, unique=True)
hierarchies = st.one_of(
    st.sampled_from(
        [
            None,
            "flat",
            "country.csv",
            "sub folder/земля.yaml",
            {"intervals": [5, 10]},
            {"prefix": "#"},
            {"dates": ["year"]},
        ]
    ),
    st.builds(Intervals, widths=st.just((1, 2)), low=st.integers(-9, 9)),
    st.builds(lambda tree: {"tree": tree}, st.dictionaries(names, labels, min_size=1, max_size=3)),
    st.builds(lambda rows: {"taxonomy": {"rows": rows}}, st.lists(st.lists(names, min_size=2, max_size=2), min_size=1)),
)


@st.composite
def columns(draw: st.DrawFn) -> dict[str, dict[str, object]]:
    found = {}
    for name in draw(st.lists(names, min_size=1, max_size=5, unique=True)):
        # a table has one column of weights and one of households at most
        had = {settings["role"] for settings in found.values() if settings["role"].of_survey}
        role = draw(st.sampled_from([role for role in Role if role not in had])) if found else Role.QUASI
        column: dict[str, object] = {"role": role}
        if role in (Role.QUASI, Role.SENSITIVE):
            column["hierarchy"] = draw(hierarchies)
            column["order"] = draw(labels)
        if role is Role.QUASI:
            column["weight"] = draw(st.floats(1e-9, 1e6))
            column["cells"] = draw(st.sampled_from([None, *chosen_forms()]))
        if role is Role.SENSITIVE:
            values = draw(labels)
            cut = draw(st.integers(0, len(values)))
            column["categories"] = {"on": values[:cut], draw(names.filter(lambda n: n != "on")): values[cut:]}
        found[name] = column
    return found


policies = st.builds(
    Policy,
    columns=columns(),
    models=st.lists(st.builds(ht.KAnonymity, k=st.integers(2, 10**6)), min_size=1, max_size=3),
    algorithm=st.sampled_from(["mondrian", ht.Mondrian(mode="relaxed"), {"mondrian": {"nominal": "children"}}]),
    suppression=st.floats(0, 1),
    missing=st.sampled_from([Missing.OWN_CATEGORY, Missing.ERROR]),
    missing_values=labels,
    cells=st.sampled_from(chosen_forms()),
    seed=st.integers(0, 2**64 - 1),
    output=st.sampled_from([{}, {"format": "parquet"}]),
)


@given(policies)
def test_yaml_round_trip(policy: Policy) -> None:
    again = Policy.from_yaml(policy.to_yaml())
    assert again == policy
    assert hash(again) == hash(policy)
    assert again.digest() == policy.digest()
    assert list(again.columns) == list(policy.columns)


@given(policies)
def test_document_is_json_and_builds_the_same_policy(policy: Policy) -> None:
    document = json.loads(json.dumps(policy.document()))
    assert document == policy.document()
    assert Policy(**document) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert copy.deepcopy(policy) == policy


@pytest.mark.parametrize("name", NASTY)
def test_every_column_name_survives(name: str) -> None:
    policy = Policy(quasi=[name], sensitive={name + "2": {"categories": {name: [name]}}}, models=[ht.KAnonymity(k=2)])
    again = Policy.from_yaml(policy.to_yaml())
    assert list(again.columns) == [name, name + "2"]
    assert again.columns[name + "2"].categories == {name: (name,)}


def test_the_design_example() -> None:
    policy = Policy.from_yaml(DESIGN)
    assert policy.columns["country"].weight == 2
    assert list(policy.columns["disease"].categories) == ["top secret", "secret", "non secret"]
    assert policy.models == ({"k-anonymity": {"k": 5}}, {"p-alpha-sensitive": {"p": 3, "alpha": 1, "on": "disease"}})
    assert policy.algorithm == {"mondrian": {"mode": "relaxed"}}
    assert (policy.suppression, policy.cells, policy.seed) == (0.02, "sets", 7)


def test_python_and_yaml_give_the_same_policy() -> None:
    built = Policy(
        identifiers=["name"],
        quasi={
            "age": {"kind": "numeric", "hierarchy": Intervals(widths=(5, 10, 20))},
            "postcode": {"hierarchy": Prefix()},
            "country": {"hierarchy": "country.csv", "weight": 2},
        },
        sensitive={
            "disease": {
                "categories": {
                    "top secret": ["HIV", "Cancer"],
                    "secret": ["Phthisis", "Hepatitis"],
                    "non secret": ["Flu"],
                }
            }
        },
        models=[ht.KAnonymity(k=5), ht.PAlphaSensitive(p=3, alpha=1, on="disease")],
        algorithm=ht.Mondrian(mode="relaxed"),
        suppression=0.02,
        cells="sets",
        seed=7,
    )
    assert built == Policy.from_yaml(DESIGN)
    assert built.build_models() == (ht.KAnonymity(k=5), ht.PAlphaSensitive(p=3, alpha=1, on="disease"))
    assert built.build_algorithm() == ht.Mondrian(mode="relaxed")


@pytest.mark.parametrize("data", [patients_policy(), adult_policy()])
def test_the_policies_of_the_data_sets(data: dict[str, object]) -> None:
    policy = Policy(**data)
    assert Policy.from_yaml(policy.to_yaml()) == policy
    assert policy.plan().document == policy.document()


def test_every_registered_model_without_needs_round_trips_from_an_object() -> None:
    tried = 0
    for name in models:
        required = [p for p in models[name].params() if p.required]
        try:
            model = models.build(name, {p.name: 2 if p.type is int else 0.5 for p in required})
        except ParameterError:
            continue
        try:
            policy = Policy(quasi=["q"], sensitive=["s"], models=[model])
        except IncompatibleError:
            continue
        assert policy.build_models() == (model,)
        assert Policy.from_yaml(policy.to_yaml()) == policy
        tried += 1
    assert tried >= 10


def test_frozen_all_the_way_down() -> None:
    policy = Policy.from_yaml(DESIGN)
    with pytest.raises(ValueError, match="frozen"):
        policy.seed = 3  # type: ignore[misc]
    with pytest.raises(TypeError, match="changed"):
        policy.models[0]["k-anonymity"]["k"] = 2  # type: ignore[index]
    with pytest.raises(TypeError, match="changed"):
        policy.columns["age"].hierarchy["intervals"] = 3
    with pytest.raises(TypeError, match="changed"):
        policy.columns["disease"].categories.clear()  # type: ignore[attr-defined]


def test_column_and_category_order_are_part_of_a_policy() -> None:
    k = [ht.KAnonymity(k=2)]
    assert Policy(quasi=["a", "b"], models=k) != Policy(quasi=["b", "a"], models=k)
    one = Policy(quasi=["a"], sensitive={"s": {"categories": {"x": ["1"], "y": ["2"]}}}, models=k)
    two = Policy(quasi=["a"], sensitive={"s": {"categories": {"y": ["2"], "x": ["1"]}}}, models=k)
    assert one != two
    assert one.digest() != two.digest()


def test_equal_numbers_and_spelled_out_defaults_are_equal() -> None:
    k = {"k-anonymity": {"k": 2}}
    one = Policy(quasi=["a"], sensitive=["s"], models=[k, {"entropy-l": {"l": 3}}], algorithm="mondrian")
    two = Policy(
        quasi={"a": {"weight": 1}},
        sensitive=["s"],
        models=[k, {"entropy-l": {"l": 3.0}}],
        algorithm={"mondrian": {"mode": "strict"}},
        suppression=0,
    )
    assert one == two
    assert one != "a policy"


def test_changed_checks_again_and_keeps_the_folder(tmp_path) -> None:
    policy = Policy.from_yaml(DESIGN).based_in(tmp_path)
    other = policy.changed(seed=8, models=[ht.KAnonymity(k=9)])
    assert (other.seed, other.models, other.base_dir) == (8, ({"k-anonymity": {"k": 9}},), tmp_path)
    with pytest.raises(PolicyError, match="at most 1"):
        policy.changed(suppression=2)


def test_kind_and_missing_reach_the_plan() -> None:
    plan = Policy(
        quasi={"a": {"kind": "ordinal", "order": ["low", "high"], "cells": "nodes", "weight": 3}},
        identifiers=["id"],
        models=[ht.KAnonymity(k=3)],
        missing="wildcard",
        missing_values=["?", -999],
        entity="id",
        seed=4,
        suppression=0.5,
    ).plan()
    column = plan.table.columns[1]
    assert (column.kind, column.order, column.cells, column.weight) == (
        Kind.ORDINAL,
        ("low", "high"),
        Nodes(),
        3,
    )
    assert (plan.table.missing, plan.table.missing_values, plan.table.entity) == (Missing.WILDCARD, ("?", "-999"), "id")
    assert (plan.seed, plan.suppression) == (4, 0.5)


def test_importing_the_policy_stays_light() -> None:
    heavy = "{'sklearn', 'scipy', 'numba', 'matplotlib', 'polars', 'pandas'}"
    code = f"import sys, hushtable.policy.files; print(sorted({heavy} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
