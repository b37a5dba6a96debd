"""The published rows: each row's cells found by joins, in an order that reveals nothing.

Cells are numbers in the order of their texts, so sorting rows by all their published cells sorts numbers. If every
column's cells depend only on its own values (global recoding), rows need not look up their combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.engines.spark.content import Content, SparkRows
from hushtable.engines.spark.dictionaries import coded, dictionaries, numbered, with_numbers
from hushtable.engines.spark.jobs import SMALL, SparkJobs
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.repeated import Differing, differing_rows
from hushtable.kernels.grouping import number_rows
from hushtable.release.recode import Recoded
from hushtable.table.ranks import dense_ranks

_WORTH = 2
"""Minimum average number of rows per row that is sent; with fewer, rows look up their cells on Spark."""

_DIVIDED = -2
"""Marks a combination whose rows are in several classes."""


@dataclass(frozen=True)
class Cellbook:
    """The distinct cells of each column of a release, in sort order.

    Attributes
    ----------
    cells : tuple of pyarrow arrays
        For each quasi-identifier, its distinct cells; the first is null.
    """

    cells: tuple[pa.Array, ...]

    @classmethod
    def of(cls, columns: Sequence[pa.Array]) -> tuple[Cellbook, list[IntArray]]:
        """Return the cells of these columns, and each column as numbers of cells."""
        ranks = [dense_ranks(column)[0] for column in columns]
        cells = []
        for column, rank in zip(columns, ranks, strict=True):
            first = np.full(int(rank.max(initial=0)) + 1, len(column), dtype=np.int64)
            np.minimum.at(first, rank, np.arange(len(rank)))
            one = pa.concat_arrays([column, pa.nulls(1, column.type)])
            cells.append(one.take(pa.array(first)))
        return cls(tuple(cells)), ranks

    @cached_property
    def packing(self) -> Packing:
        """How the numbers of a row's cells share numbers."""
        return Packing(tuple(map(len, self.cells)))

    @property
    def small(self) -> bool:
        """Whether all cells fit on every executor."""
        return all(len(cells) <= SMALL for cells in self.cells)

    def show(self, jobs: SparkJobs, rows: DataFrame, numbers: Sequence[str]) -> DataFrame:
        """Replace packed numbers by cells: columns k0, k1, ..."""
        codes = self.packing.unpack_columns([F.col(name) for name in numbers])
        rows = rows.withColumns({f"x{j}": code for j, code in enumerate(codes)}).drop(*numbers)
        for j, cells in enumerate(self.cells):
            book = jobs.table({f"x{j}": np.arange(len(cells), dtype=np.int32), f"k{j}": cells})
            rows = rows.join(book, f"x{j}", "inner").drop(f"x{j}")
        return rows

    def read(self, jobs: SparkJobs, rows: DataFrame, columns: Sequence[str]) -> tuple[DataFrame, list[Column]]:
        """Return rows with the numbers of the cells in these columns: y0, y1, ..., null for an unknown cell."""
        for j, (cells, name) in enumerate(zip(self.cells, columns, strict=True)):
            rows = numbered(jobs, rows, name, cells, {f"y{j}": np.arange(len(cells))})
        return rows, self.packing.pack_columns([F.col(f"y{j}") for j in range(len(self.cells))])


def published_rows(
    content: Content, tuples: SparkRows, recoded: Recoded, rows: IntArray | None = None
) -> tuple[DataFrame | Differing, Cellbook]:
    """Return the published rows: columns g0, g1, ... (packed cells), weights if people are counted, c0, c1, ...

    If nothing else is published, these are the distinct rows, which are on the driver.

    Parameters
    ----------
    content : Content
    tuples : SparkRows
    recoded : Recoded
        Cells of the expanded combinations.
    rows : int64 array, optional
        Number of rows of each combination, if ``tuples`` has each once.
    """
    labels = np.asarray(recoded.labels[: int(tuples.counts.sum())], dtype=np.int64)
    book, ranks = Cellbook.of(recoded.published)
    start = tuples.offsets[:-1]
    label = labels[start]
    divided = np.minimum.reduceat(labels, start) != np.maximum.reduceat(labels, start)
    if rows is None or book.small:
        records = (np.arange(len(tuples)), label, tuples.counts if rows is None else rows)
        if divided.any():
            records = (tuples.of_row, labels, np.ones(len(labels), dtype=np.int64))
        differing = differing_rows(content, tuples, book.packing, ranks, *records)
        if differing is not None and (rows is None or len(differing.times) * _WORTH <= int(differing.times.sum())):
            return differing, book
    content.hold()
    by_column = None if divided.any() else _by_column(content, tuples, ranks, label)
    if by_column is not None:
        return _recode_columns(content, tuples, book, by_column, label < 0), book
    label[divided] = _DIVIDED
    packed = book.packing.pack(ranks)
    found = _look_up(content, tuples, packed, label)
    if divided.any():
        found = found.unionByName(_look_up_divided(content, tuples, packed, labels, np.flatnonzero(divided)))
    return found, book


