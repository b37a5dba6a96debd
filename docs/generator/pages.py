"""Pages made from what classes declare about themselves, and from the command line's own options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from docstrings import markdown, sections
from forbidden import forbidden

from hushtable import registry
from hushtable.about import describe
from hushtable.models.base import PrivacyModel
from hushtable.params import Parametrised
from hushtable.registry import Registry

__all__ = ["command_pages", "commands", "folder_of", "kinds", "named_pages"]

_MONOTONE = {
    "add": "any record is added to a class",
    "merge": "two satisfied classes are merged",
    "suppress": "records are suppressed",
    "coarsen": "whole columns are published more coarsely",
}
_NEEDS = {
    "size": "its size",
    "cells": "the cells that it publishes",
    "histogram": "the counts of its sensitive values",
    "population": "the number of people in a population table that it covers",
    "background": "an adversary's background table",
}
_RECODING = {
    "global": "every value of a column the same way everywhere",
    "local": "each class at its own cells",
    "centroid": "one representative record per class",
    "pattern": "common values kept, others blanked",
    "bucket": "exact quasi-identifiers; the link to the sensitive values is broken",
    "numbered": "each class at its own cells, told apart by a number",
}
_IN_POLICY = {
    "models": "models: [{{{entry}}}]",
    "algorithms": "algorithm: {{{entry}}}",
    "forms": "cells: {entry}",
    "guards": "guard: [{{{entry}}}]",
    "treatments": "treatment: {{{entry}}}",
    "hierarchies": "hierarchy: {{{entry}}}",
}
_CALLS = {
    "measures": 'release.measure("{name}")',
    "risks": 'release.risk("{name}")',
    "attacks": 'release.attack("{name}")',
}
_FOLDERS = {"templates": "report-templates"}
GUIDANCE = ("When to use", "When not", "Cost")
"""Sections that every model and every algorithm has in its module's docstring."""


def kinds() -> dict[str, Registry[Any]]:
    """Every registry by its plural name, which is also the name of its page."""
    return {name: found for name, found in vars(registry).items() if isinstance(found, Registry)}


def folder_of(plural: str) -> str:
    """The folder of a kind's pages; MkDocs keeps "templates" for itself."""
    return _FOLDERS.get(plural, plural)


def named_pages() -> Iterator[tuple[str, str]]:
    """Yield path and Markdown of a page for every registered name."""
    for plural, known in kinds().items():
        for name, found in known.items():
            yield f"{folder_of(plural)}/{name}.md", _page(plural, name, found)


def _page(plural: str, name: str, found: type[Parametrised]) -> str:
    about = describe(found)
    own = sections(inspect.getdoc(found) or "")
    module = sections(inspect.cleandoc(getattr(inspect.getmodule(found), "__doc__", "") or ""))
    place = (inspect.getmodule(found).__name__ or "").replace(".", "/")  # type: ignore[union-attr]
    parts = [f"# {name}", f"*{markdown(about['summary'])}*"]
    parts += [forbidden(found)] if issubclass(found, PrivacyModel) else []
    parts.append(_example(plural, name, found))
    definition = markdown(_without_title(module.get("", "")))
    rest = markdown(own.get("", "").partition("\n")[2])
    parts += ["## Definition", *filter(None, [definition, rest])] if definition or rest else []
    parts += [f"## {title}\n\n{markdown(module[title])}" for title in GUIDANCE if title in module]
    parts += _properties(found, about["properties"])
    parts += ["## Parameters", _parameters(about["parameters"])] if about["parameters"] else []
    if "Examples" in own:
        parts += ["## Example", f"```pycon\n{own['Examples']}\n```"]
    if "References" in module:
        parts += ["## Reference", markdown(module["References"])]
    parts += [f"In Python `{found.__name__}`, in `src/{place}.py`. `hushtable {plural} {name}` prints this page."]
    return "\n\n".join(part for part in parts if part) + "\n"


def _without_title(text: str) -> str:
    """A module's docstring without its first line where that is only the name."""
    first, _, rest = text.partition("\n\n")
    return rest if len(first.split()) <= 5 and rest else text


