"""Roles and kinds of columns, the meaning of missing values, and what published cells cover."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Role of a column.

    ``IDENTIFIER`` names a person and never reaches the output. ``QUASI`` may be known from outside and is
    generalized. ``SENSITIVE`` must not become known about a person. ``INSENSITIVE`` is published unchanged.
    ``PSEUDONYM`` names a person and is published under a keyed name. ``WEIGHT`` is the number of people in the
    population that a record represents, ``CLUSTER`` the household it belongs to: risks use both, measures of counts use
    weights, and neither is published. ``DROP`` is not published.
    """

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    PSEUDONYM = "pseudonym"
    WEIGHT = "weight"
    CLUSTER = "cluster"
    DROP = "drop"

    @property
    def published(self) -> bool:
        """Whether columns of this role reach the release."""
        return self in (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE, Role.PSEUDONYM)

    @property
    def of_survey(self) -> bool:
        """Whether columns of this role describe the survey, which affects estimates but not the release."""
        return self in (Role.WEIGHT, Role.CLUSTER)


class Kind(StrEnum):
    """How a column's values relate: numbers, ordered labels, unordered labels, or dates."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    DATE = "date"

    @property
    def ordered(self) -> bool:
        """Whether the order of values is meaningful."""
        return self is not Kind.NOMINAL


class Format(StrEnum):
    """Notation of values that could be read in several ways.

    ``DAY_FIRST``: 31/12/1999. ``MONTH_FIRST``: 12/31/1999. ``COMPACT``: 19991231. ``THOUSANDS``: 1,234.56.
    ``ANY_SPELLING``: labels that differ only in case, spaces or invisible characters are the same.
    """

    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"
    COMPACT = "compact"
    THOUSANDS = "thousands"
    ANY_SPELLING = "any-spelling"

    @property
    def kind(self) -> Kind:
        """The kind of columns with this notation."""
        return {Format.THOUSANDS: Kind.NUMERIC, Format.ANY_SPELLING: Kind.NOMINAL}.get(self, Kind.DATE)


class Missing(StrEnum):
    """Meaning of an empty quasi-identifier cell to the adversary.

    ``OWN_CATEGORY``: a value like any other, equal only to itself. ``WILDCARD``: it may be any value, so
    classes that could contain the same person are checked together. ``ERROR``: there must be none.
    """

    OWN_CATEGORY = "own_category"
    WILDCARD = "wildcard"
    ERROR = "error"


class Cover(StrEnum):
    """Coverage of a published cell beyond the values of its class.

    ``NODE``: all leaves below the lowest hierarchy node above them. ``RANGE``: all values between the minimum and the
    maximum. ``SET``: nothing else.
    """

    NODE = "node"
    RANGE = "range"
    SET = "set"
