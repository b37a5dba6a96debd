"""The distinct values of every column, and each row's combination of them as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.spark.jobs import Jobs
from hushtable.io.dictionaries import from_codes

__all__ = ["Dictionary", "coded", "dictionaries"]

_PASS = 32


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


def dictionaries(jobs: Jobs, work: DataFrame, places: Sequence[int]) -> list[Dictionary]:
    """Find the distinct values of these columns (named c0, c1, ... in ``work``), few passes over the table for all."""
    found: list[Dictionary] = []
    for first in range(0, len(places), _PASS):
        found += _one_pass(jobs, work, places[first : first + _PASS])
    return found


def _one_pass(jobs: Jobs, work: DataFrame, places: Sequence[int]) -> list[Dictionary]:
    names = [f"c{at}" for at in places]
    which = F.grouping_id(*names).alias("which")
    counted = work.groupingSets([[name] for name in names], *names).agg(which, F.count(F.lit(1)).alias("n"))
    table = jobs.collect_large(counted, "reading the columns").combine_chunks()
    grouped_by = table.column("which").to_numpy()
    found = []
    for j, (at, name) in enumerate(zip(places, names, strict=True)):
        # a bit is set where a column is not grouped by
        mine = (1 << len(names)) - 1 - (1 << (len(names) - 1 - j))
        part = table.filter(pa.array(grouped_by == mine))
        found.append(Dictionary(at, _whole(part.column(name)), part.column("n").to_numpy().astype(np.int64)))
    return found


def _whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return pc.cast(array, pa.large_string()) if pa.types.is_string_view(array.type) else array


def coded(
    jobs: Jobs,
    work: DataFrame,
    found: Sequence[Dictionary],
    more: Sequence[dict[str, AnyArray]] | None = None,
    places: Sequence[AnyArray] | None = None,
) -> DataFrame:
    """Give every row the places of its values: columns p0, p1, ..., null for a value that was not there before.

    ``more`` names further numbers of every value, which become columns of their own; ``places`` lets values share one.
    """
    schema = {field.name: field for field in work.schema.fields}
    for j, dictionary in enumerate(found):
        name = f"c{dictionary.at}"
        extra = {} if more is None else more[j]
        fields = [StructField(f"v{j}", schema[name].dataType), StructField(f"p{j}", LongType())]
        fields += [StructField(key, LongType()) for key in extra]
        look_up = jobs.table(
            {
                f"v{j}": dictionary.values,
                f"p{j}": np.arange(len(dictionary)) if places is None else places[j].astype(np.int64),
                **{key: numbers.astype(np.int64) for key, numbers in extra.items()},
            },
            StructType(fields),
        )
        work = work.join(look_up, work[name].eqNullSafe(look_up[f"v{j}"]), "left").drop(f"v{j}")
    return work
