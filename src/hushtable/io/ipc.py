"""Reading Arrow files (.arrow, .feather): the file and the stream format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import feather

from hushtable.errors import DataError
from hushtable.io.names import check_names, select_names
from hushtable.io.plain import plain_types
from hushtable.io.sniff import open_bytes

__all__ = ["read_ipc"]


def read_ipc(path: str | os.PathLike[str], *, columns: Sequence[str] | None = None) -> pa.Table:
    """Read an Arrow file or stream.

    Parameters
    ----------
    path : path
    columns : sequence of str, optional
        Return only these, in this order.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     feather.write_feather(pa.table({"b": [1]}), str(Path(folder, "t.arrow")))
    ...     read_ipc(Path(folder, "t.arrow")).to_pydict()
    {'b': [1]}
    """
    file = Path(path)
    where = f"The file {str(file)!r}"
    with open_bytes(file):  # a missing file or a folder is reported in our words
        pass
    table = _read(file)
    if table is None:
        raise DataError(
            f"{where} is not a complete Arrow file.",
            code="damaged-file",
            hint="It may be truncated or have the wrong ending; copy or export it again.",
        )
    table = table.select(select_names(check_names(table.column_names, where), columns, where))
    if not table.num_rows:
        raise DataError(f"{where} has no rows.", code="no-rows", hint="Check that the export ran to its end.")
    return plain_types(table.replace_schema_metadata(None))


def _read(path: Path) -> pa.Table | None:
    try:
        table = feather.read_table(str(path), memory_map=False)
    except (pa.ArrowException, OSError, ValueError):
        table = None
    try:
        if table is None:
            with pa.OSFile(str(path)) as source, pa.ipc.open_stream(source) as reader:
                table = reader.read_all()
        # offsets and codes are taken from the file as they are: without this, damaged ones end the process later
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError):
        return None
    return table
