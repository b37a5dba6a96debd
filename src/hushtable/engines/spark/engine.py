"""The Spark engine: count, decide on the driver, publish by joins, verify from the published cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from hushtable.algorithms.base import Partition, Problem, Progress
from hushtable.arrays import IntArray
from hushtable.engines import local
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.content import Content
from hushtable.engines.spark.driver_rows import DriverRows
from hushtable.engines.spark.groups import SparkGroups
from hushtable.engines.spark.jobs import SparkJobs, if_there
from hushtable.engines.spark.listed import Listed
from hushtable.engines.spark.nodes import RecodedNode
from hushtable.engines.spark.publish import Cellbook, published_rows
from hushtable.engines.spark.published import CountedCells, Shown, judge
from hushtable.engines.spark.refuse import DRIVER_ROWS, check_engine, check_far
from hushtable.engines.spark.repeated import Differing
from hushtable.engines.spark.store import SparkStore
from hushtable.engines.spark.summary import DriverSummary
from hushtable.errors import IncompatibleError, ParameterError
from hushtable.io.text import is_text
from hushtable.release.comparison import Comparison
from hushtable.release.plan import Plan
from hushtable.release.verify import Verification

__all__ = ["DRIVER_ROWS", "GROUP_ROWS", "OnDriver", "SparkOutcome", "check_driver", "collected", "run"]

GROUP_ROWS = "spark.hushtable.groupRows"
"""Setting: groups with up to this many distinct combinations (records, for localpk) are finished by one task."""

_DEFAULTS = {DRIVER_ROWS: 100_000_000, GROUP_ROWS: 1_000_000}


@dataclass(frozen=True)
class SparkOutcome:
    """The verified result of a run.

    Attributes
    ----------
    shown : Shown or Listed
        The published table.
    content : Content
    counted : CountedCells
        The published table, counted by its cells.
    problem : Problem
        The models and what they compare groups with.
    known : DriverRows
        The rows on the driver.
    comparison : Comparison
        The release compared with its original.
    verification : Verification
    summarised : bool
        Whether the rows of ``problem`` are all distinct combinations, weighted.
    """

    shown: Shown | Listed
    content: Content
    counted: CountedCells
    problem: Problem
    known: DriverRows
    comparison: Comparison
    verification: Verification
    summarised: bool = False

    @property
    def on_driver(self) -> bool:
        """Whether all rows are on the driver."""
        return self.known.problem is self.problem

    def judge(self, counted: CountedCells) -> Verification:
        """Judge a count of the published cells."""
        recoded = self.known.recoded if self.on_driver else None
        plan = self.shown.plan.table
        return judge(self.shown.book, plan, self.problem, recoded, counted, self.verification.rows)

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
    with SparkJobs(frame.sparkSession, progress or (lambda share, what: None)).run() as jobs:
        limit = _setting(jobs.spark, DRIVER_ROWS)
        content = Content(jobs, frame, plan, limit)
        if content.records <= limit:
            here = OnDriver(content)
            return _published(content, here, here.partition)
        return _published(content, *_far(content, limit))


def _published(
    content: Content, applied: OnDriver | DriverSummary | RecodedNode | SparkGroups, by: Partition
) -> SparkOutcome:
    """Publish the algorithm's result, and verify it from the published cells."""
    rows, book = applied.publish()
    # a table that fits on the driver is also written by it, if it has everything that is published
    if isinstance(applied, OnDriver) and isinstance(rows, Differing):
        made: Shown | Listed = Listed(content, rows, book)
    else:
        made = Shown(content, rows, book)
    with _kept(made) as shown:
        counted = shown.count(applied.problem)
        plan = content.plan.table
        verification = judge(book, plan, applied.problem, applied.recoded, counted, applied.expected)
        verification.raise_if_violated()
        known, comparison = applied.compare(by, counted, book)
        return SparkOutcome(
            shown, content, counted, applied.problem, known, comparison, verification, applied.summarised
        )


def check_driver(frame: DataFrame, records: int, why: str) -> None:
    """Refuse a table that the driver does not accept, but needs for some reason.

    Raises
    ------
    IncompatibleError
    """
    limit = _setting(frame.sparkSession, DRIVER_ROWS)
    if records > limit:
        raise IncompatibleError(
            f"The table has {records} rows, more than the driver accepts ({DRIVER_ROWS} = {limit}), and {why}.",
            code="spark-engine",
            hint="Raise that setting if the driver has the memory.",
        )


def collected(frames: Mapping[str, DataFrame], progress: Progress) -> dict[str, pa.Table]:
    """Collect linked tables on the driver, with each text once.

    Raises
    ------
    IncompatibleError
        If they have more rows than the driver accepts; raised before any row is collected.
    """
    first = next(iter(frames.values()))
    with SparkJobs(first.sparkSession, progress).run() as jobs:
        rows = sum(frame.count() for frame in frames.values())
        check_driver(first, rows, "linked tables are worked on there")
        found = {name: jobs.collect_large(frame, f"reading {name}") for name, frame in frames.items()}
    coded = {name: [c.dictionary_encode() if is_text(c.type) else c for c in t.columns] for name, t in found.items()}
    return {name: pa.table(coded[name], names=table.column_names) for name, table in found.items()}


def _setting(spark: SparkSession, name: str) -> int:
    given = spark.conf.get(name, str(_DEFAULTS[name]))
    if not str(given).isdecimal() or int(str(given)) < 1:
        raise ParameterError(
            f"The Spark setting {name!r} must be a whole number from 1 up.", hint="Correct or drop it."
        )
    return int(str(given))


def _far(content: Content, limit: int) -> tuple[DriverSummary | RecodedNode | SparkGroups, Partition]:
    """Give the algorithm combinations: on the driver if they fit, otherwise on Spark."""
    plan = content.plan
    check_far(plan, content.records, limit)
    content.hold()
    combinations = Combinations(content)
    store = SparkStore(combinations, limit, _setting(content.jobs.spark, GROUP_ROWS))
    problem = replace(combinations.problem, store=store)
    local.check_feasible(problem)
    partition = plan.algorithm.run(problem)
    applied = store.applied
    if isinstance(applied, DriverSummary):
        applied.settle(problem, partition)
    return applied, partition


@contextmanager
def _kept(shown: Shown | Listed) -> Iterator[Shown | Listed]:
    """Release the published rows if they turn out not to be publishable."""
    try:
        yield shown
    except BaseException:
        with if_there():
            shown.release()
        raise


# A table whose rows fit on the driver: expanded to codes there, grouped as on one machine, published by joins.


class OnDriver:
    """All rows of a table, grouped.

    Parameters
    ----------
    content : Content

    Attributes
    ----------
    problem : Problem
    partition : Partition
    recoded : Recoded
    expected : int
        Rows that are published.
    """

    summarised = False

    def __init__(self, content: Content) -> None:
        self._content, plan = content, content.plan
        if content.apart():
            content.hold()
        self._tuples = content.tuples()
        self.problem = content.problem(self._tuples)
        self.partition, self.recoded = local.solve(self.problem, plan)
        self.expected = len(local.kept_rows(self.problem, plan, self.recoded))
        content.jobs.progress(1.0, "publishing")

    def publish(self) -> tuple[DataFrame | Differing, Cellbook]:
        """Return the published rows as ``published_rows`` does."""
        return published_rows(self._content, self._tuples, self.recoded)

    def compare(self, partition: Partition, counted: CountedCells, book: Cellbook) -> tuple[DriverRows, Comparison]:
        """Return all rows, and the release compared with its original."""
        known = DriverRows(self.problem, partition, self.recoded, self._tuples)
        return known, known.comparison
