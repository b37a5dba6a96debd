"""Equal rows counted: a stored table as its distinct combinations of published values, each with its number of rows.

If an algorithm keeps equal records together, it needs no more than that, and neither do sorting, writing and verifying.
Memory grows with the combinations; the combination of every row is on disk.

Every run is sorted by its packed places (one number per row) and keeps its distinct ones; those are merged range by
range. Runs and ranges are processed on all cores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Progress
from hushtable.arrays import AnyArray, IntArray
from hushtable.io.runs import ColumnRuns, RunWriter, rank_column, sorted_run
from hushtable.io.sources import each_run
from hushtable.io.urls import Source
from hushtable.io.workspace import Workspace
from hushtable.kernels.grouping import number_rows
from hushtable.parallel import each
from hushtable.schema.columns import Role
from hushtable.schema.prepare import check_publishable, check_type
from hushtable.table.encode import no_rows
from hushtable.table.plan import TablePlan

RUN_ROWS = 1 << 20
"""Rows of a run, the part of the input that is in memory at a time."""

_ENCODED = "encoded"


@dataclass(frozen=True)
class StoredTable:
    """A table on disk, in columns.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns' own types.
    n_rows : int
    runs : mapping of str to ColumnRuns
    ranks : mapping of str to int
        For the columns that stay on disk, a bound on the ranks of their cells.
    """

    schema: pa.Schema
    n_rows: int
    runs: dict[str, ColumnRuns]
    ranks: dict[str, int]

    def in_memory(self) -> pa.Table:
        """Return the columns that algorithms and models use, as dictionaries with the smallest codes."""
        return pa.table(
            {name: runs.to_dictionary_array() for name, runs in self.runs.items() if name not in self.ranks}
        )

    def rank_of(self, name: str) -> AnyArray:
        """Return the ranks of a column's cells, mapped from the disk."""
        base = self.runs[name].base
        dtype = np.min_scalar_type(self.ranks[name] - 1)
        found: AnyArray = np.memmap(base.with_name(f"{base.name}.ranks"), dtype=dtype, mode="r", shape=(self.n_rows,))
        return found

    @property
    def tie_rank(self) -> Callable[[], IntArray] | None:
        """A function that returns the rank of each row's other published cells; None if there are none."""
        if not self.ranks:
            return None
        return lambda: number_rows([self.rank_of(name) for name in self.ranks], list(self.ranks.values()))[0]


def store(files: Sequence[Source], plan: TablePlan, work: Workspace, progress: Progress) -> StoredTable:
    """Encode the files' columns into the work folder, or resume from an earlier run's files there.

    Identifiers are not read, except the one that identifies each row's person.
    """
    wanted = [c.name for c in plan.columns if c.role.published or c.role.of_survey or c.name == plan.entity]
    outside = list(plan.named(Role.INSENSITIVE))
    facts = work.finished(_ENCODED)
    folder = work.folder / _ENCODED
    if facts is None:
        facts = _read(files, wanted, outside, work.begin(_ENCODED), progress)
        work.finish(_ENCODED, facts)
    schema = pa.ipc.read_schema(pa.memory_map(str(folder / "schema")))
    runs = {
        name: ColumnRuns.of(folder / str(place), schema.field(name).type, facts["columns"][place])
        for place, name in enumerate(wanted)
    }
    return StoredTable(schema, facts["rows"], runs, dict(zip(outside, facts["ranks"], strict=True)))


def _read(
    files: Sequence[Source], wanted: list[str], outside: list[str], folder: Path, progress: Progress
) -> dict[str, object]:
    n_rows = 0
    schema: pa.Schema | None = None

    def encoded(table: pa.Table) -> tuple[pa.Schema, list[tuple[pa.Array, AnyArray]]]:
        for field in table.schema:
            (check_publishable if field.name in outside else check_type)(field.name, field.type)
        return table.schema, [sorted_run(column) for column in table.columns]

    with ExitStack() as stack:
        writers: list[RunWriter] = []
        for found, columns in each_run(files, wanted, RUN_ROWS, encoded):
            if schema is None:
                schema = found
                for place, field in enumerate(schema):
                    writers.append(RunWriter(folder / str(place), field.type))
                    stack.callback(writers[-1].abandon)
            for writer, run in zip(writers, columns, strict=True):
                writer.add(*run)
            n_rows += len(columns[0][1])
            progress(0.0, "reading")
        # flushing to disk takes time but no CPU
        closed = list(each(RunWriter.close, writers))
    if schema is None:
        raise no_rows()
    # the readers' buffers would otherwise stay with the process
    pa.default_memory_pool().release_unused()
    (folder / "schema").write_bytes(schema.serialize())
    ranks = []
    for name in outside:
        progress(0.0, "ranking")
        place = wanted.index(name)
        ranks.append(rank_column(ColumnRuns.of(folder / str(place), schema.field(name).type, closed[place])))
    return {"rows": n_rows, "columns": closed, "ranks": ranks}


