"""Reading the table that a command is given, in one file or in several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.io.urls import Source

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_tables"]


def read_tables(sources: Sequence[Source], *, table: str | None = None, query: str | None = None) -> pa.Table:
    r"""Read a table from sources that each hold some of its rows; a folder or a pattern stands for its files.

    Parameters
    ----------
    sources : sequence of path or address
    table, query : str, optional
        Which table of a database, or what to ask it for.

    Raises
    ------
    DataError
        If a file cannot be read, or the files do not have the same columns.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in {"a.csv": "age,sex\n1,m\n", "b.csv": "sex,age\nf,2\n"}.items():
    ...         _ = Path(folder, name).write_text(text)
    ...     read_tables([Path(folder, "a.csv"), Path(folder, "b.csv")]).to_pydict()
    {'age': ['1', '2'], 'sex': ['m', 'f']}
    """
    import pyarrow as pa

    from hushtable.io.files import read_table
    from hushtable.io.sources import in_types_of, same_columns, same_types, table_sources
    from hushtable.io.urls import source_of

    found = table_sources([source_of(str(source), table=table, query=query) for source in sources])
    tables = [read_table(source) for source in found]
    if len(tables) == 1:
        return tables[0]
    names = same_columns(found, [table.column_names for table in tables])
    parts = [table.select(names) for table in tables]
    same_types([part.schema for part in parts])
    return pa.concat_tables([in_types_of(part, parts[0].schema) for part in parts]).unify_dictionaries()
