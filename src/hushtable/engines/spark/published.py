"""The published table: sorted by all its cells, cached, and verified from them.

Verification reads the published cells back: every cell is looked up among the expected texts, rows are counted by the
resulting numbers (and by their sensitive values), and the counts go through the common verifier. Neither group labels
nor hashes are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from hushtable.algorithms.base import Problem
from hushtable.arrays import IntArray
from hushtable.engines.spark.content import Content
from hushtable.engines.spark.dictionaries import numbered
from hushtable.engines.spark.jobs import changed_input, spark_errors
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.part_files import write_as_they_are, write_parts
from hushtable.engines.spark.people import UNITS
from hushtable.engines.spark.publish import Cellbook
from hushtable.engines.spark.repeated import TIMES, Differing, repeat
from hushtable.engines.spark.session import to_read
from hushtable.io.dictionaries import from_codes
from hushtable.kernels.grouping import number_rows
from hushtable.release.reading_back import sensitive_codes
from hushtable.release.recode import Recoded
from hushtable.release.verify import Published, Verification, verify
from hushtable.schema.columns import Role
from hushtable.table.plan import TablePlan


@dataclass(frozen=True)
class CountedCells:
    """A published table, counted: one entry for every combination of cells and sensitive values.

    Attributes
    ----------
    cells : tuple of int64 arrays
        The number of each quasi-identifier's cell.
    sensitive : mapping of str to int64 array
        Codes in the reference's attributes.
    rows : int64 array
        Number of published rows of each.
    units : int64 array
        Their total weight.
    """

    cells: tuple[IntArray, ...]
    sensitive: dict[str, IntArray]
    rows: IntArray
    units: IntArray

    def classes(self, packing: Packing) -> tuple[IntArray, IntArray]:
        """Return an entry of each class, given the packing of cells, and the number of rows in the class."""
        owner, first = number_rows(self.cells, packing.sizes)
        sizes = np.zeros(len(first), dtype=np.int64)
        np.add.at(sizes, owner, self.rows)
        return first, sizes

    def same_as(self, other: CountedCells) -> bool:
        """Whether another count found the same rows."""
        return self._fingerprint() == other._fingerprint()

    def _fingerprint(self) -> bytes:
        columns = [*self.cells, *self.sensitive.values()]
        packed = Packing(tuple(int(c.max(initial=0)) + 1 for c in columns)).pack(columns)
        order = np.lexsort(packed)
        return b"".join(array[order].tobytes() for array in [*packed, self.rows])


class PublishedBySpark:
    """The published table.

    Parameters
    ----------
    content : Content
    rows, book
        As ``published_rows`` returns them.

    Attributes
    ----------
    frame : DataFrame
        The published table, in the policy's order of columns.
    """

    def __init__(self, content: Content, rows: DataFrame | Differing, book: Cellbook) -> None:
        self.jobs, self.plan, self.book = content.jobs, content.plan, book
        jobs = content.jobs
        self.records = content.records
        place = content.place
        self._numbers = numbers = [f"g{i}" for i in range(len(book.packing))]
        quasi = {c.name: j for j, c in enumerate(content.quasi)}
        shown = [c for c in self.plan.table.columns if c.role.published]
        columns = [f"k{quasi[c.name]}" if c.name in quasi else f"c{place[c.name]}" for c in shown]
        # Spark caches equal tables once: discarding another release of the same input would discard this one too
        rows, alike = (rows.sent(), True) if isinstance(rows, Differing) else (rows, False)
        rows = rows.filter(F.lit(jobs.tag).isNotNull())
        if alike:
            self._rows = self.kept = rows.persist()
            full = book.show(jobs, repeat(self.kept), numbers)
        elif book.small:
            # numbers sort faster than texts, and replacing them by cells keeps the order
            self._rows = self.kept = rows.orderBy(*self._order(content, numbers)).persist()
            full = book.show(jobs, _in_order(self.kept, numbers[0]), numbers)
        else:
            full = book.show(jobs, rows, numbers)
            order = (
                [F.col(f"k{quasi[c.name]}").asc_nulls_first()] if c.name in quasi else content.in_order(c.name)
                for c in shown
            )
            full = self._rows = self.kept = full.orderBy(*chain.from_iterable(order)).persist()
        self._full = full.select(*columns, *content.units)
        self.columns = columns
        self.names = [c.name for c in shown]
        self.frame = self._full.select(*columns).toDF(*self.names)

    def _order(self, content: Content, numbers: list[str]) -> list[Column]:
        """The published columns in the policy's order; adjacent quasi-identifiers as one number if possible."""
        shown = [c for c in self.plan.table.columns if c.role.published]
        quasi = [c.name for c in content.quasi]
        codes = self.book.packing.unpack_columns([F.col(name) for name in numbers])
        order: list[Column] = []
        names = [c.name for c in shown]
        covered: set[str] = set()
        for name in names:
            if name in covered:
                continue
            if name not in quasi:
                order += content.in_order(name)
                continue
            at, members = next(
                (at, [quasi[j] for j in members])
                for at, members in enumerate(self.book.packing.numbers)
                if quasi.index(name) in members
            )
            # if the columns of a number are adjacent in the table, the number itself is the sort key
            begin = names.index(name)
            if names[begin : begin + len(members)] == members:
                order.append(F.col(numbers[at]).asc())
                covered.update(members)
            else:
                order.append(codes[quasi.index(name)].asc())
        return order

    def release(self) -> None:
        """Release the cached rows."""
        self.kept.unpersist()

    def count(self, problem: Problem, frame: DataFrame | None = None) -> CountedCells:
        """Count the published table, or the same table read back from its files (then without weights)."""
        jobs, plan = self.jobs, self.plan.table
        shown = dict(zip(self.names, self.columns, strict=True))
        quasi, names = [shown[name] for name in plan.named(Role.QUASI)], plan.named(Role.SENSITIVE)
        kinds = {c.name: c.coded.kind for c in problem.table.sensitive}
        # the cached rows have these columns as published, so no cell has to be looked up
        bare, rows = (self.kept, self._rows) if frame is None else (frame.toDF(*self.columns),) * 2
        distinct = [jobs.collect(bare.select(shown[n]).distinct(), "verifying").combine_chunks() for n in names]
        rows, packed = self.book.read(jobs, self._alike(rows, quasi, [shown[n] for n in names]), quasi)
        sizes = []
        for i, (name, values) in enumerate(zip(names, distinct, strict=True)):
            only = TablePlan(tuple(c for c in plan.columns if c.name == name), missing_values=plan.missing_values)
            codes = sensitive_codes(pa.table({name: values.column(0)}), only, problem.reference, kinds)[name]
            rows = numbered(jobs, rows, shown[name], values.column(0), {f"z{i}": codes})
            sizes.append(int(problem.reference.attribute((name,)).n_values))
        rest = Packing(tuple(sizes))
        packed += rest.pack_columns([F.col(f"z{i}") for i in range(len(names))])
        by = [f"b{i}" for i in range(len(packed))]
        counted = (
            rows.withColumns(dict(zip(by, packed, strict=True)))
            .groupBy(*by)
            .agg(F.sum("n").alias("n"), F.sum("u").alias("u"))
        )
        found = jobs.collect_large(counted, "verifying", self.records)
        if any(found.column(name).null_count for name in by):
            raise changed_input()
        numbers = [found.column(name).to_numpy() for name in by]
        cut = len(self.book.packing)
        cells = self.book.packing.unpack(numbers[:cut])
        codes_of = dict(zip(names, rest.unpack(numbers[cut:]), strict=True))
        counts, units = (found.column(name).to_numpy().astype(np.int64) for name in ("n", "u"))
        return CountedCells(tuple(cells), codes_of, counts, units)

    def write(self, place: Path, many: bool) -> None:
        """Let executors write the rows into a folder, in parts of ``ONE_FILE`` rows, or in Spark's own parts."""
        with spark_errors("writing the release"):
            write_parts(self.jobs, self.frame, place) if many else write_as_they_are(self.frame, place)

    def count_written(self, problem: Problem, place: Path) -> CountedCells:
        """Count what was written, without weights."""
        with self.jobs.run() as jobs:
            with spark_errors("reading the release again"):
                written = jobs.spark.read.parquet(to_read(place))
            return self.count(problem, written)

    def _alike(self, rows: DataFrame, quasi: Sequence[str], sensitive: Sequence[str]) -> DataFrame:
        """Return the published cells of rows, each combination once, with its rows n and weight u.

        Rows with numbers of cells are counted by these, and every combination then gets its cells.
        """
        times = F.col(TIMES) if TIMES in rows.columns else F.lit(1)
        weight = times * F.col(UNITS) if UNITS in rows.columns else times
        numbers = [name for name in self._numbers if name in rows.columns]
        alike = rows.groupBy(*(numbers or quasi), *sensitive).agg(F.sum(times).alias("n"), F.sum(weight).alias("u"))
        return self.book.show(self.jobs, alike, numbers) if numbers else alike

    def class_order(self) -> list[IntArray]:
        """Return the cells of the classes in the order of their first rows, column by column, as numbers."""
        shown = dict(zip(self.names, self.columns, strict=True))
        quasi = [shown[name] for name in self.plan.table.named(Role.QUASI)]
        rows, packed = self.book.read(self.jobs, self._full, quasi)
        by = [f"b{i}" for i in range(len(packed))]
        first = F.min(F.struct(*self.columns)).alias("first")
        ordered = rows.withColumns(dict(zip(by, packed, strict=True))).groupBy(*by).agg(first).orderBy("first")
        found = self.jobs.collect(ordered.select(*by), "writing")
        return self.book.packing.unpack([found.column(name).to_numpy() for name in by])


