"""Running Spark jobs: errors without cell values, results in pieces, a run that can be stopped."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from hushtable.algorithms.base import Progress
from hushtable.errors import DataError

SMALL = 500_000
"""Maximum number of rows of a table that is broadcast to every executor instead of being shuffled."""

_PIECE = 4_000_000


@contextmanager
def spark_errors(what: str) -> Iterator[None]:
    """Convert a Spark error: its own message may quote a cell, so only its kind is shown."""
    try:
        yield
    except PySparkException as error:
        kind = error.getCondition() or type(error).__name__
    except Exception as error:
        if has_ended(error):
            kind = ""
        elif not type(error).__module__.startswith(("py4j", "pyspark")):
            raise
        else:
            java = getattr(error, "java_exception", None)
            kind = type(error).__name__ if java is None else str(java.getClass().getSimpleName())
    else:
        return
    if not kind:
        raise DataError(
            f"Spark ended before it finished {what}; nothing was published.",
            code="spark-ended",
            hint="The machine may have run out of memory. HUSHTABLE_SPARK_LOG=ERROR shows Spark's own log.",
        )
    raise DataError(
        f"Spark could not finish {what} ({kind}); nothing was published.",
        code="spark",
        hint="See Spark's own log, which may quote values of the table.",
    )


def has_ended(error: BaseException) -> bool:
    """Whether an error means that the Java process of Spark is gone."""
    kind = type(error).__name__
    if kind == "Py4JError":
        return "Trace" not in str(error)  # errors from Java have a stack trace
    return kind == "Py4JNetworkError" or isinstance(error, ConnectionError | EOFError)


@contextmanager
def if_there() -> Iterator[None]:
    """Clean up in Spark, if it still runs; otherwise the pending error says so."""
    try:
        yield
    except Exception as error:
        if not has_ended(error):
            raise


def changed_input() -> DataError:
    """Return the error of a table that changed between two reads."""
    return DataError(
        "The table changed while it was read: Spark reads it several times.",
        code="changed",
        hint="Write it to files first, or cache it; avoid functions such as rand() that give different values each "
        "time.",
    )


@dataclass
class SparkJobs:
    """The Spark jobs of one run.

    Attributes
    ----------
    spark : SparkSession
    progress : Progress
    held : list of DataFrame
        Intermediate tables that are cached until the run ends.
    """

    spark: SparkSession
    progress: Progress
    held: list[DataFrame] = field(default_factory=list)
    tag: str = field(default_factory=lambda: f"hushtable-{secrets.token_hex(6)}")

    @contextmanager
    def run(self) -> Iterator[SparkJobs]:
        """Tag every job of the run, so that stopping it stops them too; release cached tables at the end."""
        self.spark.addTag(self.tag)
        try:
            with spark_errors("the run"):
                yield self
        except BaseException:
            with if_there():
                self.spark.interruptTag(self.tag)
            raise
        finally:
            with if_there():
                self.spark.removeTag(self.tag)
                self.release()

    def release(self) -> None:
        """Release the intermediate tables."""
        for frame in self.held:
            frame.unpersist()
        self.held.clear()

    def hold(self, frame: DataFrame) -> DataFrame:
        """Cache a table until the run ends."""
        self.held.append(frame.persist())
        return frame

    def let_go(self, frame: DataFrame) -> None:
        """Release one table before the run ends."""
        self.held = [held for held in self.held if held is not frame]
        frame.unpersist()

    def collect(self, frame: DataFrame, what: str) -> pa.Table:
        """Collect a small table on the driver."""
        self.progress(0.0, what)
        with spark_errors(what):
            return frame.toArrow()

    def collect_large(self, frame: DataFrame, what: str, most: int | None = None) -> pa.Table:
        """Collect a table on the driver in pieces, each below Spark's limit for the result of a job.

        ``most`` is a bound on the number of its rows, if known.
        """
        if most is not None and most <= _PIECE:
            return self.collect(frame, what)
        self.progress(0.0, what)
        with spark_errors(what):
            passing = all(held is not frame for held in self.held)
            if passing:
                self.hold(frame)
            pieces = frame.count() // _PIECE + 1
            parts = []
            for piece in range(pieces):
                self.progress(0.0, what)
                part = frame.filter(F.pmod(F.xxhash64(*frame.columns), F.lit(pieces)) == piece)
                parts.append((part if pieces > 1 else frame).toArrow())
            if passing:
                self.let_go(frame)
            return pa.concat_tables(parts)

    def frame(self, columns: dict[str, Any], schema: StructType | None = None) -> DataFrame:
        """Return driver arrays as a Spark table."""
        data = pa.table(columns)
        return self.spark.createDataFrame(data, schema=schema) if schema else self.spark.createDataFrame(data)

    def table(self, columns: dict[str, Any], schema: StructType | None = None) -> DataFrame:
        """Return driver arrays as a Spark table; a small one is broadcast when it is joined."""
        frame = self.frame(columns, schema)
        return F.broadcast(frame) if len(next(iter(columns.values()))) <= SMALL else frame
