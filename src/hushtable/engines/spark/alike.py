"""The rows of a table that differ, on the driver: counted by tasks, piece by piece, and merged.

A task gets rows as Arrow batches, numbers the values of each column, and counts equal rows by their numbers. What it
sends are these numbers and each column's values once, so that a table of 10,000,000 rows travels as some megabytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from hushtable.arrays import IntArray
from hushtable.engines.spark.dictionaries import Dictionary, whole
from hushtable.engines.spark.jobs import Jobs, changed_input, spark_errors
from hushtable.kernels.grouping import number_rows

__all__ = ["AlikeRows", "alike_rows", "tasks_can_count"]

_PIECE = 1 << 20
"""Rows that a task counts at once."""

_SENT = 1 << 28
"""Bytes that are brought to the driver at once: Spark lets a job return 1 GiB."""


@dataclass(frozen=True)
class AlikeRows:
    """The rows of a table that differ in some columns.

    Attributes
    ----------
    dictionaries : list of Dictionary
        The distinct values of each column.
    places : list of int64 arrays
        For each column, the place of every such row's value among them.
    counts : int64 array
        How many rows of the table are alike.
    """

    dictionaries: list[Dictionary]
    places: list[IntArray]
    counts: IntArray


def alike_rows(jobs: Jobs, work: DataFrame, places: Sequence[int], most: int) -> AlikeRows | None:
    """Count the rows that are alike in these columns (named c0, c1, ...); None if tasks find more than ``most``."""
    names = [f"c{at}" for at in places]
    what = "reading the columns"
    pieces = work.select(*names).mapInArrow(_count_pieces, "alike long, bytes long, told binary")
    held = jobs.hold(pieces.withColumn("piece", F.monotonically_increasing_id()))
    sizes = jobs.collect(held.select("piece", "alike", "bytes").orderBy("piece"), what)
    if (pc.sum(sizes.column("alike")).as_py() or 0) > most:
        jobs.let_go(held)
        return None
    tables = []
    for first, last in _batches(sizes):
        some = held.filter(F.col("piece").between(first, last)).orderBy("piece")
        with spark_errors(what):
            told = some.select("told").toArrow().column("told")
        tables += [pa.ipc.open_stream(blob.as_buffer()).read_all() for blob in told]
    jobs.let_go(held)
    if [table.num_rows for table in tables] != sizes.column("alike").to_pylist():
        raise changed_input()
    return _merged(places, tables)


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
    """Cut pieces into runs of at most ``_SENT`` bytes; yield the first and the last of each."""
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
    told = [pa.DictionaryArray.from_arrays(c.indices.take(take), c.dictionary) for c in columns]
    table = pa.table([*told, np.bincount(of_row, minlength=len(first))], names=[*map(str, range(len(told))), "n"])
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    blob = out.getvalue()
    return pa.record_batch({"alike": [len(first)], "bytes": [len(blob)], "told": pa.array([blob], pa.binary())})


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
            first, key = np.unique(key, return_inverse=True)
            span = len(first)
        key = key * size + column.indices.fill_null(size - 1).to_numpy()
        span *= size
    _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
    return of_row, first


def _merged(places: Sequence[int], tables: Sequence[pa.Table]) -> AlikeRows:
    """Merge what tasks have counted."""
    if not tables:
        nothing = np.empty(0, dtype=np.int64)
        return AlikeRows([Dictionary(at, pa.nulls(0), nothing) for at in places], [nothing for _ in places], nothing)
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    counts = table.column("n").to_numpy()
    values, own = [], []
    for j in range(len(places)):
        column = table.column(str(j)).chunk(0)
        gap = pa.nulls(min(column.null_count, 1), column.dictionary.type)
        values.append(pa.concat_arrays([column.dictionary, gap]))
        own.append(column.indices.fill_null(len(column.dictionary)).to_numpy().astype(np.int64))
    of_row, first = number_rows(own, list(map(len, values)))
    times = np.zeros(len(first), dtype=np.int64)
    np.add.at(times, of_row, counts)
    own = [place[first] for place in own]
    found = []
    for at, column, place in zip(places, values, own, strict=True):
        sums = np.zeros(len(column), dtype=np.int64)
        np.add.at(sums, place, times)
        found.append(Dictionary(at, column, sums))
    return AlikeRows(found, own, times)
