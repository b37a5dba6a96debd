"""The plan for each column: the policy's columns, resolved to objects, and the tables that it names."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import PolicyError, listed
from hushtable.hierarchy.base import Hierarchy
from hushtable.schema.columns import Format, Kind, Missing, Role
from hushtable.table.coded_columns import PublishedAs


@dataclass(frozen=True)
class ColumnPlan:
    """One column of the policy.

    Attributes
    ----------
    name : str
    role : Role
    kind : Kind, optional
        Defaults to the kind inferred from the data.
    hierarchy : Hierarchy, optional
        Defaults to a flat one (value, then ``*``).
    weight : float
        How much the column's detail matters. Defaults to 1.
    order : tuple of str
        The values of an ordinal column, in order.
    categories : mapping of str to tuple of str
        Sensitivity categories of a sensitive column, the most sensitive first (Sun et al.).
    cells : PublishedAs, optional
        How this column is published. Defaults to the table's form.
    values : tuple of str
        Declared values of a sensitive column that no record has.
    format : Format, optional
        How dates or numbers are written, if that is ambiguous.
    treatments : tuple of Treatment
        Changes to the column's values before records are grouped, in this order.
    publish : bool
        For a column of survey weights, whether every record publishes the mean weight of its class.
    """

    name: str
    role: Role
    kind: Kind | None = None
    hierarchy: Hierarchy | None = None
    weight: float = 1.0
    order: tuple[str, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cells: PublishedAs | None = None
    values: tuple[str, ...] = ()
    format: Format | None = None
    treatments: tuple[Any, ...] = ()
    publish: bool = False

    @property
    def published(self) -> bool:
        """Whether the column reaches the release."""
        return self.role.published or self.publish


@dataclass(frozen=True)
class TablePlan:
    """All columns of a table, in the policy's order, and the settings that they share."""

    columns: tuple[ColumnPlan, ...]
    missing: Missing = Missing.OWN_CATEGORY
    missing_values: tuple[str, ...] = ()
    cells: PublishedAs | None = None
    entity: str | None = None

    def named(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with this role, in the policy's order."""
        return tuple(c.name for c in self.columns if c.role is role)

    @property
    def treated(self) -> bool:
        """Whether values of any column are changed before records are grouped."""
        return any(column.treatments for column in self.columns)

    @property
    def shown_weight(self) -> str | None:
        """The column of survey weights whose class means are published."""
        return next((column.name for column in self.columns if column.publish), None)

    def files(self) -> dict[str, Sequence[Sequence[str]]]:
        """Return what the files of hierarchies say, by column."""
        return {c.name: c.hierarchy.contents(c.name) for c in self.columns if c.hierarchy is not None}

    def form(self, column: ColumnPlan) -> PublishedAs | None:
        """Return how a column is published."""
        return column.cells or self.cells


@dataclass(frozen=True)
class SideTables:
    """Rows that accompany the sample: those of the population, and an adversary's background table.

    Instead of a background table there may be ``bandwidths``: the adversary's beliefs are then estimated from the
    sample itself. ``encode`` fills in the rows' quasi-identifiers, their ``mass`` and what they are about (``codes``).
    """

    population: pa.Table | None = None
    background: pa.Table | None = None
    background_on: str = ""
    probability: str = "probability"
    bandwidths: tuple[float, ...] = ()
    mass: FloatArray | None = None
    codes: IntArray | None = None

    @property
    def believes(self) -> bool:
        """Whether there is a background table, or an estimate of one."""
        return self.background is not None or bool(self.bandwidths)


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
    """Refuse columns of the table without a role, and columns of the policy that the table does not have.

    Examples
    --------
    >>> from hushtable.schema.columns import Role
    >>> plan = TablePlan((ColumnPlan("agee", Role.QUASI),))
    >>> for error in column_errors(["age"], plan):
    ...     print(error)
    These columns have no role in the policy: 'age'. Assign a role: identifier, quasi, sensitive, insensitive,
    weight, cluster or drop. 'rest' gives all others one role.
    The policy names columns that the table does not have: 'agee'. Did you mean 'age' instead of 'agee'?
    """
    planned = [c.name for c in plan.columns]
    unassigned = [name for name in names if name not in planned]
    absent = [name for name in planned if name not in names]
    near = {name: found for name in absent if (found := _near(name, unassigned, names))}
    if len(absent) == len(planned) and 2 * len(near) < len(planned):
        yield PolicyError(
            "The table has none of the policy's columns.",
            code="absent-columns",
            hint=f"Is it the right table? It has: {listed(names)}.",
        )
        return
    if unassigned:
        yield PolicyError(
            f"These columns have no role in the policy: {listed(unassigned)}.",
            code="unassigned-columns",
            hint="Assign a role: identifier, quasi, sensitive, insensitive, weight, cluster or drop. 'rest' gives all "
            "others one role.",
        )
    if absent:
        slips = [f"Did you mean {found!r} instead of {name!r}?" for name, found in near.items()]
        yield PolicyError(
            f"The policy names columns that the table does not have: {listed(absent)}.",
            code="absent-columns",
            hint=" ".join(slips) or f"The table has: {listed(names)}.",
        )


def _near(name: str, unassigned: list[str], names: list[str]) -> str:
    """Return the column that a name is a slip for; if all have a role, only one that differs in a letter or two."""
    if unassigned:
        return next(iter(difflib.get_close_matches(name, unassigned, n=1)), "")
    lower = {one.lower(): one for one in names}
    return lower.get(next(iter(difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.85)), ""), "")
