"""The local engine: one machine, whole columns in memory as integer codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Partition, Problem, Progress, Recoding
from hushtable.arrays import IntArray
from hushtable.engines.plan import Plan
from hushtable.errors import NotFound
from hushtable.io.text import to_labels
from hushtable.models.base import Monotone
from hushtable.release.guards.apply import group_and_recode
from hushtable.release.publish import publish, published_order
from hushtable.release.recode import Recoded
from hushtable.release.release import Release
from hushtable.release.reread import sensitive_codes
from hushtable.release.verify import Published, Verification, verify
from hushtable.table.coins import policy_digest
from hushtable.table.encode import encode
from hushtable.table.encoded import EncodedTable
from hushtable.table.inferred import check_inferred_kinds

__all__ = [
    *("Outcome", "check_feasible", "finish", "judge", "kept_rows", "problem_from", "problem_of", "run", "solve"),
    "wrapped",
]


@dataclass(frozen=True)
class Outcome:
    """What a run produced: verified, or it would not exist.

    Attributes
    ----------
    published : pyarrow.Table
        The release, rows in published order.
    rows : int64 array
        The source row of each published row; below 0 for counterfeits. Internal: it is a link key.
    problem, partition, recoded, verification
        How it came about, for measures and reports.
    value_rows : int64 array, optional
        The source row of each published row's sensitive values, where those are apart from their people.
    """

    published: pa.Table
    rows: IntArray
    problem: Problem
    partition: Partition
    recoded: Recoded
    verification: Verification
    value_rows: IntArray | None = None


def problem_of(table: pa.Table, plan: Plan, progress: Progress | None = None) -> Problem:
    """Encode a table and set up the problem that an algorithm is given."""
    committed = None
    if plan.account is not None and plan.algorithm.keeps_signatures:
        committed = plan.account.commitments(table, plan.table, plan.model())
    columns = plan.table if committed is None else committed.columns
    exact = plan.algorithm.recoding is Recoding.BUCKET
    problem = problem_from(encode(table, columns, plan.extra, exact=exact), plan, progress)
    return problem if committed is None else replace(problem, earlier=committed.coded(problem.table))


def problem_from(encoded: EncodedTable, plan: Plan, progress: Progress | None = None) -> Problem:
    """Set up the problem that an algorithm is given with an encoded table."""
    model = plan.model()
    return Problem(
        table=encoded,
        model=model,
        reference=encoded.reference(model.histogram_keys()),
        suppression=plan.suppression,
        seed=plan.seed,
        progress=progress or (lambda share, what: None),
        policy=policy_digest(plan.document, plan.seed),
        tossed=plan.coins,
    )


def check_feasible(problem: Problem) -> None:
    """Raise the proof that no release can satisfy the model, where there is one.

    With a suppression budget, only a model that gains by every record added is beyond help. Where earlier releases
    commit the new one to something, counterfeits may help.
    """
    if problem.earlier is not None:
        return
    for member in problem.model.members:
        reason = member.feasible(problem.reference)
        if reason is not None and (not problem.budget or Monotone.ADD in member.monotone):
            raise reason


def run(table: pa.Table, plan: Plan, progress: Progress | None = None) -> Outcome:
    """Anonymize a table under a plan.

    Raises
    ------
    UsageError, Infeasible, NotFound, VerificationError, Cancelled
        Nothing is returned that was not verified.
    """
    report = progress or (lambda share, what: None)
    report(0.0, "encoding")
    problem = problem_of(table, plan, progress)
    partition, recoded = solve(problem, plan)
    return finish(table, plan, problem, partition, recoded)


def solve(problem: Problem, plan: Plan) -> tuple[Partition, Recoded]:
    """Let the algorithm group the records, and make classes of the groups: what every engine does alike."""
    check_feasible(problem)
    partition, recoded = group_and_recode(problem, plan.algorithm, plan.guards)
    if recoded is None:
        raise plan.algorithm.not_found(problem)
    return partition, recoded


def kept_rows(problem: Problem, plan: Plan, recoded: Recoded) -> IntArray:
    """The rows of the sample that are published; a release of nobody is none."""
    kept = np.flatnonzero(recoded.labels[: problem.table.n_sample] >= 0)
    if not len(kept):
        raise NotFound(
            f"{plan.algorithm.name} could only satisfy the models by suppressing every record.",
            hint="Relax a parameter or lower the suppression limit.",
        )
    check_inferred_kinds(problem.table, plan.table, kept)
    return kept


def finish(table: pa.Table, plan: Plan, problem: Problem, partition: Partition, recoded: Recoded) -> Outcome:
    """Publish a recoded table in an order that tells nothing, and verify it: the only way to an ``Outcome``."""
    report = problem.progress
    kept = kept_rows(problem, plan, recoded)
    report(1.0, "publishing")
    value_rows = None
    if recoded.buckets is not None:
        from hushtable.release.bucket import publish_buckets

        published, rows, value_rows = publish_buckets(table, recoded.buckets, plan.table, kept)
    elif recoded.numbers is not None:
        from hushtable.release.numbered import publish_numbered

        published, rows = publish_numbered(table, problem.table, recoded, plan.table, kept)
    else:
        published = publish(table, recoded, plan.table, kept)
        order = published_order(published)
        published, rows = published.take(pa.array(order)), kept[order]
    report(1.0, "verifying")
    verification = judge(problem, plan, recoded, published, rows if value_rows is None else value_rows)
    verification.raise_if_violated()
    outcome = Outcome(
        published=published,
        rows=rows,
        problem=problem,
        partition=partition,
        recoded=recoded,
        verification=verification,
        value_rows=value_rows,
    )
    if plan.account is not None:
        report(1.0, "comparing with earlier releases")
        plan.account.hold(wrapped(outcome, plan, table))
    return outcome


def wrapped(outcome: Outcome, plan: Plan, source: Any) -> Release:
    """What was made, as a release that can be looked at."""
    return Release(
        table=outcome.published,
        policy=plan.document,
        verification=outcome.verification,
        problem=outcome.problem,
        recoded=outcome.recoded,
        partition=outcome.partition,
        source=source,
        source_rows=outcome.rows,
    )


def judge(problem: Problem, plan: Plan, recoded: Recoded, published: pa.Table, rows: IntArray) -> Verification:
    """Verify a published table from its cells.

    What its cells cannot tell (whose a row is, which of the population it covers) comes from the encoded table:
    ``rows`` says where each published row (its sensitive values, where those are apart) came from, and population and
    background rows are recoded like the others. Where quasi-identifiers are exact, classes are the published groups;
    where groups have cells and a number, both tell classes apart.
    """
    table = problem.table
    hidden = np.flatnonzero(recoded.labels[table.n_sample :] >= 0) + table.n_sample
    everyone = np.concatenate([rows, hidden]) if len(hidden) else rows
    quasi = []
    for j, column in enumerate(table.quasi):
        shown = published.column(column.name)
        if len(hidden):
            shown = pa.chunked_array([*map(_wide, shown.chunks), _alike(recoded.column(j, hidden), shown.type)])
        quasi.append(shown)
    if recoded.buckets is not None or recoded.numbers is not None:
        from hushtable.release.bucket import bucket_column

        number = published.column(bucket_column(plan.table))
        quasi = [number] if recoded.buckets is not None else [*quasi, number]
    kinds = {c.name: c.coded.kind for c in table.sensitive}
    codes = sensitive_codes(published, plan.table, problem.reference, kinds)
    padding = np.zeros(len(hidden), dtype=np.int64)
    background = np.empty(0, dtype=np.int64)
    if len(table.background_rows):
        within = (everyone >= table.background_rows.start) & (everyone < table.background_rows.stop)
        background = np.flatnonzero(within)
    mass = everyone[background] - table.background_rows.start
    weights = table.row_units
    if len(weights):
        # a counterfeit has no source row; its values count, and verifying takes it out of the people
        weights = np.where(everyone < 0, table.unit, weights[everyone])
    population = np.empty(0, dtype=np.bool_)
    if len(table.population_rows):
        population = (everyone >= table.population_rows.start) & (everyone < table.population_rows.stop)
    return verify(
        Published(
            quasi=tuple(quasi),
            sensitive={name: np.concatenate([c, padding]) if len(hidden) else c for name, c in codes.items()},
            sizes={c.name: c.coded.size for c in table.sensitive},
            unit=table.unit,
            row_units=weights,
            population=population,
            background_rows=background,
            background_mass=table.background_mass[mass],
            background_codes=table.background_codes[mass],
            background_unit=table.background_unit,
            counterfeits=np.flatnonzero(rows < 0),
        ),
        problem.model,
        problem.reference,
        plan.table.missing,
    )


def _alike(cells: pa.DictionaryArray, kind: pa.DataType) -> pa.DictionaryArray:
    """Return cells as they would have been read back: from CSV, numbers come as text."""
    if cells.dictionary.type == kind.value_type:
        return cells
    return pa.DictionaryArray.from_arrays(cells.indices, to_labels(cells.dictionary).cast(kind.value_type))


def _wide(chunk: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the chunk with the indices of ``Recoded.column``: publishing may have narrowed them."""
    return pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary)
