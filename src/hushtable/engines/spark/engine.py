"""The Spark engine: count, decide on the driver, publish by joins, verify from the published cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from hushtable.algorithms.base import Problem, Progress
from hushtable.arrays import IntArray
from hushtable.engines import local
from hushtable.engines.spark.branches import Branches
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.compared import compared
from hushtable.engines.spark.content import Content
from hushtable.engines.spark.drawn import drawn_classes
from hushtable.engines.spark.jobs import Jobs
from hushtable.engines.spark.known import Known
from hushtable.engines.spark.levels import Levels
from hushtable.engines.spark.nodes import Nodes
from hushtable.engines.spark.publish import published_rows
from hushtable.engines.spark.refuse import check_engine, check_far, check_levels, check_nodes
from hushtable.engines.spark.shown import Counted, Shown
from hushtable.engines.spark.summary import Summary
from hushtable.errors import IncompatibleError, ParameterError
from hushtable.release.comparison import Comparison
from hushtable.release.plan import Plan
from hushtable.release.verify import Verification
from hushtable.table.inferred import check_inferred_kind, is_inferred

__all__ = ["DRIVER_ROWS", "GROUP_ROWS", "SparkOutcome", "check_driver", "run"]


DRIVER_ROWS = "spark.hushtable.driverRows"
"""Setting: so many rows, or distinct combinations, may be on the driver as codes, of a few bytes a row and column."""

GROUP_ROWS = "spark.hushtable.groupRows"
"""Setting: beyond that, groups up to so many distinct combinations (records, for localpk) are finished by one task."""

_DEFAULTS = {DRIVER_ROWS: 100_000_000, GROUP_ROWS: 1_000_000}


@dataclass(frozen=True)
class SparkOutcome:
    """What a run produced: verified, or it would not exist.

    Attributes
    ----------
    shown : Shown
        The published table.
    content : Content
    counted : Counted
        The published table, counted by its cells.
    problem : Problem
        The models and what they compare groups with.
    known : Known
        The rows that the driver knows.
    comparison : Comparison
        The release beside its original.
    verification : Verification
    summarised : bool
        Whether the rows of ``problem`` are all distinct combinations, weighted.
    """

    shown: Shown
    content: Content
    counted: Counted
    problem: Problem
    known: Known
    comparison: Comparison
    verification: Verification
    summarised: bool = False

    @property
    def on_driver(self) -> bool:
        """Whether the driver knows all rows."""
        return self.known.problem is self.problem

    def judge(self, counted: Counted) -> Verification:
        """Judge a count of the published cells."""
        recoded = self.known.recoded if self.on_driver else None
        return self.shown.judge(self.problem, recoded, counted, self.verification.rows)

    def classes(self, entries: IntArray) -> dict[str, pa.Array]:
        """Return the published quasi-identifiers of these entries of ``counted``."""
        shown = zip(self.content.quasi, self.shown.book.cells, self.counted.cells, strict=True)
        return {column.name: cells.take(pa.array(numbers[entries])) for column, cells, numbers in shown}


def run(frame: DataFrame, plan: Plan, progress: Progress | None = None) -> SparkOutcome:
    """Anonymize a Spark table under a plan.

    Raises
    ------
    UsageError, Infeasible, NotFound, VerificationError, Cancelled
        Nothing is returned that was not verified.
    """
    check_engine(plan)
    with Jobs(frame.sparkSession, progress or (lambda share, what: None)).run() as jobs:
        content = Content(jobs, frame, plan)
        limit = _setting(jobs.spark, DRIVER_ROWS)
        if content.records <= limit:
            return _on_driver(content)
        return _far(content, limit)


def check_driver(frame: DataFrame, records: int, why: str) -> None:
    """Refuse a table that the driver does not take, and that it needs for some reason.

    Raises
    ------
    IncompatibleError
    """
    limit = _setting(frame.sparkSession, DRIVER_ROWS)
    if records > limit:
        raise IncompatibleError(
            f"The table has {records} rows, more than the driver takes ({DRIVER_ROWS} = {limit}), and {why}.",
            code="spark-engine",
            hint="Raise that setting if the driver has the memory.",
        )


def _setting(spark: SparkSession, name: str) -> int:
    given = spark.conf.get(name, str(_DEFAULTS[name]))
    if not str(given).isdecimal() or int(str(given)) < 1:
        raise ParameterError(
            f"The Spark setting {name!r} must be a whole number from 1 up.", hint="Correct or drop it."
        )
    return int(str(given))


def _on_driver(content: Content) -> SparkOutcome:
    """Let the algorithm work on the content, spread out to rows of codes."""
    jobs, plan = content.jobs, content.plan
    if content.apart():
        content.hold()
    tuples = content.tuples()
    problem = content.problem(tuples)
    partition, recoded = local.solve(problem, plan)
    expected = len(local.kept_rows(problem, plan, recoded))
    jobs.progress(1.0, "publishing")
    with _kept(Shown(jobs, content, *published_rows(content, tuples, recoded))) as shown:
        counted = shown.count(problem)
        verification = shown.judge(problem, recoded, counted, expected)
        verification.raise_if_violated()
        known = Known(problem, partition, recoded, tuples)
        return SparkOutcome(shown, content, counted, problem, known, known.comparison, verification)


def _far(content: Content, limit: int) -> SparkOutcome:
    """Work on distinct combinations: on the driver if they fit, else where they are."""
    plan, why = content.plan, f"{DRIVER_ROWS} = {limit}"
    check_far(plan, content.records, why)
    content.hold()
    combinations = Combinations(content)
    held = combinations.frame.count()
    if plan.algorithm.by_combinations and held <= limit:
        return _by_summary(Summary(combinations), content)
    if plan.algorithm.by_nodes:
        check_nodes(plan, combinations.finish.quasi, held, why)
        return _by_nodes(Nodes(combinations, limit), combinations)
    check_levels(plan, held, why)
    group_rows = _setting(content.jobs.spark, GROUP_ROWS)
    divide = Branches if plan.algorithm.by_groups else Levels
    return _by_levels(divide(combinations, group_rows), combinations)


def _by_summary(summary: Summary, content: Content) -> SparkOutcome:
    with _kept(Shown(content.jobs, content, *summary.publish())) as shown:
        counted = shown.count(summary.problem)
        verification = shown.judge(summary.problem, None, counted, summary.expected)
        verification.raise_if_violated()
        known, comparison = summary.known, summary.comparison
        return SparkOutcome(shown, content, counted, summary.problem, known, comparison, verification, True)


def _by_nodes(nodes: Nodes, combinations: Combinations) -> SparkOutcome:
    content, problem = combinations.content, combinations.problem
    with _kept(Shown(content.jobs, content, *nodes.publish())) as shown:
        counted = shown.count(problem)
        if nodes.suppresses:
            _check_kinds(nodes, counted, combinations)
        verification = shown.judge(problem, None, counted, nodes.expected)
        verification.raise_if_violated()
        cells, packing = nodes.with_cells(), shown.book.packing
        known = drawn_classes(combinations, cells, counted, packing, nodes.partition, nodes.lost)
        comparison = compared(combinations, cells, nodes.lost(), counted, packing, known)
        return SparkOutcome(shown, content, counted, problem, known, comparison, verification)


def _check_kinds(nodes: Nodes, counted: Counted, combinations: Combinations) -> None:
    """Refuse kinds that only suppressed records decide, as one machine does."""
    plan = combinations.content.plan.table
    for j, quasi in enumerate(combinations.finish.quasi):
        if is_inferred(quasi, plan):
            check_inferred_kind(quasi, nodes.published(j))
    for sensitive in combinations.finish.sensitive:
        if is_inferred(sensitive, plan):
            check_inferred_kind(sensitive, counted.sensitive[sensitive.name])


def _by_levels(levels: Levels | Branches, combinations: Combinations) -> SparkOutcome:
    content = combinations.content
    rows, book = levels.publish()
    with _kept(Shown(content.jobs, content, rows, book)) as shown:
        counted = shown.count(levels.problem)
        verification = shown.judge(levels.problem, None, counted, content.records)
        verification.raise_if_violated()
        cells = levels.with_cells()
        known = drawn_classes(combinations, cells, counted, book.packing)
        comparison = compared(combinations, cells, None, counted, book.packing, known)
        return SparkOutcome(shown, content, counted, levels.problem, known, comparison, verification)


@contextmanager
def _kept(shown: Shown) -> Iterator[Shown]:
    """Let go of the published rows if they turn out not to be publishable."""
    try:
        yield shown
    except BaseException:
        shown.release()
        raise