RANGE_ROWS = 1 << 22
"""Number of combinations that are merged at once."""

_COMBINED = "combined"
_SAMPLE = 256


@dataclass(frozen=True)
class Combined:
    """The distinct combinations of a stored table's values, sorted by their places.

    Attributes
    ----------
    folder : path
        Folder with the combination of every row, run by run.
    columns : mapping of str to pyarrow.Array
        The distinct values of each column, in order.
    places : mapping of str to list of integer arrays
        For each column and run, the place of the run's values among these, from 1; 0 is null.
    keys : int64 array
        The packed places of every combination, ascending.
    records : int64 array
        Number of rows of each.
    rows, distinct : tuples of int
        Rows of each run, and their distinct combinations.
    """

    folder: Path
    columns: dict[str, pa.Array]
    places: dict[str, list[AnyArray]]
    keys: IntArray
    records: IntArray
    rows: tuple[int, ...]
    distinct: tuple[int, ...]

    def table(self) -> pa.Table:
        """Return the combinations as dictionary columns with the smallest codes, one row for each."""
        names = list(self.columns)
        return pa.table(dict(zip(names, each(self._column, names), strict=True)))

    def places_in(self, name: str) -> IntArray:
        """Return the place of every combination's value in a column, from 1; 0 is null."""
        return self.keys // _strides(self.columns)[name] % (len(self.columns[name]) + 1)

    def _column(self, name: str) -> pa.DictionaryArray:
        place, values = self.places_in(name), self.columns[name]
        codes = np.maximum(place - 1, 0).astype(np.min_scalar_type(max(len(values) - 1, 0)))
        gaps = place == 0
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=gaps if gaps.any() else None), values)

    def runs(self, *of_combination: AnyArray) -> Iterator[tuple[AnyArray, ...]]:
        """Yield each array's entries for the combination of every row, run by run."""
        starts = np.concatenate([[0], np.cumsum(self.rows)]).astype(np.int64)
        edges = np.concatenate([[0], np.cumsum(self.distinct)]).astype(np.int64)

        def one(run: int) -> tuple[AnyArray, ...]:
            own = np.fromfile(self.folder / "keys", np.int64, self.distinct[run], offset=int(edges[run]) * 8)
            local = np.fromfile(self.folder / "rows", np.uint32, self.rows[run], offset=int(starts[run]) * 4)
            place = np.searchsorted(self.keys, own)
            # first those of the run's combinations, which are fewer and in order
            return tuple(array.take(place).take(local) for array in of_combination)

        return each(one, range(len(self.rows)))

    def codes(self, stored: StoredTable, name: str, of_place: AnyArray) -> Iterator[AnyArray]:
        """Yield ``of_place`` of every row's value in a column, run by run; the first entry is for null."""
        for run, pieces in enumerate(self.places[name]):
            yield of_place[pieces].take(stored.runs[name].places_in_run(run))


def _strides(columns: dict[str, pa.Array]) -> dict[str, int]:
    """The factor of each column's place in a packed number; the first column is most significant."""
    strides, stride = {}, 1
    for name, values in reversed(columns.items()):
        strides[name] = stride
        stride *= len(values) + 1
    return strides


