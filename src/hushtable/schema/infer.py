"""The likely role of a column, with the reason in one sentence. A suggestion to start from; a person decides.

Names are considered first, values second, and the rest is treated as a quasi-identifier: a column that is generalized
unnecessarily costs detail, one that is published unnecessarily may harm a person.
"""

from __future__ import annotations

from dataclasses import dataclass

from hushtable.schema.columns import Kind, Role
from hushtable.schema.hints import DIRECT, FREE_TEXT, KEYS, QUASI, SENSITIVE, SURVEY, is_key, is_person_key, name_hint

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
