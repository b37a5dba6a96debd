"""Writing CSV: UTF-8, fields quoted only if needed, dictionaries kept as dictionaries.

Text is prepared on each column's distinct values, and rows are joined by Arrow in slices: no cell becomes a Python
object, and the bytes do not depend on Arrow's own CSV writer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError, OutputError
from hushtable.io.dictionaries import encode, value_type
from hushtable.io.text import to_labels

_SLICE = 16_384


class Writer(Protocol):
    """Anything that bytes can be written to: a file, a compressor."""

    def write(self, data: Any, /) -> Any:
        """Take the bytes."""


def write_csv(table: pa.Table, out: Writer, *, delimiter: str = ",") -> None:
    r"""Write a table as CSV.

    Null is an empty cell.

    Parameters
    ----------
    table : pyarrow.Table
    out : binary file
    delimiter : str

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_csv(pa.table({"a": ["x,y", "=1+1", None], "b": [1.0, 2.5, None]}), out)
    >>> out.getvalue()
    b'a,b\n"x,y",1\n=1+1,2.5\n,\n'
    """
    write_csv_header(table.column_names, out, delimiter=delimiter)
    write_csv_rows(table, out, delimiter=delimiter)


def write_csv_header(names: Sequence[str], out: Writer, *, delimiter: str = ",") -> None:
    r"""Write the line with the columns' names.

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_csv_header(["a,b", "c"], out)
    >>> out.getvalue()
    b'"a,b",c\n'
    """
    header = _fields(pa.array(names, pa.string()), delimiter, len(names) == 1)
    out.write((delimiter.join(header.to_pylist()) + "\n").encode())


def write_csv_rows(table: pa.Table, out: Writer, *, delimiter: str = ",") -> None:
    r"""Write rows without a header, for a table that is written piece by piece.

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_csv_rows(pa.table({"a": [1, 2]}), out)
    >>> out.getvalue()
    b'1\n2\n'
    """
    alone = table.num_columns == 1
    columns = [_column(n, c, delimiter, alone) for n, c in zip(table.column_names, table.columns, strict=True)]
    for start in range(0, table.num_rows, _SLICE):
        cells = [_decoded(column.slice(start, _SLICE), alone) for column in columns]
        lines = pc.binary_join_element_wise(*cells, delimiter) if len(cells) > 1 else cells[0]
        rows = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
        out.write(pc.binary_join(rows, "\n")[0].as_buffer())
        out.write(b"\n")


def _column(name: str, column: pa.ChunkedArray, delimiter: str, alone: bool) -> pa.DictionaryArray:
    try:
        to_labels(pa.array([], value_type(column.type)))
    except DataError as error:
        raise OutputError(
            f"Column {name!r} cannot be written as CSV. {error.message}", code=error.code, hint=error.hint
        ) from None
    coded = encode(column)
    labels = to_labels(coded.dictionary)
    if pc.any(pc.match_substring(labels, "\0")).as_py():
        raise OutputError(
            f"Column {name!r} has text with a zero character, which readers of CSV refuse.",
            code="unsupported-type",
            hint="Remove it, or write Parquet.",
        )
    return pa.DictionaryArray.from_arrays(coded.indices, _fields(labels, delimiter, alone))


def _decoded(column: pa.DictionaryArray, alone: bool) -> pa.Array:
    # A bare empty line would be skipped by most readers, so a lone empty cell is written as "".
    return pc.fill_null(column.dictionary_decode(), '""' if alone else "")


def _fields(text: pa.Array, delimiter: str, alone: bool) -> pa.Array:
    """Each text as a CSV field, quoted if necessary."""
    needs = pc.match_substring(text, delimiter)
    for sign in ('"', "\n", "\r"):
        needs = pc.or_(needs, pc.match_substring(text, sign))
    if alone:
        needs = pc.or_(needs, pc.equal(text, ""))
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
    return pc.if_else(needs, quoted, text)
