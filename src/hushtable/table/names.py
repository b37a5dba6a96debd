"""Whether a table has the columns that a policy speaks of, and no others."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from hushtable.errors import PolicyError
from hushtable.table.plan import TablePlan

__all__ = ["check_columns", "column_errors"]


def check_columns(names: list[str], plan: TablePlan) -> None:
    """Every column of the table has a role and every column of the policy is in the table."""
    errors = list(column_errors(names, plan))
    if len(errors) == 1:
        raise errors[0]
    if errors:
        without, absent = errors
        slip = absent.hint if absent.hint.startswith("Did") else ""
        raise PolicyError(
            f"{without.message} {absent.message}", code=without.code, hint=f"{slip} {without.hint}".strip()
        )


def column_errors(names: list[str], plan: TablePlan) -> Iterator[PolicyError]:
    """Tell which columns of the table have no role, and which of the policy are not there.

    Examples
    --------
    >>> from hushtable.schema.columns import Role
    >>> from hushtable.table.plan import ColumnPlan
    >>> plan = TablePlan((ColumnPlan("agee", Role.QUASI),))
    >>> for error in column_errors(["age"], plan):
    ...     print(error)
    These columns have no role in the policy: 'age'. Give each a role: identifier, quasi, sensitive or insensitive.
    The policy names columns that the table does not have: 'agee'. Did you mean 'age' instead of 'agee'?
    """
    planned = [c.name for c in plan.columns]
    unassigned = [name for name in names if name not in planned]
    absent = [name for name in planned if name not in names]
    if unassigned:
        yield PolicyError(
            f"These columns have no role in the policy: {', '.join(map(repr, unassigned))}.",
            code="unassigned-columns",
            hint="Give each a role: identifier, quasi, sensitive or insensitive.",
        )
    if absent:
        near = {name: difflib.get_close_matches(name, unassigned, n=1) for name in absent}
        slips = [f"Did you mean {found[0]!r} instead of {name!r}?" for name, found in near.items() if found]
        yield PolicyError(
            f"The policy names columns that the table does not have: {', '.join(map(repr, absent))}.",
            code="absent-columns",
            hint=" ".join(slips) or f"The table has: {', '.join(map(repr, names))}.",
        )
