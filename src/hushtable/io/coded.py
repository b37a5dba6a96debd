"""Reading a file into dictionary columns with the smallest indices that fit: a byte or two a cell."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.io.dictionaries import decode
from hushtable.io.files import iter_batches

__all__ = ["read_coded"]

BATCH_ROWS = 1 << 18


def read_coded(
    path: str | os.PathLike[str], columns: Sequence[str] | None = None, *, unescape_formulas: bool = False
) -> pa.Table:
    """Read a table so that a column of few distinct values takes one byte a row.

    Every column comes as a dictionary array, values in order of first occurrence, null as null.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hushtable.io.files import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"a": ["x", "y", "x"]}), Path(folder, "t.parquet"))
    ...     str(read_coded(Path(folder, "t.parquet")).schema.field("a").type)
    'dictionary<values=string, indices=uint8, ordered=0>'
    """
    gatherers: dict[str, _Gatherer] = {}
    for batch in iter_batches(path, columns, BATCH_ROWS, unescape_formulas=unescape_formulas):
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            gatherers.setdefault(name, _Gatherer()).add(array)
    # the reader's buffers would otherwise stay with the process
    pa.default_memory_pool().release_unused()
    return pa.table({name: g.column() for name, g in gatherers.items()})


class _Gatherer:
    """Collects one column, batch by batch."""

    def __init__(self) -> None:
        self._values: pa.Array | None = None
        self._parts: list[npt.NDArray[np.unsignedinteger]] = []
        self._gaps: list[npt.NDArray[np.int64]] = []
        self._rows = 0

    def add(self, array: pa.Array) -> None:
        if pa.types.is_dictionary(array.type) and (
            array.dictionary.null_count or len(array.dictionary.unique()) < len(array.dictionary)
        ):
            array = decode(array)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        values = array.dictionary
        if self._values is None:
            self._values = values.slice(0, 0)
        new = values.filter(pc.invert(pc.is_in(values, value_set=self._values)))
        if len(new):
            self._values = pa.concat_arrays([self._values, new])
        place = pc.index_in(values, value_set=self._values).to_numpy(zero_copy_only=False)
        lookup = np.append(place, 0).astype(np.min_scalar_type(max(len(self._values) - 1, 0)))
        indices = array.indices
        if indices.null_count:
            self._gaps.append(self._rows + np.flatnonzero(indices.is_null().to_numpy(zero_copy_only=False)))
            # the type of the indices need not hold one more
            indices = indices.cast(pa.int64()).fill_null(len(values))
        self._parts.append(lookup[indices.to_numpy(zero_copy_only=False)])
        self._rows += len(array)

    def column(self) -> pa.DictionaryArray:
        codes = np.concatenate(self._parts)
        self._parts.clear()
        gaps = None
        if self._gaps:
            gaps = np.zeros(len(codes), dtype=np.bool_)
            gaps[np.concatenate(self._gaps)] = True
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=gaps), self._values)
