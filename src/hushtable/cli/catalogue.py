"""What the registry holds, for people: one list and one page for models, algorithms, hierarchies and measures.

Everything is read from the classes themselves (docstring, parameters, declared properties), so a plug-in's class is
described as well as ours.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from enum import Enum, Flag
from typing import TYPE_CHECKING, Any

from hushtable.cli.output import bullet, deliver, grid, put

if TYPE_CHECKING:
    from rich.console import Console

    from hushtable.params import Param, Parametrised
    from hushtable.registry import Registry

__all__ = ["describe", "reflow", "show"]

# class attribute -> words; a class has those of its kind
_PROPERTIES = {
    "threat": "protects against disclosure of",
    "needs": "needs of every class",
    "sense": "score compared with the bound by",
    "table_level": "judges the table as a whole",
    "monotone": "stays satisfied when",
    "recoding": "recoding",
    "reads_sensitive": "use of sensitive values",
    "disclosure": "what that discloses",
    "answers": "answers the attack",
    "better": "better when",
    "default": "part of every summary",
}
_WORDS = {
    "SIZE": "its size",
    "HISTOGRAM": "the counts of its sensitive values",
    "POPULATION": "how many of a population table it covers",
    "BACKGROUND": "an adversary's background table",
    "ADD": "any record is added",
    "MERGE": "two satisfied classes are merged",
    "SUPPRESS": "records are suppressed",
    "checks": "only checks whether models hold",
    "coins": "chooses by secret coins",
    "chooses": "chooses by a public rule",
}


def describe(known: type[Parametrised]) -> dict[str, Any]:
    """Return all that a class declares about itself, as data.

    Examples
    --------
    >>> from hushtable.registry import models
    >>> found = describe(models["k-anonymity"])
    >>> found["summary"], found["parameters"][0]["expected"]
    ('Every class has at least k people.', 'an int >= 2')
    >>> found["properties"]["monotone"]
    ['add', 'merge']
    """
    properties = {name: getattr(known, name) for name in _PROPERTIES if getattr(known, name, "") != ""}
    return {
        "name": known.name,
        "class": known.__name__,
        "summary": _unquoted(inspect.getdoc(known) or "").partition("\n")[0],
        "parameters": [_parameter(p) for p in sorted(known.params(), key=lambda p: not p.required)],
        "properties": {name: _value(value) for name, value in properties.items()},
    }


def show(registry: Registry[Any], name: str | None, as_json: bool, *, title: str, example: str) -> None:
    """Print the list, or the page of one.

    Parameters
    ----------
    registry : Registry
    name : str, optional
        The one to tell all about.
    as_json : bool
    title : str
        What the list holds, in one sentence.
    example : str
        How one stands in a policy, with ``{entry}`` for it; empty where none does.
    """
    if name is None:
        found = [describe(known) for known in registry.values()]
        deliver({f"{_plural(registry.kind)}": found}, as_json, lambda to: _list(to, found, title, registry.kind))
        return
    known = registry[name]
    page = {**describe(known), "text": _text(known), "definition": _definition(known), "schema": known.schema()}
    deliver(page, as_json, lambda to: _page(to, page, known, example))


def _plural(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def _parameter(param: Param) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": param.name,
        "expected": param.expected(),
        "required": param.required,
        "description": param.doc,
    }
    return found if param.required else {**found, "default": param.default}


def _value(value: Any) -> Any:
    if isinstance(value, Flag):
        return [str(member.name).lower() for member in value]
    if isinstance(value, set | frozenset):
        return sorted(str(member.name).lower() for member in value)
    return value.value if isinstance(value, Enum) else value


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_WORDS.get(v.upper(), str(v)) for v in value) or "(nothing is promised)"
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
    to.print(grid([kind, "what it is"], rows, fold=["what it is"]))
    to.print()
    put(to, f"'hushtable {_plural(kind)} NAME' tells all about one.")


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
        bullet(to, f"{_PROPERTIES[name]}: {_words(value)}")
    if example:
        required = ", ".join(f"{p.name}: ..." for p in known.params() if p.required)
        to.print()
        put(to, "In a policy: " + example.format(entry=f"{{{page['name']}: {{{required}}}}}"))


def _text(known: type[Parametrised]) -> str:
    """The class's docstring up to its parameters, which are shown as a table."""
    return _before_sections(_unquoted(inspect.getdoc(known) or ""))


def _definition(known: type[Parametrised]) -> str:
    """The module's docstring: definition, readings taken and references."""
    return _unquoted(inspect.cleandoc(getattr(inspect.getmodule(known), "__doc__", None) or ""))


def _unquoted(text: str) -> str:
    """A docstring without the marks that only a documentation builder reads."""
    return text.replace("``", "")


def _before_sections(text: str) -> str:
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if i and line and set(line) == {"-"}:
            return "\n".join(lines[: i - 1]).strip()
    return text.strip()


def reflow(text: str) -> str:
    r"""Join the lines of each paragraph, so that the terminal's width decides; lists and tables stay as they are.

    Examples
    --------
    >>> print(reflow("One\nsentence.\n\nReferences\n----------\nA,\nB.\n\n* x\n* y"))
    One sentence.
    <BLANKLINE>
    References
    A, B.
    <BLANKLINE>
    * x
    * y
    """
    paragraphs = []
    for block in text.split("\n\n"):
        lines = block.splitlines()
        heading = []
        if len(lines) > 1 and set(lines[1]) == {"-"}:
            heading, lines = [lines[0]], lines[2:]
        shaped = any(line.startswith((" ", "* ", "- ", "=", "|")) for line in lines)
        paragraphs.append("\n".join([*heading, *(lines if shaped else [" ".join(lines)])]))
    return "\n\n".join(paragraphs)
