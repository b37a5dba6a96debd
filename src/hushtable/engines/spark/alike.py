"""The distinct rows of a table, on the driver: counted by tasks, piece by piece, and merged.

A task gets rows as Arrow batches, numbers the values of each column, and counts equal rows by their numbers. It sends
these numbers and each column's values once, so that a table of 10,000,000 rows becomes a few megabytes. Tasks read
Parquet files themselves: handing rows from Java to Python takes several times as long as reading and counting them.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.spark.dictionaries import Dictionary, whole
from hushtable.engines.spark.jobs import SparkJobs, changed_input, if_there, spark_errors
from hushtable.engines.spark.session import reads_alike, stored_type
from hushtable.io.dictionaries import encode, from_codes
from hushtable.kernels.grouping import count_rows

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
                for (alike, _), blobs in zip(sizes[first : last + 1], pieces.collect(first, last), strict=True):
                    found = [pa.ipc.open_stream(blob).read_all() for blob in blobs]
                    if sum(table.num_rows for table in found) != alike:
                        raise changed_input()
                    tables += found
    finally:
        with if_there():
            pieces.release()
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

    def collect(self, first: int, last: int) -> list[list[pa.Buffer]]:
        """Return the pieces from ``first`` to ``last``."""
        some = self._held.filter(F.col("piece").between(self._ids[first], self._ids[last])).select("piece", "counted")
        return [[blob.as_buffer()] for blob in self._jobs.collect(some, _READING).sort_by("piece").column("counted")]

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

    def collect(self, first: int, last: int) -> list[list[bytes]]:
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


def _task_pieces(pieces: Iterable[tuple[int, bytes]]) -> list[list[bytes]]:
    return [[blob for _, blob in pieces]]


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
    """Return a column in the same form for all files, which may store it in different ways."""
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
    codes, counts = count_rows([_place_of_rows(column) for column in columns], [len(c.dictionary) + 1 for c in columns])
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
        return encode(column)
    values = whole(column)
    plain = values.to_numpy(zero_copy_only=False) + values.type.to_pandas_dtype()(0)
    plain[np.isnan(plain)] = np.nan
    return encode(pa.array(plain, values.type, mask=values.is_null().to_numpy(zero_copy_only=False)))


def _place_of_rows(column: pa.DictionaryArray) -> AnyArray:
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
    codes, counts = count_rows([_place_of_rows(column) for column in columns], sizes, table.column("n").to_numpy())
    found, own = [], []
    for at, column, code in zip(places, columns, codes, strict=True):
        # the missing value, if there is one, comes last
        values = pa.concat_arrays([column.dictionary, pa.nulls(min(column.null_count, 1), column.dictionary.type)])
        own.append(np.where(code > 0, code - 1, len(column.dictionary)))
        # sums of whole numbers below 2^53 are exact
        times = np.bincount(own[-1], weights=counts, minlength=len(values))
        found.append(Dictionary(at, values, times.astype(np.int64)))
    return AlikeRows(found, own, counts)
