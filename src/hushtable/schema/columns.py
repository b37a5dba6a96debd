"""Roles and kinds of columns, the meaning of missing values, and what published cells cover."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Cover", "Format", "Kind", "Missing", "Role"]


class Role(StrEnum):
    """What a column is to an adversary.

    ``IDENTIFIER`` names a person and never reaches the output. ``QUASI`` may be known from outside and is
    generalised. ``SENSITIVE`` is what must not be learnt about a person. ``INSENSITIVE`` is published as it is.
    ``PSEUDONYM`` names a person and is published under a keyed name. ``WEIGHT`` says how many people of the population
    a record stands for, ``CLUSTER`` which household it belongs to: risks read them, measures of counts read weights,
    and neither is published. ``DROP`` is not published.
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
        """Whether columns of this role describe the survey, which changes what is found out and not the release."""
        return self in (Role.WEIGHT, Role.CLUSTER)


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


class Format(StrEnum):
    """How values are written that could be read in several ways.

    ``DAY_FIRST``: 31/12/1999. ``MONTH_FIRST``: 12/31/1999. ``THOUSANDS``: 1,234.56. ``ANY_SPELLING``: labels that
    differ in capitals or spaces alone are the same.
    """

    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"
    THOUSANDS = "thousands"
    ANY_SPELLING = "any-spelling"

    @property
    def kind(self) -> Kind:
        """The kind of columns that are written so."""
        return {Format.THOUSANDS: Kind.NUMERIC, Format.ANY_SPELLING: Kind.NOMINAL}.get(self, Kind.DATE)


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
