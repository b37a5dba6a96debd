"""Policies as YAML text, without YAML's traps.

Only ``true`` and ``false`` are Booleans, so that a column may be called ``on`` and a value may be ``NO``; keys are
always text; dates stay text; so do numbers with a leading zero. In lists of values of the table (categories, order,
missing_values, trees), everything is text exactly as written. A duplicate key is an error: plain YAML readers silently
keep the last one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from hushtable.io.text import MOST_REPEATED, repeated_nodes
from hushtable.policy.faults import Fault, InvalidPolicy, Place

_TAG = "tag:yaml.org,2002:"
_IMPLICIT = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan", "-+.0123456789"),
)
# values of the table below these settings; the names are unambiguous wherever a policy has them
_TEXT = frozenset({"categories", "order", "missing_values", "tree", "rows"})
_WIDE = 90
_DEEPEST = 100


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, Any] = {}


class _Dumper(yaml.SafeDumper):
    """Quotes strings that YAML 1.1 or this module would misread, so that every reader agrees."""

    yaml_implicit_resolvers = {k: list(v) for k, v in yaml.SafeDumper.yaml_implicit_resolvers.items()}

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent(self, data: Any) -> None:
        node = self.represent_data(data)
        _lay_out(node, depth=0)
        self.serialize(node)


def _lay_out(node: Any, depth: int, *, item: bool = False) -> int:
    """Put small collections on one line, as people write them; return the node's width on one line."""
    if isinstance(node, yaml.ScalarNode):
        return len(node.value) + 2
    width = 2
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            width += len(key.value) + 2 + _lay_out(value, depth + 1)
    else:
        for value in node.value:
            width += _lay_out(value, depth + 1, item=True)
    named = item and isinstance(node, yaml.MappingNode) and len(node.value) == 1
    small = depth > 1 and width <= _WIDE and not named
    # a list of plain values wraps by itself, however long
    values = isinstance(node, yaml.SequenceNode) and all(isinstance(v, yaml.ScalarNode) for v in node.value)
    node.flow_style = not node.value or small or values
    return width


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    # line ends and control characters survive in double quotes only, where they are escaped
    return dumper.represent_scalar(f"{_TAG}str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _text)
for _tag, _pattern, _first in _IMPLICIT:
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(_TAG + _tag, re.compile(rf"^(?:{_pattern})\Z"), list(_first))


@dataclass(frozen=True)
class PolicyText:
    """The data of a policy's text and the line of every setting."""

    data: dict[str, Any]
    lines: dict[Place, int]


def read_yaml(text: str) -> PolicyText:
    r"""Read a policy's text as data.

    Raises
    ------
    InvalidPolicy
        With the line, if it is not YAML, has a duplicate key, or is not a mapping.

    Examples
    --------
    >>> read_yaml("columns: {on: {role: quasi}, no: {role: sensitive, categories: {secret: [NO, 01]}}}").data
    {'columns': {'on': {'role': 'quasi'}, 'no': {'role': 'sensitive', 'categories': {'secret': ['NO', '01']}}}}
    >>> read_yaml("seed: 1\nseed: 2")
    Traceback (most recent call last):
    hushtable.policy.faults.InvalidPolicy: line 2: seed: The setting is given twice. Remove one of them.
    """
    text = text.removeprefix("\ufeff")
    try:
        _check_depth(text)
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise _unreadable(error, text) from None
    if not isinstance(root, yaml.MappingNode):
        sentence = "The policy is empty." if root is None else "A policy is a mapping of settings."
        raise InvalidPolicy([Fault((), sentence, "Start it with 'columns:'.", "yaml")])
    if repeated_nodes(root) > MOST_REPEATED:
        raise InvalidPolicy([Fault((), "The aliases of the policy expand too far.", "Write the values out.", "yaml")])
    reader = _Reader()
    data = reader.build(root, ())
    if reader.faults:
        raise InvalidPolicy(reader.faults)
    return PolicyText(data, reader.lines)


def _check_depth(text: str) -> None:
    """Limit the depth: composing recurses, partly in C, so that a deeply nested text would end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            mark = event.start_mark
            line = mark.line + 1 if mark else None
            raise InvalidPolicy([Fault((), "The policy is nested too deeply.", code="yaml", line=line)])


class _Reader:
    """Nodes -> data, remembering lines."""

    def __init__(self) -> None:
        self.lines: dict[Place, int] = {}
        self.faults: list[Fault] = []
        self._open: set[int] = set()

    def build(self, node: yaml.Node, place: Place) -> Any:
        if len(self._open) > _DEEPEST:
            raise InvalidPolicy([Fault(place, "The policy is nested too deeply.", code="yaml", line=_line(node))])
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, place)
        self._open.add(id(node))
        data = self._mapping(node, place) if isinstance(node, yaml.MappingNode) else self._list(node, place)
        self._open.discard(id(node))
        return data

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        self._tagged(node, place, "map")
        data: dict[str, Any] = {}
        for key_node, value in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._fault(
                    key_node, place, "A key must not be a list or a mapping.", "Put names with brackets in quotes."
                )
                continue
            key: str = key_node.value
            here = (*place, key)
            if key in data:
                self._fault(key_node, here, "The setting is given twice.", "Remove one of them.", "duplicate-key")
            self.lines[here] = _line(key_node)
            data[key] = self.build(value, here)
        return data

    def _list(self, node: yaml.Node, place: Place) -> list[Any]:
        self._tagged(node, place, "seq")
        items = []
        for i, item in enumerate(node.value):
            self.lines[(*place, i)] = _line(item)
            items.append(self.build(item, (*place, i)))
        return items

    def _scalar(self, node: yaml.ScalarNode, place: Place) -> Any:
        text: str = node.value
        kind = str(node.tag).removeprefix(_TAG)
        listed = place and place[0] == "missing_values"
        if kind == "str" or (kind == "null" and listed) or (kind != "null" and _in_values(place)):
            return text
        if kind == "null":
            return None
        try:
            if kind == "bool":
                return {"true": True, "false": False}[text.lower()]
            if kind == "int":
                return int(text)
            if kind == "float":
                return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        except (KeyError, ValueError):
            self._fault(node, place, f"It is marked as {kind!r} but is not one.")
            return None
        self._tagged(node, place, "str")
        return text

    def _tagged(self, node: yaml.Node, place: Place, usual: str) -> None:
        if node.tag != _TAG + usual:
            self._fault(node, place, "Tags (a word after '!') have no meaning here.", "Put text with a '!' in quotes.")

    def _fault(self, node: yaml.Node, place: Place, sentence: str, hint: str = "", code: str = "yaml") -> None:
        self.faults.append(Fault(place, sentence, hint, code, _line(node)))


def _in_values(place: Place) -> bool:
    """Whether a place is inside a list of values; a column may be *called* ``order``."""
    if place[:1] == ("columns",):
        return len(place) > 3 and not _TEXT.isdisjoint(place[2:-1])
    return place[:1] == ("missing_values",)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _unreadable(error: yaml.YAMLError, text: str) -> InvalidPolicy:
    """Describe an error of YAML's parser in one sentence with its line."""
    hint = "Indent with spaces, and put names and values with special characters in quotes."
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        problem = str(getattr(error, "problem", "") or "it cannot be read")
        if any("\t" in line for line in text.split("\n")[mark.line : mark.line + 1]):
            hint = "Indent with spaces, not with tabs."
        if "another document" in problem or "document start" in problem:
            hint = "A file holds one policy: remove the line '---' in the middle."
        return InvalidPolicy([Fault((), f"This is not YAML: {problem}.", hint, "yaml", int(mark.line) + 1)])
    position = int(getattr(error, "position", 0) or 0)
    line = text.count("\n", 0, position) + 1
    return InvalidPolicy([Fault((), "A character is not allowed in YAML.", "Save as plain UTF-8 text.", "yaml", line)])


def write_yaml(data: Any) -> str:
    r"""Return data as YAML that ``read_yaml`` and every other reader can read back.

    Examples
    --------
    >>> write_yaml({"columns": {"no": {"role": "quasi"}}})
    "columns:\n  'no': {role: quasi}\n"
    """
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def in_a_comment(text: str) -> str:
    r"""Return text that stays inside a comment: without line breaks and characters that YAML forbids.

    Examples
    --------
    >>> in_a_comment("age\nseed: 7")
    'age seed: 7'
    """
    return "".join(c if c.isprintable() else " " for c in text)
