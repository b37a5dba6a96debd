"""The local engine: one machine, whole columns in memory as integer codes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Partition, Problem, Progress, Recoding, quietly
from hushtable.arrays import IntArray
from hushtable.engines.release import Release
from hushtable.errors import NotFound
from hushtable.models.base import Monotone
from hushtable.release.bucket import publish_buckets
from hushtable.release.judge import judge
from hushtable.release.origin import Made
from hushtable.release.plan import Plan
from hushtable.release.publish import publish, published_order
from hushtable.release.recode import Recoded
from hushtable.release.settle import group_and_recode
from hushtable.release.verify import check_unlinked
from hushtable.table.coins import policy_digest
from hushtable.table.encode import check_inferred_kinds, encode
from hushtable.table.encoded import EncodedTable


def problem_of(table: pa.Table, plan: Plan, progress: Progress | None = None) -> Problem:
    """Encode a table and set up the algorithm's problem."""
    committed = None
    if plan.account is not None and plan.algorithm.keeps_signatures:
        committed = plan.account.commitments(table, plan.table, plan.model())
    columns = plan.table if committed is None else committed.columns
    exact = plan.algorithm.recoding is Recoding.BUCKET
    problem = problem_from(encode(table, columns, plan.side_tables, exact=exact), plan, progress)
    return problem if committed is None else replace(problem, earlier=committed.in_codes_of(problem.table))


def problem_from(encoded: EncodedTable, plan: Plan, progress: Progress | None = None) -> Problem:
    """Set up the algorithm's problem for an encoded table."""
    model = plan.model()
    return Problem(
        store=encoded,
        model=model,
        reference=encoded.reference(model.histogram_keys()),
        suppression=plan.suppression,
        seed=plan.seed,
        progress=progress or quietly,
        policy=policy_digest(plan.document),
        tossed=plan.coins,
    )


def check_feasible(problem: Problem) -> None:
    """Raise a proof that no release can satisfy the model, if there is one.

    If records may be suppressed, this works only for models that gain from every added record. If earlier releases
    constrain the new one, counterfeits may help.
    """
    if problem.earlier is not None:
        return
    for member in problem.model.members:
        reason = member.feasible(problem.reference)
        if reason is not None and (not problem.budget or Monotone.ADD in member.monotone):
            raise reason


def run(table: pa.Table, plan: Plan, progress: Progress | None = None, *, source: Any = None) -> Release:
    """Anonymize a table under a plan.

    Parameters
    ----------
    table : pyarrow.Table
    plan : Plan
    progress : callable, optional
    source : DataFrame or Files, optional
        The table as given, if it was not an Arrow table.

    Raises
    ------
    UsageError, Infeasible, NotFound, VerificationError, Cancelled
        Nothing is returned that was not verified.
    """
    plan = plan.pinned()
    report = progress or quietly
    report(0.0, "encoding")
    if plan.table.treated:
        from hushtable.treatments.treating import treated

        source, table = table if source is None else source, treated(table, plan.table, plan.document)
    problem = problem_of(table, plan, progress)
    partition, recoded = solve(problem, plan)
    return finish(table, plan, problem, partition, recoded, source=source)


def solve(problem: Problem, plan: Plan) -> tuple[Partition, Recoded]:
    """Let the algorithm group the records, and turn the groups into classes: the same for every engine."""
    check_feasible(problem)
    with _device(plan):
        partition, recoded = group_and_recode(problem, plan.algorithm, plan.guards)
    if recoded is None:
        raise plan.algorithm.not_found(problem)
    return partition, recoded


def _device(plan: Plan) -> AbstractContextManager[None]:
    """The policy's device for computing distances."""
    device = dict(plan.document.get("engine") or {}).get("device", "auto")
    if device == "auto":
        return nullcontext()
    from hushtable.kernels.device import use

    return use(device)


def kept_rows(problem: Problem, plan: Plan, recoded: Recoded) -> IntArray:
    """The rows of the sample that are published; raise if there are none."""
    kept = np.flatnonzero(recoded.labels[: problem.table.n_sample] >= 0)
    if not len(kept):
        raise NotFound(
            f"{plan.algorithm.name} could only satisfy the models by suppressing every record.",
            hint="Relax a parameter, or lower the suppression limit.",
        )
    if len(kept) < problem.table.n_sample:
        check_inferred_kinds(problem.table, plan.table, kept)
    return kept


def finish(
    table: pa.Table, plan: Plan, problem: Problem, partition: Partition, recoded: Recoded, *, source: Any = None
) -> Release:
    """Publish a recoded table in an order that reveals nothing, and verify it: the only way to a release in memory."""
    report = problem.progress
    kept = kept_rows(problem, plan, recoded)
    report(1.0, "publishing")
    value_rows = None
    if recoded.buckets is not None:
        published, rows, value_rows = publish_buckets(table, recoded.buckets, plan.table, kept)
    elif recoded.numbers is not None:
        from hushtable.release.numbered import publish_numbered

        published, rows = publish_numbered(table, problem.table, recoded, plan.table, kept)
    else:
        published = publish(table, recoded, plan.table, kept)
        order = published_order(published)
        published, rows = published.take(pa.array(order)), kept[order]
    report(1.0, "verifying")
    check_unlinked(published, plan.table)
    verification = judge(problem, plan.table, recoded, published, rows if value_rows is None else value_rows)
    verification.raise_if_violated()
    made = Made(problem.done(), partition, recoded, verification, rows, value_rows)
    release = Release(published, plan, made, table if source is None else source)
    if plan.account is not None:
        report(1.0, "comparing with earlier releases")
        release = replace(release, plan=replace(plan, account=plan.account.hold(release)))
    return release
