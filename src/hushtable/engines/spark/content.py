"""The content of a table: its distinct combinations of values, their frequencies, and the combination of each row.

Algorithms depend only on content, so they need nothing else. Columns that are published unchanged and only break ties
(insensitive ones) stay with Spark, unless rows also differ in weight: then the order of a tie decides about weights,
and they belong to the content.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DoubleType, FloatType, NullType, StringType, StructType
from pyspark.sql.utils import is_remote

from hushtable.algorithms.base import Problem
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines import local
from hushtable.engines.spark.dictionaries import Dictionary, coded, dictionaries, whole
from hushtable.engines.spark.jobs import SparkJobs, changed_input, if_there, spark_errors
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.people import UNITS, with_units
from hushtable.engines.spark.session import reads_alike, stored_type
from hushtable.errors import PolicyError
from hushtable.io.dictionaries import encode as encode_once
from hushtable.io.dictionaries import from_codes
from hushtable.io.names import check_names
from hushtable.kernels.grouping import count_rows, number_rows
from hushtable.release.plan import Plan
from hushtable.schema.columns import Role
from hushtable.schema.prepare import check_publishable, check_type
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.encode import encode, encode_values, no_rows
from hushtable.table.encoded import EncodedTable
from hushtable.table.people import PERSON_UNITS
from hushtable.table.plan import ColumnPlan, TablePlan, check_columns
from hushtable.table.ranks import dense_ranks


@dataclass(frozen=True)
class SparkRows:
    """The distinct combinations of a table.

    Attributes
    ----------
    places : tuple of int64 arrays
        For each dictionary, the place of each combination's value.
    counts : int64 array
        Rows of each combination.
    units : int64 array
        Weight of one such row; empty if every row weighs 1.
    keys : tuple of int64 arrays
        The packed quasi-identifiers, then the packed rest, then the weight: what rows are joined by.
    """

    places: tuple[IntArray, ...]
    counts: IntArray
    units: IntArray
    keys: tuple[IntArray, ...]

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def offsets(self) -> IntArray:
        """Where the rows of each combination begin after expansion."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    @cached_property
    def of_row(self) -> IntArray:
        """The combination of every expanded row."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.counts)


class Content:
    """A Spark table under a plan.

    Parameters
    ----------
    jobs : SparkJobs
    frame : pyspark.sql.DataFrame
    plan : Plan
    most : int
        Maximum number of rows on the driver.
    files : sequence of str
        The Parquet files that the frame reads, if it reads nothing else.

    Attributes
    ----------
    kept : list of str
        The columns that are published unchanged: c0, c1, ... by their place.
    place : dict of str to int
        The place of each column of the policy.
    """

    def __init__(self, jobs: SparkJobs, frame: DataFrame, plan: Plan, most: int, files: Sequence[str] = ()) -> None:
        self.jobs, self.plan = jobs, plan
        names = check_names(frame.columns, "The table")
        check_columns(names, plan.table)
        types = _check_types(frame, plan.table)
        self.place = {name: at for at, name in enumerate(names)}
        work = _plain(frame.toDF(*[f"c{at}" for at in range(len(names))]))
        self.quasi, self.sensitive = self._named(Role.QUASI), self._named(Role.SENSITIVE)
        self.tie = self._named(Role.INSENSITIVE) if plan.table.entity is not None else ()
        self._coded_columns = (*self.quasi, *self.sensitive, *self.tie)
        coded_places = [self.place[c.name] for c in (*self.quasi, *self.sensitive)]
        counted = plan.table.entity is None and bool(coded_places) and tasks_can_count(jobs.spark)
        self._alike = None
        if counted:
            own = file_pieces(jobs, files, [types.field(at) for at in coded_places])
            pieces = own or FramePieces(jobs, work.select(*(f"c{at}" for at in coded_places)))
            self._alike = alike_rows(pieces, coded_places, most)
        found = self._alike.dictionaries if self._alike is not None else dictionaries(jobs, work, coded_places)
        self.records = int(found[0].counts.sum()) if found else 0
        if not self.quasi:
            raise PolicyError(
                "The policy has no quasi-identifier.",
                code="no-quasi",
                hint="Give at least one column the role 'quasi'.",
            )
        if not self.records:
            raise no_rows()
        self.weighted = False
        if plan.table.entity is not None:
            entity = f"c{self.place[plan.table.entity]}"
            work = with_units(jobs, work, plan.table, entity, lambda w: self._canonical(w, found))
            self.weighted = UNITS in work.columns
        if self.weighted and self.tie:
            found += dictionaries(jobs, work, [self.place[c.name] for c in self.tie])
        elif self.tie:
            self.tie, self._coded_columns = (), (*self.quasi, *self.sensitive)
        self.dictionaries = tuple(found)
        n = len(self.quasi)
        self.quasi_packing = Packing(tuple(map(len, found[:n])))
        self.rest_packing = Packing(tuple(map(len, found[n:])))
        self.keys = [f"q{i}" for i in range(len(self.quasi_packing))]
        self.rest_keys = [f"s{i}" for i in range(len(self.rest_packing))]
        self.units = [UNITS] if self.weighted else []
        published = (Role.SENSITIVE, Role.INSENSITIVE)
        self.kept = [f"c{self.place[c.name]}" for c in plan.table.columns if c.role in published]
        self._work = work

    @cached_property
    def rows(self) -> DataFrame:
        """The table as numbers, with columns q0, q1, ..., s0, s1, ..., weights if people are counted, and ``kept``.

        It is not made if only the distinct rows are needed.
        """
        found, n = self.dictionaries, len(self.quasi)
        rows = coded(self.jobs, self._work, found, places=self._places(found))
        places = [F.col(f"p{j}") for j in range(len(found))]
        packed = zip(
            [*self.keys, *self.rest_keys],
            [*self.quasi_packing.pack_columns(places[:n]), *self.rest_packing.pack_columns(places[n:])],
            strict=True,
        )
        return rows.select(*(number.alias(name) for name, number in packed), *self.units, *self.kept)

    def hold(self) -> None:
        """Cache the rows until the run ends: looking up their values costs more than working with the numbers."""
        if all(frame is not self.rows for frame in self.jobs.held):
            self.jobs.hold(self.rows)

    @property
    def quasi_places(self) -> list[Column]:
        """The place of each quasi-identifier's value, in ``rows`` and in all tables with their keys."""
        return self.quasi_packing.unpack_columns([F.col(name) for name in self.keys])

    def _named(self, role: Role) -> tuple[ColumnPlan, ...]:
        return tuple(c for c in self.plan.table.columns if c.role is role)

    def _canonical(self, work: DataFrame, found: Sequence[Dictionary]) -> tuple[DataFrame, list[str]]:
        """Add columns that define the canonical order of rows."""
        tie = dictionaries(self.jobs, work, [self.place[c.name] for c in self.tie])
        quasi, sensitive = self.coded_columns(found)
        codes: list[AnyArray] = [*(c.codes for c in quasi), *(c.codes for c in sensitive)]
        orders = [own[: len(dictionary)] for own, dictionary in zip(codes, found, strict=True)]
        orders += [dense_ranks(dictionary.values)[0] for dictionary in tie]
        names = [f"o{j}" for j in range(len(orders))]
        more = [{name: order} for name, order in zip(names, orders, strict=True)]
        for at in (len(quasi) + i for i, column in enumerate(sensitive) if column.spellings):
            names.append(f"x{at}")
            more[at][names[-1]] = dense_ranks(found[at].values)[0]
        everything = [*found, *tie]
        ranked = coded(self.jobs, work, everything, more).drop(*(f"p{j}" for j in range(len(everything))))
        return ranked, names

    def _places(self, found: Sequence[Dictionary]) -> list[IntArray]:
        """Return the place of each value; all spellings of one value (such as a missing one) share the first place.

        Algorithms treat them as equal, so the order of records within a combination must not depend on spelling. If
        rows differ in weight, the spelling of a sensitive value is content: it decides which weight comes first.
        """
        quasi, sensitive = self.coded_columns(found)
        codes: list[AnyArray] = [c.codes for c in quasi]
        if not self.weighted:
            codes += [c.codes for c in sensitive]
        places = [np.arange(len(dictionary), dtype=np.int64) for dictionary in found]
        for j, own in enumerate(codes):
            code = own[: len(places[j])]
            first = np.full(int(code.max(initial=0)) + 1, len(code), dtype=np.int64)
            np.minimum.at(first, code, places[j])
            places[j] = first[code]
        return places

    def apart(self) -> list[Column]:
        """Return the sort keys within one combination: the unchanged columns, then other spellings."""
        kept = [c.name for c in self.plan.table.columns if c.role is Role.INSENSITIVE]
        columns = self.coded_columns(self.dictionaries)[1]
        spelt = [c.name for c in columns if c.spellings or self._has_zeros(c.name)]
        return [key for name in (*kept, *spelt) for key in self.in_order(name)]

    def in_order(self, name: str) -> list[Column]:
        """Return the sort key of an unchanged column: -0.0, which equals 0.0 for Spark, comes before it."""
        cells = F.col(f"c{self.place[name]}")
        return [cells.asc_nulls_first(), *([cells.cast("string").asc()] if self._has_zeros(name) else [])]

    def _has_zeros(self, name: str) -> bool:
        return isinstance(self.types[f"c{self.place[name]}"].dataType, FloatType | DoubleType)

    @property
    def types(self) -> StructType:
        """The types of the table's columns c0, c1, ..."""
        return self._work.schema

    def coded_columns(self, found: Sequence[Dictionary]) -> tuple[tuple[QuasiColumn, ...], tuple[SensitiveColumn, ...]]:
        """Return the columns of distinct values, each with its code."""
        named = list(zip((*self.quasi, *self.sensitive), found, strict=False))
        values = {column.name: dictionary.values for column, dictionary in named}
        times = {column.name: dictionary.counts for column, dictionary in named}
        return encode_values(self.plan.table, values, times, self.plan.extra)

    def _encoded(self, columns: Sequence[pa.Array]) -> EncodedTable:
        """Encode rows of the coded columns."""
        plans = self._coded_columns
        table = pa.table(list(columns), names=[c.name for c in plans])
        return encode(table, self.table_plan, self.plan.extra)

    @property
    def table_plan(self) -> TablePlan:
        """The plan of the coded columns alone."""
        return replace(self.plan.table, columns=self._coded_columns, entity=None)

    def tuples(self, counted: DataFrame | None = None) -> SparkRows:
        """Collect the distinct combinations on the driver; ``counted`` has them with their rows n, if known."""
        by = [*self.keys, *self.rest_keys, *self.units]
        if counted is None and self._alike is not None:
            return self._tuples_here(self._alike)
        if counted is None:
            counted = self.rows.groupBy(*by).agg(F.count(F.lit(1)).alias("n"))
        counted = counted.select(*by, "n")
        found = self.jobs.collect_large(counted, "counting combinations", self.records)
        if any(found.column(name).null_count for name in by):
            raise changed_input()
        tuples = self.tuples_of([found.column(name).to_numpy() for name in by], found.column("n").to_numpy())
        if int(tuples.counts.sum()) != self.records:
            raise changed_input()
        return tuples

    def _tuples_here(self, alike: AlikeRows) -> SparkRows:
        """Number the combinations that the driver has; different spellings of a value count as one."""
        n, chosen, counts = len(self.quasi), alike.places, alike.counts
        own = self._places(self.dictionaries)
        if any((shared != np.arange(len(shared))).any() for shared in own):
            places = [shared[place] for shared, place in zip(own, alike.places, strict=True)]
            of_row, first = number_rows(places, [len(dictionary) for dictionary in self.dictionaries])
            counts = np.bincount(of_row, weights=alike.counts, minlength=len(first)).astype(np.int64)
            chosen = [place[first] for place in places]
        numbers = [*self.quasi_packing.pack(chosen[:n]), *self.rest_packing.pack(chosen[n:])]
        # algorithms are faster if similar combinations are close together
        order = np.argsort(numbers[0], kind="stable")
        return self.tuples_of([number[order] for number in numbers], counts[order])

    def tuples_of(self, numbers: Sequence[IntArray], counts: IntArray) -> SparkRows:
        """Read combinations from the columns that rows are joined by."""
        cut = len(self.keys)
        places = self.quasi_packing.unpack(numbers[:cut])
        places += self.rest_packing.unpack(numbers[cut : cut + len(self.rest_keys)])
        units = numbers[-1] if self.weighted else np.empty(0, dtype=np.int64)
        return SparkRows(tuple(places), counts.astype(np.int64), units, tuple(numbers))

    def problem(self, tuples: SparkRows) -> Problem:
        """Return the input of the algorithm: the combinations, expanded to rows of codes."""
        rows = tuples.of_row
        columns = [d.rows(p[rows]) for d, p in zip(self.dictionaries, tuples.places, strict=True)]
        table = self._encoded(columns)
        if self.weighted:
            units = np.zeros(table.n_rows, dtype=np.int64)
            units[: table.n_sample] = tuples.units[rows]
            table = replace(table, unit=PERSON_UNITS, row_units=units)
        return local.problem_from(table, self.plan, self.jobs.progress)


