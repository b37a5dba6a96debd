"""What a published cell says, read from its text by the rules that the documentation states: no code of hushtable."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

__all__ = ["covers", "is_missing", "members", "number", "same"]

_PERIODS: dict[str, Callable[[datetime.date, re.Match[str]], bool]] = {
    r"(\d{4})-(\d{2})": lambda day, m: (day.year, day.month) == (int(m[1]), int(m[2])),
    r"(\d{4})-Q([1-4])": lambda day, m: (day.year, (day.month + 2) // 3) == (int(m[1]), int(m[2])),
    r"(\d{4})": lambda day, m: day.year == int(m[1]),
    r"(\d{4})s": lambda day, m: day.year // 10 * 10 == int(m[1]),
    r"(\d{4})-(\d{4})": lambda day, m: int(m[1]) <= day.year <= int(m[2]),
}


def is_missing(value: Any, tokens: Sequence[str] = ()) -> bool:
    """Whether a value counts as missing; ``tokens`` are the texts that the policy lists."""
    if value is None or value == "" or value != value:
        return True
    texts = {text.strip() for text in _texts(value)}
    listed = {token.strip() for token in tokens}
    if texts & listed:
        return True
    return not isinstance(value, str | bool) and any(
        number(t) == number(value) for t in listed if number(t) is not None
    )


def number(value: Any) -> Fraction | None:
    """A value or its text as an exact number; None where it is none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float | Decimal):
        return Fraction(value) if value == value and abs(value) != math.inf else None
    if not isinstance(value, str) or not re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", value, re.ASCII):
        return None
    try:
        return Fraction(Decimal(value.strip()))
    except (InvalidOperation, OverflowError):
        return None


def _meant(value: Any) -> Fraction | None:
    """The number as it is written: a float stands for its shortest decimal."""
    return number(repr(value) if isinstance(value, float) else value)


def _texts(value: Any) -> set[str]:
    """How a single value may be written."""
    if isinstance(value, bool):
        return {"true" if value else "false"}
    if isinstance(value, datetime.datetime):
        return {value.date().isoformat()}
    if isinstance(value, datetime.date):
        return {value.isoformat()}
    if isinstance(value, float):
        # from 10^16 on all digits would stand elsewhere in the order of texts than what is written
        whole = value.is_integer() and abs(value) < 1e16
        return {repr(value), repr(value).removesuffix(".0"), *([str(int(value))] if whole else [])}
    if isinstance(value, Decimal):
        return {f"{value.normalize():f}", str(value)}
    return {str(value)}


def same(text: Any, value: Any, column: Mapping[str, Any] | None = None) -> bool:
    """Whether a cell with a single value has this one."""
    if text in _texts(value):
        return True
    if isinstance(value, str) and (column or {}).get("kind") in ("nominal", "ordinal"):
        # 01 and 1 are two labels
        return False
    return _meant(text) is not None and _meant(text) == _meant(value)


def _split(text: str) -> list[str]:
    """Split at commas that no backslash precedes."""
    parts, current, escaped = [], "", False
    for sign in text:
        if sign == "," and not escaped:
            parts.append(current)
            current = ""
            continue
        current += sign
        escaped = not escaped and sign == "\\"
    return [part.removeprefix(" ") if i else part for i, part in enumerate([*parts, current])]


def members(text: str) -> list[str | None]:
    """The members of a published set or range: null is the missing value, a backslash precedes what is meant so."""
    found: list[str | None] = []
    for raw in _split(text[1:-1]):
        found.append(None if raw == "null" else re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL))
    return found


def covers(cell: Any, value: Any, column: Mapping[str, Any], tokens: Sequence[str] = ()) -> bool:
    """Whether a cell may stand for a value of a column with these settings."""
    missing = is_missing(value, tokens)
    # where nobody says that they are labels, blanks among numbers are missing, and among words they are words
    blank = isinstance(value, str) and not value.strip() and "kind" not in column
    if cell is None:
        return missing or blank
    if cell == "*":
        return True
    if not isinstance(cell, str):
        return not missing and same(cell, value, column)
    listed = members(cell) if cell.startswith("{") and cell.endswith("}") else []
    if missing and re.search(r"[{ ]null: \d+[,}]", cell):
        return True
    if any(missing or blank if m is None else not missing and same(m, value, column) for m in listed):
        return True
    if missing:
        return False
    if cell.startswith("\\") and same(cell[1:], value, column):
        return True
    if _counted(cell, value, column):
        return True
    plain = cell[:1] not in ("{", "[", "\\") and same(cell, value, column)
    return plain or _in_range(cell, value, column) or _in_region(cell, value, column) or _under(cell, value, column)


def _counted(cell: str, value: Any, column: Mapping[str, Any]) -> bool:
    """Whether some counted member is this value, or a bin that holds it."""
    if not (cell.startswith("{") and cell.endswith("}")):
        return False
    for member in re.finditer(r"((?:\\.|[^\\:])*): \d+(?:, |$)", cell[1:-1], re.DOTALL):
        if member[1] == "null":
            continue
        name = re.sub(r"\\(.)", r"\1", member[1], flags=re.DOTALL)
        found = same(name, value, column) or _in_range(name, value, column) or _in_region(name, value, column)
        if found or (isinstance(value, datetime.date) and _period(name, value, {}, column)):
            return True
    return False


