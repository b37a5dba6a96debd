"""Spark on tables in files and databases: a session is started, and has ended when the release is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hushtable.algorithms.base import Progress
from hushtable.engines.spark.release import SparkTable, run_frame
from hushtable.engines.spark.session import read_frame, spark_session
from hushtable.engines.spark.staged import staged
from hushtable.engines.spark.write import save_parts
from hushtable.io.urls import Source
from hushtable.release.plan import Plan

__all__ = ["run_on_spark"]


def run_on_spark(
    data: Sequence[Source],
    plan: Plan,
    output: Path,
    *,
    format: str = "csv",
    master: str | None = None,
    to: str | None = None,
    overwrite: bool = False,
    progress: Progress,
) -> None:
    """Start Spark, anonymize a table with it, and write the release; Spark has ended when it returns.

    A session that was there before stays, and keeps nothing of the release.

    Parameters
    ----------
    data : sequence of path or address
        Files, folders, patterns, tables of databases, or addresses that Spark knows.
    plan : Plan
    output : path
        A folder that driver and executors share.
    format : {"csv", "parquet"}
    master : str, optional
    to : str, optional
        A database's table, or Parquet in a store, that gets the rows too.
    overwrite : bool
    progress : callable

    Raises
    ------
    UsageError
        If Spark does not start, or the table cannot be read.
    """
    table = plan.table
    unread = [c.name for c in table.columns if not c.role.published and c.name != table.entity]
    with spark_session(master) as spark, staged(data, unread, output, progress) as files:
        release = run_frame(read_frame(spark, files), plan, progress)
        held: SparkTable = release.published
        try:
            progress(1.0, "writing")
            save_parts(release, held.outcome, output, format=format, overwrite=overwrite, to=to)
        finally:
            held.unpersist()