def _plain(frame: DataFrame) -> DataFrame:
    """Return the table with only its values.

    Texts are compared by bytes, regardless of a column's collation. A column of type void becomes missing text.
    Metadata are dropped: Spark would write them into every Parquet file, and those of a string index, for example, list
    the values of all records.
    """
    for column in frame.schema.fields:
        if column.metadata:
            frame = frame.withMetadata(column.name, {})
    changed = {}
    for column in frame.schema.fields:
        if isinstance(column.dataType, StringType) and not column.dataType.isUTF8BinaryCollation():
            changed[column.name] = F.collate(column.name, "UTF8_BINARY")
        elif isinstance(column.dataType, NullType):
            changed[column.name] = F.col(column.name).cast("string")
    return frame.withColumns(changed) if changed else frame


def _check_types(frame: DataFrame, plan: TablePlan) -> pa.Schema:
    """Refuse columns of types that cannot be used; return the types of all."""
    # as toArrow would, without a job
    schema = to_arrow_schema(frame.schema)
    types = {field.name: field.type for field in schema}
    for column in plan.columns:
        if column.role in (Role.QUASI, Role.SENSITIVE):
            check_type(column.name, types[column.name])
        elif column.role is Role.INSENSITIVE:
            check_publishable(column.name, types[column.name])
    return schema


