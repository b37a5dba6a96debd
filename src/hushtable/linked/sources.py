"""Linked tables in files and databases."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable.errors import DataError, UsageError
from hushtable.io.files import column_names, read_table
from hushtable.io.sources import table_files
from hushtable.io.urls import DATABASES, Url, is_url, redacted
from hushtable.linked.policy import LinkedPolicy


def read_linked(sources: Sequence[str | Path], policy: LinkedPolicy) -> dict[str, pa.Table]:
    r"""Read the tables of a policy.

    Parameters
    ----------
    sources : sequence of path or address
        One file per table, named after it; folders of such files; or the address of one database that has tables with
        these names (in the schema that ``?schema=`` names). They are read in one snapshot.
    policy : LinkedPolicy

    Raises
    ------
    DataError If two files contain the same table.

    Examples
    --------
    >>> import tempfile
    >>> policy = LinkedPolicy(
    ...     tables={"people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
    ...             "visits": {"of": "people", "columns": {"reason": {"role": "quasi"}}}},
    ...     models=[{"k-anonymity": {"k": 5}}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "people.csv").write_text("id,age\n1,30\n")
    ...     _ = Path(folder, "visits.csv").write_text("id,reason\n1,cold\n")
    ...     sorted(read_linked([folder], policy))
    ['people', 'visits']
    """
    if len(sources) == 1 and is_database(sources[0]):
        from hushtable.io.sql import read_schema, schema_address

        return read_schema(schema_address(str(sources[0]), None), list(policy.tables))
    return {name: read_events(Path(file)) for name, file in _files(sources).items()}


def _files(sources: Sequence[str | Path]) -> dict[str, str]:
    """Return the file of each table. An address of a store, which Spark reads, is one table."""
    if any(map(is_database, sources)):
        raise UsageError("Linked tables must come from one database or from files, not from both.",
                         code="sources", hint="Give --data once for a database, or export it to files.")  # fmt: skip
    files: dict[str, str] = {}
    stores = [str(source) for source in sources if is_url(source)]
    for file in (*map(str, table_files([Path(s) for s in sources if not is_url(s)])), *stores):
        name = Path(file).name.split(".")[0]
        if name in files:
            raise DataError(f"{redacted(file)!r} is a second file of table {name!r}.", code="file-twice",
                            hint="Give one file for each table.")  # fmt: skip
        files[name] = file
    return files


@contextmanager
def reading_linked(
    sources: Sequence[str | Path], policy: LinkedPolicy, *, spark: bool = False, master: str | None = None
) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of a policy; with ``spark``, files are read by Spark, in a session that ends with the block.

    Raises
    ------
    UsageError
        If Spark is not installed or does not start, or a master is named without Spark.
    """
    if not spark:
        if master is not None:
            raise UsageError("Only the engine 'spark' has a master.", code="master", hint="Choose the engine spark.")
        yield read_linked(sources, policy)
        return
    if importlib.util.find_spec("pyspark") is None:
        raise UsageError("The Spark engine needs pyspark, which is not installed.", code="no-spark",
                         hint="Install it with: pip install 'hushtable[spark]'.")  # fmt: skip
    from hushtable.engines.spark.session import read_frame, spark_session

    if any(map(is_database, sources)):
        raise UsageError("Linked tables in a database are read through one connection, in one snapshot, without Spark.",
                         code="spark-engine", hint="Leave out --engine spark.")  # fmt: skip
    with spark_session(master) as session:
        yield {name: read_frame(session, [file]) for name, file in _files(sources).items()}


def addresses(database: str, tables: Iterable[str]) -> dict[str, str]:
    """Return the address of each table in a database.

    Raises
    ------
    UsageError
        If it is not a database, or the address names one table.

    Examples
    --------
    >>> addresses("duckdb:///open.db?schema=ward", ["people"])
    {'people': 'duckdb:///open.db?schema=ward&table=people'}
    """
    from hushtable.io.sql import schema_address

    whole = Url.of(schema_address(database, None))
    return {name: whole.with_options(table=name).secret() for name in tables}


def check_database(to: str, policy: LinkedPolicy, sources: Sequence[str | Path], *, overwrite: bool) -> None:
    """Refuse a database that the release cannot be written to, before any work.

    Raises
    ------
    OutputError
        If a table already exists, or is one of the sources.
    """
    from hushtable.release.addresses import check_address

    read: list[str] = []
    if len(sources) == 1 and is_database(sources[0]):
        read = list(addresses(str(sources[0]), policy.tables).values())
    for one in addresses(to, policy.tables).values():
        check_address(one, overwrite=overwrite, inputs=read)


def is_database(source: str | Path) -> bool:
    """Whether a source is the address of a database."""
    return is_url(source) and Url.of(str(source)).scheme in DATABASES


def read_events(file: Path, *, unescape_formulas: bool = False) -> pa.Table:
    """Read a table that may have no rows: perhaps there were no such events."""
    try:
        return read_table(file, unescape_formulas=unescape_formulas)
    except DataError as error:
        if error.code != "no-rows":
            raise
        return pa.table({name: pa.array([], pa.string()) for name in column_names(file)})
