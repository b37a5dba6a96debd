"""Reading a file into dictionary columns with the smallest indices that fit: a byte or two per cell."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hushtable.errors import DataError
from hushtable.io.dictionaries import decode, encode, from_codes, to_codes
from hushtable.io.files import iter_batches
from hushtable.io.sources import each_run, same_types, table_sources
from hushtable.io.text import type_words
from hushtable.io.urls import Source, redacted

BATCH_ROWS = 1 << 18


def read_coded(
    path: Source | Sequence[Source], columns: Sequence[str] | None = None, *, unescape_formulas: bool = False
) -> pa.Table:
    """Read a table, a folder with its parts, an address, or several, with one byte per row for columns of few values.

    Every column is a dictionary array, with values in order of first occurrence, and null as null.

    Raises
    ------
    DataError
        If a part cannot be read, or has different columns or types than the first.

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
    gatherers = _gather(path, columns, unescape_formulas=unescape_formulas)
    return pa.table({name: gatherers.pop(name).column() for name in list(gatherers)})


def count_coded(
    path: Source | Sequence[Source], columns: Sequence[str] | None = None
) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Read the distinct rows of a table as ``read_coded`` does, in no order, and the number of each.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hushtable.io.files import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"a": ["x", None, "x"], "b": [1, 2, 1]}), Path(folder, "t.parquet"))
    ...     table, times = count_coded(Path(folder, "t.parquet"))
    >>> table.to_pydict(), times.tolist()
    ({'a': ['x', None], 'b': [1, 2]}, [2, 1])
    """
    gatherers = _gather(path, columns)
    # null is a value of its own
    sizes = [len(gatherer.values) + 1 for gatherer in gatherers.values()]
    stride = math.prod(sizes)
    if stride >= 2**62:
        return _count_wide(pa.table({name: gatherer.column() for name, gatherer in gatherers.items()}), sizes)
    n = sum(map(len, next(iter(gatherers.values())).codes))
    key = np.zeros(n, dtype=np.uint32 if stride < 2**32 else np.int64)
    for gatherer, size in zip(gatherers.values(), sizes, strict=True):
        stride //= size
        gatherer.add_to(key, stride)
    # faster than sorting them, and needs nothing compiled
    counted = pa.table({"key": key}).group_by("key", use_threads=False).aggregate([([], "count_all")])
    rest, times = (counted.column(name).to_numpy().astype(np.int64) for name in ("key", "count_all"))
    found = {}
    for (name, gatherer), size in zip(reversed(gatherers.items()), reversed(sizes), strict=True):
        rest, place = np.divmod(rest, size)
        found[name] = from_codes(np.where(place < size - 1, place, -1), gatherer.values)
    return pa.table({name: found[name] for name in gatherers}), times


def count_neighbours(
    path: Source | Sequence[Source], columns: Sequence[str], rows: int, *, unescape_formulas: bool = False
) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Read a table as ``read_coded`` does, but with equal adjacent rows once; return the number of rows of each.

    Memory grows with their number, plus a piece of at most ``rows`` rows for each core.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hushtable.io.files import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"a": ["x", "x", None, "x"], "b": [1, 1, 2, 1]}), Path(folder, "t.parquet"))
    ...     table, times = count_neighbours(Path(folder, "t.parquet"), ["a", "b"], 100)
    >>> table.to_pydict(), times.tolist()
    ({'a': ['x', None, 'x'], 'b': [1, 2, 1]}, [2, 1, 1])
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)

    def counted(table: pa.Table) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        coded = [_plain_codes(column) for column in table.columns]
        new = np.zeros(table.num_rows, dtype=np.bool_)
        new[0] = True
        for column in coded:
            codes = column.indices.to_numpy() if not column.indices.null_count else to_codes(column)
            new[1:] |= codes[1:] != codes[:-1]
        first = np.flatnonzero(new)
        take = pa.array(first)
        short = [encode(column.take(take)) for column in coded]
        short = [pa.DictionaryArray.from_arrays(c.indices.cast(pa.int32()), c.dictionary) for c in short]
        return pa.table(short, names=table.column_names), np.diff(np.append(first, table.num_rows))

    found = list(each_run(table_sources(paths), columns, rows, counted, unescape_formulas=unescape_formulas))
    whole = pa.concat_tables([table for table, _ in found]).unify_dictionaries().combine_chunks()
    return whole, np.concatenate([times for _, times in found])


def _plain_codes(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """The column with a dictionary that has every value once; some may not occur."""
    if column.num_chunks != 1 or not pa.types.is_dictionary(column.type):
        return encode(column)
    chunk = column.chunk(0)
    once = not chunk.dictionary.null_count and len(chunk.dictionary.unique()) == len(chunk.dictionary)
    return chunk if once else encode(column)


def _count_wide(table: pa.Table, sizes: Sequence[int]) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Count equal rows if there are too many combinations for one number: those that occur are renumbered."""
    label, span = np.zeros(table.num_rows, dtype=np.int64), 1
    for column, size in zip(table.columns, sizes, strict=True):
        if span * size >= 2**62:
            label = to_codes(pa.array(label).dictionary_encode())
            span = int(label.max()) + 1
        codes = to_codes(column.combine_chunks())
        label = label * size + np.where(codes < 0, size - 1, codes)
        span *= size
    _, first, times = np.unique(label, return_index=True, return_counts=True)
    return table.take(pa.array(first)), times.astype(np.int64)