# The distinct rows of a table, on the driver: counted by tasks, piece by piece, and merged.
#
# A task gets rows as Arrow batches, numbers the values of each column, and counts equal rows by their numbers. It sends
# these numbers and each column's values once, so that a table of 10,000,000 rows becomes a few megabytes. Tasks read
# Parquet files themselves: handing rows from Java to Python takes several times as long as reading and counting them.


_PIECE = 1 << 20
"""Rows that a task counts at once."""

_READING = "reading the columns"

_SENT = 1 << 28
"""Bytes to collect on the driver at once: Spark lets a job return 1 GiB."""


@dataclass(frozen=True)
class AlikeRows:
    """The distinct rows of a table in some columns.

    Attributes
    ----------
    dictionaries : list of Dictionary
        The distinct values of each column.
    places : list of int64 arrays
        For each column, the place of every such row's value among them.
    counts : int64 array
        Number of equal rows of the table.
    """

    dictionaries: list[Dictionary]
    places: list[IntArray]
    counts: IntArray


def alike_rows(pieces: FramePieces | FilePieces, places: Sequence[int], most: int) -> AlikeRows | None:
    """Merge the equal rows that tasks counted in these columns; None if there are more than ``most`` distinct ones."""
    try:
        with spark_errors(_READING):
            sizes = pieces.sizes()
            if sum(alike for alike, _ in sizes) > most:
                return None
            tables = []
            for first, last in _batches([size for _, size in sizes]):
                tables += [pa.ipc.open_stream(blob).read_all() for blob in pieces.collect(first, last)]
    finally:
        with if_there():
            pieces.release()
    if sum(table.num_rows for table in tables) != sum(alike for alike, _ in sizes):
        raise changed_input()
    return _merged(places, tables)


