"""``hushtable run --engine spark``."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hushtable.errors import UsageError

if TYPE_CHECKING:
    from hushtable.algorithms.base import Progress
    from hushtable.engines.spark.release import SparkRelease
    from hushtable.io.urls import Source
    from hushtable.policy.policy import Policy

__all__ = ["run_on_spark"]


def run_on_spark(
    data: Sequence[Source],
    policy: Policy,
    output: Path,
    *,
    master: str | None = None,
    to: str | None = None,
    overwrite: bool = False,
    progress: Progress,
) -> SparkRelease:
    """Start Spark, anonymize a table with it, and write the release; Spark has ended when it returns.

    A session that was there before stays, and keeps nothing of the release.

    Parameters
    ----------
    data : sequence of path or address
        Files, folders, patterns, tables of databases, or addresses that Spark knows.
    policy : Policy
    output : path
        A folder that driver and executors share.
    master : str, optional
    to : str, optional
        A database's table, or Parquet in a store, that gets the rows too.
    overwrite : bool
    progress : callable

    Raises
    ------
    UsageError
        If pyspark is not installed, Spark does not start, or the table cannot be read.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise UsageError(
            "The Spark engine needs pyspark, which is not installed.",
            code="no-spark",
            hint="Install it with: pip install 'hushtable[spark]'.",
        )
    from hushtable.api import anonymize
    from hushtable.engines.spark.session import read_frame, spark_session
    from hushtable.engines.spark.staged import staged
    from hushtable.engines.spark.write import save_parts
    from hushtable.schema.columns import Role

    unread = [n for n, column in policy.columns.items() if column.role is Role.IDENTIFIER and n != policy.entity]
    with spark_session(master) as spark, staged(data, unread, output, progress) as files:
        release: SparkRelease = anonymize(read_frame(spark, files), policy, progress=progress)
        try:
            progress(1.0, "writing")
            save_parts(release, output, format=policy.output.format, overwrite=overwrite, to=to)
        finally:
            release.unpersist()
    return release
