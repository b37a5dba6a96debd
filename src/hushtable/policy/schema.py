"""The JSON Schema of a policy file, with which an editor can complete and check it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hushtable.io.versions import FORMATS
from hushtable.params import Parametrised
from hushtable.policy.columns import thaw
from hushtable.registry import algorithms, forms, guards, hierarchies, models, treatments

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy

_LABEL = {"type": ["string", "number"]}


def policy_schema(policy: type[Policy]) -> dict[str, Any]:
    """Return the settings' schema with the registered models, algorithms, guards and hierarchies in their places."""
    schema = policy.model_json_schema()
    parts = schema.setdefault("$defs", {})
    for part in parts.values():
        part["description"] = part.get("description", "").split("\n\n")[0].replace("\n", " ")
    settings, column = schema["properties"], parts["ColumnPolicy"]["properties"]
    parts["model"] = {"anyOf": _choices(models)}
    parts["algorithm"] = {"anyOf": _choices(algorithms)}
    parts["guard"] = {"anyOf": _choices(guards)}
    parts["hierarchy"] = {"anyOf": _hierarchy_choices()}
    parts["form"] = {"anyOf": _choices({name: form for name, form in forms.items() if not form.follows})}
    settings["cells"] = {**_refer(settings["cells"], "form"), "default": settings["cells"]["default"]}
    column["cells"] = _refer(column["cells"], "form")
    parts["treatment"] = {"anyOf": _choices(treatments)}
    column["treatment"] = {
        "description": column["treatment"].get("description", ""),
        "anyOf": [{"$ref": "#/$defs/treatment"}, {"type": "array", "items": {"$ref": "#/$defs/treatment"}}],
    }
    settings["models"] |= {"items": {"$ref": "#/$defs/model"}, "minItems": 1}
    settings["guard"] |= {"items": {"$ref": "#/$defs/guard"}}
    settings["algorithm"] = _refer(settings["algorithm"], "algorithm")
    column["hierarchy"] = _refer(column["hierarchy"], "hierarchy")
    # values may be written as numbers; they are read as text
    column["order"]["items"] = settings["missing_values"]["items"] = _LABEL
    column["categories"]["additionalProperties"] = {
        "type": ["array", "null"],
        "items": {"type": ["string", "number", "boolean", "null"]},
    }
    schema["properties"] = {"format": _format(), **settings}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "hushtable policy"}
    return {**head, **schema, **head, "required": ["columns", "models"], "description": _summary(policy)}


def _format() -> dict[str, Any]:
    newest = FORMATS["policy"]
    return {
        "type": "integer", "minimum": 1, "maximum": newest, "default": newest, "description": "format of the file",
    }  # fmt: skip


def _summary(documented: type) -> str:
    return (inspect.getdoc(documented) or "").split("\n\n")[0].replace("\n", " ")


def _refer(replaced: dict[str, Any], part: str) -> dict[str, Any]:
    kept: dict[str, Any] = {key: value for key, value in replaced.items() if key in ("description", "title")}
    return {**kept, "$ref": f"#/$defs/{part}"}


def _choices(registry: Mapping[str, type[Parametrised]]) -> list[dict[str, Any]]:
    """Return one object per name with its parameters; names without required parameters may be used alone."""
    bare = [name for name, found in registry.items() if not found.schema()["required"]]
    alone: list[dict[str, Any]] = [{"enum": bare}] if bare else []
    return [_named(name, _parameters(found), _summary(found)) for name, found in registry.items()] + alone


def _named(name: str, value: dict[str, Any], description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": {name: value},
        "required": [name],
        "additionalProperties": False,
    }


def _parameters(found: type[Parametrised]) -> dict[str, Any]:
    schema: dict[str, Any] = thaw(found.schema())
    return schema if schema["required"] else {**schema, "type": ["object", "null"]}


def _hierarchy_choices() -> list[dict[str, Any]]:
    choices: list[dict[str, Any]] = [
        {"enum": list(hierarchies), "description": "a recipe with its defaults"},
        {"type": "string", "pattern": r"\.([cC][sS][vV]|[tT][sS][vV]|[tT][xX][tT]|[yY][aA]?[mM][lL])$"},
        _named("tree", {"type": ["object", "array"]}, "nested labels"),
    ]
    for name, found in hierarchies.items():
        value = _parameters(found)
        short = getattr(found, "shorthand", "")
        if short:
            value = {"anyOf": [value, value["properties"][short]]}
        choices.append(_named(name, value, _summary(found)))
    return choices