class FramePieces:
    """Equal rows of a DataFrame, counted by tasks.

    Parameters
    ----------
    jobs : SparkJobs
    columns : pyspark.sql.DataFrame
    """

    def __init__(self, jobs: SparkJobs, columns: DataFrame) -> None:
        pieces = columns.mapInArrow(_count_pieces, "alike long, bytes long, counted binary")
        self._jobs, self._held = jobs, jobs.hold(pieces.withColumn("piece", F.monotonically_increasing_id()))
        self._ids: list[int] = []

    def sizes(self) -> list[tuple[int, int]]:
        """Return the distinct rows and the bytes of every piece."""
        # sorted here: a few rows are not worth a shuffle
        found = self._jobs.collect(self._held.select("piece", "alike", "bytes"), _READING).sort_by("piece")
        self._ids = found.column("piece").to_pylist()
        return list(zip(found.column("alike").to_pylist(), found.column("bytes").to_pylist(), strict=True))

    def collect(self, first: int, last: int) -> list[pa.Buffer]:
        """Return the pieces from ``first`` to ``last``."""
        some = self._held.filter(F.col("piece").between(self._ids[first], self._ids[last])).select("piece", "counted")
        return [blob.as_buffer() for blob in self._jobs.collect(some, _READING).sort_by("piece").column("counted")]

    def release(self) -> None:
        """Release the pieces that Spark caches."""
        self._jobs.let_go(self._held)


