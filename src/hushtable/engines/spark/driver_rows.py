"""The rows of a table on the driver: all of them as codes, or some whole classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from hushtable import rng
from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import IntArray
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.content import Content, SparkRows
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.published import CountedCells
from hushtable.release.comparison import RowComparison
from hushtable.release.recode import Recoded, recode


@dataclass(frozen=True)
class DriverRows:
    """Rows on the driver, and their classes.

    Attributes
    ----------
    problem, partition, recoded
        As on one machine; rows are those of ``tuples``, expanded.
    tuples : SparkRows
    weight : float
        1 if these are all rows; less if whole classes were drawn: see ``draw_classes``.
    """

    problem: Problem
    partition: Partition
    recoded: Recoded
    tuples: SparkRows
    weight: float = 1.0

    @property
    def comparison(self) -> RowComparison:
        """These rows with their published cells."""
        return RowComparison(
            table=self.problem.table,
            labels=self.recoded.labels[: self.problem.table.n_sample],
            cells=self.recoded.cells,
            k=self.problem.model.min_group_size(),
            seed=self.problem.seed,
        )

    def source(self, content: Content, rows: IntArray) -> pa.Table:
        """Return these rows as they were before encoding."""
        of_row = self.tuples.of_row[rows]
        columns = zip(content.table_plan.columns, content.dictionaries, self.tuples.places, strict=True)
        return pa.table({column.name: d.rows(places[of_row]) for column, d, places in columns})


def draw_classes(sizes: IntArray, most: int, seed: int) -> tuple[IntArray, float]:
    """Draw classes until they have about ``most`` records; return them, and the weight of one record.

    Examples
    --------
    >>> chosen, weight = draw_classes(np.array([2, 2, 2, 2]), 5, seed=1)
    >>> len(chosen), weight
    (2, 0.5)
    >>> draw_classes(np.array([3, 2]), 5, seed=1)[1]
    1.0
    """
    if int(sizes.sum()) <= most:
        return np.arange(len(sizes), dtype=np.int64), 1.0
    order = np.argsort(rng.uniform(seed, "spark/attacked-classes", len(sizes)), kind="stable")
    held = np.cumsum(sizes[order])
    chosen = np.sort(order[: max(int(np.count_nonzero(held <= most)), 1)])
    own = sizes[chosen].astype(np.float64)
    return chosen, float(own.sum() / (own * own).sum())


# Collect some whole classes of a table that is not on the driver, for attacks and classifiers.


KNOWN = 100_000
"""Approximate number of records for attacks and classifiers if a table is not on the driver."""


def drawn_classes(
    combinations: Combinations,
    shown: DataFrame,
    counted: CountedCells,
    packing: Packing,
    partition: Partition | None = None,
    lost: Callable[[float], DataFrame | None] = lambda share: None,
) -> DriverRows:
    """Return some whole classes, and the same share of the suppressed records.

    Parameters
    ----------
    combinations : Combinations
    shown : DataFrame
        The combinations that are published, and their rows n, with their packed cells g0, g1, ...
    counted : CountedCells
    packing : Packing
        Of the cells.
    partition : Partition, optional
        Says how cells are recoded if not by group; its labels are not used.
    lost : callable
        Returns about the given share of the suppressed combinations.
    """
    content, jobs = combinations.content, combinations.jobs
    first, sizes = counted.classes(packing)
    chosen, weight = draw_classes(sizes, KNOWN, combinations.problem.seed)
    numbers = packing.pack([cells[first[chosen]] for cells in counted.cells])
    names = [f"g{i}" for i in range(len(numbers))]
    wanted = jobs.table({**dict(zip(names, numbers, strict=True)), "class": np.arange(len(chosen), dtype=np.int64)})
    by = [*content.keys, *content.rest_keys, *content.units]
    columns = [*by, *(f"o{j}" for j in range(len(content.quasi))), *combinations.value_keys, "n", "w"]
    some = shown.join(wanted, names).select(*columns, "class")
    found = jobs.collect_large(some, "sampling classes", int(sizes[chosen].sum()))
    gone = lost(float(sizes[chosen].sum() / sizes.sum()))
    if gone is not None:
        more = jobs.collect_large(gone.select(*columns), "sampling classes")
        nowhere = pa.array(np.full(more.num_rows, -1, dtype=np.int64))
        found = pa.concat_tables([found, more.append_column("class", nowhere).cast(found.schema)])
    tuples = content.tuples_of([found.column(name).to_numpy() for name in by], found.column("n").to_numpy())
    spread = found.take(pa.array(tuples.of_row))
    units = tuples.units[tuples.of_row] if content.weighted else np.empty(0, dtype=np.int64)
    table = replace(combinations.finish.encoded(spread), row_units=units)
    labels = spread.column("class").to_numpy().astype(np.int64)
    partition = replace(partition or Partition(labels, 0), labels=labels, n_groups=len(chosen))
    recoded = recode(table, partition, content.plan.algorithm.recoding)
    return DriverRows(replace(combinations.problem, store=table), partition, recoded, tuples, weight)
