"""Global recoding of a table whose combinations do not fit on the driver: Spark judges nodes of the lattice.

The search queries combinations through ``rolled``. Its result is applied here, column by column.
"""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from hushtable import rng
from hushtable.algorithms.base import Partition
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.compared import compared
from hushtable.engines.spark.dictionaries import looked_up, with_numbers
from hushtable.engines.spark.driver_rows import DriverRows, drawn_classes
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.publish import Cellbook, shown_columns
from hushtable.engines.spark.published import CountedCells
from hushtable.release.comparison import Comparison
from hushtable.release.forms.base import Cells, cells_of
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.encode import check_inferred_kind, is_inferred


class RecodedNode:
    """A table recoded to one node of the lattice.

    Parameters
    ----------
    combinations : Combinations
    levels : int64 array
    left_out : (d, n) integer array
        The leaf codes of one record of every suppressed group.

    Attributes
    ----------
    problem : Problem
    expected : int
        Rows that are published.
    """

    recoded = None
    summarised = False

    def __init__(self, combinations: Combinations, levels: IntArray, left_out: AnyArray) -> None:
        self._combinations, self._jobs = combinations, combinations.jobs
        self._content = content = combinations.content
        self.problem = combinations.problem
        quasi, at = combinations.finish.quasi, levels.tolist()
        self._nodes = [c.coded.levels[level].astype(np.int64) for c, level in zip(quasi, at, strict=True)]
        self._packing = Packing(tuple(len(c.coded.labels[h]) for c, h in zip(quasi, at, strict=True)))
        self._lost = self._lost_keys(left_out)
        # one group for each published leaf, with its cell at its level
        labels = [
            _cells(c, level, self._published(j) if c.coded.naming is not None and self._lost else None).labels()
            for j, (c, level) in enumerate(zip(quasi, at, strict=True))
        ]
        self._book, self._ranks = Cellbook.of(labels)
        self.expected = content.records - self._lost_rows()

    def _lost_keys(self, left_out: AnyArray) -> list[IntArray]:
        """The nodes of the suppressed groups, packed."""
        if not left_out.shape[1]:
            return []
        return self._packing.pack([nodes[codes] for nodes, codes in zip(self._nodes, left_out, strict=True)])

    @property
    def _names(self) -> list[str]:
        return [f"h{i}" for i in range(len(self._packing))]

    def _lost_table(self, chosen: AnyArray | None = None) -> DataFrame:
        keys = self._lost if chosen is None else [key[chosen] for key in self._lost]
        return self._jobs.table(dict(zip(self._names, keys, strict=True)))

    def _with_nodes(self) -> DataFrame:
        """The combinations with their packed nodes h0, h1, ..."""
        columns = [F.col(f"o{j}") for j in range(len(self._nodes))]
        nodes = self._packing.pack_columns([looked_up(c, n) for c, n in zip(columns, self._nodes, strict=True)])
        return self._combinations.frame.withColumns({f"h{i}": n for i, n in enumerate(nodes)})

    def _published(self, j: int) -> IntArray:
        """The published codes of a column."""
        kept = self._with_nodes().join(self._lost_table(), self._names, "left_anti").select(f"o{j}").distinct()
        found = self._jobs.collect(kept, "publishing").column(0).to_numpy()
        return np.sort(found).astype(np.int64)

    def _at_node(self) -> DataFrame:
        """The combinations with their packed nodes h0, h1, ... and cells g0, g1, ..."""
        columns = [F.col(f"o{j}") for j in range(len(self._nodes))]
        cells = self._book.packing.pack_columns([looked_up(c, r) for c, r in zip(columns, self._ranks, strict=True)])
        return self._with_nodes().withColumns({f"g{i}": c for i, c in enumerate(cells)})

    def _lost_rows(self) -> int:
        if not self._lost:
            return 0
        gone = self._with_nodes().join(self._lost_table(), self._names, "left_semi").agg(F.sum("n").alias("n"))
        return int(self._jobs.collect(gone, "publishing").column("n")[0].as_py())

    def publish(self) -> tuple[DataFrame, Cellbook]:
        """Return the published rows as ``published_rows`` does."""
        content, n = self._content, len(self._nodes)
        more: list[dict[str, AnyArray]] = [
            {f"x{j}": self._ranks[j][own], f"y{j}": self._nodes[j][own]}
            for j, own in enumerate(self._combinations.codes[:n])
        ]
        rows = with_numbers(self._jobs, content.rows, content.quasi_places, more)
        if self._lost:
            packed = self._packing.pack_columns([F.col(f"y{j}") for j in range(n)])
            rows = rows.withColumns(dict(zip(self._names, packed, strict=True)))
            rows = rows.join(self._lost_table(), self._names, "left_anti")
        numbers = self._book.packing.pack_columns([F.col(f"x{j}") for j in range(n)])
        return shown_columns(content, rows, {f"g{i}": number for i, number in enumerate(numbers)}), self._book

    def compare(self, partition: Partition, counted: CountedCells, book: Cellbook) -> tuple[DriverRows, Comparison]:
        """Return some whole classes, and the release compared with its original."""
        combinations, shown = self._combinations, self._at_node()
        if self._lost:
            self._check_kinds(counted)
            shown = shown.join(self._lost_table(), self._names, "left_anti")
        known = drawn_classes(combinations, shown, counted, book.packing, partition, self._lost_share)
        return known, compared(combinations, shown, self._lost_share(), counted, book.packing, known)

    def _check_kinds(self, counted: CountedCells) -> None:
        """Refuse kinds that only suppressed records decide, as on one machine."""
        plan, finish = self._content.plan.table, self._combinations.finish
        for j, quasi in enumerate(finish.quasi):
            if is_inferred(quasi, plan):
                check_inferred_kind(quasi, self._published(j))
        for sensitive in finish.sensitive:
            if is_inferred(sensitive, plan):
                check_inferred_kind(sensitive, counted.sensitive[sensitive.name])

    def _lost_share(self, share: float = 1.0) -> DataFrame | None:
        """About the given share of the suppressed combinations."""
        if not self._lost:
            return None
        luck = rng.uniform(self._combinations.problem.seed, "spark/measured-suppressed", len(self._lost[0]))
        some = self._lost_table(np.flatnonzero(luck < share))
        return self._at_node().join(some, self._names, "left_semi")


def _cells(column: QuasiColumn, level: int, published: IntArray | None) -> Cells:
    """One group for each leaf; those of unpublished leaves stay empty, if these are known."""
    codes = np.arange(column.coded.size, dtype=np.int64) if published is None else published
    return cells_of(column, np.searchsorted(codes, np.arange(column.coded.size + 1)).astype(np.int64), codes, level)