def combine(stored: StoredTable, work: Workspace, progress: Progress) -> Combined | None:
    """Count the distinct combinations of a stored table's values; None if they do not fit into one number."""
    found = dict(zip(stored.runs, each(lambda runs: runs.merged_values(), stored.runs.values()), strict=True))
    columns = {name: values for name, (values, _) in found.items()}
    places = {name: pieces for name, (_, pieces) in found.items()}
    span = math.prod(len(values) + 1 for values in columns.values())
    if span >= 2**62:
        return None
    strides = _strides(columns)
    rows = next(iter(stored.runs.values())).rows
    folder = work.begin(_COMBINED)

    def one(run: int) -> tuple[IntArray, AnyArray]:
        key = np.zeros(rows[run], dtype=np.int64)
        for name, stride in strides.items():
            key += (places[name][run].astype(np.int64) * stride).take(stored.runs[name].places_in_run(run))
        own, count, local = _counted(key, span)
        # each run's rows have their own place in the file
        with (folder / "rows").open("r+b") as ids:
            ids.seek(4 * starts[run])
            ids.write(local.data)
        return own, count

    distinct = []
    starts = [0, *itertools.accumulate(rows)]
    (folder / "rows").write_bytes(b"")
    with (folder / "keys").open("wb") as keys, (folder / "counts").open("wb") as counts:
        for own, count in each(one, range(len(rows))):
            progress(0.0, "counting")
            keys.write(own.data)
            counts.write(count.data)
            distinct.append(len(own))
    merged, records = _merged(folder, distinct, span)
    return Combined(folder, columns, places, merged, records, rows, tuple(distinct))


def _counted(key: IntArray, span: int) -> tuple[IntArray, AnyArray, AnyArray]:
    """Return the distinct numbers of a run, ascending, their frequencies, and the place of every row's number."""
    n = len(key)
    bits = max(n - 1, 1).bit_length()
    if span << bits < 2**63:
        # number and row packed together, so that sorting moves the row along
        packed = (key << bits) | np.arange(n)
        packed.sort()
        order, key = packed & ((1 << bits) - 1), packed >> bits
    else:
        order = np.argsort(key, kind="stable")
        key = key[order]
    new = np.ones(n, dtype=np.bool_)
    np.not_equal(key[1:], key[:-1], out=new[1:])
    first = np.flatnonzero(new)
    local = np.empty(n, dtype=np.uint32)
    local[order] = np.cumsum(new, dtype=np.uint32) - np.uint32(1)
    return key[first], np.diff(np.append(first, n)).astype(np.uint32), local


def _merged(folder: Path, distinct: list[int], span: int) -> tuple[IntArray, IntArray]:
    """Merge the runs' combinations, range by range; they stay on disk."""
    starts = np.concatenate([[0], np.cumsum(distinct)]).astype(np.int64)

    def keys(run: int, start: int = 0, end: int | None = None) -> IntArray:
        size = (distinct[run] if end is None else end) - start
        return np.fromfile(folder / "keys", np.int64, size, offset=int(starts[run] + start) * 8)

    def sample(run: int) -> IntArray:
        return keys(run)[np.linspace(0, distinct[run] - 1, _SAMPLE).astype(np.int64)]

    every = range(len(distinct))
    ranges = -(-int(starts[-1]) // RANGE_ROWS)
    sampled = np.sort(np.concatenate(list(each(sample, every))))
    splits = np.unique(sampled[np.arange(1, ranges) * len(sampled) // ranges])
    cuts = list(each(lambda run: [0, *np.searchsorted(keys(run), splits).tolist(), distinct[run]], every))

    def one(number: int) -> tuple[IntArray, IntArray]:
        parts = [(run, *cuts[run][number : number + 2]) for run in every]
        key = np.concatenate([keys(*part) for part in parts])
        with (folder / "counts").open("rb") as file:
            own = []
            for run, start, end in parts:
                file.seek(int(starts[run] + start) * 4)
                own.append(np.fromfile(file, np.uint32, end - start))
        count = np.concatenate(own).astype(np.int64)
        bits = int(count.max(initial=1)).bit_length()
        if span << bits < 2**63:
            packed = (key << bits) | count
            packed.sort()
            key, count = packed >> bits, packed & ((1 << bits) - 1)
        else:
            order = np.argsort(key, kind="stable")
            key, count = key[order], count[order]
        new = np.ones(len(key), dtype=np.bool_)
        np.not_equal(key[1:], key[:-1], out=new[1:])
        first = np.flatnonzero(new)
        return key[first], np.add.reduceat(count, first) if len(first) else count

    parts = list(each(one, range(len(splits) + 1)))
    return np.concatenate([key for key, _ in parts]), np.concatenate([count for _, count in parts])
