"""The Spark engine: count, decide on the driver, publish by joins, verify from the published cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from hushtable.algorithms.base import Partition, Problem, Progress
from hushtable.arrays import IntArray
from hushtable.engines import local
from hushtable.engines.combined import RUN_ROWS
from hushtable.engines.emit import Piece, parts_of
from hushtable.engines.spark import part_files
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.content import Content
from hushtable.engines.spark.driver_rows import DriverRows
from hushtable.engines.spark.groups import SparkGroups
from hushtable.engines.spark.jobs import SparkJobs, changed_input, if_there
from hushtable.engines.spark.nodes import RecodedNode
from hushtable.engines.spark.publish import Cellbook, published_rows
from hushtable.engines.spark.published import CountedCells, PublishedBySpark, judge
from hushtable.engines.spark.refuse import DRIVER_ROWS, check_engine, check_far
from hushtable.engines.spark.repeated import Differing
from hushtable.engines.spark.store import SparkStore
from hushtable.engines.spark.summary import DriverSummary
from hushtable.errors import IncompatibleError, ParameterError
from hushtable.io.dictionaries import encode, from_codes, look_up
from hushtable.io.dictionary_reader import count_neighbours
from hushtable.io.layout import Repeated, write_pieces
from hushtable.io.text import is_text
from hushtable.kernels.grouping import number_rows
from hushtable.release.comparison import Comparison
from hushtable.release.plan import Plan
from hushtable.release.reading_back import sensitive_codes
from hushtable.release.verify import Verification
from hushtable.schema.columns import Role

GROUP_ROWS = "spark.hushtable.groupRows"
"""Setting: groups with up to this many distinct combinations (records, for localpk) are finished by one task."""

_DEFAULTS = {DRIVER_ROWS: 100_000_000, GROUP_ROWS: 1_000_000}


@dataclass(frozen=True)
class SparkOutcome:
    """The verified result of a run.

    Attributes
    ----------
    shown : PublishedBySpark or PublishedByDriver
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

    shown: PublishedBySpark | PublishedByDriver
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


def run(frame: DataFrame, plan: Plan, progress: Progress | None = None, files: Sequence[str] = ()) -> SparkOutcome:
    """Anonymize a Spark table under a plan.

    ``files`` are the Parquet files that the frame reads, if it reads nothing else.

    Raises
    ------
    UsageError, Infeasible, NotFound, VerificationError, Cancelled
        Nothing is returned that was not verified.
    """
    check_engine(plan)
    with SparkJobs(frame.sparkSession, progress or (lambda share, what: None)).run() as jobs:
        limit = _setting(jobs.spark, DRIVER_ROWS)
        content = Content(jobs, frame, plan, limit, files)
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
        made: PublishedBySpark | PublishedByDriver = PublishedByDriver(content, rows, book)
    else:
        made = PublishedBySpark(content, rows, book)
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
            hint="Raise that setting if the driver has enough memory.",
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
        check_driver(first, rows, "linked tables are processed there")
        found = {name: jobs.collect_large(frame, f"reading {name}") for name, frame in frames.items()}
    coded = {name: [c.dictionary_encode() if is_text(c.type) else c for c in t.columns] for name, t in found.items()}
    return {name: pa.table(coded[name], names=table.column_names) for name, table in found.items()}


