"""The published rows, row group by row group, in output order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Progress
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.combined import StoredTable
from hushtable.errors import OutputError
from hushtable.io import layout
from hushtable.io.dictionaries import value_type
from hushtable.io.layout import Repeated
from hushtable.io.workspace import Workspace
from hushtable.parallel import each
from hushtable.release.recode import Recoded
from hushtable.schema.columns import Role
from hushtable.table.plan import TablePlan

_STAGE = "spilled"

Piece = tuple[int, int]
"""The first published row of a row group, and the one after its last."""


def parts_of(rows: int, part_rows: int | None) -> list[list[Piece]]:
    """Cut the published rows into files of ``part_rows`` rows, and each into row groups.

    Examples
    --------
    >>> parts_of(5, 3), parts_of(5, None)
    ([[(0, 3)], [(3, 5)]], [[(0, 5)]])
    """
    size = part_rows or rows
    return [
        [
            (at, min(at + layout.GROUP_ROWS, start + size, rows))
            for at in range(start, min(start + size, rows), layout.GROUP_ROWS)
        ]
        for start in range(0, rows, size)
    ]


@dataclass(frozen=True)
class EmittedRows:
    """The published rows, ready to be written.

    Attributes
    ----------
    stored : StoredTable
    coded : pyarrow.Table
        The source's columns that are in memory.
    recoded : Recoded
    plan : TablePlan
    order : integer array
        The source row of each published row.
    times : int64 array, optional
        If equal rows were counted: how many published rows each entry of ``order`` represents.
    spilled : path, optional
        Folder with the buckets of the other columns.
    """

    stored: StoredTable
    coded: pa.Table
    recoded: Recoded
    plan: TablePlan
    order: AnyArray
    times: IntArray | None = None
    edges: AnyArray | None = None
    spilled: Path | None = None

    def __len__(self) -> int:
        return len(self.order) if self.times is None else int(self.times.sum())

    @cached_property
    def _ends(self) -> IntArray:
        """For each entry of ``order``, the end of the published rows that it represents."""
        return np.cumsum(np.ones(len(self.order), dtype=np.int64) if self.times is None else self.times)

    @property
    def schema(self) -> pa.Schema:
        """The published columns and their types."""
        return self._table(self.order[:0], None).schema

    def with_spill(self, pieces: Sequence[Piece], work: Workspace, progress: Progress) -> EmittedRows:
        """Distribute the columns that are not in memory over bucket files, or resume from an earlier run's."""
        if not self.stored.ranks:
            return self
        edges = bucket_edges([start for start, _ in pieces], len(self.order))
        # a hierarchy's file may have changed since an earlier run
        facts = {"edges": edges.tolist(), "order": hashlib.sha256(self.order.data).hexdigest()}
        folder = work.folder / _STAGE
        if work.finished(_STAGE) != facts:
            # rows that are not released have places after the last bucket
            places = np.full(self.stored.n_rows, len(self.order), dtype=np.int64)
            for start in range(0, len(self.order), layout.GROUP_ROWS):
                part = self.order[start : start + layout.GROUP_ROWS]
                places[part] = np.arange(start, start + len(part))
            spill(self.stored, places, edges, work.begin(_STAGE), lambda: progress(1.0, "sorting"))
            work.finish(_STAGE, facts)
        return replace(self, edges=edges, spilled=folder)

    def groups(self, pieces: Sequence[Piece], progress: Progress) -> Iterator[pa.Table | Repeated]:
        """Yield the rows of each piece, made on all cores; pieces are in order, and no bucket ends inside one."""
        if self.times is not None:
            made: Iterator[pa.Table | Repeated] = each(lambda piece: self._repeated(*piece), pieces)
        else:
            made = each(lambda args: self._table(*args), self._rows(pieces))
        for (_, end), rows in zip(pieces, made, strict=True):
            progress(end / len(self), "writing")
            yield rows

    def _repeated(self, start: int, end: int) -> Repeated:
        """The rows of a piece, if equal ones were counted."""
        first, last = np.searchsorted(self._ends, [start, end - 1], side="right")
        edges = np.concatenate([[start], self._ends[first:last], [end]])
        return Repeated(self._table(self.order[first : last + 1], None), np.diff(edges))

    def _rows(self, pieces: Sequence[Piece]) -> Iterator[tuple[AnyArray, pa.Table | None]]:
        """The source rows of each piece, and their cells in the columns that are on disk."""
        held, held_number = None, -1
        for start, end in pieces:
            others = None
            if self.edges is not None and self.spilled is not None:
                number = int(np.searchsorted(self.edges, start, side="right")) - 1
                first, last = int(self.edges[number]), int(self.edges[number + 1])
                if number != held_number:
                    held, held_number = read_bucket(self.spilled, number, last - first), number
                others = held.slice(start - first, end - start) if held is not None else None
            yield self.order[start:end], others

    def _table(self, rows: AnyArray, others: pa.Table | None) -> pa.Table:
        groups = self.recoded.labels[rows]
        place = {cells.column.name: j for j, cells in enumerate(self.recoded.cells)}
        columns = {}
        for column in self.plan.columns:
            if not column.role.published:
                continue
            if column.role is Role.QUASI:
                columns[column.name] = self.recoded.cells_of(place[column.name], groups)
                continue
            kind = self.stored.schema.field(column.name).type
            if column.name not in self.stored.ranks:
                columns[column.name] = _cells(self.coded.column(column.name).chunk(0), rows, kind)
            elif others is not None:
                columns[column.name] = _typed(others.column(column.name), kind)
            else:
                columns[column.name] = _typed(pa.chunked_array([], value_type(kind)), kind)
        return pa.table(columns)