def _gather(
    path: Source | Sequence[Source], columns: Sequence[str] | None, *, unescape_formulas: bool = False
) -> dict[str, _Gatherer]:
    """Read the columns of a table batch by batch."""
    gatherers: dict[str, _Gatherer] = {}
    first: pa.Schema | None = None
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    for file in table_sources(paths):
        for batch in iter_batches(file, columns, BATCH_ROWS, unescape_formulas=unescape_formulas):
            if gatherers and set(gatherers) != set(batch.schema.names):
                raise DataError(
                    f"{redacted(file)!r} has different columns from the files before it.",
                    code="different-columns",
                    hint="The parts of one table must have the same columns.",
                )
            first = first or batch.schema
            same_types([first, batch.schema])
            for name, array in zip(batch.schema.names, batch.columns, strict=True):
                try:
                    gatherers.setdefault(name, _Gatherer()).add(array)
                except pa.ArrowNotImplementedError:
                    raise DataError(
                        f"Column {name!r} of {redacted(file)!r} contains values of type {type_words(array.type)}, "
                        "which cannot be used.",
                        code="unsupported-type",
                        hint="Convert the column to numbers, dates or text first.",
                    ) from None
    # the reader's buffers would otherwise stay with the process
    pa.default_memory_pool().release_unused()
    return gatherers


class _Gatherer:
    """Collects one column, batch by batch.

    Attributes
    ----------
    codes : list of integer arrays
        The places of each batch's cells in its own dictionary.
    """

    def __init__(self) -> None:
        self._values: list[pa.Array] = []
        self.codes: list[npt.NDArray[np.unsignedinteger]] = []
        self._gaps: list[npt.NDArray[np.bool_] | None] = []

    def add(self, array: pa.Array) -> None:
        """Add the next rows; places in the batch's own dictionary are stored in the fewest bytes."""
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
        self.codes.append(codes.astype(np.min_scalar_type(max(len(array.dictionary) - 1, 0))))

    @cached_property
    def _one_dictionary(self) -> pa.DictionaryArray:
        return pa.concat_arrays(self._values).dictionary_encode()

    @property
    def values(self) -> pa.Array:
        """The values of the whole column, in order of first occurrence."""
        return self._one_dictionary.dictionary

    def column(self) -> pa.DictionaryArray:
        """Return the column, over one dictionary."""
        place = to_codes(self._one_dictionary).astype(np.min_scalar_type(max(len(self.values) - 1, 0)))
        out = np.empty(sum(map(len, self.codes)), dtype=place.dtype)
        gaps = np.zeros(len(out), dtype=np.bool_) if any(m is not None for m in self._gaps) else None
        for rows, cells, missing in self._cells(place, place.dtype.type(0)):
            out[rows] = cells
            if missing is not None and gaps is not None:
                gaps[rows] = missing
        return pa.DictionaryArray.from_arrays(pa.array(out, mask=gaps), self.values)

    def add_to(self, key: npt.NDArray[Any], stride: int) -> None:
        """Add to each row's key the place of its value, times a stride; null comes last."""
        kind = key.dtype.type
        for rows, cells, _ in self._cells(
            to_codes(self._one_dictionary).astype(kind) * kind(stride), kind(len(self.values) * stride)
        ):
            key[rows] += cells

    def _cells(
        self, of_value: npt.NDArray[Any], of_gap: Any
    ) -> Iterator[tuple[slice, npt.NDArray[Any], npt.NDArray[np.bool_] | None]]:
        """Look up the numbers of each batch's cells; yield its rows, their numbers and which are null.

        This consumes the collected batches.
        """
        at = first = 0
        for batch, values in enumerate(self._values):
            codes, missing = self.codes[batch], self._gaps[batch]
            # a batch of nulls has no values, and one place too few
            cells = np.append(of_value[first : first + len(values)], of_gap)[codes]
            if missing is not None:
                cells[missing] = of_gap
            yield slice(at, at + len(codes)), cells, missing
            self.codes[batch] = codes[:0]
            at, first = at + len(codes), first + len(values)
