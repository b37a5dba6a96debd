"""Converts the accepted ways to write a policy (lists of names, objects, short forms) into one plain form."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hushtable.errors import HushtableError, UsageError, a_kind, did_you_mean
from hushtable.io.text import label_text
from hushtable.params import Parametrised
from hushtable.policy.columns import ColumnPolicy, freeze, thaw
from hushtable.policy.faults import Fault, Place
from hushtable.registry import Registry, algorithms, forms, guards, models, treatments
from hushtable.release.forms.base import DEFAULT_FORM
from hushtable.schema.columns import Role

SUGAR: dict[str, Role] = {
    "identifiers": Role.IDENTIFIER,
    "quasi": Role.QUASI,
    "sensitive": Role.SENSITIVE,
    "insensitive": Role.INSENSITIVE,
    "weight": Role.WEIGHT,
    "cluster": Role.CLUSTER,
    "drop": Role.DROP,
}
"""Keywords of ``Policy(...)`` that name the columns of a role."""


def normalise(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Return a policy's settings in their plain form, and their faults.

    Examples
    --------
    >>> from hushtable.models.k_anonymity import KAnonymity
    >>> normalise({"quasi": ["age"], "models": [KAnonymity(k=5)]})[0]
    {'models': ({'k-anonymity': {'k': 5}},), 'columns': {'age': {'role': <Role.QUASI: 'quasi'>}}}
    """
    faults: list[Fault] = []
    data = dict(_words_only(given, ("missing", "rest"), (), faults))
    _fold_roles(data, faults)
    if isinstance(data.get("columns"), Mapping):
        data["columns"] = {
            _name(name, faults): _column(str(name), options, faults) for name, options in data["columns"].items()
        }
    if "models" in data:
        data["models"] = _choices(data["models"], models, "models", faults)
    if data.get("guard") is not None:
        data["guard"] = _choices(data["guard"], guards, "guard", faults)
    if "cells" in data:
        data["cells"] = DEFAULT_FORM if data["cells"] is None else _form(data["cells"], ("cells",), faults)
    if data.get("algorithm") is not None:
        data["algorithm"] = _choice(data["algorithm"], algorithms, ("algorithm",), faults)
        if data["algorithm"] is None:
            # one fault is enough: pydantic need not complain about the gap as well
            del data["algorithm"]
    for setting in ("population", "background", "ledger"):
        if setting in data:
            data[setting] = _path_text(data[setting])
    return data, faults


def python_only(data: Mapping[str, Any]) -> list[Fault]:
    """Return a fault for every keyword of ``Policy(...)`` that a policy file does not accept: a file has one form."""
    faults = []
    for word in (w for w in (*SUGAR, "hierarchies") if w in data):
        role = SUGAR.get(word)
        hint = f"Write 'columns: {{name: {{role: {role}}}}}'." if role else "Write 'hierarchy' below the column."
        faults.append(Fault((word,), f"There is no setting {word!r} in a policy file.", hint, "unknown-key"))
    columns = data.get("columns")
    for name, options in columns.items() if isinstance(columns, Mapping) else ():
        hierarchy = options.get("hierarchy") if isinstance(options, Mapping) else None
        if isinstance(hierarchy, Mapping) and hierarchy:
            from hushtable.policy.objects import is_recipe

            if not is_recipe(hierarchy):
                sentence = "A hierarchy is a file name, a recipe's name, or one recipe with its parameters."
                hint = "Write labels below 'tree': {tree: {Europe: [France], Asia: [Japan]}}."
                faults.append(Fault(("columns", str(name), "hierarchy"), sentence, hint, "bad-hierarchy"))
    return faults


def _name(name: Any, faults: list[Fault]) -> str:
    if not isinstance(name, str):
        faults.append(Fault(("columns", str(name)), f"A column's name is text. Got {a_kind(name)} instead."))
    return str(name)


def _path_text(given: Any) -> Any:
    """Return a path object, or those among some settings, as the text that a policy holds."""
    if isinstance(given, Mapping):
        return {key: _path_text(value) for key, value in given.items()}
    return os.fspath(given) if isinstance(given, os.PathLike) else given


