"""The contents of a registry as text: a list, and a page for each entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hushtable import registry
from hushtable.about import PROPERTIES, definition_of, describe, reflow, text_of
from hushtable.cli.options import AsJson, MaybeName
from hushtable.cli.output import Console, bullet, deliver, grid, put

if TYPE_CHECKING:
    from hushtable.params import Parametrised
    from hushtable.registry import Registry

LISTS = {
    "models": ("privacy models", "models: [{entry}]"),
    "algorithms": ("algorithms", "algorithm: {entry}"),
    "hierarchies": ("kinds of hierarchies", "hierarchy: {entry}"),
    "forms": ("forms in which columns are published", "cells: {entry}"),
    "treatments": ("treatments of columns", "treatment: {entry}"),
    "guards": ("guards", "guard: [{entry}]"),
    "measures": ("utility measures", ""),
    "risks": ("risk measures", ""),
    "attacks": ("attacks", ""),
    "templates": ("templates of the evidence file", ""),
}
"""The registries that have a command: what each holds, and how an entry appears in a policy."""

_WORDS = {
    "SIZE": "its size",
    "HISTOGRAM": "the counts of its sensitive values",
    "POPULATION": "the number of people in a population table that it covers",
    "BACKGROUND": "an adversary's background table",
    "ADD": "any record is added",
    "MERGE": "two satisfied classes are merged",
    "SUPPRESS": "records are suppressed",
    "checks": "only checks whether models hold",
    "coins": "chooses by secret coins",
    "chooses": "chooses by a public rule",
}


def listing(plural: str) -> Callable[..., None]:
    """Return the command that lists a registry."""
    words, example = LISTS[plural]

    def command(name: MaybeName = None, as_json: AsJson = False) -> None:
        show(getattr(registry, plural), name, as_json, title=f"The {words}.", example=example)

    command.__name__, command.__doc__ = plural, f"List the {words}, or show the details of one entry."
    return command


def show(registry: Registry[Any], name: str | None, as_json: bool, *, title: str, example: str) -> None:
    """Print the list, or the page of one entry.

    Parameters
    ----------
    registry : Registry
    name : str, optional
        Entry to show in detail.
    as_json : bool
    title : str
        Contents of the list, in one sentence.
    example : str
        How an entry appears in a policy, with ``{entry}`` as placeholder; empty if it does not.
    """
    if name is None:
        found = [describe(known) for known in registry.values()]
        deliver({f"{_plural(registry.kind)}": found}, as_json, lambda to: _list(to, found, title, registry.kind))
        return
    known = registry[name]
    page = {**describe(known), "text": text_of(known), "definition": definition_of(known), "schema": known.schema()}
    deliver(page, as_json, lambda to: _page(to, page, known, example))


def _plural(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_WORDS.get(v.upper(), str(v)) for v in value) or "(no guarantee)"
    return _WORDS.get(str(value), str(value))


def _list(to: Console, found: list[dict[str, Any]], title: str, kind: str) -> None:
    rows = []
    for entry in found:
        parameters = "; ".join(f"{p['name']}: {p['expected']}" for p in entry["parameters"] if p["required"])
        optional = ", ".join(p["name"] for p in entry["parameters"] if not p["required"])
        lines = [entry["summary"]]
        lines += [f"  needs {parameters}"] if parameters else []
        lines += [f"  takes {optional}"] if optional else []
        rows.append((entry["name"], "\n".join(lines)))
    put(to, f"{title} {len(found)} found.")
    to.print()
    to.print(grid([kind, "description"], rows, fold=["description"]))
    to.print()
    put(to, f"'hushtable {_plural(kind)} NAME' shows the details of one.")


def _page(to: Console, page: Mapping[str, Any], known: type[Parametrised], example: str) -> None:
    to.print(f"{page['name']} (in Python: {page['class']})", style="bold")
    to.print()
    to.print(reflow(page["text"]))
    if page["definition"]:
        to.print()
        to.print(reflow(page["definition"]))
    if page["parameters"]:
        rows = [
            (p["name"], p["expected"], "" if p["required"] else repr(p["default"]), p["description"])
            for p in page["parameters"]
        ]
        to.print()
        to.print(grid(["parameter", "takes", "default", "meaning"], rows, fold=["takes", "default", "meaning"]))
        to.print()
    for name, value in page["properties"].items():
        bullet(to, f"{PROPERTIES[name]}: {_words(value)}")
    if example:
        required = ", ".join(f"{p.name}: ..." for p in known.params() if p.required)
        entry = getattr(known, "in_a_policy", "") or f"{{{page['name']}: {{{required}}}}}"
        to.print()
        put(to, "In a policy: " + example.format(entry=entry))
