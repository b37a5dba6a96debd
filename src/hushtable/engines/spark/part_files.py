"""Rows that executors write in parallel, in files whose sizes and names reveal nothing about the input."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from pyarrow import parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from hushtable.engines.spark.dictionaries import with_numbers
from hushtable.engines.spark.jobs import SparkJobs
from hushtable.engines.spark.session import to_write
from hushtable.errors import VerificationError

ONE_FILE = 1_000_000
"""Maximum number of rows of a Parquet release in one file, and number of rows in each part of a larger one."""

_IN_PARTITION = (1 << 33) - 1
"""The bits of Spark's increasing numbers that count the rows of a partition; those above number the partition."""


def part_name(number: int) -> str:
    """Return the name of a part.

    Examples
    --------
    >>> part_name(3)
    'part-00003.parquet'
    """
    return f"part-{number:05d}.parquet"


def write_as_they_are(frame: DataFrame, place: Path) -> None:
    """Write rows in Spark's own files."""
    frame.write.parquet(to_write(place))
    _tidy(place)


def write_parts(jobs: SparkJobs, frame: DataFrame, place: Path) -> None:
    """Write parts of ``ONE_FILE`` rows each.

    Spark's own partitions depend on samples of the input, so their sizes would reveal something about its order.
    """
    found = jobs.collect(frame.groupBy(F.spark_partition_id().alias("p")).count(), "writing")
    sizes = np.zeros(int(pc.max(found.column("p")).as_py()) + 1, dtype=np.int64)
    sizes[found.column("p").to_numpy()] = found.column("count").to_numpy()
    parts = -(-int(sizes.sum()) // ONE_FILE)
    rows = frame.toDF(*(f"n{j}" for j in range(len(frame.columns))))
    rows = rows.withColumn("at", F.monotonically_increasing_id())
    rows = with_numbers(jobs, rows, [F.shiftright("at", 33)], [{"before": np.cumsum(sizes) - sizes}])
    rows = rows.withColumn("at", F.col("before") + F.col("at").bitwiseAND(F.lit(_IN_PARTITION))).drop("before")
    rows = rows.withColumn("part", F.floor(F.col("at") / F.lit(ONE_FILE)))
    rows = rows.repartition(parts, "part").sortWithinPartitions("part", "at").drop("at")
    part = _unused("part", frame.columns)
    rows.toDF(*frame.columns, part).write.option("maxRecordsPerFile", 0).partitionBy(part).parquet(to_write(place))
    for number in range(parts):
        folder = place / f"{part}={number}"
        (file,) = folder.glob("*.parquet")
        if pq.read_metadata(file).num_rows != min(ONE_FILE, int(sizes.sum()) - number * ONE_FILE):
            raise not_verified()
        file.rename(place / f"{number:05d}.parquet")
        shutil.rmtree(folder)
    _tidy(place)


def _unused(name: str, names: Sequence[str]) -> str:
    """Return a name that no column has; Spark ignores case."""
    taken = {known.casefold() for known in names}
    while name in taken:
        name += "_"
    return name


def _tidy(place: Path) -> None:
    """Remove Spark's marker files, and number the parts: random names would differ from run to run."""
    for file in place.iterdir():
        if file.suffix != ".parquet" or file.name.startswith("."):
            file.unlink()
    for number, file in enumerate(sorted(place.iterdir())):
        file.rename(place / part_name(number))


def not_verified() -> VerificationError:
    """Return the error of rows on disk that differ from the verified ones."""
    return VerificationError(
        "Spark's output differs from what was verified; it was removed.",
        code="changed",
        hint="The input may have changed since: Spark computes lost rows again. Write it to files first.",
    )