def _fold_roles(data: dict[str, Any], faults: list[Fault]) -> None:
    """Fold ``quasi=[...]``, ``hierarchies={...}`` and similar settings into ``columns``."""
    used = [word for word in (*SUGAR, "hierarchies") if word in data]
    if not used or not isinstance(data.get("columns", {}), Mapping):
        return
    columns = {str(name): _options(options) for name, options in data.get("columns", {}).items()}
    for word, role in SUGAR.items():
        for name, options in _named(word, data.pop(word, ()), faults):
            if name in columns:
                before = columns[name].get("role") if isinstance(columns[name], Mapping) else None
                sentence = f"The column is declared twice: as {before} and as {role}."
                faults.append(Fault(("columns", name), sentence, "Give it one role.", "declared-twice"))
            elif isinstance(options, Mapping) and options.get("role", role) != role:
                sentence = f"The column is listed under {word!r} and has the role {options['role']!r}."
                faults.append(Fault(("columns", name), sentence, "Leave 'role' out.", "declared-twice"))
            else:
                columns[name] = {"role": role, **options} if isinstance(options, Mapping) else options
    hierarchies = data.pop("hierarchies", None)
    hierarchies = {} if hierarchies is None else hierarchies
    if not isinstance(hierarchies, Mapping):
        faults.append(Fault(("hierarchies",), "It must be a mapping of column to hierarchy."))
        hierarchies = {}
    for name, hierarchy in hierarchies.items():
        place = ("hierarchies", str(name))
        if name not in columns:
            hint = did_you_mean(str(name), columns)
            faults.append(Fault(place, f"The policy has no column {name!r}.", hint, "unknown-column"))
        elif isinstance(columns[name], Mapping) and columns[name].get("hierarchy") is not None:
            faults.append(Fault(place, "The column has a hierarchy already.", "Give one.", "declared-twice"))
        elif isinstance(columns[name], Mapping):
            columns[name] = {**columns[name], "hierarchy": hierarchy}
    data["columns"] = columns


def _named(word: str, columns: Any, faults: list[Fault]) -> Iterator[tuple[str, Any]]:
    if isinstance(columns, str):
        columns = [columns]
    if columns is None:
        return
    if isinstance(columns, Mapping):
        pairs = [(name, {} if options is None else _options(options)) for name, options in columns.items()]
    elif isinstance(columns, Sequence):
        pairs = [(name, {}) for name in columns]
    else:
        faults.append(Fault((word,), "It must be a list of column names, or a mapping of names to settings."))
        return
    for name, options in pairs:
        if isinstance(name, str):
            yield name, options
        else:
            faults.append(Fault((word,), f"A column's name is text. Got {a_kind(name)} instead."))


def _options(options: Any) -> Any:
    return options.given() if isinstance(options, ColumnPolicy) else options


def _words_only(settings: Any, names: Sequence[str], place: Place, faults: list[Fault]) -> Any:
    """Return settings without those that must be words but are not, since they cannot even be compared."""
    if not isinstance(settings, Mapping):
        return settings
    wrong = [name for name in names if settings.get(name) is not None and not isinstance(settings[name], str)]
    for name in wrong:
        sentence = f"It must be a word. Got {a_kind(settings[name])} instead."
        faults.append(Fault((*place, name), sentence, "", "bad-value"))
    return {name: value for name, value in settings.items() if name not in wrong} if wrong else settings


def _column(name: str, options: Any, faults: list[Fault]) -> Any:
    options = _words_only(_options(options), ("role", "kind"), ("columns", name), faults)
    if isinstance(options, Mapping) and options.get("cells") is not None:
        options = {**options, "cells": _form(options["cells"], ("columns", name, "cells"), faults)}
    if isinstance(options, Mapping) and options.get("treatment") is not None:
        options = {**options, "treatment": _treatments(options["treatment"], ("columns", name, "treatment"), faults)}
    if not isinstance(options, Mapping) or options.get("hierarchy") is None:
        return options
    from hushtable.hierarchy.spec import hierarchy_data, parse_hierarchy

    try:
        given = options["hierarchy"]
        if not isinstance(given, str | Parametrised):
            from hushtable.policy.objects import hierarchy_of

            given = hierarchy_of(given, name)
        hierarchy = parse_hierarchy(_with_text(thaw(given)), name)
        return {**options, "hierarchy": freeze(_with_text(hierarchy_data(hierarchy)))}
    except HushtableError as error:
        faults.append(Fault.of(("columns", name, "hierarchy"), error))
        return {**options, "hierarchy": None}


