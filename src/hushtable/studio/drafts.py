"""Changes to a policy that may be unfinished: each takes the document and returns the changed one, or refuses.

A faulty change is refused. Parts that are only unfinished (no model yet, no quasi-identifier yet) are kept and
reported by ``faults_in``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.errors import HushtableError, UsageError, did_you_mean
from hushtable.hierarchy.spec import parse_hierarchy
from hushtable.policy.checks import ONLY_FOR
from hushtable.policy.faults import Fault, InvalidPolicy
from hushtable.policy.policy import Policy
from hushtable.registry import algorithms, models
from hushtable.schema.columns import Kind, Role

Document = dict[str, Any]
"""A policy as plain data, finished or not."""

SETTINGS = ("suppression", "missing", "missing_values", "cells", "seed", "entity", "population", "background", "output")
"""The settings of a policy other than columns, models and algorithm."""

# a step on the way: the next change mends it
_UNFINISHED = {"no-order", "no-quasi", "no-model", "not-for-role"}


def faults_in(document: Mapping[str, Any]) -> tuple[Fault, ...]:
    """Return everything that keeps a draft from being a policy.

    Examples
    --------
    >>> [fault.code for fault in faults_in({"columns": {"age": {"role": "sensitive"}}})]
    ['no-quasi', 'no-model']
    """
    try:
        Policy(**document)
    except InvalidPolicy as error:
        return error.faults
    except HushtableError as error:
        return (Fault((), error.message, error.hint, error.code),)
    return ()


def with_column(document: Mapping[str, Any], name: str, changes: Mapping[str, Any]) -> Document:
    """Change the settings of one column; None removes a setting, and a new role those that do not apply to it.

    Examples
    --------
    >>> draft = {"columns": {"age": {"role": "quasi", "hierarchy": "flat"}}}
    >>> with_column(draft, "age", {"role": "sensitive", "hierarchy": None})["columns"]
    {'age': {'role': 'sensitive'}}
    >>> with_column(draft, "age", {"role": "secret"})
    Traceback (most recent call last):
    hushtable.policy.faults.InvalidPolicy: columns.age.role: It must be one of identifier, quasi, sensitive,
    insensitive, pseudonym, weight, cluster, drop. Got 'secret' instead.
    """
    columns = dict(document.get("columns", {}))
    if name not in columns:
        raise UsageError("There is no such column.", code="not-there", hint=did_you_mean(name, columns))
    settings = {key: value for key, value in {**columns[name], **changes}.items() if value is not None}
    if changes.get("role") not in (None, columns[name].get("role")):
        settings.pop("treatment", None)
    for setting, (roles, _) in ONLY_FOR.items():
        if settings.get("role") in set(Role) and settings["role"] not in roles:
            settings.pop(setting, None)
    if settings.get("kind") != Kind.ORDINAL or settings.get("role") not in (Role.QUASI, Role.SENSITIVE):
        settings.pop("order", None)
    if "hierarchy" in settings:
        parse_hierarchy(settings["hierarchy"], name)
    columns[name] = settings
    return _unless_refused({**document, "columns": columns}, [("columns", name)])


def with_models(document: Mapping[str, Any], chosen: Sequence[Mapping[str, Any]]) -> Document:
    """Choose the privacy models, each as ``{name: parameters}``.

    Examples
    --------
    >>> with_models({}, [{"k-anonymity": {"k": 1}}])
    Traceback (most recent call last):
    hushtable.errors.ParameterError: The 'k' parameter of KAnonymity must be an int >= 2. Got 1 instead.
    """
    built = [models.build(*_one(choice, "model")) for choice in chosen]
    return {**document, "models": [{model.name: model.values()} for model in built]}


def with_algorithm(document: Mapping[str, Any], chosen: Mapping[str, Any]) -> Document:
    """Choose the algorithm, as ``{name: parameters}``."""
    built = algorithms.build(*_one(chosen, "algorithm"))
    return {**document, "algorithm": {built.name: built.values()}}


def with_settings(document: Mapping[str, Any], changes: Mapping[str, Any]) -> Document:
    """Change other settings; None removes one.

    Examples
    --------
    >>> with_settings({"seed": 1}, {"missing": "maybe"})
    Traceback (most recent call last):
    hushtable.policy.faults.InvalidPolicy: missing: It must be one of own_category, wildcard, error. Got 'maybe'
    instead.
    """
    for name in changes:
        if name not in SETTINGS:
            raise UsageError("There is no such setting.", code="setting", hint=did_you_mean(name, SETTINGS))
    settings = {key: value for key, value in {**document, **changes}.items() if value is not None}
    return _unless_refused(settings, [(name,) for name in changes])


def _unless_refused(document: Document, changed: Sequence[tuple[str, ...]]) -> Document:
    faults = [
        fault
        for fault in faults_in(document)
        if fault.code not in _UNFINISHED and any(fault.place[: len(place)] == place for place in changed)
    ]
    if faults:
        raise InvalidPolicy(faults)
    return document


def _one(choice: Mapping[str, Any], what: str) -> tuple[str, dict[str, Any]]:
    if len(choice) != 1:
        raise UsageError(f"A {what} is one name with its parameters.", code=what, hint="{name: {parameter: value}}")
    ((name, values),) = choice.items()
    if values is not None and not isinstance(values, Mapping):
        raise UsageError(f"The parameters of a {what} are given by name.", code=what, hint="{name: {parameter: value}}")
    return str(name), dict(values or {})
