"""Self-descriptions of registered classes, as data and as text.

Everything is read from the class (docstring, parameters, declared properties), so a plug-in's class is described as
well as ours.
"""

from __future__ import annotations

import inspect
from enum import Enum, Flag
from typing import Any

from hushtable.params import Param, Parametrised

PROPERTIES = {
    "threat": "protects against disclosure of",
    "needs": "input from every class",
    "sense": "comparison of the score with the bound",
    "table_level": "judges the table as a whole",
    "monotone": "stays satisfied when",
    "recoding": "recoding",
    "reads_sensitive": "use of sensitive values",
    "disclosure": "what this discloses",
    "answers": "protects against the attack",
    "better": "better when",
    "default": "part of every summary",
}
"""Class attribute -> words; a class has the attributes of its kind."""


def describe(known: type[Parametrised]) -> dict[str, Any]:
    """Return everything that a class declares about itself, as data.

    Examples
    --------
    >>> from hushtable.registry import models
    >>> found = describe(models["k-anonymity"])
    >>> found["summary"], found["parameters"][0]["expected"]
    ('Every class has at least k people.', 'an int >= 2')
    >>> found["properties"]["monotone"]
    ['add', 'merge']
    """
    properties = {name: getattr(known, name) for name in PROPERTIES if getattr(known, name, "") != ""}
    return {
        "name": known.name,
        "class": known.__name__,
        "summary": summary_of(known),
        "parameters": [_parameter(p) for p in sorted(known.params(), key=lambda p: not p.required)],
        "properties": {name: _value(value) for name, value in properties.items()},
    }


def summary_of(known: type[Parametrised]) -> str:
    """Return the first sentence of a class's docstring.

    Examples
    --------
    >>> from hushtable.registry import models
    >>> summary_of(models["k-anonymity"])
    'Every class has at least k people.'
    """
    return _unquoted(inspect.getdoc(known) or "").split("\n\n")[0].replace("\n", " ")


def explanation(known: type[Parametrised]) -> str:
    """Return the full explanation of a class for users: its text and its module's definition, without code."""
    parts = [_prose(inspect.getdoc(known) or ""), _prose(getattr(inspect.getmodule(known), "__doc__", None) or "")]
    return "\n\n".join(part for part in parts if part)


def text_of(known: type[Parametrised]) -> str:
    """Return the class's docstring up to its parameters."""
    return _before_sections(_unquoted(inspect.getdoc(known) or ""))


def definition_of(known: type[Parametrised]) -> str:
    """Return the module's docstring: definition, readings taken and references."""
    return _unquoted(inspect.cleandoc(getattr(inspect.getmodule(known), "__doc__", None) or ""))


def reflow(text: str) -> str:
    r"""Join the lines of each paragraph, so that lines break at the terminal's width; lists and tables stay unchanged.

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


def _prose(text: str) -> str:
    """Return the text before the first section of parameters or examples; references are kept."""
    lines = inspect.cleandoc(text).replace("``", "").splitlines()
    kept: list[str] = []
    skipping = False
    for i, line in enumerate(lines):
        heading = i + 1 < len(lines) and lines[i + 1] and set(lines[i + 1]) == {"-"}
        if heading:
            skipping = line.strip() not in ("References", "Notes")
        if not skipping:
            kept.append(line)
    return reflow("\n".join(kept).strip())


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


def _unquoted(text: str) -> str:
    """Return a docstring without the markup of a documentation builder."""
    return text.replace("``", "")


def _before_sections(text: str) -> str:
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if i and line and set(line) == {"-"}:
            return "\n".join(lines[: i - 1]).strip()
    return text.strip()