def judge(
    book: Cellbook, plan: TablePlan, problem: Problem, recoded: Recoded | None, counted: CountedCells, expected: int
) -> Verification:
    """Verify the counts; population and background rows are recoded like the others, as on one machine."""
    if int(counted.rows.sum()) != expected:
        raise changed_input()
    table = problem.table
    hidden = np.empty(0, dtype=np.int64)
    if recoded is not None:
        hidden = np.flatnonzero(recoded.labels[table.n_sample :] >= 0) + table.n_sample
    padding = np.zeros(len(hidden), dtype=np.int64)
    quasi = []
    for j, cells in enumerate(book.cells):
        shown: Any = from_codes(counted.cells[j] - 1, cells.slice(1), pa.int32())
        if recoded is not None and len(hidden):
            (number,) = Cellbook.of([recoded.published[j]])[1]
            more = from_codes(number[recoded.labels[hidden]] - 1, cells.slice(1), pa.int32())
            shown = pa.chunked_array([shown, more])
        quasi.append(shown)
    background = (hidden >= table.background_rows.start) & (hidden < table.background_rows.stop)
    mass = hidden[background] - table.background_rows.start
    population = np.empty(0, dtype=np.bool_)
    if len(table.population_rows):
        outside = (hidden >= table.population_rows.start) & (hidden < table.population_rows.stop)
        population = np.concatenate([np.zeros(len(counted.rows), dtype=np.bool_), outside])
    found = verify(
        Published(
            quasi=tuple(quasi),
            sensitive={name: np.concatenate([codes, padding]) for name, codes in counted.sensitive.items()},
            sizes={c.name: c.coded.size for c in table.sensitive},
            unit=table.unit,
            row_units=np.concatenate([counted.units, padding]),
            population=population,
            background_rows=len(counted.rows) + np.flatnonzero(background),
            background_mass=table.background_mass[mass],
            background_codes=table.background_codes[mass],
            background_unit=table.background_unit,
        ),
        problem.model,
        problem.reference,
        plan.missing,
    )
    return replace(found, rows=expected)


def _in_order(rows: DataFrame, number: str) -> DataFrame:
    """Return sorted rows that Spark also sorts if it has to recompute them.

    If the cache is cleared, Spark would remove a sort below a join as needless, and rows would be in the order of the
    input. A step that depends on the position of a row prevents this; the sign of its position is always 0.
    """
    return rows.withColumn(number, F.col(number) + F.shiftright(F.monotonically_increasing_id(), 63))
