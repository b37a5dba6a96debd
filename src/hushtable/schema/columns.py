"""Roles and kinds of columns, the meaning of missing values, and the styles of published cells."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["CellStyle", "Kind", "Missing", "Role"]


class Role(StrEnum):
    """What a column is to an adversary.

    ``IDENTIFIER`` names a person and never reaches the output. ``QUASI`` may be known from outside and is
    generalised. ``SENSITIVE`` is what must not be learnt about a person. ``INSENSITIVE`` is published as it is.
    """

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


class Kind(StrEnum):
    """How a column's values relate: numbers, ordered labels, unordered labels, or dates."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    DATE = "date"

    @property
    def ordered(self) -> bool:
        """Whether the order of values means something."""
        return self is not Kind.NOMINAL


class Missing(StrEnum):
    """What an empty quasi-identifier cell means to the adversary.

    ``OWN_CATEGORY``: a value like any other, equal only to itself. ``WILDCARD``: it may stand for any value, so
    classes that could be the same person's are judged together. ``ERROR``: there must be none.
    """

    OWN_CATEGORY = "own_category"
    WILDCARD = "wildcard"
    ERROR = "error"


class CellStyle(StrEnum):
    """How the values of a class are published.

    ``NODES``: the lowest hierarchy node that covers them. ``INTERVALS``: the range of ordered columns, the set of
    values of nominal ones. ``SETS``: the set of values everywhere. ``MIDPOINT``: the middle of the range as a
    number for numeric columns, otherwise as ``INTERVALS``.
    """

    NODES = "nodes"
    INTERVALS = "intervals"
    SETS = "sets"
    MIDPOINT = "midpoint"
