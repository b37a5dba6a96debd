"""A published table whose distinct rows are on the driver, which writes them and reads them back for verification.

Spark counted the input. What follows from the counts alone needs no pass over the rows: a table of 10,000,000 rows is
written, and read again, in a few seconds. A DataFrame is made only on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from hushtable.algorithms.base import Problem
from hushtable.arrays import IntArray
from hushtable.engines.emit import Piece, parts_of
from hushtable.engines.spark import part_files
from hushtable.engines.spark.content import Content
from hushtable.engines.spark.jobs import changed_input
from hushtable.engines.spark.publish import Cellbook
from hushtable.engines.spark.published import CountedCells, Shown
from hushtable.engines.spark.repeated import Differing
from hushtable.engines.stored import RUN_ROWS
from hushtable.io.dictionaries import encode, from_codes, look_up
from hushtable.io.dictionary_reader import count_neighbours
from hushtable.io.layout import Repeated
from hushtable.io.parts import write_pieces
from hushtable.kernels.grouping import number_rows
from hushtable.release.reading_back import sensitive_codes
from hushtable.schema.columns import Role

__all__ = ["Listed"]


class Listed:
    """The published table on the driver, with the interface of ``Shown``.

    Parameters
    ----------
    content : Content
    rows : Differing
    book : Cellbook

    Attributes
    ----------
    names : list of str
        The published columns.
    """

    def __init__(self, content: Content, rows: Differing, book: Cellbook) -> None:
        self.jobs, self.plan, self.book = content.jobs, content.plan, book
        self.names = [c.name for c in self.plan.table.columns if c.role.published]
        self._content, self._rows = content, rows

    @cached_property
    def _shown(self) -> Shown:
        return Shown(self._content, self._rows, self.book)

    @property
    def frame(self) -> DataFrame:
        """The published table, made by Spark."""
        return self._shown.frame

    def release(self) -> None:
        """Release the rows that Spark caches, if there are any."""
        if "_shown" in self.__dict__:
            self._shown.release()

    @cached_property
    def _table(self) -> pa.Table:
        """The distinct rows, as published."""
        quasi = zip(self.plan.table.named(Role.QUASI), self._rows.cells, self.book.cells, strict=True)
        cells = {name: from_codes(numbers - 1, cells.slice(1), pa.int32()) for name, numbers, cells in quasi}
        cells |= self._rows.values
        return pa.table({name: cells[name] for name in self.names})

    def count(self, problem: Problem) -> CountedCells:
        """Count the published table by its cells, from the DataFrame if Spark has made one."""
        if "_shown" in self.__dict__:
            return self._shown.count(problem)
        self.jobs.progress(1.0, "verifying")
        times = self._rows.times
        return self._counted(problem, self._table, times, times * self._rows.units if len(self._rows.units) else times)

    def write(self, place: Path, many: bool) -> None:
        """Write the rows into a folder, in parts of ``ONE_FILE`` rows, or in one."""
        place.mkdir()
        ends = np.cumsum(self._rows.times)
        for number, part in enumerate(parts_of(int(ends[-1]), part_files.ONE_FILE if many else None)):
            write_pieces(self._pieces(part, ends), self._table.schema, place / part_files.part_name(number))

    def count_written(self, problem: Problem, place: Path) -> CountedCells:
        """Count what was written, without weights."""
        self.jobs.progress(1.0, "verifying")
        table, times = count_neighbours(place, self.names, RUN_ROWS)
        return self._counted(problem, table, times, times)

    def class_order(self) -> list[IntArray]:
        """Return the cells of the classes in the order of their first rows, column by column, as numbers."""
        cells = self._rows.cells
        of_row, some = number_rows(cells, self.book.packing.sizes)
        first = np.full(len(some), len(of_row), dtype=np.int64)
        np.minimum.at(first, of_row, np.arange(len(of_row)))
        first.sort()
        return [numbers[first] for numbers in cells]

    def _pieces(self, part: list[Piece], ends: IntArray) -> Iterator[Repeated]:
        for start, end in part:
            self.jobs.progress(end / int(ends[-1]), "writing")
            first, last = np.searchsorted(ends, [start, end - 1], side="right")
            edges = np.concatenate([[start], ends[first:last], [end]])
            yield Repeated(self._table.slice(first, last + 1 - first), np.diff(edges))

    def _counted(self, problem: Problem, table: pa.Table, times: IntArray, units: IntArray) -> CountedCells:
        plan = self.plan.table
        cells = []
        for name, known in zip(plan.named(Role.QUASI), self.book.cells, strict=True):
            found = encode(table.column(name))
            place = pc.index_in(found.dictionary.cast(known.type), value_set=known)
            if place.null_count:
                raise changed_input()
            # the first cell of a book is null
            cells.append(look_up(np.append(place.to_numpy().astype(np.int64), 0), found))
        kinds = {c.name: c.coded.kind for c in problem.table.sensitive}
        codes = sensitive_codes(table, plan, problem.reference, kinds)
        names = plan.named(Role.SENSITIVE)
        sizes = [*self.book.packing.sizes, *(int(problem.reference.attribute((n,)).n_values) for n in names)]
        of_row, first = number_rows([*cells, *(codes[name] for name in names)], sizes)
        counts, weights = np.zeros(len(first), dtype=np.int64), np.zeros(len(first), dtype=np.int64)
        np.add.at(counts, of_row, times)
        np.add.at(weights, of_row, units)
        return CountedCells(
            tuple(own[first] for own in cells), {name: codes[name][first] for name in names}, counts, weights
        )
