"""Reading the table that a command is given, in one file or in several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hushtable.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_tables"]


def read_tables(files: Sequence[Path]) -> pa.Table:
    r"""Read a table from files that each hold some of its rows.

    Raises
    ------
    DataError
        If a file cannot be read, or the files do not have the same columns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in {"a.csv": "age,sex\n1,m\n", "b.csv": "sex,age\nf,2\n"}.items():
    ...         _ = Path(folder, name).write_text(text)
    ...     read_tables([Path(folder, "a.csv"), Path(folder, "b.csv")]).to_pydict()
    {'age': ['1', '2'], 'sex': ['m', 'f']}
    """
    import pyarrow as pa

    from hushtable.io.files import read_table

    first, *others = [read_table(file) for file in files]
    if not others:
        return first
    names = first.column_names
    parts = [first]
    for file, table in zip(files[1:], others, strict=True):
        if sorted(table.column_names) != sorted(names):
            differing = sorted(set(names).symmetric_difference(table.column_names))
            raise DataError(
                f"{str(files[0])!r} and {str(file)!r} do not have the same columns. In one of them "
                f"only: {', '.join(map(repr, differing))}.",
                code="different-columns",
                hint="The files of one table have the same columns.",
            )
        parts.append(table.select(names))
    schemas = {name: {str(_value_type(t.schema.field(name).type)) for t in parts} for name in names}
    mixed = [name for name, types in schemas.items() if len(types) > 1]
    if mixed:
        raise DataError(
            f"These columns are of another type in some of the files: {', '.join(map(repr, mixed))}.",
            code="different-types",
            hint="Give all files in one format.",
        )
    return pa.concat_tables(parts).unify_dictionaries()


def _value_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind
