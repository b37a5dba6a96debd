"""A table whose rows do not fit on the driver, but whose distinct combinations do: each is a row with its weight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pyspark.sql import DataFrame

from hushtable import rng
from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import IntArray
from hushtable.engines import local
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.content import SparkRows
from hushtable.engines.spark.driver_rows import KNOWN, DriverRows, draw_classes
from hushtable.engines.spark.finish import with_codes
from hushtable.engines.spark.publish import Cellbook, published_rows
from hushtable.engines.spark.published import CountedCells
from hushtable.engines.spark.repeated import Differing
from hushtable.release.comparison import Comparison, RowComparison
from hushtable.release.counted import CountedComparison
from hushtable.release.recode import recode
from hushtable.release.settle import settle
from hushtable.table.encoded import EncodedTable


class DriverSummary:
    """Distinct combinations on the driver, grouped by an algorithm that keeps equal records together.

    Parameters
    ----------
    combinations : Combinations

    Attributes
    ----------
    table : EncodedTable
        Its rows are the combinations.
    problem : Problem
    expected : int
        Rows that are published.
    """

    recoded = None
    summarised = True

    def __init__(self, combinations: Combinations) -> None:
        content = combinations.content
        self._combinations, self._content = combinations, content
        self.tuples = content.tuples(combinations.frame)
        own = self._table(np.arange(len(self.tuples)))
        weight = self.tuples.counts * self.tuples.units if content.weighted else self.tuples.counts
        self.table = replace(own, row_units=weight)

    def settle(self, problem: Problem, partition: Partition) -> None:
        """Turn the algorithm's groups of combinations into classes."""
        plan = self._content.plan
        self.problem, self._partition = problem.grouped, partition
        settled = settle(self.problem, partition, plan.algorithm.recoding)
        if settled is None:
            raise plan.algorithm.not_found(self.problem)
        self._classes = settled
        self.expected = int(self.tuples.counts[local.kept_rows(self.problem, plan, settled)].sum())

    def _table(self, some: IntArray) -> EncodedTable:
        """Return the codes of some combinations, as rows."""
        finish = self._combinations.finish
        codes = [own[places[some]] for own, places in zip(self._combinations.codes, self.tuples.places, strict=False)]
        n = len(finish.quasi)
        return EncodedTable(
            quasi=tuple(with_codes(c, own) for c, own in zip(finish.quasi, codes[:n], strict=True)),
            sensitive=tuple(with_codes(c, own) for c, own in zip(finish.sensitive, codes[n:], strict=True)),
            n_sample=len(some),
            n_rows=len(some),
            unit=finish.unit,
        )

    def publish(self) -> tuple[DataFrame | Differing, Cellbook]:
        """Return the published rows as ``published_rows`` does."""
        once = replace(self.tuples, counts=np.ones(len(self.tuples), dtype=np.int64))
        return published_rows(self._content, once, self._classes, self.tuples.counts)

    def compare(self, partition: Partition, counted: CountedCells, book: Cellbook) -> tuple[DriverRows, Comparison]:
        """Return some whole classes, and the release compared with its original: every combination with its records."""
        every = RowComparison(
            table=self.problem.table,
            labels=np.asarray(self._classes.labels, dtype=np.int64),
            cells=self._classes.cells,
            k=self.problem.model.min_group_size(),
            seed=self.problem.seed,
        )
        known = self._sampled_rows()
        return known, CountedComparison.of_rows(every, self.tuples.counts, known.comparison)

    def _sampled_rows(self) -> DriverRows:
        """Some whole classes, expanded to rows, and the same share of the suppressed records."""
        tuples, seed = self.tuples, self.problem.seed
        labels, n = np.asarray(self._classes.labels, dtype=np.int64), self._classes.n_groups
        kept = labels >= 0
        sizes = np.zeros(n, dtype=np.int64)
        np.add.at(sizes, labels[kept], tuples.counts[kept])
        chosen, weight = draw_classes(sizes, KNOWN, seed)
        number = np.full(n + 1, -1, dtype=np.int64)
        number[chosen] = np.arange(len(chosen))
        share = float(sizes[chosen].sum() / sizes.sum())
        lucky = rng.uniform(seed, "spark/measured-suppressed", len(labels)) < share
        some = np.flatnonzero(np.where(kept, number[labels] >= 0, lucky))
        drawn = SparkRows(
            tuple(places[some] for places in tuples.places), tuples.counts[some],
            tuples.units[some] if self._content.weighted else tuples.units, tuple(key[some] for key in tuples.keys),
        )  # fmt: skip
        units = drawn.units[drawn.of_row] if self._content.weighted else drawn.units
        table = replace(self._table(some[drawn.of_row]), row_units=units)
        inside = np.where(kept, number[labels], -1)[some[drawn.of_row]]
        partition = replace(self._partition, labels=inside, n_groups=len(chosen))
        recoded = recode(table, partition, self._content.plan.algorithm.recoding)
        return DriverRows(replace(self.problem, store=table), partition, recoded, drawn, weight)
