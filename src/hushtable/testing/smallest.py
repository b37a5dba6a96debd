"""Report a broken promise with the check that found it and the smallest table that shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hushtable.errors import HushtableError
from hushtable.testing.cases import Case, random_case

__all__ = ["tried"]

R = TypeVar("R")

_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 14)
_TABLES = 6


def tried(check: Callable[..., R], subject: Any, call: Callable[[Case], R], case: Case) -> R:
    """Return the result of a check on a case; if it fails, name it and show the smallest random table that fails.

    Parameters
    ----------
    check : callable
        The error names it.
    subject : object
        The object under test: a model or an algorithm.
    call : callable
        Runs the check on a case.
    case : Case

    Raises
    ------
    AssertionError
        With the check, its sentence and the table. All of its values are invented.
    """
    try:
        return call(case)
    except HushtableError:
        raise
    except Exception as error:
        small, said = _smallest(call, case, error)
        roles = ", ".join(f"{c.name} ({c.role})" for c in small.columns.columns)
        rows = "\n".join(f"  {row}" for row in small.table.to_pylist())
        raise AssertionError(
            f"{check.__name__} of {subject!r}: {said}\n"
            f"Smallest table that was found to show it: {small.table.num_rows} rows, seed {small.seed}; {roles}\n{rows}"
        ) from error


def _smallest(call: Callable[[Case], Any], case: Case, error: Exception) -> tuple[Case, str]:
    """The smallest of some tables with the same failure, and its message; the given table if none is smaller."""
    for rows in (size for size in _SIZES if size < case.table.num_rows):
        for seed in range(_TABLES):
            small = random_case(seed, rows, missing=case.columns.missing, entity=case.columns.entity is not None)
            try:
                call(small)
            except HushtableError:
                continue
            except Exception as other:
                if type(other) is type(error):
                    return small, _sentence(other)
    return case, _sentence(error)


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
