"""The meaning of a published cell, read back from its text: a slow reader that shares no code with the writer."""

from __future__ import annotations

import datetime
import re
from itertools import combinations
from typing import Any

from hushtable.hierarchy.base import ROOT, Coded
from hushtable.hierarchy.naming import Ends, Masked
from hushtable.release.forms.base import form_of
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import QuasiColumn


def cell_text(value: Any) -> str | None:
    """Return a value as its label; None for a missing one.

    Examples
    --------
    >>> cell_text(1.5), cell_text(2.0), cell_text(None)
    ('1.5', '2', None)
    """
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def members(text: str) -> list[str | None]:
    r"""Return the members of a published set; None is the missing value.

    Examples
    --------
    >>> members(r"{a\, b, null, \null}")
    ['a, b', None, 'null']
    """
    found: list[str | None] = []
    for raw in _split(text[1:-1]):
        plain = ""
        escaped = False
        for sign in raw:
            escaped = not escaped and sign == "\\"
            plain += "" if escaped else sign
        found.append(None if raw == "null" else plain)
    return found


def _split(text: str) -> list[str]:
    parts, current, escaped = [], "", False
    for sign in text:
        if sign == "," and not escaped:
            parts.append(current)
            current = ""
            continue
        current += sign
        escaped = not escaped and sign == "\\"
    return [part.removeprefix(" ") if i else part for i, part in enumerate([*parts, current])]


def covered(cell: Any, column: QuasiColumn, *, nodes: bool = False) -> set[int] | None:
    """Return the codes that a cell may represent, or None for a midpoint, which does not show its range.

    Parameters
    ----------
    cell : Any
        As published.
    column : QuasiColumn
    nodes : bool
        Whether the cells are hierarchy nodes, regardless of the column's form (global recoding).
    """
    coded = column.coded
    names = [cell_text(label) for label in coded.labels[0]]
    style = "nodes" if nodes else form_of(column).name
    if style == "midpoint" and coded.kind is Kind.NUMERIC:
        return None
    if cell is None:
        return {c for c, name in enumerate(names) if name is None}
    if cell == ROOT:
        return set(range(coded.size))
    if style == "counts":
        return set().union(*(_within(value, coded, names) for value, _ in counted(cell)))
    if style == "regions":
        return _within(cell, coded, names)
    if style == "nodes":
        found = {c for c, name in enumerate(names) if name is not None and _plain(name, cell)}
        for h in range(1, coded.height + 1):
            found |= _under(cell, coded, h)
        return found
    if cell.startswith("{"):
        return {names.index(member) for member in members(cell)}
    if cell.startswith("[") and style != "sets" and coded.kind.ordered:
        low, high = members(cell)
        return set(range(names.index(low), names.index(high) + 1))
    return {c for c, name in enumerate(names) if name is not None and _plain(name, cell)}


def counted(text: str) -> list[tuple[str | None, int]]:
    r"""Return the values of a published cell of counts, still escaped, and their counts; None is the missing value.

    Examples
    --------
    >>> counted(r"{[20, 30): 3, a\, b: 2, null: 1}")
    [('[20, 30)', 3), ('a\\, b', 2), (None, 1)]
    """
    found: list[tuple[str | None, int]] = []
    for value, count in re.findall(r"((?:\[[^)]*\)|\\.|[^\\:])+): (\d+)(?:, |$)", text[1:-1]):
        found.append((None if value == "null" else value, int(count)))
    return found


def _within(cell: str | None, coded: Coded, names: list[str | None]) -> set[int]:
    """Return the codes in a region, in a bin of numbers or dates, or of one value."""
    first = int(coded.missing)
    if cell is None:
        return {c for c, name in enumerate(names) if name is None}
    if coded.kind not in (Kind.NUMERIC, Kind.DATE):
        plain = re.sub(r"\\(.)", r"\1", cell)
        return {c for c, name in enumerate(names) if name == plain}
    values = coded.values.to_pylist()

    def bound(text: str) -> Any:
        return datetime.date.fromisoformat(text) if coded.kind is Kind.DATE else float(text)

    if cell.startswith("< "):
        fits = [value < bound(cell[2:]) for value in values]
    elif cell.startswith(">= "):
        fits = [value >= bound(cell[3:]) for value in values]
    elif cell.startswith("["):
        low, high = map(bound, cell[1:-1].split(", "))
        fits = [low <= value < high for value in values]
    else:
        fits = [value == bound(cell) for value in values]
    return {first + i for i, inside in enumerate(fits) if inside}


def _under(cell: str, coded: Coded, h: int) -> set[int]:
    """Return the codes below the node of a level that a cell names."""
    level, row, naming = coded.levels[h], coded.labels[h], coded.naming
    labels = [row[node] for node in level.tolist()]
    if isinstance(naming, Masked) and h < coded.height:
        if cell.strip(naming.mask) == cell:
            return set()
        fits = [len(label or "") <= len(cell) for label in coded.labels[0]]
        kept = cell.strip(naming.mask)
        return {c for c, label in enumerate(labels) if fits[c] and label and label.strip(naming.mask) == kept}
    if isinstance(naming, Ends) and h < coded.height:
        made = naming.made(row)[level]
        ends = [naming.quote([label or ""])[0] for label in coded.labels[0]]
        for a, b in combinations(range(coded.size), 2):
            if made[a] and level[a] == level[b] and naming.pattern.format(ends[a], ends[b]) == cell:
                return set(range(a, b + 1))
        return {c for c, label in enumerate(labels) if label == cell and not made[c]}
    return {c for c, label in enumerate(labels) if label == cell}


def _plain(name: str, cell: str) -> bool:
    """Whether a cell with a single value has this one."""
    awkward = name == ROOT or name[:1] in ("{", "[", "\\")
    return cell == ("\\" + name if awkward else name)
