"""The distinct values of every column, and each row's combination as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.spark.jobs import SparkJobs
from hushtable.io.dictionaries import from_codes

_PASS = 32

_IN_PLAN = 4096
"""Maximum number of entries to look up in an array of the plan; more are looked up by a join."""


@dataclass(frozen=True)
class Dictionary:
    """One column's distinct values, as stored, and how often each occurs.

    Attributes
    ----------
    at : int
        The column's place in the table.
    values : pyarrow.Array
        One entry may be null.
    counts : int64 array
    """

    at: int
    values: pa.Array
    counts: IntArray

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, places: AnyArray) -> pa.DictionaryArray:
        """Return rows with the values at these places."""
        gap = np.flatnonzero(self.values.is_null().to_numpy(zero_copy_only=False))
        if not len(gap):
            return from_codes(places, self.values)
        keep = np.ones(len(self), dtype=np.bool_)
        keep[gap] = False
        renumber = np.where(keep, np.cumsum(keep) - 1, -1)
        return from_codes(renumber[places], self.values.filter(pa.array(keep)))


def dictionaries(jobs: SparkJobs, work: DataFrame, places: Sequence[int]) -> list[Dictionary]:
    """Find the distinct values of these columns (named c0, c1, ... in ``work``) in a few passes over the table."""
    found: list[Dictionary] = []
    for first in range(0, len(places), _PASS):
        found += _one_pass(jobs, work, places[first : first + _PASS])
    return found


def _one_pass(jobs: SparkJobs, work: DataFrame, places: Sequence[int]) -> list[Dictionary]:
    names = [f"c{at}" for at in places]
    which = F.grouping_id(*names).alias("which")
    counted = work.groupingSets([[name] for name in names], *names).agg(which, F.count(F.lit(1)).alias("n"))
    table = jobs.collect_large(counted, "reading the columns").combine_chunks()
    grouped_by = table.column("which").to_numpy()
    found = []
    for j, (at, name) in enumerate(zip(places, names, strict=True)):
        # a bit is set for each column that is not grouped by
        mine = (1 << len(names)) - 1 - (1 << (len(names) - 1 - j))
        part = table.filter(pa.array(grouped_by == mine))
        found.append(Dictionary(at, whole(part.column(name)), part.column("n").to_numpy().astype(np.int64)))
    return found


def whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return pc.cast(array, pa.large_string()) if pa.types.is_string_view(array.type) else array


def coded(
    jobs: SparkJobs,
    work: DataFrame,
    found: Sequence[Dictionary],
    more: Sequence[dict[str, AnyArray]] | None = None,
    places: Sequence[AnyArray] | None = None,
) -> DataFrame:
    """Give every row the places of its values: columns p0, p1, ..., null for a new value.

    ``more`` names additional numbers of every value, which become separate columns; ``places`` lets values share one.
    """
    for j, dictionary in enumerate(found):
        own = np.arange(len(dictionary)) if places is None else places[j]
        numbers = {f"p{j}": own, **({} if more is None else more[j])}
        work = numbered(jobs, work, f"c{dictionary.at}", dictionary.values, numbers)
    return work


def numbered(
    jobs: SparkJobs, frame: DataFrame, column: str, values: pa.Array | pa.ChunkedArray, numbers: Mapping[str, AnyArray]
) -> DataFrame:
    """Give every row the numbers of its value in a column, under their names; null for one not among the values."""
    missing = values.is_null().to_numpy(zero_copy_only=False)
    there = np.flatnonzero(~missing)
    book = {name: own[there].astype(np.int64) for name, own in numbers.items()}
    fields = [StructField("v", frame.schema[column].dataType), *(StructField(name, LongType()) for name in book)]
    look_up = jobs.table({"v": values.take(pa.array(there)), **book}, StructType(fields))
    # a null-safe join costs half as much again for every row
    frame = frame.join(look_up, frame[column] == look_up["v"], "left").drop("v")
    for gap in np.flatnonzero(missing):
        nothing = F.col(column).isNull()
        frame = frame.withColumns(
            {name: F.when(nothing, F.lit(int(own[gap]))).otherwise(F.col(name)) for name, own in numbers.items()}
        )
    return frame


def looked_up(place: Column, numbers: AnyArray) -> Column:
    """Return the number at each place: one array in the plan, so that no join is needed."""
    if np.array_equal(numbers, np.arange(len(numbers))):
        return place.cast("long")
    listed = F.split(F.lit(",".join(map(str, numbers.tolist()))), ",").cast("array<long>")
    return F.element_at(listed, place.cast("int") + 1)


def with_numbers(
    jobs: SparkJobs, frame: DataFrame, places: Sequence[Column], numbers: Sequence[dict[str, AnyArray]]
) -> DataFrame:
    """Add, for each column of places, the numbers at them, under their names."""
    for j, (place, named) in enumerate(zip(places, numbers, strict=True)):
        if all(len(own) <= _IN_PLAN for own in named.values()):
            frame = frame.withColumns({name: looked_up(place, own) for name, own in named.items()})
            continue
        book = {name: own.astype(np.int64) for name, own in named.items()}
        here = np.arange(len(next(iter(named.values()))), dtype=np.int32)
        look_up = jobs.table({f"p{j}": here, **book})
        frame = frame.withColumn(f"p{j}", place).join(look_up, f"p{j}", "left").drop(f"p{j}")
    return frame
