"""Spark on tables in files and databases, in a session that ends when the release is written."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

import pyarrow as pa

from hushtable.algorithms.base import Progress
from hushtable.engines.spark.release import SparkTable, run_frame
from hushtable.engines.spark.session import parquet_files, read_frame, spark_session
from hushtable.engines.spark.write import save_parts
from hushtable.io.atomic import named, reported
from hushtable.io.files import column_names, iter_batches
from hushtable.io.layout import GROUP_ROWS, write_pieces
from hushtable.io.temporary import held_temporary
from hushtable.io.urls import DATABASES, Source, Url, is_url
from hushtable.release.plan import Plan


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
    """Start Spark, anonymize a table, write the release and stop Spark.

    An existing session stays, and caches nothing of the release.

    Parameters
    ----------
    data : sequence of path or address
        Files, folders, patterns, tables of databases, or addresses that Spark supports.
    plan : Plan
    output : path
        A folder that driver and executors share.
    format : {"csv", "parquet"}
    master : str, optional
    to : str, optional
        A database table, or Parquet in a store, that also gets the rows.
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
        release = run_frame(read_frame(spark, files), plan, progress, parquet_files(files))
        held: SparkTable = release.published
        try:
            progress(1.0, "writing")
            save_parts(release, held.outcome, output, format=format, overwrite=overwrite, to=to)
        finally:
            held.unpersist()


# Tables of databases for Spark: read once by the driver, in one snapshot, into Parquet that the executors read.
#
# Spark reads its input several times, and a table that changes would be different each time; separate connections of
# executors could see different rows. So one connection reads it, in the types of the local engine, into a hidden folder
# next to the output, which driver and executors share anyway. Identifiers stay in the database.


@contextmanager
def staged(sources: Sequence[Source], unread: Collection[str], target: Path, progress: Progress) -> Iterator[list[str]]:
    """Yield the sources with tables of databases as files, which are removed when the block ends.

    Parameters
    ----------
    sources : sequence of path or address
    unread : collection of str
        Columns that are not needed, which stay in the database.
    target : path
        The output; the files are next to it.
    progress : callable
    """
    tables = [str(s) for s in sources if is_url(s) and Url.of(str(s)).scheme in DATABASES]
    others = [os.fspath(s) for s in sources if str(s) not in tables]
    if not tables:
        yield others
        return
    resolved = Path(os.path.realpath(target))
    with ExitStack() as held:
        files = []
        with reported(target):
            make = held_temporary(resolved, lambda name: name.mkdir(mode=0o700, parents=True))
            folder = held.enter_context(make)
            for number, address in enumerate(tables):
                files.append(folder / f"{number:05}.parquet")
                pieces = _pieces(address, unread, progress)
                first = next(pieces)
                with named(folder, target):
                    write_pieces(chain([first], pieces), first.schema, files[-1])
        yield [*map(str, files), *others]


def _pieces(address: str, unread: Collection[str], progress: Progress) -> Iterator[pa.Table]:
    names = column_names(address)
    read = [name for name in names if name not in unread] or names[:1]
    for batch in iter_batches(address, read, GROUP_ROWS):
        progress(0.0, "reading")
        gap = pa.nulls(batch.num_rows, pa.string())
        yield pa.table({name: batch.column(read.index(name)) if name in read else gap for name in names})
