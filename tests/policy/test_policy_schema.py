from __future__ import annotations

import json
import re
from typing import Any

import pytest

from hushtable.datasets import adult_policy, patients_policy
from hushtable.policy.policy import Policy
from hushtable.registry import algorithms, hierarchies, models

SCHEMA = Policy.json_schema()
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "null": type(None),
    "boolean": bool,
}
CHECKED = {
    "$ref", "type", "enum", "anyOf", "properties", "required", "additionalProperties", "items", "pattern", "minItems",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "$schema", "$defs", "title", "description", "default",
}  # fmt: skip


def accepts(schema: dict[str, Any], data: Any) -> bool:
    """The part of JSON Schema that a policy's schema uses."""
    assert set(schema) <= CHECKED, set(schema) - CHECKED
    if "$ref" in schema and not accepts(SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")], data):
        return False
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(isinstance(data, TYPES[n]) and (n == "boolean" or not isinstance(data, bool)) for n in names):
            return False
    if "anyOf" in schema and not any(accepts(s, data) for s in schema["anyOf"]):
        return False
    if "enum" in schema and data not in schema["enum"]:
        return False
    if isinstance(data, str) and "pattern" in schema and not re.search(schema["pattern"], data):
        return False
    if isinstance(data, int | float):
        low, high = schema.get("minimum", data), schema.get("maximum", data)
        above, below = schema.get("exclusiveMinimum", data - 1), schema.get("exclusiveMaximum", data + 1)
        return low <= data <= high and above < data < below
    if isinstance(data, list):
        items = schema.get("items", {})
        return len(data) >= schema.get("minItems", 0) and all(accepts(items, item) for item in data)
    if isinstance(data, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        if not set(schema.get("required", [])) <= set(data):
            return False
        for key, value in data.items():
            below_key = known.get(key, others)
            if below_key is False or (below_key is not True and not accepts(below_key, value)):
                return False
    return True


def base() -> dict[str, Any]:
    return json.loads(json.dumps(patients_policy()))


def test_it_is_json() -> None:
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


@pytest.mark.parametrize("policy", [patients_policy(), adult_policy()])
def test_it_accepts_policies(policy: dict[str, Any]) -> None:
    assert accepts(SCHEMA, json.loads(json.dumps(policy)))
    assert accepts(SCHEMA, Policy(**policy).document())


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.pop("columns"),
        lambda p: p.update(sede=1),
        lambda p: p.update(seed=-1),
        lambda p: p.update(suppression=2),
        lambda p: p.update(models=[]),
        lambda p: p.update(models=["k-anonymity"]),
        lambda p: p.update(models=[{"k-anonymity": {"k": 1}}]),
        lambda p: p.update(models=[{"k-anonymity": {"k": 2, "l": 2}}]),
        lambda p: p.update(models=[{"k-anonimity": {"k": 2}}]),
        lambda p: p.update(algorithm={"mondrian": {"mode": "lax"}}),
        lambda p: p.update(cells="boxes"),
        lambda p: p["columns"]["age"].update(rolle="quasi"),
        lambda p: p["columns"]["age"].update(role="quasy"),
        lambda p: p["columns"]["age"].update(weight=0),
        lambda p: p["columns"]["age"].update(hierarchy={"intervals": ["wide"]}),
        lambda p: p["columns"]["age"].update(hierarchy="interval"),
        lambda p: p["columns"]["diagnosis"].update(categories=["HIV"]),
    ],
)
def test_it_refuses_what_the_policy_refuses(change) -> None:
    policy = base()
    change(policy)
    assert not accepts(SCHEMA, policy)
    with pytest.raises(ValueError, match=r"."):
        Policy(**policy)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.update(algorithm="mondrian"),
        lambda p: p.update(algorithm={"mondrian": None}),
        lambda p: p.update(missing_values=["?", -999]),
        lambda p: p.update(entity="patient_id", output={"format": "parquet"}),
        lambda p: p["columns"]["age"].update(hierarchy={"intervals": {"quantiles": [8, 4, 2]}}),
        lambda p: p["columns"]["country"].update(hierarchy="country.csv"),
        lambda p: p["columns"]["country"].update(hierarchy={"taxonomy": "country.csv"}),
        lambda p: p["columns"]["diagnosis"].update(hierarchy="frequency"),
    ],
)
def test_it_accepts_every_form(change) -> None:
    policy = base()
    change(policy)
    assert accepts(SCHEMA, policy)
    Policy(**policy)


@pytest.mark.parametrize(
    ("part", "registry"), [("model", models), ("algorithm", algorithms), ("hierarchy", hierarchies)]
)
def test_every_registered_name_is_there_with_a_sentence(part: str, registry: Any) -> None:
    entries = [entry for entry in SCHEMA["$defs"][part]["anyOf"] if "properties" in entry]
    named = {next(iter(entry["properties"])): entry["description"] for entry in entries}
    assert set(registry) <= set(named)
    assert all(named.values())
