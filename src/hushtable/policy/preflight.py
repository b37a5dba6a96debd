"""All problems that prevent a run, found before it: policy, columns, hierarchies, feasibility.

A run stops at the first problem; this continues as far as it can, so that a user can fix everything at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.errors import HushtableError, Infeasible
from hushtable.hierarchy.check import HierarchyReport, check_column, lattice_size
from hushtable.hierarchy.flat import Flat
from hushtable.models.base import Monotone, PrivacyModel
from hushtable.models.compose import AllOf
from hushtable.release.cautions import Caution, frequent_values
from hushtable.schema.columns import Role
from hushtable.schema.prepare import check_publishable, prepare
from hushtable.table.encode import encode, no_rows, sensitive_column
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import ColumnPlan, SideTables, TablePlan, column_errors
from hushtable.table.reference import Reference
from hushtable.table.survey import read_survey

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.policy.policy import Policy


@dataclass(frozen=True)
class PolicyProblem:
    """One problem to fix.

    Attributes
    ----------
    where : str
        The column, the model or the part of the policy.
    message, hint, code : str
    infeasible : bool
        Whether it is a proof that no release can satisfy the models, rather than a mistake.
    """

    where: str
    message: str
    hint: str = ""
    code: str = ""
    infeasible: bool = False

    @classmethod
    def of(cls, where: str, error: HushtableError) -> PolicyProblem:
        """Return an error as a problem."""
        return cls(where, error.message, error.hint, error.code, isinstance(error, Infeasible))


@dataclass(frozen=True)
class ColumnCheck:
    """Findings about one quasi-identifier or sensitive column."""

    name: str
    role: str
    kind: str = ""
    distinct: int = 0
    missing: int = 0
    levels: tuple[int, ...] = ()
    usable: bool = True


@dataclass(frozen=True)
class ModelCheck:
    """Whether a model can hold: True, False, or None if another problem prevents an answer."""

    model: str
    parameters: dict[str, Any]
    feasible: bool | None


@dataclass(frozen=True)
class Preflight:
    """All findings of the check."""

    rows: int
    columns: tuple[ColumnCheck, ...]
    models: tuple[ModelCheck, ...]
    problems: tuple[PolicyProblem, ...]
    lattice: int | None = field(default=None)
    cautions: tuple[Caution, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether a run can start."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        found = asdict(self)
        listed = {name: found[name] for name in ("problems", "rows", "columns", "lattice", "models")}
        return {"ok": self.ok, **listed, "warnings": found["cautions"]}


def check_table(table: pa.Table, policy: Policy) -> Preflight:
    """Check a policy against a table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hushtable.policy.policy import Policy
    >>> policy = Policy(quasi={"sex": {"hierarchy": {"tree": {"any": ["m"]}}}}, models=[{"k-anonymity": {"k": 5}}])
    >>> found = check_table(pa.table({"sex": ["m", "f"], "age": [3, 4]}), policy)
    >>> [(p.where, p.code) for p in found.problems]
    [('columns', 'unassigned-columns'), ('sex', 'uncovered'), ('k-anonymity', 'infeasible')]
    """
    policy = policy.for_columns(table.column_names)
    plan = policy.table_plan()
    problems = [PolicyProblem.of("columns", error) for error in column_errors(table.column_names, plan)]
    checks, usable = [], []
    if plan.treated and not problems:
        table, found = _treated(table, plan, policy)
        problems += found
    for column in plan.columns:
        if column.role in (Role.QUASI, Role.SENSITIVE) and column.name in table.column_names:
            check, again, found = _column(column, table, plan)
            checks.append(check)
            problems += found
            usable += [again] if again is not None else []
        elif column.role is Role.INSENSITIVE and column.name in table.column_names:
            problems += _unpublishable(column.name, table)
    problems += _survey(plan, table)
    models, found, frequent = _models(policy, plan, table, usable)
    heights = [len(c.levels) - 1 for c in checks if c.role == Role.QUASI and c.levels]
    quasi = plan.named(Role.QUASI)
    lattice = lattice_size(heights) if len(heights) == len(quasi) else None
    known = (*policy.cautions(table), *frequent)
    return Preflight(table.num_rows, tuple(checks), models, (*problems, *found), lattice, known)


def _treated(table: pa.Table, plan: TablePlan, policy: Policy) -> tuple[pa.Table, list[PolicyProblem]]:
    """Return the table that a run would group, and the problems that prevent it."""
    from hushtable.treatments.treating import treated

    try:
        return treated(table, plan, policy.document()), []
    except HushtableError as error:
        return table, [PolicyProblem.of("treatment", error)]


def missing_files(plan: TablePlan) -> Iterator[PolicyProblem]:
    """Report missing hierarchy files; if there is a table, reading them reveals more."""
    for column in plan.columns:
        file = getattr(column.hierarchy, "file", None)
        if file and not Path(file).is_file():
            hint = "Paths are relative to the policy's folder."
            yield PolicyProblem(column.name, f"The hierarchy file {str(file)!r} does not exist.", hint, "no-file")


def _unpublishable(name: str, table: pa.Table) -> Iterator[PolicyProblem]:
    try:
        check_publishable(name, table.column(name).type)
    except HushtableError as error:
        yield PolicyProblem.of(name, error)


def _survey(plan: TablePlan, table: pa.Table) -> Iterator[PolicyProblem]:
    for column in plan.columns:
        if column.role.of_survey and column.name in table.column_names and table.num_rows:
            try:
                read_survey(table, replace(plan, columns=(column,)))
            except HushtableError as error:
                yield PolicyProblem.of(column.name, error)


def _column(
    column: ColumnPlan, table: pa.Table, plan: TablePlan
) -> tuple[ColumnCheck, ColumnPlan | None, list[PolicyProblem]]:
    """Return the problems of a column, and the column as far as it can be used."""
    name, role = column.name, str(column.role)
    try:
        ready = prepare(
            table.column(name),
            name=name,
            kind=column.kind,
            missing_values=plan.missing_values,
            order=column.order,
            format=column.format,
        )
    except HushtableError as error:
        return ColumnCheck(name, role, usable=False), None, [PolicyProblem.of(name, error)]
    report = check_column(
        column.hierarchy or Flat(),
        ready.values,
        ready.kind,
        missing=ready.missing > 0,
        column=name,
        counts=ready.counts(),
    )
    check = ColumnCheck(name, role, str(ready.kind), len(ready.values), ready.missing, report.nodes, report.ok)
    problems = [_of_report(column, report, sentence) for sentence in report.problems]
    # a broken hierarchy does not keep us from looking at everything else
    again = column if report.ok else replace(column, hierarchy=None)
    try:
        if column.role is Role.QUASI:
            encode(table.select([name]), replace(plan, columns=(again,), entity=None))
        else:
            sensitive_column(again, table, plan, table.num_rows)
    except HushtableError as error:
        return replace(check, usable=False), None, [*problems, PolicyProblem.of(name, error)]
    return check, again, problems


def _of_report(column: ColumnPlan, report: HierarchyReport, sentence: str) -> PolicyProblem:
    if "cover" in sentence and report.uncovered_values:
        return PolicyProblem(column.name, sentence, getattr(column.hierarchy, "if_uncovered", ""), "uncovered")
    hint = "Give every label one parent." if report.not_nested else ""
    return PolicyProblem(column.name, sentence, hint, "not-nested" if report.not_nested else "hierarchy")


def _models(
    policy: Policy, plan: TablePlan, table: pa.Table, usable: list[ColumnPlan]
) -> tuple[tuple[ModelCheck, ...], list[PolicyProblem], list[Caution]]:
    sensitive = {c.name for c in usable if c.role is Role.SENSITIVE}
    members = policy.model().members
    ready = {i: m for i, m in enumerate(members) if {c for key in m.histogram_keys() for c in key} <= sensitive}
    quasi = [c for c in usable if c.role is Role.QUASI]
    problems: list[PolicyProblem] = []
    infeasible: dict[int, Infeasible] = {}
    frequent: list[Caution] = []
    if quasi and ready and table.num_rows:
        try:
            encoded = _encoded(policy, plan, table, usable)
            reference = encoded.reference(AllOf(tuple(ready.values())).histogram_keys())
            budget = int(np.floor(policy.suppression * encoded.sample_units + 1e-9))
            infeasible = _infeasible(reference, budget, ready)
            hopeful = AllOf(tuple(m for i, m in ready.items() if i not in infeasible))
            frequent = list(frequent_values(hopeful, reference)) if budget else []
        except HushtableError as error:
            problems.append(PolicyProblem.of("table", error))
            ready = {}
    elif not table.num_rows:
        problems.append(PolicyProblem.of("table", no_rows()))
        ready = {}
    problems += [PolicyProblem.of(members[i].name, reason) for i, reason in infeasible.items()]
    known = ready if quasi else {}
    checks = [
        ModelCheck(m.name, m.public_values(), i not in infeasible if i in known else None)
        for i, m in enumerate(members)
    ]
    return tuple(checks), problems, frequent


def _encoded(policy: Policy, plan: TablePlan, table: pa.Table, usable: list[ColumnPlan]) -> EncodedTable:
    full = policy.plan()
    columns = list(usable)
    entity = plan.entity if plan.entity in table.column_names else None
    columns += [c for c in plan.columns if c.name == entity]
    side_tables = (
        full.side_tables
        if len(usable) == sum(c.role in (Role.QUASI, Role.SENSITIVE) for c in plan.columns)
        else SideTables()
    )
    return encode(
        table.select([c.name for c in columns]), replace(plan, columns=tuple(columns), entity=entity), side_tables
    )


def _infeasible(reference: Reference, budget: int, ready: dict[int, PrivacyModel]) -> dict[int, Infeasible]:
    found = {i: reason for i, m in ready.items() if (reason := m.feasible(reference)) is not None}
    # with a suppression budget, only a model that gains by every record added is beyond help
    return {i: reason for i, reason in found.items() if not budget or Monotone.ADD in ready[i].monotone}
