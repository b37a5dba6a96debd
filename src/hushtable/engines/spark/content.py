"""The content of a table: its distinct combinations of values, their frequencies, and the combination of each row.

Algorithms depend only on content, so they need nothing else. Columns that are published unchanged and only break ties
(insensitive ones) stay with Spark, unless rows also differ in weight: then the order of a tie decides about weights,
and they belong to the content.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DoubleType, FloatType, NullType, StringType, StructType

from hushtable.algorithms.base import Problem
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines import local
from hushtable.engines.spark.dictionaries import Dictionary, coded, dictionaries, whole
from hushtable.engines.spark.jobs import SparkJobs, changed_input, spark_errors
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.people import UNITS, with_units
from hushtable.errors import PolicyError
from hushtable.io.names import check_names
from hushtable.kernels.grouping import number_rows
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
            pieces = file_pieces(jobs, files, [types.field(at) for at in coded_places])
            if pieces is None:
                columns = work.select(*(f"c{at}" for at in coded_places))
                pieces = columns.mapInArrow(_count_pieces, _PIECES)
            self._alike = alike_rows(jobs, pieces, coded_places, most)
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

_PIECES = "alike long, bytes long, counted binary"
"""Columns that a task returns for each piece."""

_READ_ALIKE = (pa.types.is_string, pa.types.is_boolean, pa.types.is_signed_integer, pa.types.is_floating)
"""Types whose values Spark and Arrow read in the same way from every Parquet file."""

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


def alike_rows(jobs: SparkJobs, pieces: DataFrame, places: Sequence[int], most: int) -> AlikeRows | None:
    """Merge the equal rows that tasks counted in these columns; None if there are more than ``most`` distinct ones."""
    what = "reading the columns"
    held = jobs.hold(pieces.withColumn("piece", F.monotonically_increasing_id()))
    # sorted here: a few rows are not worth a shuffle
    sizes = jobs.collect(held.select("piece", "alike", "bytes"), what).sort_by("piece")
    if (pc.sum(sizes.column("alike")).as_py() or 0) > most:
        jobs.let_go(held)
        return None
    tables = []
    for first, last in _batches(sizes):
        some = held.filter(F.col("piece").between(first, last)).select("piece", "counted")
        with spark_errors(what):
            counted = some.toArrow().sort_by("piece").column("counted")
        tables += [pa.ipc.open_stream(blob.as_buffer()).read_all() for blob in counted]
    jobs.let_go(held)
    if [table.num_rows for table in tables] != sizes.column("alike").to_pylist():
        raise changed_input()
    return _merged(places, tables)


def file_pieces(jobs: SparkJobs, files: Sequence[str], columns: Sequence[pa.Field]) -> DataFrame | None:
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
    if not parts:
        return None
    listed = jobs.frame({"file": [file for file, _ in parts], "group": [group for _, group in parts]})
    read = partial(_count_files, [column.name for column in columns])
    return listed.repartition(min(rows // _PIECE + 1, len(parts))).mapInArrow(read, _PIECES)


def _reads_alike(own: pa.Schema, column: pa.Field) -> bool:
    at = own.get_all_field_indices(column.name)
    if len(at) != 1:
        return False
    type_ = own.field(at[0]).type
    type_ = type_.value_type if pa.types.is_dictionary(type_) else type_
    return type_ == column.type and any(alike(type_) for alike in _READ_ALIKE)


def _count_files(names: list[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read row groups of files and count equal rows; runs in a task."""
    return _count_pieces(_read_groups(names, batches))


def _read_groups(names: list[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for file, group in zip(*(batch.column(name).to_pylist() for name in ("file", "group")), strict=True):
            with pq.ParquetFile(file) as opened:
                # Spark runs as many tasks as there are cores
                for found in opened.iter_batches(_PIECE, row_groups=[group], columns=names, use_threads=False):
                    # files may differ in how they store a column
                    yield pa.record_batch([_decoded(found.column(name)) for name in names], names=names)


def _decoded(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


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


def _batches(sizes: pa.Table) -> Iterator[tuple[int, int]]:
    """Divide pieces into runs of at most ``_SENT`` bytes; yield the first and the last of each."""
    ids, sent = sizes.column("piece").to_numpy(), sizes.column("bytes").to_numpy()
    start, total = 0, 0
    for i, size in enumerate(sent):
        if i > start and total + size > _SENT:
            yield int(ids[start]), int(ids[i - 1])
            start, total = i, 0
        total += int(size)
    if len(ids):
        yield int(ids[start]), int(ids[-1])


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
    of_row, first = _equal_rows(columns)
    take = pa.array(first)
    counted = [pa.DictionaryArray.from_arrays(c.indices.take(take), c.dictionary) for c in columns]
    table = pa.table([*counted, np.bincount(of_row, minlength=len(first))], names=[*map(str, range(len(counted))), "n"])
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    blob = out.getvalue()
    return pa.record_batch({"alike": [len(first)], "bytes": [len(blob)], "counted": pa.array([blob], pa.binary())})


def _numbered(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Number the values of a column; 0.0 and -0.0 are equal, as they are for Spark, and so are all NaN."""
    values = whole(column)
    if pa.types.is_floating(values.type):
        plain = values.to_numpy(zero_copy_only=False) + values.type.to_pandas_dtype()(0)
        plain[np.isnan(plain)] = np.nan
        values = pa.array(plain, values.type, mask=values.is_null().to_numpy(zero_copy_only=False))
    return pc.dictionary_encode(values)


def _equal_rows(columns: Sequence[pa.DictionaryArray]) -> tuple[IntArray, IntArray]:
    """Return the number of every row's combination, and for each combination a row that has it."""
    key, span = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        size = len(column.dictionary) + 1
        if span * size >= 2**62:
            key, span = _first_seen(key)
        key = key * size + column.indices.fill_null(size - 1).to_numpy()
        span *= size
    of_row, n = _first_seen(key)
    first = np.empty(n, dtype=np.int64)
    # backwards, so that the first one stays
    first[of_row[::-1]] = np.arange(len(of_row) - 1, -1, -1)
    return of_row, first


def _first_seen(key: IntArray) -> tuple[IntArray, int]:
    """Number keys in order of their first occurrence; return the numbers and how many there are."""
    found = pc.dictionary_encode(pa.array(key))
    return found.indices.to_numpy().astype(np.int64), len(found.dictionary)


def _merged(places: Sequence[int], tables: Sequence[pa.Table]) -> AlikeRows:
    """Merge the counts of tasks."""
    if not tables:
        nothing = np.empty(0, dtype=np.int64)
        return AlikeRows([Dictionary(at, pa.nulls(0), nothing) for at in places], [nothing for _ in places], nothing)
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    counts = table.column("n").to_numpy()
    columns = [table.column(str(j)).chunk(0) for j in range(len(places))]
    of_row, first = _equal_rows(columns)
    # sums of whole numbers below 2^53 are exact
    times = np.bincount(of_row, weights=counts, minlength=len(first)).astype(np.int64)
    values, own = [], []
    for column in columns:
        gap = pa.nulls(min(column.null_count, 1), column.dictionary.type)
        values.append(pa.concat_arrays([column.dictionary, gap]))
        some = column.indices.take(pa.array(first))
        own.append(some.fill_null(len(column.dictionary)).to_numpy().astype(np.int64))
    found = []
    for at, column, place in zip(places, values, own, strict=True):
        sums = np.bincount(place, weights=times, minlength=len(column))
        found.append(Dictionary(at, column, sums.astype(np.int64)))
    return AlikeRows(found, own, times)
