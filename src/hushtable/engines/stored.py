"""The first pass of streaming: every needed column, encoded on disk, run by run.

Columns that algorithms and models use are loaded as the smallest integer codes; the others stay on disk, as values in
runs and as ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

_STAGE = "encoded"


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
        return pa.table({name: runs.coded() for name, runs in self.runs.items() if name not in self.ranks})

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
    facts = work.finished(_STAGE)
    folder = work.folder / _STAGE
    if facts is None:
        facts = _read(files, wanted, outside, work.begin(_STAGE), progress)
        work.finish(_STAGE, facts)
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