def _by_column(
    content: Content, tuples: SparkRows, ranks: Sequence[IntArray], label: IntArray
) -> list[IntArray] | None:
    """Return the cell of every value, column by column, if cells depend on nothing else."""
    kept = np.flatnonzero(label >= 0)
    found = []
    for j, rank in enumerate(ranks):
        place, cell = tuples.places[j][kept], rank[label[kept]]
        of_value = np.zeros(len(content.dictionaries[j]), dtype=np.int64)
        of_value[place] = cell
        if not np.array_equal(of_value[place], cell):
            return None
        found.append(of_value)
    return found


def _recode_columns(
    content: Content, tuples: SparkRows, book: Cellbook, of_value: Sequence[IntArray], gone: BoolArray
) -> DataFrame:
    """Recode every column separately, without suppressed combinations."""
    n, rows = len(content.quasi), content.rows
    if gone.any():
        keys, chosen = _deciding_keys(content, tuples, np.where(gone, -1, 0))
        chosen = chosen[gone[chosen]]
        suppressed = content.jobs.table({name: key[chosen] for name, key in keys.items()})
        rows = rows.join(suppressed, list(keys), "left_anti")
    more: list[dict[str, AnyArray]] = [{f"x{j}": cells} for j, cells in enumerate(of_value)]
    rows = with_numbers(content.jobs, rows, content.quasi_places, more)
    numbers = book.packing.pack_columns([F.col(f"x{j}") for j in range(n)])
    return shown_columns(content, rows, {f"g{i}": number for i, number in enumerate(numbers)})


def _look_up(content: Content, tuples: SparkRows, packed: Sequence[IntArray], label: IntArray) -> DataFrame:
    """Find the cells of every row by its combination, without suppressed and divided combinations."""
    keys, chosen = _deciding_keys(content, tuples, label)
    chosen = chosen[label[chosen] >= 0]
    cells = {f"g{i}": number[label[chosen]] for i, number in enumerate(packed)}
    book = content.jobs.table({**{name: key[chosen] for name, key in keys.items()}, **cells})
    return shown_columns(content, content.rows.join(book, list(keys), "inner"), {name: F.col(name) for name in cells})


def _look_up_divided(
    content: Content, tuples: SparkRows, packed: Sequence[IntArray], labels: IntArray, divided: IntArray
) -> DataFrame:
    """Find the cells of rows whose combination is in several classes: the first rows in canonical order come first.

    Such rows differ only in columns that are published unchanged, which define their order.
    """
    keys = dict(zip(_all_keys(content), tuples.keys, strict=True))
    lengths = tuples.counts[divided]
    owner = np.repeat(divided, lengths)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    label = labels[tuples.offsets[owner] + number]
    kept = np.flatnonzero(label >= 0)
    cells = {f"g{i}": packed_number[label[kept]] for i, packed_number in enumerate(packed)}
    concerned = content.jobs.table({name: key[divided] for name, key in keys.items()})
    book = content.jobs.table(
        {**{name: key[owner[kept]] for name, key in keys.items()}, "turn": (number[kept] + 1).astype(np.int32), **cells}
    )
    rows = rows_in_turn(content, concerned, list(keys))
    return shown_columns(content, rows.join(book, [*keys, "turn"], "inner"), {name: F.col(name) for name in cells})


def rows_in_turn(content: Content, concerned: DataFrame, keys: list[str]) -> DataFrame:
    """Return the rows with some keys, and the turn of each among those with the same: 1, 2, ... in canonical order."""
    turn = F.row_number().over(Window.partitionBy(*keys).orderBy(*(content.apart() or [F.lit(0)])))
    return content.rows.join(concerned, keys, "left_semi").withColumn("turn", turn)


def numbered_cells(content: Content, book: DataFrame, keep: Sequence[str]) -> tuple[DataFrame, Cellbook]:
    """Replace cells k0, k1, ... by their packed numbers g0, g1, ...; other columns stay unchanged."""
    n = len(content.quasi)
    named = book.select(*keep, *(F.col(f"k{j}").alias(f"c{j}") for j in range(n)))
    found = dictionaries(content.jobs, named, range(n))
    cells, ranks = Cellbook.of([d.values for d in found])
    more: list[dict[str, AnyArray]] = [{f"x{j}": rank} for j, rank in enumerate(ranks)]
    packed = cells.packing.pack_columns([F.col(f"x{j}") for j in range(n)])
    numbers = (number.alias(f"g{i}") for i, number in enumerate(packed))
    return content.jobs.hold(coded(content.jobs, named, found, more).select(*keep, *numbers)), cells


def _deciding_keys(content: Content, tuples: SparkRows, value: IntArray) -> tuple[dict[str, IntArray], IntArray]:
    """Return the fewest keys of rows that decide a value per combination, and combinations that have each once."""
    n = len(content.quasi)
    of_tuple, first = number_rows(tuples.places[:n], content.quasi_packing.sizes)
    if np.array_equal(value[first][of_tuple], value):
        return dict(zip(content.keys, tuples.keys, strict=False)), first
    return dict(zip(_all_keys(content), tuples.keys, strict=True)), np.arange(len(tuples), dtype=np.int64)


def _all_keys(content: Content) -> list[str]:
    return [*content.keys, *content.rest_keys, *content.units]


def shown_columns(content: Content, rows: DataFrame, cells: dict[str, Column]) -> DataFrame:
    """Select the published columns and the weights."""
    return rows.select(*(cell.alias(name) for name, cell in cells.items()), *content.units, *content.kept)
