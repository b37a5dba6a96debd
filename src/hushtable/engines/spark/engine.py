"""The Spark engine: count, decide on the driver, publish by joins, verify from the published cells."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from hushtable.algorithms.base import Partition, Problem, Progress
from hushtable.arrays import IntArray
from hushtable.engines import local
from hushtable.engines.plan import Plan
from hushtable.engines.spark.content import Content, Tuples
from hushtable.engines.spark.jobs import Jobs
from hushtable.engines.spark.publish import published_rows
from hushtable.engines.spark.refuse import check_engine, check_recoded
from hushtable.engines.spark.shown import Counted, Shown
from hushtable.release.recode import Recoded
from hushtable.release.verify import Verification

__all__ = ["SparkOutcome", "run"]


@dataclass(frozen=True)
class SparkOutcome:
    """What a run produced: verified, or it would not exist.

    Attributes
    ----------
    shown : Shown
        The published table.
    content : Content
    tuples : Tuples
    counted : Counted
        The published table, counted by its cells.
    problem, partition, recoded, verification
        How it came about; rows are those of ``tuples``, spread out.
    """

    shown: Shown
    content: Content
    tuples: Tuples
    counted: Counted
    problem: Problem
    partition: Partition
    recoded: Recoded
    verification: Verification

    def classes(self, entries: IntArray) -> dict[str, pa.Array]:
        """Return the published quasi-identifiers of these entries of ``counted``."""
        shown = zip(self.content.quasi, self.shown.book.cells, self.counted.cells, strict=True)
        return {column.name: cells.take(pa.array(numbers[entries])) for column, cells, numbers in shown}

    def source(self, rows: IntArray) -> pa.Table:
        """Return these rows of the content as they were before encoding."""
        of_row = self.tuples.of_row[rows]
        columns = zip(self.content.table_plan.columns, self.content.dictionaries, self.tuples.places, strict=True)
        return pa.table({column.name: d.rows(places[of_row]) for column, d, places in columns})


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
        tuples = content.tuples()
        problem = content.problem(tuples)
        partition, recoded = local.solve(problem, plan)
        check_recoded(plan, recoded)
        expected = len(local.kept_rows(problem, plan, recoded))
        jobs.progress(1.0, "publishing")
        rows, book = published_rows(content, tuples, recoded)
        shown = Shown(jobs, content, rows, book)
        try:
            counted = shown.count(problem)
            verification = shown.judge(problem, recoded, counted, expected)
            verification.raise_if_violated()
        except BaseException:
            shown.release()
            raise
    return SparkOutcome(shown, content, tuples, counted, problem, partition, recoded, verification)