class FilePieces:
    """Equal rows of Parquet files, which tasks read and count.

    An RDD, since no row goes through Java: the first query of a session takes Spark several seconds to prepare.

    Parameters
    ----------
    jobs : SparkJobs
    parts : sequence of (str, int)
        Files and their row groups.
    names : sequence of str
        The columns to read.
    tasks : int
    """

    def __init__(self, jobs: SparkJobs, parts: Sequence[tuple[str, int]], names: Sequence[str], tasks: int) -> None:
        self._jobs, self._context = jobs, jobs.spark.sparkContext
        counted = self._context.parallelize(parts, tasks).mapPartitions(partial(_count_files, list(names)))
        self._held = counted.persist(StorageLevel.MEMORY_AND_DISK)

    def sizes(self) -> list[tuple[int, int]]:
        """Return the distinct rows and the bytes of every task's pieces."""
        return self._run(_task_sizes)

    def collect(self, first: int, last: int) -> list[bytes]:
        """Return the pieces of the tasks from ``first`` to ``last``."""
        return self._run(_task_pieces, range(first, last + 1))

    def release(self) -> None:
        """Release the pieces that Spark caches."""
        self._held.unpersist()

    def _run(self, function: Callable[[Iterable[Any]], Iterable[Any]], tasks: Sequence[int] | None = None) -> list[Any]:
        self._jobs.progress(0.0, _READING)
        tag = self._jobs.tag
        self._context.addJobTag(tag)
        try:
            return self._context.runJob(self._held, function, tasks)
        except BaseException:
            with if_there():
                self._context.cancelJobsWithTag(tag)
            raise
        finally:
            with if_there():
                self._context.removeJobTag(tag)


def _task_sizes(pieces: Iterable[tuple[int, bytes]]) -> list[tuple[int, int]]:
    sizes = [(alike, len(blob)) for alike, blob in pieces]
    return [(sum(alike for alike, _ in sizes), sum(size for _, size in sizes))]


def _task_pieces(pieces: Iterable[tuple[int, bytes]]) -> list[bytes]:
    return [blob for _, blob in pieces]