def _in_region(cell: str, value: Any, column: Mapping[str, Any]) -> bool:
    """Whether a number or a day lies in ``< 20``, ``[20, 30)`` or ``>= 30``."""
    region = re.fullmatch(r"(?:\[(\S+), (\S+)\))|(?:(<|>=) (\S+))", cell)
    if region is None or column.get("kind") in ("nominal", "ordinal"):
        return False
    if isinstance(value, datetime.date):
        day = value.date() if isinstance(value, datetime.datetime) else value
        read: Callable[[str], Any] = _day
        at: Any = day
    else:
        read, at = _meant, _meant(value)
    low = region[1] or (region[4] if region[3] == ">=" else None)
    high = region[2] or (region[4] if region[3] == "<" else None)
    bounds = [read(text) for text in (low, high) if text]
    if at is None or None in bounds:
        return False
    return (low is None or read(low) <= at) and (high is None or at < read(high))


def _in_range(cell: str, value: Any, column: Mapping[str, Any]) -> bool:
    if not (cell.startswith("[") and cell.endswith("]")):
        return False
    ends = members(cell)
    return len(ends) == 2 and None not in ends and _between(str(ends[0]), value, str(ends[1]), column)


def _between(low: str, value: Any, high: str, column: Mapping[str, Any]) -> bool:
    order = column.get("order")
    if order:
        return low in order and high in order and order.index(low) <= order.index(value) <= order.index(high)
    first, middle, last = _meant(low), _meant(value), _meant(high)
    if first is not None and middle is not None and last is not None and column.get("kind") != "nominal":
        return first <= middle <= last
    if isinstance(value, datetime.date):
        day = value.date() if isinstance(value, datetime.datetime) else value
        return _day(low) is not None and _day(high) is not None and low <= day.isoformat() <= high
    return any(low <= text <= high for text in _texts(value))


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def _under(cell: str, value: Any, column: Mapping[str, Any]) -> bool:
    """Whether a value lies under a node of the column's hierarchy."""
    hierarchy = column.get("hierarchy")
    if hierarchy is None or hierarchy == "flat":
        return False
    name, given = (hierarchy, {}) if isinstance(hierarchy, str) else next(iter(hierarchy.items()))
    return _NODES[name](cell, value, given, column)


def _interval(cell: str, value: Any, given: Any, column: Mapping[str, Any]) -> bool:
    found = _meant(value)
    if found is None:
        return False
    if inner := re.fullmatch(r"\[(\S+), (\S+)\)", cell):
        low, high = _meant(inner[1]), _meant(inner[2])
        return low is not None and high is not None and low <= found < high
    if outer := re.fullmatch(r"(<|>=) (\S+)", cell):
        bound = _meant(outer[2])
        return bound is not None and (found < bound if outer[1] == "<" else found >= bound)
    return False


def _period(cell: str, value: Any, given: Any, column: Mapping[str, Any]) -> bool:
    return any((m := re.fullmatch(form, cell)) is not None and inside(value, m) for form, inside in _PERIODS.items())


def _masked(cell: str, value: Any, given: Any, column: Mapping[str, Any]) -> bool:
    given = given if isinstance(given, dict) else {"mask": given or "*"}
    mask, width = given.get("mask", "*"), len(cell)
    for text in _texts(value):
        if len(text) > width:
            continue
        from_end = given.get("from_end", True)
        padded = text.ljust(width, mask) if from_end else text.rjust(width, mask)
        hidden = range(1, width + 1)
        if any(cell == (padded[: width - j] + mask * j if from_end else mask * j + padded[j:]) for j in hidden):
            return True
    return False


def _neighbours(cell: str, value: Any, given: Any, column: Mapping[str, Any]) -> bool:
    """``first..last``; values that could be misread stand in quotes."""
    for split in re.finditer(r"(?=\.\.)", cell):
        low, high = (_unquoted(t) for t in (cell[: split.start()], cell[split.start() + 2 :]))
        if low is not None and high is not None and _between(low, value, high, column):
            return True
    quoted = _unquoted(cell)
    return quoted is not None and same(quoted, value, column)


def _unquoted(text: str) -> str | None:
    if text.startswith('"'):
        return text[1:-1].replace('""', '"') if len(text) > 1 and text.endswith('"') else None
    return text


def _above(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every leaf of a nested tree with the nodes above it."""
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _above(below, (*path, name))
    else:
        for leaf in tree:
            yield leaf, path


def _branch(cell: str, value: Any, given: Any, column: Mapping[str, Any]) -> bool:
    return any(leaf == value and cell in path for leaf, path in _above(given))


def _written(cell: str, value: Any, given: Any, column: Mapping[str, Any]) -> bool:
    return any(row[0] == value and cell in row[1:] for row in given["rows"])


_NODES: dict[str, Callable[[str, Any, Any, Mapping[str, Any]], bool]] = {
    "intervals": _interval,
    "dates": _period,
    "prefix": _masked,
    "frequency": _neighbours,
    "tree": _branch,
    "taxonomy": _written,
}
