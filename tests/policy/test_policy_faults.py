from __future__ import annotations

import pickle

import pytest

from hushtable.errors import PolicyError
from hushtable.policy.faults import Fault, InvalidPolicy
from hushtable.policy.policy import Policy

BASE = """columns:
  age: {role: quasi}
  disease: {role: sensitive}
models:
- k-anonymity: {k: 5}
"""


def message(text: str) -> str:
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(text, file="p.yaml")
    assert "pydantic" not in str(caught.value)
    assert "https" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BASE + "sede: 3", "p.yaml: line 6: sede: There is no setting 'sede'. Did you mean 'seed'?"),
        (BASE + "sensitve: [x]", "p.yaml: line 6: sensitve: There is no setting 'sensitve'. Did you mean 'sensitive'?"),
        (
            BASE.replace("quasi}", "quasi, hierarchi: flat}"),
            "p.yaml: line 2: columns.age.hierarchi: There is no setting 'hierarchi'. Did you mean 'hierarchy'?",
        ),
        (
            BASE.replace("role: sensitive", "role: sensitve"),
            "p.yaml: line 3: columns.disease.role: It must be one of identifier, quasi, sensitive, insensitive, "
            "pseudonym, weight, cluster, drop. Got 'sensitve' instead. Did you mean 'sensitive'?",
        ),
        (
            BASE + "output: {fromat: csv}",
            "p.yaml: line 6: output.fromat: There is no setting 'fromat'. Did you mean 'format'?",
        ),
        (
            BASE + "output: {format: xls}",
            "p.yaml: line 6: output.format: It must be one of csv, parquet. Got 'xls' instead.",
        ),
        (BASE + "output: csv", "p.yaml: line 6: output: It must be a mapping of settings. Got 'csv' instead."),
        (BASE + "background: {on: disease}", "p.yaml: line 6: background: The setting 'file' is required."),
        (BASE + "suppression: 2", "p.yaml: line 6: suppression: It must be at most 1. Got 2 instead."),
        (BASE + "suppression: -0.1", "p.yaml: line 6: suppression: It must be at least 0. Got -0.1 instead."),
        (BASE + "suppression: '0.1'", "p.yaml: line 6: suppression: It must be a number. Got '0.1' instead."),
        (BASE + "suppression: true", "p.yaml: line 6: suppression: It must be a number. Got True instead."),
        (BASE + "seed: 1.5", "p.yaml: line 6: seed: It must be a whole number. Got 1.5 instead."),
        (BASE + "seed: -1", "p.yaml: line 6: seed: It must be at least 0. Got -1 instead."),
        (BASE + "seed:", "p.yaml: line 6: seed: It must be a whole number. Got nothing instead."),
        (BASE + "population: [a]", "p.yaml: line 6: population: It must be text. Got a list instead."),
        (BASE + "missing_values: {a: 1}", "p.yaml: line 6: missing_values: It must be a list. Got a mapping instead."),
        (
            BASE.replace("quasi}", "quasi, weight: 0}"),
            "p.yaml: line 2: columns.age.weight: It must be above 0. Got 0 instead.",
        ),
        (
            BASE.replace("quasi}", "quasi, weight: .inf}"),
            "p.yaml: line 2: columns.age.weight: It must be a finite number. Got inf instead.",
        ),
        (
            BASE.replace("quasi}", "quasi, weight: 1.0e+10}"),
            "p.yaml: line 2: columns.age.weight: It must be at most 1e+06. Got 10000000000.0 instead.",
        ),
        (
            BASE + "suppression: 2.5%",
            "p.yaml: line 6: suppression: It must be a number. Got '2.5%' instead. Write 0.025.",
        ),
        (
            "columns: [age]\nmodels: [k-anonymity: {k: 2}]",
            "p.yaml: line 1: columns: It must be a mapping. Got a list instead.",
        ),
        (
            "columns: {age: quasi}\nmodels: [k-anonymity: {k: 2}]",
            "p.yaml: line 1: columns.age: It must be a mapping of settings. Got 'quasi' instead.",
        ),
        (
            "columns: {age: {}}\nmodels: [k-anonymity: {k: 2}]",
            "p.yaml: line 1: columns.age: The setting 'role' is required.",
        ),
        (
            BASE + "quasi: [x]",
            "p.yaml: line 6: quasi: There is no setting 'quasi' in a policy file. "
            "Write 'columns: {name: {role: quasi}}'.",
        ),
    ],
)
def test_one_sentence_with_place_line_and_hint(text: str, expected: str) -> None:
    assert message(text) == expected


def test_all_faults_are_told_at_once() -> None:
    told = message(BASE.replace("k: 5", "k: 1") + "seed: x\nsede: 1").split("\n")
    assert told == [
        "p.yaml: The policy has 3 faults:",
        "- line 5: models[0].k-anonymity: The 'k' parameter of KAnonymity must be an int >= 2. Got 1 instead.",
        "- line 6: seed: It must be a whole number. Got 'x' instead.",
        "- line 7: sede: There is no setting 'sede'. Did you mean 'seed'?",
    ]


def test_values_of_the_table_are_never_shown() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy(
            quasi=["a"], sensitive={"s": {"categories": {"x": [["tuberculosis"]]}}}, models=[{"k-anonymity": {"k": 2}}]
        )
    assert "tuberculosis" not in str(caught.value)
    told = message(BASE.replace("sensitive}", "sensitive, categories: tuberculosis}"))
    assert told == "p.yaml: line 3: columns.disease.categories: It must be a mapping. Got a str instead."


def test_faults_are_data_and_survive_pickling() -> None:
    with pytest.raises(InvalidPolicy) as caught:
        Policy.from_yaml(BASE + "sede: 3")
    (fault,) = caught.value.faults
    assert (fault.place, fault.line, fault.code) == (("sede",), 6, "unknown-key")
    assert caught.value.code == "unknown-key"
    assert pickle.loads(pickle.dumps(caught.value)).faults == (fault,)


def test_places_with_special_characters_are_quoted() -> None:
    assert Fault(("columns", "a b", "order", 2), "Bad.").text() == "columns.'a b'.order[2]: Bad."
