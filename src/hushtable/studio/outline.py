"""Trees as text that people edit: one label per line; an indented label belongs to the one above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hushtable.errors import HierarchyError

_STEP = "  "


def outline_of(tree: Any) -> str:
    r"""Return a tree of nested mappings and lists as text.

    Examples
    --------
    >>> print(outline_of({"Europe": ["France", "Spain"], "Asia": ["Japan"]}))
    Europe
      France
      Spain
    Asia
      Japan
    """
    return "\n".join(_lines(tree, 0))


def _lines(tree: Any, depth: int) -> Iterator[str]:
    if isinstance(tree, dict):
        for label, below in tree.items():
            yield f"{_STEP * depth}{label}"
            yield from _lines(below, depth + 1)
    else:
        yield from (f"{_STEP * depth}{label}" for label in tree)


def tree_of(text: str) -> Any:
    r"""Read a tree from text.

    Raises
    ------
    HierarchyError
        With the line, if a label has no parent or a group holds both values and groups.

    Examples
    --------
    >>> tree_of("Europe\n  France\n  Spain\nAsia\n  Japan")
    {'Europe': ['France', 'Spain'], 'Asia': ['Japan']}
    """
    rows = []
    for number, line in enumerate(text.expandtabs(2).splitlines(), 1):
        if line.strip():
            rows.append((number, len(line) - len(line.lstrip(" ")), line.strip()))
    if not rows:
        raise HierarchyError("The tree is empty.", code="empty", hint="Write one label per line.")
    tree, rest = _read(rows, rows[0][1])
    if rest:
        raise HierarchyError(f"Line {rest[0][0]} is indented less than the first line.", code="outline")
    return tree


def _read(rows: list[tuple[int, int, str]], depth: int) -> tuple[Any, list[tuple[int, int, str]]]:
    groups: dict[str, Any] = {}
    values: list[str] = []
    while rows and rows[0][1] >= depth:
        number, here, label = rows[0]
        if here > depth:
            raise HierarchyError(f"Line {number} is indented too far.", code="outline")
        below = len(rows) > 1 and rows[1][1] > depth
        rows = rows[1:]
        if below:
            if label in groups:
                raise HierarchyError(f"Line {number}: a group with this name exists already.", code="outline")
            groups[label], rows = _read(rows, rows[0][1])
        else:
            values.append(label)
    if rows and rows[0][1] > depth:
        raise HierarchyError(f"Line {rows[0][0]} is not indented like its neighbors.", code="outline")
    if not groups:
        return values, rows
    # a value next to groups becomes a group of its own, so that all values are equally deep
    return {**groups, **{value: [value] for value in values}}, rows


def grouped(tree: Any, chosen: Sequence[str], name: str) -> Any:
    """Move values into a group of the first level.

    Examples
    --------
    >>> grouped({"a": ["x", "y"], "b": ["z"]}, ["y", "z"], "c")
    {'a': ['x'], 'c': ['y', 'z']}
    >>> grouped(["x", "y", "z"], ["x"], "c")
    {'y': ['y'], 'z': ['z'], 'c': ['x']}
    """
    if not name.strip() or not chosen:
        raise HierarchyError("A group needs values and a name.", code="group", hint="Choose values, then name them.")
    left = _without(tree, set(chosen))
    groups = left if isinstance(left, dict) else {value: [value] for value in left}
    have = groups.get(name.strip())
    if have is not None and not isinstance(have, list):
        raise HierarchyError("The group with this name contains groups.", code="group", hint="Choose another name.")
    return {**groups, name.strip(): [*(have or []), *chosen]}


def _without(tree: Any, gone: set[str]) -> Any:
    if isinstance(tree, dict):
        left = {label: _without(below, gone) for label, below in tree.items()}
        return {label: below for label, below in left.items() if below}
    return [value for value in tree if value not in gone]