def _with_text(spec: Any) -> Any:
    """Convert every label of an inline tree or of inline rows to text, so that YAML and Python agree."""
    if not isinstance(spec, Mapping):
        return spec
    return {
        key: _label_tree(value) if key in ("tree", "rows") else _with_text(value) if key == "taxonomy" else value
        for key, value in spec.items()
    }


def _label_tree(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {label_text(key): None if value is None else _label_tree(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_label_tree(value) for value in tree]
    return label_text(tree)


def _choices(given: Any, registry: Registry[Any], setting: str, faults: list[Fault]) -> Any:
    kind = registry.kind
    if isinstance(given, Parametrised | str):
        given = [given]
    if isinstance(given, Mapping) or not isinstance(given, Sequence):
        hint = f"Write each {kind} as an item of a list: '- {_EXAMPLES[kind][1:-1]}'."
        faults.append(Fault((setting,), f"It must be a list of {kind}s.", hint, "bad-value"))
        return ()
    found = [_choice(item, registry, (setting, i), faults) for i, item in enumerate(given)]
    return tuple(item for item in found if item is not None)


def _choice(item: Any, registry: Registry[Any], place: Place, faults: list[Fault]) -> Any:
    """Return ``{name: parameters}`` with the parameters that differ from their defaults; None if it is faulty."""
    kind = registry.kind
    if isinstance(item, Parametrised):
        if not registry.holds(type(item)):
            hint = f"For example {_EXAMPLES[kind]}."
            faults.append(Fault(place, f"{type(item).__name__} is not one of the {kind}s.", hint, f"unknown-{kind}"))
            return None
        try:
            # a class of the user's own needs no registering beforehand
            registry.add(type(item))
        except UsageError as error:
            faults.append(Fault.of(place, error))
            return None
        return freeze({item.name: item.values()})
    if isinstance(item, str):
        item = {item: None}
    if not isinstance(item, Mapping) or len(item) != 1:
        hint = f"Write one name with its parameters, indented below it or in braces: {_EXAMPLES[kind]}."
        faults.append(Fault(place, f"This is not a single {kind} with its parameters.", hint, "bad-value"))
        return None
    ((name, parameters),) = item.items()
    here = (*place, str(name))
    try:
        found = registry[str(name)]
    except UsageError as error:
        faults.append(Fault.of(place, error))
        return None
    if parameters is not None and not isinstance(parameters, Mapping):
        hint = f"For example {_EXAMPLES[kind]}."
        faults.append(Fault(here, "Parameters must be given by name.", hint, "bad-value"))
        return None
    try:
        return freeze({str(name): found.build(thaw(parameters)).values()})
    except HushtableError as error:
        faults.append(Fault.of(here, error))
        return None


def _treatments(given: Any, place: Place, faults: list[Fault]) -> Any:
    """Return a column's treatments: a name, a name with parameters, or several of them in order."""
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    chosen = [_choice(item, treatments, place, faults) for item in several]
    found = [one if any(one.values()) else next(iter(one)) for one in chosen if one is not None]
    return None if not found else found[0] if len(found) == 1 else freeze(found)


def _form(given: Any, place: Place, faults: list[Fault]) -> Any:
    """Return the name of a published form, with its parameters if it has some; the default if it is faulty."""
    chosen = _choice(given, forms, place, faults)
    if chosen is None:
        return DEFAULT_FORM
    ((name, parameters),) = chosen.items()
    if forms[name].follows:
        hint = f"Remove it: algorithms that publish {name} cells always do so, regardless of 'cells'."
        faults.append(Fault(place, f"{name!r} cannot be chosen: it follows from the algorithm.", hint, "unknown-form"))
    return chosen if parameters else name


_EXAMPLES = {
    "model": "{k-anonymity: {k: 5}}",
    "algorithm": "{mondrian: {mode: strict}}",
    "guard": "{minimality: {extra: 0.5}}",
    "form": "{counts: {digits: 2}}",
    "treatment": "{noise: {sd: 0.1}}",
}
