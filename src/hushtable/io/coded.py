"""Reading a file into dictionary columns with the smallest indices that fit: a byte or two a cell."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hushtable.errors import DataError
from hushtable.io.dictionaries import decode, to_codes
from hushtable.io.files import iter_batches
from hushtable.io.sources import same_types, table_sources
from hushtable.io.text import type_words
from hushtable.io.urls import Source, shown

__all__ = ["read_coded"]

BATCH_ROWS = 1 << 18


def read_coded(
    path: Source | Sequence[Source], columns: Sequence[str] | None = None, *, unescape_formulas: bool = False
) -> pa.Table:
    """Read a table, a folder with its parts, an address, or several, so that few values take one byte a row.

    Every column comes as a dictionary array, values in order of first occurrence, null as null.

    Raises
    ------
    DataError
        If a part cannot be read, or has other columns or types than the first.

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
    first: pa.Schema | None = None
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    for file in table_sources(paths):
        for batch in iter_batches(file, columns, BATCH_ROWS, unescape_formulas=unescape_formulas):
            if gatherers and set(gatherers) != set(batch.schema.names):
                raise DataError(
                    f"{shown(file)!r} has other columns than the files before it.",
                    code="different-columns",
                    hint="The parts of one table have the same columns.",
                )
            first = first or batch.schema
            same_types([first, batch.schema])
            for name, array in zip(batch.schema.names, batch.columns, strict=True):
                try:
                    gatherers.setdefault(name, _Gatherer()).add(array)
                except pa.ArrowNotImplementedError:
                    raise DataError(
                        f"Column {name!r} of {shown(file)!r} holds values of type {type_words(array.type)}, "
                        "which cannot be used.",
                        code="unsupported-type",
                        hint="Convert the column to numbers, dates or text first.",
                    ) from None
    # the reader's buffers would otherwise stay with the process
    pa.default_memory_pool().release_unused()
    return pa.table({name: gatherers.pop(name).column() for name in list(gatherers)})


class _Gatherer:
    """Collects one column, batch by batch."""

    def __init__(self) -> None:
        self._values: list[pa.Array] = []
        self._codes: list[npt.NDArray[np.unsignedinteger]] = []
        self._gaps: list[npt.NDArray[np.bool_] | None] = []

    def add(self, array: pa.Array) -> None:
        """Take the next rows; places in the batch's own dictionary are kept, in the fewest bytes."""
        if pa.types.is_dictionary(array.type) and (
            array.dictionary.null_count or len(array.dictionary.unique()) < len(array.dictionary)
        ):
            array = decode(array)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        missing = None
        if array.indices.null_count:
            codes = to_codes(array)
            missing = codes < 0
            codes[missing] = 0
        else:
            codes = array.indices.to_numpy()
        self._gaps.append(missing)
        self._values.append(array.dictionary)
        self._codes.append(codes.astype(np.min_scalar_type(max(len(array.dictionary) - 1, 0))))

    def column(self) -> pa.DictionaryArray:
        """Return the column, over one dictionary."""
        whole = pa.concat_arrays(self._values).dictionary_encode()
        place = to_codes(whole).astype(np.min_scalar_type(max(len(whole.dictionary) - 1, 0)))
        out = np.empty(sum(map(len, self._codes)), dtype=place.dtype)
        gaps = np.zeros(len(out), dtype=np.bool_) if any(m is not None for m in self._gaps) else None
        at = first = 0
        for batch, values in enumerate(self._values):
            codes, missing = self._codes[batch], self._gaps[batch]
            # a batch of nulls has no values, and one place too few
            here = np.append(place[first : first + len(values)], place.dtype.type(0))
            out[at : at + len(codes)] = here[codes]
            if missing is not None and gaps is not None:
                gaps[at : at + len(codes)] = missing
            self._codes[batch] = codes[:0]
            at, first = at + len(codes), first + len(values)
        return pa.DictionaryArray.from_arrays(pa.array(out, mask=gaps), whole.dictionary)
