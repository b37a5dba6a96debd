"""The table of a command that Spark works on."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hushtable.errors import UsageError

__all__ = ["spark_table"]


@contextmanager
def spark_table(data: Sequence[str], master: str | None, *, elsewhere: str | None = None) -> Iterator[Any]:
    """Start Spark and read the table; Spark ends with the block.

    Parameters
    ----------
    data : sequence of str
        Files, folders, patterns or addresses.
    master : str, optional
    elsewhere : str, optional
        An option that reads from or writes to a database, which the Spark engine does not.

    Raises
    ------
    UsageError
        If pyspark is not installed, Spark does not start, or the table cannot be read.
    """
    if elsewhere:
        raise UsageError(
            "The Spark engine reads and writes files; --table, --query and --to are for the local engine.",
            code="spark-engine",
            hint="In Python, give hushtable.anonymize any Spark DataFrame, and write release.frame anywhere.",
        )
    if importlib.util.find_spec("pyspark") is None:
        raise UsageError(
            "The Spark engine needs pyspark, which is not installed.",
            code="no-spark",
            hint="Install it with: pip install 'hushtable[spark]'.",
        )
    from hushtable.engines.spark.session import read_frame, spark_session

    with spark_session(master) as spark:
        yield read_frame(spark, list(map(str, data)))
