"""The likely role of a column, with the reason in one sentence. A suggestion to start from; a person decides.

Names are considered first, values second, and the rest is treated as a quasi-identifier: a column that is generalized
unnecessarily costs detail, one that is published unnecessarily may harm a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.arrays import IntArray
from hushtable.schema.columns import Kind, Role
from hushtable.schema.hints import DIRECT, FREE_TEXT, KEYS, QUASI, SENSITIVE, SURVEY, is_key, is_person_key, name_hint
from hushtable.schema.subsets import count_alone, regroup

if TYPE_CHECKING:
    from hushtable.schema.profile import ColumnProfile


OTHERS_MIGHT = "others might know this"
"""Why a column about which nothing else is known is treated as a quasi-identifier."""

_FREE_TEXT = 30
_MANY = 0.5
_SEVERAL = 50
_YES_OR_NO = 5
_ROWS = 500


@dataclass(frozen=True)
class ColumnFacts:
    """Counts of a column that its suggested role is based on.

    Attributes
    ----------
    name : str
    kind : Kind
    rows : int
    distinct : int
        Number of distinct values, without the missing one.
    unique : int
        Number of values that occur once.
    missing : int
    fractions : bool
        Whether the values are numbers that are not all whole.
    length : float
        Average length of the distinct values as text.
    """

    name: str
    kind: Kind
    rows: int
    distinct: int
    unique: int
    missing: int
    fractions: bool = False
    length: float = 0.0

    @property
    def present(self) -> int:
        """Rows with a value."""
        return self.rows - self.missing


def suggest_role(facts: ColumnFacts) -> tuple[Role, str]:
    """Return the likely role of a column and the reason.

    Examples
    --------
    >>> suggest_role(ColumnFacts("e-mail", Kind.NOMINAL, 100, 90, 85, 0))
    (<Role.IDENTIFIER: 'identifier'>, 'its name suggests an e-mail address')
    >>> suggest_role(ColumnFacts("x1", Kind.NOMINAL, 100, 100, 100, 0))
    (<Role.IDENTIFIER: 'identifier'>, 'every value occurs once')
    >>> suggest_role(ColumnFacts("diagnosis", Kind.NOMINAL, 100, 7, 1, 0))[1]
    'its name suggests health'
    """
    if facts.distinct == 0:
        return Role.INSENSITIVE, "it has no values"
    # a column "telephone" with two values says whether there is one
    topic = name_hint(facts.name, DIRECT)
    if topic and not (facts.distinct <= _YES_OR_NO and facts.rows >= _ROWS):
        return Role.IDENTIFIER, f"its name suggests {topic}"
    if facts.distinct == 1 and not facts.missing and facts.rows > 1:
        return Role.INSENSITIVE, "every row has the same value"
    if topic := name_hint(facts.name, SURVEY):
        return Role.DROP, f"its name suggests {topic}, which singles people out or reveals where they live"
    share = facts.unique / facts.present
    keyed = is_key(facts.name) or not name_hint(facts.name, QUASI)
    if (topic := name_hint(facts.name, KEYS)) and share >= _MANY and keyed:
        return Role.IDENTIFIER, f"its name suggests {topic}, and {share:.0%} of its values occur once"
    if is_person_key(facts.name) and facts.distinct > _SEVERAL:
        return Role.IDENTIFIER, "its name suggests the number of a person"
    if _free_text(facts):
        return Role.IDENTIFIER, "it looks like free text, which may name people"
    if topic := name_hint(facts.name, SENSITIVE):
        return Role.SENSITIVE, f"its name suggests {topic}"
    if topic := name_hint(facts.name, QUASI):
        return Role.QUASI, f"its name suggests {topic}, which others may know"
    return _by_values(facts, share)


def _free_text(facts: ColumnFacts) -> bool:
    """Whether a column has many long texts, or many texts under a name for remarks; otherwise, they would be labels."""
    if facts.kind is not Kind.NOMINAL or name_hint(facts.name, SENSITIVE) or name_hint(facts.name, QUASI):
        return False
    remarks = bool(name_hint(facts.name, FREE_TEXT)) and facts.distinct > _SEVERAL
    return remarks or (facts.length >= _FREE_TEXT and (facts.distinct > _SEVERAL or _mostly_distinct(facts)))


def _mostly_distinct(facts: ColumnFacts) -> bool:
    return facts.present > 1 and facts.distinct / facts.present > _MANY


def _by_values(facts: ColumnFacts, share: float) -> tuple[Role, str]:
    quantity = facts.kind is Kind.DATE or (facts.kind is Kind.NUMERIC and facts.fractions)
    if facts.unique == facts.present and facts.present > 1 and not quantity:
        return Role.IDENTIFIER, "every value occurs once"
    if facts.kind is Kind.NOMINAL and _mostly_distinct(facts):
        return Role.IDENTIFIER, f"{share:.0%} of its values occur once"
    if facts.kind is Kind.DATE:
        return Role.QUASI, "it contains dates, which others may know"
    if quantity and share > _MANY:
        return Role.QUASI, f"{share:.0%} of its numbers occur once, so anyone who knows one finds the person"
    return Role.QUASI, OTHERS_MIGHT


# The quasi-identifiers to keep if a table has many, and proposals for the rest.


MANY = 10
"""Maximum number of quasi-identifiers for a useful release."""

_SHORT_ROWS = 20_000
_HEALTH = 3


def shortlisted(columns: Sequence[ColumnProfile], codes: Mapping[str, IntArray]) -> list[ColumnProfile]:
    """Return the columns with the roles that the whole table suggests.

    Parameters
    ----------
    columns : sequence of ColumnProfile
        With the role that each has by itself.
    codes : mapping of str to int64 array
        One code per row, from 0, of the columns that can be used.
    """
    about_health = [c for c in columns if c.role is Role.SENSITIVE and name_hint(c.name, SENSITIVE) == "health"]
    if len(about_health) >= max(_HEALTH, len(columns) / 5):
        columns = [_as_health(c) for c in columns]
    quasi = [c for c in columns if c.role is Role.QUASI and c.name in codes]
    if len(quasi) <= MANY:
        return list(columns)
    kept = _kept(quasi, codes)
    why = f"others might know this, but only {MANY} such columns are kept"
    return [c if c.name in kept or c not in quasi else replace(c, role=Role.DROP, role_reason=why) for c in columns]


def _as_health(column: ColumnProfile) -> ColumnProfile:
    # labels may name places and people: they stay quasi-identifiers
    if column.role is not Role.QUASI or column.role_reason != OTHERS_MIGHT or column.kind is not Kind.NUMERIC:
        return column
    return replace(column, role=Role.SENSITIVE, role_reason="most columns of the table are about health")


def _kept(quasi: Sequence[ColumnProfile], codes: Mapping[str, IntArray]) -> list[str]:
    """Return one column of every topic, the most identifying topics first; then those that add most."""
    n = len(codes[quasi[0].name])
    rows = np.arange(min(n, _SHORT_ROWS)) * n // min(n, _SHORT_ROWS)
    held = {c.name: codes[c.name][rows] for c in quasi}
    topics = {c.name: _topic(c) for c in quasi}
    groups = np.zeros(len(rows), dtype=np.int64)
    kept: list[str] = []
    left = [c.name for c in quasi]
    while len(kept) < MANY:
        open_topics = {topics[name] for name in left} - {topics[name] for name in kept} - {""}
        named = [name for name in left if topics[name] in open_topics] or [n for n in left if topics[n]] or left
        best = max(named, key=lambda name: _isolating(groups, held[name]))  # ties go to the column that stands first
        kept.append(best)
        left.remove(best)
        groups = regroup(groups, held[best])[0]
    return kept


def _topic(column: ColumnProfile) -> str:
    """Return the topic of a name; a name with "year" in it is not a date if the column is not."""
    topic = name_hint(column.name, QUASI)
    return topic if topic != "a date" or column.kind is Kind.DATE else ""


def _isolating(groups: IntArray, codes: IntArray) -> tuple[int, int, int]:
    """Return the number of rows that a column would isolate, of groups that it would make, and of its values."""
    return count_alone(groups, codes), len(np.unique(regroup(groups, codes)[0])), len(np.unique(codes))
