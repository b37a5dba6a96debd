"""Rules that an analyst knows to hold: ``age < 15 -> marital_status = N``.

A rule has conditions on both sides of the arrow, joined by ``and``: if all on the left hold, all on the right must
hold. Without an arrow, all conditions must hold for every row. A condition compares a column with a value (``<``,
``<=``, ``>``, ``>=``, ``=``, ``!=``) or lists values (``in {a, b}``). Put names and values with special characters or
words into quotes, names alternatively into backticks; ``null`` is the missing value, which allows only ``=``, ``!=``
and ``in``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hushtable.errors import UsageError

__all__ = ["ColumnCondition", "Rule", "bad_rule", "parse_rule"]

_TOKEN = re.compile(
    r"""\s*(?:(?P<arrow>->)|(?P<sign><=|>=|!=|==|<|>|=)|(?P<mark>[{},])|"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
    r"""|`(?P<name>[^`]*)`|(?P<word>(?:[^\s<>=!{},"'`-]|-(?!>))+))"""
)


class ColumnCondition(NamedTuple):
    """A comparison of a column with one value, or with several for ``in``; None is the missing value."""

    column: str
    sign: str
    values: tuple[str | None, ...]


@dataclass(frozen=True)
class Rule:
    """A rule: if all of ``given`` hold, all of ``then`` must hold.

    Attributes
    ----------
    text : str
        The rule as written.
    given, then : tuple of ColumnCondition
    """

    text: str
    given: tuple[ColumnCondition, ...]
    then: tuple[ColumnCondition, ...]

    @property
    def conditions(self) -> tuple[ColumnCondition, ...]:
        """All conditions."""
        return (*self.given, *self.then)


def parse_rule(text: str) -> Rule:
    """Read a rule.

    Examples
    --------
    >>> rule = parse_rule('age < 15 and sex = f -> "marital status" in {N, null}')
    >>> rule.given[0], rule.then[0]
    (ColumnCondition(column='age', sign='<', values=('15',)), ColumnCondition(column='marital status', sign='in', ...))
    >>> parse_rule("age 15")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The rule 'age 15' cannot be read: a comparison is missing. Write it like ...
    """
    tokens = list(_tokens(text))
    arrows = [i for i, (kind, _) in enumerate(tokens) if kind == "arrow"]
    if len(arrows) > 1:
        raise bad_rule(text, "it has more than one arrow")
    if not arrows:
        return Rule(text, (), _conditions(tokens, text))
    return Rule(text, _conditions(tokens[: arrows[0]], text), _conditions(tokens[arrows[0] + 1 :], text))


def bad_rule(text: str, why: str) -> UsageError:
    """The error of a rule that cannot be used."""
    return UsageError(
        f"The rule {text!r} cannot be read: {why}.",
        code="rule",
        hint="Write it like 'age < 15 -> marital_status = N', with < <= > >= = != or in {a, b}, and 'and' between.",
    )


_Token = tuple[str, str]


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise bad_rule(text, "it has an unknown sign, or a quote that does not end")
        kind = str(found.lastgroup)
        yield kind, found[kind]
        at = found.end()


def _conditions(tokens: Sequence[_Token], text: str) -> tuple[ColumnCondition, ...]:
    groups: list[list[_Token]] = [[]]
    for token in tokens:
        if token == ("word", "and"):
            groups.append([])
        else:
            groups[-1].append(token)
    return tuple(_condition(group, text) for group in groups)


def _condition(tokens: Sequence[_Token], text: str) -> ColumnCondition:
    signs = [i for i, (kind, word) in enumerate(tokens) if kind == "sign" or (kind, word) == ("word", "in")]
    if not signs:
        raise bad_rule(text, "a comparison is missing")
    name, sign, rest = tokens[: signs[0]], tokens[signs[0]][1], tokens[signs[0] + 1 :]
    if not name or any(kind == "mark" for kind, _ in name):
        raise bad_rule(text, "a column is missing in front of a comparison")
    column = " ".join(word for _, word in name)
    if sign != "in":
        if not rest or any(kind in ("mark", "sign") for kind, _ in rest):
            raise bad_rule(text, "a comparison takes one value")
        return ColumnCondition(column, "=" if sign == "==" else sign, (_value(rest),))
    if len(rest) < 3 or rest[0] != ("mark", "{") or rest[-1] != ("mark", "}"):
        raise bad_rule(text, "'in' takes values in braces")
    values: list[list[_Token]] = [[]]
    for token in rest[1:-1]:
        if token == ("mark", ","):
            values.append([])
        else:
            values[-1].append(token)
    if not all(values) or any(kind in ("mark", "sign") for value in values for kind, _ in value):
        raise bad_rule(text, "'in' takes values in braces")
    return ColumnCondition(column, "in", tuple(map(_value, values)))


def _value(tokens: Sequence[_Token]) -> str | None:
    """One value; adjacent words form one value."""
    return None if list(tokens) == [("word", "null")] else " ".join(word for _, word in tokens)
