"""The rows of a table on the driver: all of them as codes, or some whole classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import IntArray
from hushtable.engines.spark.content import Content, SparkRows
from hushtable.release.comparison import RowComparison
from hushtable.release.recode import Recoded


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