def file_pieces(jobs: SparkJobs, files: Sequence[str], columns: Sequence[pa.Field]) -> FilePieces | None:
    """Count equal rows of Parquet files, which tasks read themselves.

    None if there are no files, or Spark might read other values from them.
    """
    parts: list[tuple[str, int]] = []
    rows = 0
    for file in files:
        try:
            with pq.ParquetFile(file) as opened:
                own = opened.schema_arrow
                parts += [(file, group) for group in range(opened.num_row_groups)]
                rows += opened.metadata.num_rows
        except (OSError, pa.ArrowException):
            return None  # Spark says what is wrong with it
        if not all(_reads_alike(own, column) for column in columns):
            return None
    if not parts or is_remote():  # a remote session has no RDDs
        return None
    return FilePieces(jobs, parts, [column.name for column in columns], min(rows // _PIECE + 1, len(parts)))


def _reads_alike(own: pa.Schema, column: pa.Field) -> bool:
    at = own.get_all_field_indices(column.name)
    if len(at) != 1:
        return False
    type_ = stored_type(own.field(at[0]).type)
    return bool(type_ == column.type) and reads_alike(type_)


def _count_files(names: list[str], parts: Iterable[tuple[str, int]]) -> Iterator[tuple[int, bytes]]:
    """Read row groups of files and count equal rows; runs in a task."""
    for piece in _count_pieces(_read_groups(names, parts)):
        yield piece.column("alike")[0].as_py(), piece.column("counted")[0].as_py()


def _read_groups(names: list[str], parts: Iterable[tuple[str, int]]) -> Iterator[pa.RecordBatch]:
    for file, group in parts:
        # texts as numbers, as the file stores them
        with pq.ParquetFile(file, read_dictionary=names) as opened:
            # Spark runs as many tasks as there are cores
            for found in opened.iter_batches(_PIECE, row_groups=[group], columns=names, use_threads=False):
                yield pa.record_batch([_alike_stored(found.column(name)) for name in names], names=names)


def _alike_stored(values: pa.Array) -> pa.Array:
    """Return the column as every file would give it: files may differ in how they store one."""
    if not pa.types.is_dictionary(values.type):
        return values.cast(stored_type(values.type))
    kind = stored_type(values.type)
    return values.cast(pa.dictionary(pa.int32(), kind)) if pa.types.is_string(kind) else values.dictionary_decode()


def tasks_can_count(spark: SparkSession) -> bool:
    """Whether executors have hushtable and pyarrow, which counting rows needs; those of this machine always do."""
    if str(spark.conf.get("spark.master", "")).startswith("local["):
        return True
    try:
        spark.range(1).mapInArrow(_same_rows, "id long").collect()
    except Exception as error:
        if not type(error).__module__.startswith(("py4j", "pyspark")):
            raise
        return False
    return True


def _same_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


def _batches(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Divide pieces into runs of at most ``_SENT`` bytes; yield the first and the last of each."""
    start, total = 0, 0
    for i, size in enumerate(sizes):
        if i > start and total + size > _SENT:
            yield start, i - 1
            start, total = i, 0
        total += size
    if sizes:
        yield start, len(sizes) - 1


def _count_pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count equal rows, a piece at a time; runs in a task."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= _PIECE:
            yield _counted(held)
            held, rows = [], 0
    if rows:
        yield _counted(held)


def _counted(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    columns = [_numbered(column) for column in pa.Table.from_batches(batches).columns]
    codes, counts = count_rows([_places(column) for column in columns], [len(c.dictionary) + 1 for c in columns])
    some = [from_codes(own - 1, c.dictionary, pa.int32()) for own, c in zip(codes, columns, strict=True)]
    table = pa.table([*some, counts], names=[*map(str, range(len(columns))), "n"])
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    blob = out.getvalue()
    return pa.record_batch({"alike": [len(counts)], "bytes": [len(blob)], "counted": pa.array([blob], pa.binary())})


def _numbered(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Number the values of a column; 0.0 and -0.0 are equal, as they are for Spark, and so are all NaN."""
    if not pa.types.is_floating(column.type):
        return encode_once(column)
    values = whole(column)
    plain = values.to_numpy(zero_copy_only=False) + values.type.to_pandas_dtype()(0)
    plain[np.isnan(plain)] = np.nan
    return encode_once(pa.array(plain, values.type, mask=values.is_null().to_numpy(zero_copy_only=False)))


def _places(column: pa.DictionaryArray) -> AnyArray:
    """Return the place of every row's value from 1 up; 0 for null."""
    indices: AnyArray = column.indices.fill_null(-1).to_numpy()
    return indices + 1


def _merged(places: Sequence[int], tables: Sequence[pa.Table]) -> AlikeRows:
    """Merge the counts of tasks."""
    if not tables:
        nothing = np.empty(0, dtype=np.int64)
        return AlikeRows([Dictionary(at, pa.nulls(0), nothing) for at in places], [nothing for _ in places], nothing)
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    columns = [table.column(str(j)).chunk(0) for j in range(len(places))]
    sizes = [len(column.dictionary) + 1 for column in columns]
    codes, counts = count_rows([_places(column) for column in columns], sizes, table.column("n").to_numpy())
    found, own = [], []
    for at, column, code in zip(places, columns, codes, strict=True):
        # the missing value, if there is one, comes last
        values = pa.concat_arrays([column.dictionary, pa.nulls(min(column.null_count, 1), column.dictionary.type)])
        own.append(np.where(code > 0, code - 1, len(column.dictionary)))
        # sums of whole numbers below 2^53 are exact
        times = np.bincount(own[-1], weights=counts, minlength=len(values))
        found.append(Dictionary(at, values, times.astype(np.int64)))
    return AlikeRows(found, own, counts)
