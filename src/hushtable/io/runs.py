"""Columns in sorted runs on disk: ranks and codes of columns whose values do not fit into memory.

A run is some rows of a column: its distinct values in order, and every row's place among them. Runs are merged range by
range: a range takes the values between two sampled ones from every run, as many as fit into memory, and ranks them.
Reading is sequential except for the first access to each range, through memory maps.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.io.dictionaries import encode, to_codes, value_ranks, value_type

RANGE_BYTES = 1 << 28
"""Bytes of values to rank at once."""

_SAMPLE = 256


class RunWriter:
    """Writes one column, run after run.

    Parameters
    ----------
    base : path
        Its files have ``.values`` and ``.codes`` appended to this name.
    kind : pyarrow.DataType
        The column's type.
    """

    def __init__(self, base: Path, kind: pa.DataType) -> None:
        self._kind = _stored(kind)
        self._rows: list[int] = []
        self._bytes: list[int] = []
        self._codes = _beside(base, "codes").open("wb")
        self._file = _beside(base, "values").open("wb")
        self._values = pa.ipc.new_file(self._file, pa.schema({"v": self._kind}))

    def add(self, values: pa.Array, places: AnyArray) -> None:
        """Write the next run, as ``sorted_run`` gives it."""
        self._values.write_batch(pa.record_batch([values], names=["v"]))
        self._codes.write(places.data)
        self._rows.append(len(places))
        self._bytes.append(places.itemsize)

    def close(self) -> dict[str, Any]:
        """Finish the files; return an object that reads them."""
        self._values.close()
        for file in (self._file, self._codes):
            file.flush()
            os.fsync(file.fileno())
            file.close()
        return {"rows": self._rows, "bytes": self._bytes}

    def abandon(self) -> None:
        """Close the files without finishing them, ignoring errors."""
        for file in (self._file, self._codes):
            with contextlib.suppress(OSError):
                file.close()


def _beside(base: Path, ending: str) -> Path:
    return base.with_name(f"{base.name}.{ending}")


def _stored(kind: pa.DataType) -> pa.DataType:
    """The type in which values are stored: for text, one that may exceed 2 GiB."""
    kind = value_type(kind)
    return pa.large_string() if pa.types.is_string(kind) or pa.types.is_string_view(kind) else kind


def sorted_run(column: pa.ChunkedArray) -> tuple[pa.Array, AnyArray]:
    """Return the distinct values in order, and the place of every row's value, from 1; 0 is null.

    Examples
    --------
    >>> values, places = sorted_run(pa.chunked_array([["y", None, "x"]]))
    >>> values.to_pylist(), places.tolist()
    (['x', 'y'], [2, 0, 1])
    """
    kind = _stored(column.type)
    if pa.types.is_null(kind):
        return pa.array([], kind), np.zeros(len(column), dtype=np.uint8)
    coded = encode(column)
    order = pc.sort_indices(coded.dictionary).to_numpy(zero_copy_only=False)
    place = np.zeros(len(order) + 1, dtype=np.min_scalar_type(len(order)))
    place[order] = np.arange(1, len(order) + 1)
    # a null's index is the last entry
    indices = coded.indices if not coded.indices.null_count else pa.array(to_codes(coded))
    return coded.dictionary.take(pa.array(order)).cast(kind), place.take(indices.to_numpy(), mode="wrap")


@dataclass(frozen=True)
class ColumnRuns:
    """One column in runs, as ``RunWriter`` left it.

    Attributes
    ----------
    base : path
    kind : pyarrow.DataType
        The column's own type.
    rows : tuple of int
        Rows of each run.
    widths : tuple of int
        Bytes of a place in each run.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = RunWriter(Path(folder, "a"), pa.string())
    ...     for cells in (["y", None, "x"], ["y"]):
    ...         writer.add(*sorted_run(pa.chunked_array([cells])))
    ...     runs = ColumnRuns.of(Path(folder, "a"), pa.string(), writer.close())
    ...     runs.values(0).to_pylist(), runs.places_in_run(0).tolist(), runs.to_dictionary_array().to_pylist()
    (['x', 'y'], [2, 0, 1], ['y', None, 'x', 'y'])
    """

    base: Path
    kind: pa.DataType
    rows: tuple[int, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, base: Path, kind: pa.DataType, facts: Mapping[str, Any]) -> ColumnRuns:
        """Return the column that was written there."""
        return cls(base, kind, tuple(facts["rows"]), tuple(facts["bytes"]))

    def __len__(self) -> int:
        return len(self.rows)

    def values(self, run: int) -> pa.Array:
        """Return the distinct values of a run, in order, without reading them."""
        with pa.memory_map(str(_beside(self.base, "values"))) as file:
            return pa.ipc.open_file(file).get_batch(run).column(0)

    def places_in_run(self, run: int) -> AnyArray:
        """Return the place of every row's value in its run, from 1; 0 is null."""
        sizes = np.array(self.rows, dtype=np.int64) * np.array(self.widths, dtype=np.int64)
        dtype = np.dtype(f"u{self.widths[run]}")
        start = int(sizes[:run].sum())
        return np.fromfile(_beside(self.base, "codes"), dtype=dtype, count=self.rows[run], offset=start)

    def cells(self, run: int) -> pa.Array:
        """Return the cells of a run as they were read, in their stored type."""
        places = self.places_in_run(run)
        return self.values(run).take(pa.array(places.astype(np.int64) - 1, mask=places == 0))

    def merged_values(self) -> tuple[pa.Array, list[AnyArray]]:
        """Return the distinct values of all runs in order, and for each run the place of its values among them.

        Places begin with 1; each run's list begins with 0, the place of null.
        """
        parts, pieces = [], [[np.zeros(1, dtype=np.int64)] for _ in range(len(self))]
        offset = 1
        for here in merged(self):
            parts.append(here.values)
            for run, places in enumerate(here.places):
                pieces[run].append(places + offset)
            offset += len(here.values)
        dtype = np.min_scalar_type(offset - 1)
        return pa.concat_arrays(parts).cast(_plain(self.kind)), [np.concatenate(p).astype(dtype) for p in pieces]

    def to_dictionary_array(self) -> pa.DictionaryArray:
        """Return the whole column in memory: sorted distinct values, and the smallest codes that fit."""
        dictionary, pieces = self.merged_values()
        codes = np.empty(sum(self.rows), dtype=np.min_scalar_type(max(len(dictionary) - 1, 0)))
        gaps = np.zeros(len(codes), dtype=np.bool_)
        at = 0
        for run, rows in enumerate(self.rows):
            places = self.places_in_run(run)
            own = pieces[run].astype(np.int64) - 1
            own[0] = 0
            codes[at : at + rows] = own.astype(codes.dtype)[places]
            gaps[at : at + rows] = places == 0
            at += rows
        return pa.DictionaryArray.from_arrays(_indices(codes, gaps), dictionary)


