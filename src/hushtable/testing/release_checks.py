"""The contract of every algorithm under every model: a release that a recount confirms, or a justified refusal."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Problem, Recoding
from hushtable.engines import local
from hushtable.engines.release import Release
from hushtable.errors import DataError, IncompatibleError, Infeasible, NotFound
from hushtable.models.base import Monotone, PrivacyModel, Stat
from hushtable.release.plan import Plan
from hushtable.schema.columns import Missing, Role
from hushtable.testing.brute import satisfiable
from hushtable.testing.cases import Case
from hushtable.testing.naive import recheck
from hushtable.testing.require import require


class Answer(Enum):
    """How a run ended."""

    RELEASED = "released"
    INFEASIBLE = "infeasible"
    NOT_FOUND = "not found"
    INCOMPATIBLE = "incompatible"


def check_release(
    models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, *, suppression: float = 0.0
) -> Answer:
    """Run, and recount the release from its published cells; see ``hushtable.testing.naive``.

    ``Infeasible``, ``NotFound``, a declared ``IncompatibleError`` and the refusal of a column without any known value
    are valid answers; any other error is raised.
    """
    found = _checked(models, algorithm, case.suited(algorithm), suppression)
    return found if isinstance(found, Answer) else Answer.RELEASED


def _checked(models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, suppression: float) -> Release | Answer:
    try:
        plan = case.plan(models, algorithm, suppression=suppression)
    except IncompatibleError as error:
        require(error.message and error.hint, f"{algorithm.name} refuses without stating a reason or a remedy")
        return Answer.INCOMPATIBLE
    try:
        problem = _problem(case, plan)
        release = local.finish(case.table, plan, problem, *local.solve(problem, plan))
    except (Infeasible, NotFound) as error:
        require(error.message and error.hint, f"{algorithm.name} gives up without stating a reason or a remedy")
        return Answer.INFEASIBLE if isinstance(error, Infeasible) else Answer.NOT_FOUND
    except DataError as error:
        if not refuses_unknown(error, case):
            raise
        return Answer.INCOMPATIBLE
    stats = recheck(case.table, plan, release)
    require(release.verification.ok, "a release was returned that its own verification rejects")
    require(release.verification.classes == len(stats), "the verifier counts different classes than the cells show")
    return release


def _problem(case: Case, plan: Plan) -> Problem:
    """The problem of ``local.run``, with the case's own encoding: ``repeat_checks`` let every run encode its table."""
    return local.problem_from(case.encoded(plan.models, exact=plan.algorithm.recoding is Recoding.BUCKET), plan)


def refuses_unknown(error: DataError, case: Case) -> bool:
    """Whether an error names a quasi-identifier without known values, and a remedy."""
    if error.code != "all-unknown":
        return False
    empty = [n for n in case.columns.named(Role.QUASI) if case.table.column(n).null_count == case.table.num_rows]
    require(any(repr(name) in error.message for name in empty) and error.hint, "a column with known values is refused")
    return True


def check_infeasible(
    models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, *, suppression: float = 0.0
) -> Answer:
    """Compare a run on a tiny table with every partition of it.

    ``Infeasible`` is a proof, so no partition may satisfy the models. Without suppression, and for models that survive
    merging, it must also be raised whenever there is none, except with a population, because the partition says nothing
    about people whom no class covers.
    """
    case = case.suited(algorithm)
    found = _checked(models, algorithm, case, suppression)
    if found is Answer.INCOMPATIBLE:
        return found
    plan = case.plan(models, algorithm, suppression=suppression)
    problem = _problem(case, plan) if isinstance(found, Answer) else found.problem
    answer = found if isinstance(found, Answer) else Answer.RELEASED
    possible = satisfiable(problem)
    require(not (possible and answer is Answer.INFEASIBLE), f"{models} are called infeasible, but a partition exists")
    require(possible or answer is not Answer.RELEASED, f"{models} are released, but no partition satisfies them")
    exact = Monotone.MERGE in problem.model.flags and Stat.POPULATION not in problem.model.stats_needed()
    if exact and not suppression:
        require(possible or answer is Answer.INFEASIBLE, f"no partition satisfies {models}, but the run did not say so")
    return answer


def check_missing(models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case) -> Answer:
    """Missing values keep the meaning that the policy gives them.

    ``error``: a table with missing values is refused, and the error names the column. ``own_category`` and
    ``wildcard``: every record that is dropped because of missing values counts as suppressed, and a missing value is
    published as missing, as part of a set, or as the root, never as a value. Published representatives are checked by
    ``check_release`` instead.
    """
    case = case.suited(algorithm)
    try:
        plan = case.plan(models, algorithm)
    except IncompatibleError:
        return Answer.INCOMPATIBLE
    gaps = [n for n in case.columns.named(Role.QUASI) if case.table.column(n).null_count]
    if plan.table.missing is Missing.ERROR and gaps:
        try:
            local.run(case.table, plan)
        except DataError as error:
            require(
                any(repr(name) in error.message for name in gaps),
                "a missing value was refused without naming its column",
            )
            require(error.hint, "a missing value was refused without a remedy")
            return Answer.INCOMPATIBLE
        raise AssertionError("'missing: error' let a table with missing values pass")
    release = _checked(models, algorithm, case, 0.0)
    if isinstance(release, Answer):
        return release
    require(release.table.num_rows == case.table.num_rows, "records with missing values were dropped silently")
    if algorithm.recoding is not Recoding.CENTROID:
        _check_gaps(case.table, release)
    return Answer.RELEASED


def _check_gaps(source: pa.Table, release: Release) -> None:
    for column in release.problem.table.quasi:
        raw = source.column(column.name).take(pa.array(release.source_rows)).to_pylist()
        shown = release.table.column(column.name).to_pylist()
        for value, cell in zip(raw, shown, strict=True):
            if value is None:
                as_set = isinstance(cell, str) and cell.startswith("{") and "null" in cell
                require(
                    cell is None or cell == "*" or as_set, f"a missing value of {column.name!r} is published as a value"
                )