def _setting(spark: SparkSession, name: str) -> int:
    given = spark.conf.get(name, str(_DEFAULTS[name]))
    if not str(given).isdecimal() or int(str(given)) < 1:
        raise ParameterError(
            f"The Spark setting {name!r} must be a whole number of at least 1.", hint="Correct or drop it."
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
def _kept(shown: PublishedBySpark | PublishedByDriver) -> Iterator[PublishedBySpark | PublishedByDriver]:
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


# A published table whose distinct rows are on the driver, which writes them and reads them back for verification.
#
# Spark counted the input. What follows from the counts alone needs no pass over the rows: a table of 10,000,000 rows
# is written, and read again, in a few seconds. A DataFrame is made only on demand.


class PublishedByDriver:
    """The published table on the driver, with the interface of ``PublishedBySpark``.

    Parameters
    ----------
    content : Content
    rows : Differing
    book : Cellbook

    Attributes
    ----------
    names : list of str
        The published columns.
    """

    def __init__(self, content: Content, rows: Differing, book: Cellbook) -> None:
        self.jobs, self.plan, self.book = content.jobs, content.plan, book
        self.names = [c.name for c in self.plan.table.columns if c.role.published]
        self._content, self._rows = content, rows

    @cached_property
    def _published_rows(self) -> PublishedBySpark:
        return PublishedBySpark(self._content, self._rows, self.book)

    @property
    def frame(self) -> DataFrame:
        """The published table, made by Spark."""
        return self._published_rows.frame

    def release(self) -> None:
        """Release the rows that Spark caches, if there are any."""
        if "_published_rows" in self.__dict__:
            self._published_rows.release()

    @cached_property
    def _table(self) -> pa.Table:
        """The distinct rows, as published."""
        quasi = zip(self.plan.table.named(Role.QUASI), self._rows.cells, self.book.cells, strict=True)
        cells = {name: from_codes(numbers - 1, cells.slice(1), pa.int32()) for name, numbers, cells in quasi}
        cells |= self._rows.values
        return pa.table({name: cells[name] for name in self.names})

    def count(self, problem: Problem) -> CountedCells:
        """Count the published table by its cells, from the DataFrame if Spark has made one."""
        if "_published_rows" in self.__dict__:
            return self._published_rows.count(problem)
        self.jobs.progress(1.0, "verifying")
        times = self._rows.times
        return self._counted(problem, self._table, times, times * self._rows.units if len(self._rows.units) else times)

    def write(self, place: Path, many: bool) -> None:
        """Write the rows into a folder, in parts of ``ONE_FILE`` rows, or in one."""
        place.mkdir()
        ends = np.cumsum(self._rows.times)
        for number, part in enumerate(parts_of(int(ends[-1]), part_files.ONE_FILE if many else None)):
            write_pieces(self._pieces(part, ends), self._table.schema, place / part_files.part_name(number))

    def count_written(self, problem: Problem, place: Path) -> CountedCells:
        """Count what was written, without weights."""
        self.jobs.progress(1.0, "verifying")
        table, times = count_neighbours(place, self.names, RUN_ROWS)
        return self._counted(problem, table, times, times)

    def class_order(self) -> list[IntArray]:
        """Return the cells of the classes in the order of their first rows, column by column, as numbers."""
        cells = self._rows.cells
        of_row, some = number_rows(cells, self.book.packing.sizes)
        first = np.full(len(some), len(of_row), dtype=np.int64)
        np.minimum.at(first, of_row, np.arange(len(of_row)))
        first.sort()
        return [numbers[first] for numbers in cells]

    def _pieces(self, part: list[Piece], ends: IntArray) -> Iterator[Repeated]:
        for start, end in part:
            self.jobs.progress(end / int(ends[-1]), "writing")
            first, last = np.searchsorted(ends, [start, end - 1], side="right")
            edges = np.concatenate([[start], ends[first:last], [end]])
            yield Repeated(self._table.slice(first, last + 1 - first), np.diff(edges))

    def _counted(self, problem: Problem, table: pa.Table, times: IntArray, units: IntArray) -> CountedCells:
        plan = self.plan.table
        cells = []
        for name, known in zip(plan.named(Role.QUASI), self.book.cells, strict=True):
            found = encode(table.column(name))
            place = pc.index_in(found.dictionary.cast(known.type), value_set=known)
            if place.null_count:
                raise changed_input()
            # the first cell of a book is null
            cells.append(look_up(np.append(place.to_numpy().astype(np.int64), 0), found))
        kinds = {c.name: c.coded.kind for c in problem.table.sensitive}
        codes = sensitive_codes(table, plan, problem.reference, kinds)
        names = plan.named(Role.SENSITIVE)
        sizes = [*self.book.packing.sizes, *(int(problem.reference.attribute((n,)).n_values) for n in names)]
        of_row, first = number_rows([*cells, *(codes[name] for name in names)], sizes)
        counts, weights = np.zeros(len(first), dtype=np.int64), np.zeros(len(first), dtype=np.int64)
        np.add.at(counts, of_row, times)
        np.add.at(weights, of_row, units)
        return CountedCells(
            tuple(own[first] for own in cells), {name: codes[name][first] for name in names}, counts, weights
        )