def _example(plural: str, name: str, found: type[Parametrised]) -> str:
    if plural in _CALLS:
        required = [p.name for p in found.params() if p.required]
        call = _CALLS[plural].format(name=name)
        return f"`{call[:-1]}{''.join(f', {p}=...' for p in required)})`"
    if plural not in _IN_POLICY:
        return ""
    required = ", ".join(f"{p.name}: ..." for p in found.params() if p.required)
    return f"In a policy: `{_IN_POLICY[plural].format(entry=f'{name}: {{{required}}}')}`"


def _properties(found: type[Parametrised], properties: dict[str, Any]) -> list[str]:
    rows = []
    if "threat" in properties:
        rows.append(("protects against", f"{properties['threat']} disclosure"))
    if "monotone" in properties:
        held = "; ".join(_MONOTONE[m] for m in properties["monotone"])
        rows.append(("stays satisfied when", held or "nothing is promised: searches cannot prune"))
        rows.append(("compared by", f"score `{properties['sense']}` bound"))
        rows.append(("looks at", "the table as a whole" if properties["table_level"] else "every class on its own"))
        rows.append(("input from every class", "; ".join(_NEEDS[n] for n in sorted(properties["needs"], reverse=True))))
    if "recoding" in properties:
        words = _RECODING.get(properties["recoding"])
        rows.append(("recoding", f"{properties['recoding']}: {words}" if words else properties["recoding"]))
    if "reads_sensitive" in properties:
        rows.append(("use of sensitive values", markdown(found.reads_sensitive.sentence)))  # type: ignore[attr-defined]
        if "disclosure" in properties:
            rows.append(("what this discloses", markdown(properties["disclosure"])))
    if "better" in properties:
        rows.append(("better", properties["better"]))
        rows.append(("part of every summary", "yes" if properties["default"] else "no, on request"))
    if knowledge := getattr(found, "knowledge", ""):
        rows.append(("the adversary knows", markdown(knowledge)))
    if remedy := getattr(found, "remedy", ""):
        rows.append(("remedy", markdown(remedy)))
    if not rows:
        return []
    return ["## Properties", "\n".join(["| property | value |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows)])]


def _parameters(parameters: list[dict[str, Any]]) -> str:
    lines = ["| parameter | takes | default | meaning |", "| --- | --- | --- | --- |"]
    for p in parameters:
        default = "required" if p["required"] else f"`{p['default']!r}`"
        lines.append(f"| `{p['name']}` | {_cell(p['expected'])} | {_cell(default)} | {_cell(p['description'])} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    if text.startswith("`"):
        return text.replace("|", "\\|")
    return markdown(text).replace("\n", " ") if text else ""


def commands() -> dict[str, Any]:
    """The commands of the command line, as click knows them."""
    import typer.main

    from hushtable.cli.main import application

    group: Any = typer.main.get_command(application())
    return dict(group.commands)


def command_pages() -> Iterator[tuple[str, str]]:
    """Yield path and Markdown of a page for every command."""
    for name, command in commands().items():
        yield f"commands/{name}.md", _command(name, command)


def _command(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    usage = " ".join(["hushtable", name, *(a.metavar or a.name.upper() for a in arguments), "[OPTIONS]"])
    parts = [f"# hushtable {name}", f"`{usage}`", markdown(inspect.cleandoc(command.help or ""))]
    if arguments:
        rows = [f"| `{a.metavar or a.name}` | {_cell(getattr(a, 'help', None) or '')} |" for a in arguments]
        parts += ["## Arguments", "\n".join(["| argument | meaning |", "| --- | --- |", *rows])]
    rows = []
    for option in options:
        names = ", ".join(f"`{n}`" for n in (*option.opts, *option.secondary_opts))
        hidden = option.default in (None, False, (), "") or callable(option.default)
        default = "" if hidden else f"`{_shown(option.default)}`"
        rows.append(f"| {names} | {default} | {_cell(option.help or '')} |")
    parts += ["## Options", "\n".join(["| option | default | meaning |", "| --- | --- | --- |", *rows])]
    parts += [f"More in [the guide to the command line](../cli.md), where its section is `hushtable {name}`."]
    return "\n\n".join(parts) + "\n"


def _shown(default: Any) -> str:
    return re.sub(r"[|`]", "", str(getattr(default, "value", default)))
