"""Linked tables in files and databases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from hushtable.errors import DataError
from hushtable.io.files import column_names, read_table
from hushtable.io.sources import table_files
from hushtable.io.urls import DATABASES, Url, is_url, shown
from hushtable.linked.policy import LinkedPolicy

__all__ = ["read_events", "read_linked"]


def read_linked(sources: Sequence[str | Path], policy: LinkedPolicy) -> dict[str, pa.Table]:
    r"""Read the tables of a policy.

    Parameters
    ----------
    sources : sequence of path or address
        A file per table, named like it; folders of such files; or the address of one database, which has tables of
        these names (in the schema that ``?schema=`` says).
    policy : LinkedPolicy

    Raises
    ------
    DataError
        If two files are of one table.

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
    if len(sources) == 1 and is_url(sources[0]) and Url.of(str(sources[0])).scheme in DATABASES:
        from hushtable.io.sql.access import read_sql

        return {name: read_sql(str(sources[0]), table=name) for name in policy.tables}
    files: dict[str, Path] = {}
    for file in table_files([Path(source) for source in sources]):
        name = file.name.split(".")[0]
        if name in files:
            raise DataError(f"{shown(file)!r} is a second file of table {name!r}.", code="file-twice",
                            hint="A linked table is one file.")  # fmt: skip
        files[name] = file
    return {name: read_events(file) for name, file in files.items()}


def read_events(file: Path, *, unescape_formulas: bool = False) -> pa.Table:
    """Read a table that may have no rows: nothing may have happened to anybody."""
    try:
        return read_table(file, unescape_formulas=unescape_formulas)
    except DataError as error:
        if error.code != "no-rows":
            raise
        return pa.table({name: pa.array([], pa.string()) for name in column_names(file)})
