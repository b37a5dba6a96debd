"""Replies: the only things that leave the server.

A reply consists of a few kinds of parts, and ``render`` refuses everything else, so that no code path can leak a cell
of a table, a file name or a message:

* ``Word``: a predefined word (a role, a kind, the name of a model, a code), from a list that no table can add to;
* ``Column``: the name of a column;
* ``Count`` and ``Share``: numbers of people or values, rounded; numbers of people below the floor are not shown;
* ``PolicyNumber``: a number from a policy;
* ``Prose``: sentences of hushtable's documentation.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from hushtable.schema.columns import Format, Kind, Missing, Role

if TYPE_CHECKING:
    from hushtable.errors import HushtableError
    from hushtable.params import Parametrised
    from hushtable.policy.faults import Fault
    from hushtable.policy.preflight import PolicyProblem
    from hushtable.release.cautions import Caution

Item: TypeAlias = Union[
    "Word", "Column", "Count", "Share", "PolicyNumber", "Prose", bool, Sequence["Item"], Mapping[str, "Item"], None
]
"""What a reply may consist of; the keys of a mapping are words or columns."""

_KEYS = {
    "achieved", "after", "average", "before", "cautions", "changes", "classes", "code", "columns", "cost",
    "definition", "description", "distinct", "entity", "error", "expected", "feasible", "frontier", "grade",
    "infeasible", "kind", "lines", "measures", "missing", "model", "models", "name", "ncp", "on",
    "pair_error", "parameters", "people", "policy", "problems", "query_error", "readings", "repeated",
    "required", "risk", "risks", "role", "rows", "settings", "share_at_risk", "silent", "smallest", "status",
    "subsets", "summary", "suppressed", "suspicious", "unique", "unique_share", "usable", "value", "verified",
    "written", "algorithms", "attacks", "forms", "guards", "hierarchies", "treatments",
}  # fmt: skip
_VALUES = {
    "coarse", "file", "hidden", "internal", "nearly-empty", "not-found", "ok", "refused", "suppression",
    "tree", "unusable", "useful", "violated",
}  # fmt: skip


@cache
def _words() -> frozenset[str]:
    """Every predefined word except the names in the registries."""
    from hushtable.policy.columns import ColumnPolicy
    from hushtable.policy.policy import Policy

    words = {str(word) for enum in (Role, Kind, Missing, Format) for word in enum}
    return frozenset(_KEYS | _VALUES | words | set(Policy.model_fields) | set(ColumnPolicy.model_fields))


class Word(str):
    """A predefined word.

    Examples
    --------
    >>> Word("quasi")
    'quasi'
    >>> Word("Alice")
    Traceback (most recent call last):
    TypeError: a reply may contain only predefined words
    """

    __slots__ = ()

    def __new__(cls, text: object) -> Word:
        """Take a word that is in the list."""
        if str(text) not in _KEYS and str(text) not in _words():
            raise TypeError("a reply may contain only predefined words")
        return super().__new__(cls, str(text))

    @classmethod
    def named(cls, known: type[Parametrised]) -> Word:
        """Return the name of a registered class, or of a class of errors."""
        return str.__new__(cls, known.name)

    @classmethod
    def parameter(cls, known: type[Parametrised], name: str) -> Word:
        """Return the name of a parameter of a registered class."""
        return str.__new__(cls, next(p.name for p in known.params() if p.name == name))

    @classmethod
    def code(cls, error: HushtableError | Caution | PolicyProblem | Fault) -> Word:
        """Return a reason code: all of them are in hushtable's source."""
        return str.__new__(cls, error.code)


class Prose(str):
    """Sentences of the documentation, taken from a registered class."""

    __slots__ = ()


class Column(str):
    """The name of a column of the table."""

    __slots__ = ()


class PolicyNumber(float):
    """A number from a policy, which is never a value of the table."""

    __slots__ = ()


class Share(float):
    """A number with two significant digits.

    Examples
    --------
    >>> Share.of(0.12345), Share.of(float("inf")), Share.of(1234.5)
    (0.12, None, 1200.0)
    """

    __slots__ = ()

    @classmethod
    def of(cls, value: float | None) -> Share | None:
        """Round; return None for what is not a number."""
        return None if value is None or not math.isfinite(value) else cls(f"{value:.2g}")


class Count(int):
    """A number of people, rows or values with two significant digits.

    Examples
    --------
    >>> Count.of(12345), Count.people(3, 5), Count.people(0, 5), Count.people(17, 5)
    (12000, Count(-5), 0, 17)
    >>> render({"rows": Count.people(3, 5)})
    '{"rows": "fewer than 5"}'
    """

    __slots__ = ()

    @classmethod
    def of(cls, value: float) -> Count:
        """Round a number that is not about people."""
        return cls(float(f"{value:.2g}"))

    @classmethod
    def people(cls, value: float, floor: int) -> Count:
        """Round a number of people; a negative number stands for one below the floor."""
        return cls(-floor) if 0 < value < floor else cls.of(value)

    def __repr__(self) -> str:
        return f"Count({int(self)})" if self < 0 else str(int(self))


def render(reply: Item) -> str:
    """Return a reply as JSON.

    Raises
    ------
    TypeError
        If it contains anything that a reply may not contain.

    Examples
    --------
    >>> render({"rows": Count.of(3), "columns": [Column("age")]})
    '{"rows": 3, "columns": ["age"]}'
    >>> render({"rows": 3})
    Traceback (most recent call last):
    TypeError: a reply may not contain an int
    """
    return json.dumps(_plain(reply), ensure_ascii=False)


def _plain(item: Any) -> Any:
    if item is None or type(item) is bool:
        return item
    if type(item) is Count:
        return f"fewer than {-item}" if item < 0 else int(item)
    if type(item) in (Share, PolicyNumber):
        return int(item) if float(item).is_integer() else float(item)
    if type(item) in (Word, Column, Prose):
        return str(item)
    if isinstance(item, Mapping):
        return {_key(key): _plain(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [_plain(part) for part in item]
    raise TypeError(f"a reply may not contain an {type(item).__name__}")


def _key(key: Any) -> str:
    return str(key) if type(key) in (Word, Column) else str(Word(key))


def columns_of(text: str, names: Iterable[str]) -> list[Column]:
    """Return the columns that a message names, and nothing else.

    Examples
    --------
    >>> columns_of("Column 'age' holds '31'.", ["age", "31", "sex"])
    ['age', '31']
    """
    parts = text.split(", ")
    return [Column(name) for name in names if repr(name) in text or name in parts]
