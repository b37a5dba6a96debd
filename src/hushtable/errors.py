"""The exceptions of hushtable, as one tree.

::

    HushtableError
    ├── UsageError                exit 2: the call, the policy or the data cannot be used
    │   ├── ArgumentError         an argument of a function is missing, unknown or of the wrong type
    │   ├── ParameterError        a parameter of a model, algorithm or measure is out of range
    │   ├── PolicyError           the policy contradicts itself or the table
    │   ├── DataError             the table cannot be read or used
    │   ├── HierarchyError        a hierarchy lacks values or does not nest
    │   ├── IncompatibleError     model, algorithm, recoding or engine cannot be combined
    │   └── OutputError           the result cannot be written
    ├── Infeasible                exit 3: provably, no release satisfies the models
    ├── NotFound                  exit 3: the algorithm found none; another one might
    ├── VerificationError         exit 1: the result violates a model
    └── Cancelled                 exit 130: the user stopped the run; nothing was written

Every error has a stable ``code`` for programs and a ``hint`` that says what to do. No error contains a cell of the
table: errors name the column and the kind of value instead.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import ClassVar

__all__ = [
    "DEBUG",
    "ArgumentError",
    "Cancelled",
    "DataError",
    "HierarchyError",
    "HushtableError",
    "IncompatibleError",
    "Infeasible",
    "NotFound",
    "OutputError",
    "ParameterError",
    "PolicyError",
    "PrivacyLeakWarning",
    "UsageError",
    "VerificationError",
    "counted",
    "did_you_mean",
]

DEBUG = "HUSHTABLE_DEBUG"
"""Set this to see the traceback of an internal error; tracebacks may quote values of the table."""


class HushtableError(Exception):
    """Base class of every error that hushtable raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, in one sentence.
    code : str, optional
        A stable reason code; the class has a default.
    hint : str, optional
        What the user can do about it.

    Examples
    --------
    >>> error = HushtableError("The file is empty.", code="empty-file", hint="Check the path.")
    >>> print(error)
    The file is empty. Check the path.
    >>> error.code
    'empty-file'
    """

    default_code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, *, code: str | None = None, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".rstrip())
        self.message = message
        self.code = code or self.default_code
        self.hint = hint

    def as_dict(self) -> dict[str, str]:
        """Return the error as JSON-ready data."""
        return {"error": type(self).__name__, "code": self.code, "message": self.message, "hint": self.hint}


class UsageError(HushtableError):
    """The call, the policy or the data cannot be used."""

    default_code = "usage"


class ArgumentError(UsageError, TypeError):
    """An argument of a function is missing, unknown or of the wrong type."""

    default_code = "argument"


class ParameterError(UsageError, ValueError):
    """A parameter of a model, an algorithm or a measure is not acceptable."""

    default_code = "parameter"


class PolicyError(UsageError, ValueError):
    """The policy contradicts itself or does not fit the table."""

    default_code = "policy"


class DataError(UsageError, ValueError):
    """The table cannot be read or used."""

    default_code = "data"


class HierarchyError(UsageError, ValueError):
    """A hierarchy lacks values, does not nest or cannot be read."""

    default_code = "hierarchy"


class IncompatibleError(UsageError, TypeError):
    """Model, algorithm, recoding or engine cannot be combined; raised before any work is done."""

    default_code = "incompatible"


class OutputError(UsageError, OSError):
    """The result cannot be written; nothing was left half-written."""

    default_code = "output"


class Infeasible(HushtableError):
    """Provably, no release of this table satisfies the models; the message gives the reason.

    Examples
    --------
    >>> raise Infeasible("p=5 but 'disease' has 4 distinct values.", hint="Lower p to 4.")
    Traceback (most recent call last):
    hushtable.errors.Infeasible: p=5 but 'disease' has 4 distinct values. Lower p to 4.
    """

    default_code = "infeasible"
    exit_code = 3


class NotFound(HushtableError):
    """The algorithm found no release that satisfies the models; another one might."""

    default_code = "not-found"
    exit_code = 3


class VerificationError(HushtableError):
    """The result violates a model. It was not returned, written or shown."""

    default_code = "violated"
    exit_code = 1


class Cancelled(HushtableError):
    """The user stopped the run; nothing was written."""

    default_code = "cancelled"
    exit_code = 130


class PrivacyLeakWarning(UserWarning):
    """A legal request that can disclose people's data if the result is published."""


def counted(n: int, one: str, many: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "person", "people"), counted(1200, "person", "people")
    ('1 person', '1,200 people')
    """
    return f"{n:,} {one if n == 1 else many}"


def a_kind(value: object) -> str:
    """Name the type of a value, with its article.

    Examples
    --------
    >>> a_kind(3), a_kind("x")
    ('an int', 'a str')
    """
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def listed(names: Sequence[str], most: int = 20) -> str:
    """List names in quotes, but no more than anybody reads.

    Examples
    --------
    >>> listed(["age", "sex"])
    "'age', 'sex'"
    >>> listed([f"q{i}" for i in range(789)], most=2)
    "'q0', 'q1' and 787 others"
    """
    rest = len(names) - most
    shown = ", ".join(map(repr, names[:most] if rest > 1 else names))
    return f"{shown} and {rest} others" if rest > 1 else shown


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest known word, or lists all if none is close.

    Examples
    --------
    >>> did_you_mean("k-anonimity", ["k-anonymity", "k-map"])
    "Did you mean 'k-anonymity'?"
    >>> did_you_mean("zzz", ["b", "a"])
    'Known: a, b.'
    """
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known: {', '.join(names)}." if names else ""
