"""Sort columns that do not fit into memory into published order: an external distribution sort.

Every source row's place in the release is known. Rows are read run by run, in input order, and distributed over bucket
files that each cover a range of places; each bucket is then read back and sorted. All disk access is sequential, and
memory holds one run or one bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.stored import StoredTable
from hushtable.errors import OutputError

__all__ = ["bucket_edges", "read_bucket", "spill"]

MOST_BUCKETS = 128
"""Most files to write at once."""


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
