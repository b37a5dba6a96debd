"""Roles and kinds of columns, the meaning of missing values, and what published cells cover."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Cover", "Kind", "Missing", "Role"]


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


class Cover(StrEnum):
    """What a published cell covers beyond the values of its class.

    ``NODE``: all leaves below the lowest hierarchy node above them. ``RANGE``: all values between the least and the
    greatest. ``SET``: nothing else.
    """

    NODE = "node"
    RANGE = "range"
    SET = "set"
