"""Utility of a release whose rows are not on the driver, computed by aggregations.

Classes and their sizes are known from verification. One more aggregation counts the original values behind the cells of
each column. Sums over the distinct original tuples are computed in tasks, when a measure needs them. A column's cells
are distinguished by their labels: two nodes of different height with one name count as the higher one. (Midpoints,
which do not distinguish ranges, are refused for such tables.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from hushtable.arrays import FloatArray, IntArray
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.driver_rows import DriverRows
from hushtable.engines.spark.jobs import changed_input
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.published import CountedCells
from hushtable.release.comparison import TupleSums, Values
from hushtable.release.counted import CountedComparison
from hushtable.release.forms.base import Cells, cells_of
from hushtable.table.coded_columns import QuasiColumn


def compared(
    combinations: Combinations,
    shown: DataFrame,
    lost: DataFrame | None,
    counted: CountedCells,
    packing: Packing,
    known: DriverRows,
) -> CountedComparison:
    """Compare a release with its original, counted by Spark.

    Parameters
    ----------
    combinations : Combinations
    shown : DataFrame
        The combinations that are published, and their rows n, with their packed cells g0, g1, ...
    lost : DataFrame, optional
        Those that are suppressed, and their rows n.
    counted : CountedCells
    packing : Packing
        Of the cells.
    known : DriverRows
        Some whole classes.
    """
    first, sizes = counted.classes(packing)
    values = _values(combinations, shown, lost, packing)
    quasi = combinations.finish.quasi
    levels = known.partition.levels or (None,) * len(quasi)
    columns = zip(quasi, levels, values, packing.sizes, strict=True)
    return CountedComparison(
        cells=tuple(_cells(column, level, own, n) for column, level, own, n in columns),
        of_class=tuple(numbers[first] for numbers in counted.cells),
        class_records=sizes,
        counted=tuple(values),
        tuples=partial(_over_tuples, combinations),
        drawn=known.comparison,
        k=combinations.problem.model.min_group_size(),
        seed=combinations.problem.seed,
    )


def _values(combinations: Combinations, shown: DataFrame, lost: DataFrame | None, packing: Packing) -> list[Values]:
    """Count the original values behind every cell of every column: one aggregation."""
    d = len(combinations.finish.quasi)
    cells = packing.unpack_columns([F.col(f"g{i}") for i in range(len(packing))])
    frame = shown.select("n", *(cell.alias(f"x{j}") for j, cell in enumerate(cells)), *_codes(d))
    if lost is not None:
        nowhere = [F.lit(-1).alias(f"x{j}") for j in range(d)]
        frame = frame.unionByName(lost.select("n", *nowhere, *_codes(d)))
    pairs = [F.struct(F.col(f"x{j}").alias("cell"), F.col(f"o{j}").alias("code")) for j in range(d)]
    each = frame.select("n", F.posexplode(F.array(*pairs)).alias("column", "pair"))
    summed = each.groupBy("column", "pair.cell", "pair.code").agg(F.sum("n").alias("n"))
    found = combinations.jobs.collect_large(summed, "measuring")
    column, cell, code, records = (
        found.column(name).to_numpy().astype(np.int64) for name in ("column", "cell", "code", "n")
    )
    order = np.lexsort((code, cell, column))
    starts = np.searchsorted(column[order], np.arange(d + 1))
    parts = [order[start:end] for start, end in pairwise(starts.tolist())]
    out = [Values(cell[part], code[part], records[part]) for part in parts]
    if any(int(own.records.sum()) != combinations.content.records for own in out):
        raise changed_input()
    return out


def _codes(d: int) -> list[str]:
    return [f"o{j}" for j in range(d)]


def _cells(column: QuasiColumn, level: int | None, values: Values, n: int) -> Cells:
    """The meaning of each cell number, from the values behind it; unused ones stay empty."""
    first = int(np.searchsorted(values.cell, 0))
    offsets = np.searchsorted(values.cell[first:], np.arange(n + 1)).astype(np.int64)
    return cells_of(column, offsets, values.code[first:], level)


def _over_tuples(combinations: Combinations, sums: TupleSums) -> FloatArray:
    """Sum over the distinct tuples, a part in each task; an interrupted sum stops its jobs."""
    codes = _codes(len(combinations.finish.quasi))
    with combinations.jobs.run() as jobs:
        tuples = combinations.frame.groupBy(*codes).agg(F.sum("n").alias("n"))
        parts = tuples.mapInArrow(partial(_summed, sums, codes), "sums array<double>, n long")
        found = jobs.collect(parts, "measuring")
    if sum(found.column("n").to_pylist()) != combinations.content.records:
        raise changed_input()
    return np.array([math.fsum(part) for part in zip(*found.column("sums").to_pylist(), strict=True)])


def _summed(sums: TupleSums, codes: Sequence[str], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sum up the tuples of one task."""
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        # even a partition without rows has a task
        return
    table = pa.Table.from_batches(held)
    records: IntArray = table.column("n").to_numpy().astype(np.int64)
    found = sums([table.column(name).to_numpy() for name in codes], records)
    yield pa.RecordBatch.from_pydict(
        {"sums": pa.array([found.tolist()], pa.list_(pa.float64())), "n": pa.array([int(records.sum())])}
    )