def _plain(kind: pa.DataType) -> pa.DataType:
    kind = value_type(kind)
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def _indices(codes: AnyArray, gaps: BoolArray) -> pa.Array:
    """Return codes as an Arrow array over the same memory."""
    valid = pa.py_buffer(np.packbits(~gaps, bitorder="little")) if gaps.any() else None
    return pa.Array.from_buffers(pa.from_numpy_dtype(codes.dtype), len(codes), [valid, pa.py_buffer(codes)])


@dataclass(frozen=True)
class Range:
    """A range of values of all runs.

    Attributes
    ----------
    values : pyarrow.Array
        Distinct, in order.
    places : list of int64 arrays
        For each run, the places of its values of this range among them.
    """

    values: pa.Array
    places: list[IntArray]


def merged(runs: ColumnRuns) -> Iterator[Range]:
    """Merge the runs' values, range by range, in order."""
    arrays = [runs.values(run) for run in range(len(runs))]
    # at least one range, so that a column of nulls has a type
    wanted = max(1, -(-sum(array.nbytes for array in arrays) // RANGE_BYTES))
    edges = [[0] * len(arrays)]
    for value in _splitters(arrays, wanted):
        edges.append([_below(array, value) for array in arrays])
    edges.append([len(array) for array in arrays])
    for low, high in itertools.pairwise(edges):
        pieces = [a.slice(start, end - start) for a, start, end in zip(arrays, low, high, strict=True)]
        whole = pa.concat_arrays(pieces)
        if pa.types.is_null(whole.type):
            yield Range(whole, [np.empty(0, dtype=np.int64) for _ in pieces])
            continue
        coded = whole.dictionary_encode()
        order = pc.sort_indices(coded.dictionary).to_numpy(zero_copy_only=False)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        places = place[to_codes(coded)]
        ends = np.cumsum([len(piece) for piece in pieces])
        yield Range(coded.dictionary.take(pa.array(order)), np.split(places, ends[:-1]))


def _splitters(arrays: Sequence[pa.Array], wanted: int) -> list[pa.Scalar]:
    """Values that divide all runs' values into about equal ranges, from a sample of every run."""
    if wanted == 1:
        return []
    samples = [
        array.take(pa.array(np.unique(np.linspace(0, len(array) - 1, _SAMPLE).astype(np.int64))))
        for array in arrays
        if len(array)
    ]
    sample = pa.concat_arrays(samples)
    if pa.types.is_floating(sample.type):
        sample = sample.filter(pc.invert(pc.is_nan(sample)))
    sample = sample.take(pc.sort_indices(sample)).unique()
    if not len(sample):
        return []
    return list(sample.take(pa.array(np.unique(np.arange(1, wanted) * len(sample) // wanted))))


def _below(array: pa.Array, value: pa.Scalar) -> int:
    """Number of a run's values below a value."""
    low, high = 0, len(array)
    while low < high:
        middle = (low + high) // 2
        if pc.less(array[middle], value).as_py():
            low = middle + 1
        else:
            high = middle
    return low


def rank_column(runs: ColumnRuns) -> int:
    """Write the rank of every row's cell next to a column's runs, as ``.ranks``; return a bound on the ranks.

    Null has rank 0, equal cells share a rank; see ``hushtable.table.ranks.dense_ranks``.
    """
    pieces = [[np.zeros(1, dtype=np.int64)] for _ in range(len(runs))]
    highest = 0
    for here in merged(runs):
        if not len(here.values):
            continue
        rank = value_ranks(here.values)
        for run, places in enumerate(here.places):
            pieces[run].append(rank[places] + highest)
        highest += int(rank.max())
    dtype = np.min_scalar_type(highest)
    with _beside(runs.base, "ranks").open("wb") as out:
        for run in range(len(runs)):
            out.write(np.concatenate(pieces[run]).astype(dtype)[runs.places_in_run(run)].data)
            pieces[run] = []
        out.flush()
        os.fsync(out.fileno())
    return highest + 1