def _cells(column: pa.DictionaryArray, rows: AnyArray, kind: pa.DataType) -> pa.Array:
    """Cells of some rows in the type of the source."""
    indices = column.indices.take(pa.array(rows))
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(indices, column.dictionary)
    return column.dictionary.take(indices)


def _typed(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    plain = column.cast(value_type(kind))
    return plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain


# Sort columns that do not fit into memory into published order: an external distribution sort.
#
# Every source row's place in the release is known. Rows are read run by run, in input order, and distributed over
# bucket files that each cover a range of places; each bucket is then read back and sorted. All disk access is
# sequential, and memory holds one run or one bucket.


MOST_BUCKETS = 128
"""Maximum number of files to write at once."""


def bucket_edges(starts: Sequence[int], total: int) -> IntArray:
    """Return where buckets begin (each at the beginning of a piece of the release), and the end.

    Examples
    --------
    >>> bucket_edges([0, 3, 6], 7).tolist()
    [0, 3, 6, 7]
    >>> len(bucket_edges(range(1000), 1000)) - 1 <= MOST_BUCKETS
    True
    """
    least = -(-total // MOST_BUCKETS)
    edges = [0]
    for start in starts[1:]:
        if start - edges[-1] >= least:
            edges.append(start)
    return np.array([*edges, total], dtype=np.int64)


def spill(
    stored: StoredTable,
    places: AnyArray,
    edges: IntArray,
    folder: Path,
    progress: Callable[[], None] = lambda: None,
) -> None:
    """Distribute the cells of the columns that stay on disk over bucket files.

    Parameters
    ----------
    stored : StoredTable
    places : integer array
        The place of every source row in the release; those that are not released have one beyond the last edge.
    edges : int64 array
        Bucket b covers the places ``edges[b]:edges[b + 1]``.
    folder : path
    progress : callable
        Called after each run; may raise.
    """
    names = list(stored.ranks)
    first = stored.runs[names[0]]
    with ExitStack() as stack:
        writers: list[pa.RecordBatchWriter] = []
        start = 0
        for run, rows in enumerate(first.rows):
            here = np.asarray(places[start : start + rows], dtype=np.int64)
            start += rows
            bucket = np.searchsorted(edges, here, side="right").astype(np.int16) - 1
            order = np.argsort(bucket, kind="stable")
            counts = np.bincount(bucket, minlength=len(edges))
            take = pa.array(order)
            at = here[order] - edges[bucket[order]]
            columns = [pa.array(at), *(stored.runs[name].cells(run).take(take) for name in names)]
            # the place column has no name, unlike columns of a table
            batch = pa.record_batch(columns, names=["", *names])
            if not writers:
                writers = [_open(folder, b, batch.schema, stack) for b in range(len(edges) - 1)]
            ends = np.cumsum(counts)
            for b, writer in enumerate(writers):
                if counts[b]:
                    writer.write_batch(batch.slice(ends[b] - counts[b], counts[b]))
            progress()


def _open(folder: Path, bucket: int, schema: pa.Schema, stack: ExitStack) -> pa.RecordBatchWriter:
    file = stack.enter_context((folder / str(bucket)).open("wb"))
    options = pa.ipc.IpcWriteOptions(compression="lz4" if pa.Codec.is_available("lz4") else None)
    return stack.enter_context(pa.ipc.new_stream(file, schema, options=options))


def read_bucket(folder: Path, bucket: int, rows: int) -> pa.Table:
    """Return the cells of a bucket in published order.

    Raises
    ------
    OutputError
        If the bucket is not complete: a file of the work folder was lost or changed.
    """
    file = folder / str(bucket)
    try:
        with pa.OSFile(str(file)) as source:
            table = pa.ipc.open_stream(source).read_all()
    except (pa.ArrowException, OSError):
        raise _incomplete(file) from None
    order = np.full(rows, -1, dtype=np.int64)
    places = table.column(0).to_numpy()
    if len(places) == rows and places.min(initial=0) >= 0 and places.max(initial=0) < rows:
        order[places] = np.arange(rows)
    if order.min(initial=0) < 0:
        raise _incomplete(file)
    return table.remove_column(0).take(pa.array(order))


def _incomplete(file: Path) -> OutputError:
    return OutputError(
        f"The temporary file {str(file)!r} is incomplete.",
        code="temporary-file",
        hint="Do not change the work folder during a run; run again.",
    )
