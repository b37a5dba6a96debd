"""Partitioning a table whose rows do not fit on the driver: level by level, from exact histograms.

Combinations stay with Spark. As long as a group has more of them than one task may take, one aggregation counts every
value of every column in all such groups at once, the algorithm decides the level from these counts, and combinations
move to the children. Groups that are small enough are then finished by the same algorithm where they are; those that
cannot be divided any further are published from their counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from hushtable.algorithms.partition.histograms import HistogramLevel, LevelCounts
from hushtable.arrays import IntArray
from hushtable.engines import local
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.jobs import spark_errors
from hushtable.engines.spark.publish import Cellbook, numbered_cells, shown_columns
from hushtable.release.forms.base import cells_of
from hushtable.table.stats import Key

__all__ = ["Levels"]


class Levels:
    """A table that is partitioned where it is.

    Parameters
    ----------
    combinations : Combinations
    group_rows : int
        Combinations that one task may take.
    """

    def __init__(self, combinations: Combinations, group_rows: int) -> None:
        self._combinations, self._group_rows = combinations, group_rows
        self.content, self.jobs = combinations.content, combinations.jobs
        self.problem, self._finish, self._values = combinations.problem, combinations.finish, combinations.values
        self._value_keys = combinations.value_keys
        self._frame = combinations.frame.withColumn("node", F.lit(0).cast("long"))
        self._older: list[DataFrame] = []

    def publish(self) -> tuple[DataFrame, Cellbook]:
        """Partition, and return the published rows as ``published_rows`` does."""
        local.check_feasible(self.problem)
        problem, algorithm = self.problem, self.content.plan.algorithm
        if not bool(problem.model.table_satisfied(problem.reference.whole(), problem.reference)[0]):
            raise algorithm.not_found(problem)
        parts = self._divide()
        n = len(self._finish.quasi)
        fields = [StructField(name, LongType()) for name in self.content.keys]
        schema = StructType([*fields, *(StructField(f"k{j}", StringType()) for j in range(n))])
        with spark_errors("partitioning"):
            open_groups = self._frame
            if parts is not None:
                open_groups = open_groups.join(parts.select("node"), "node", "left_anti")
            finish = self._finish
            # Spark counts the arguments of what it is given, and a bound method has one more
            book = open_groups.groupBy("node").applyInArrow(lambda rows: finish.cells(rows), schema)
            if parts is not None:
                done = self._frame.select("node", *self.content.keys).distinct().join(parts, "node").drop("node")
                book = book.unionByName(done)
        return self._looked_up(self.jobs.hold(book))

    def _divide(self) -> DataFrame | None:
        """Cut the groups that are too large for a task; return the cells of those that cannot be cut."""
        algorithm: Any = self.content.plan.algorithm
        quasi, model = self._finish.quasi, self.problem.model.part(table_level=False)
        minimum = self.problem.model.min_group_size() * self.problem.table.unit
        large, fresh = np.zeros(1, dtype=np.int64), 1
        if self._frame.count() <= self._group_rows:
            return None
        leaves: list[tuple[IntArray, list[pa.Array]]] = []
        while len(large):
            self.jobs.progress(0.0, "partitioning")
            counts, tuples = self._counts(large)
            for older in self._older:
                older.unpersist()
            self._older.clear()
            level = HistogramLevel(quasi, counts, minimum, self.problem.table.unit)
            accepted = algorithm.level(level, model, self.problem)
            whole = np.setdiff1d(np.arange(len(large)), accepted.group)
            if len(whole):
                cells = [cells_of(c, *level.members(whole, j)).labels() for j, c in enumerate(quasi)]
                leaves.append((large[whole], cells))
            children = fresh + np.arange(2 * len(accepted), dtype=np.int64)
            fresh += len(children)
            self._move(large[accepted.group], accepted.column, accepted.cuts[::2], children)
            total = np.concatenate([[0], np.cumsum(tuples[level.order])])
            held = total[accepted.ends] - total[accepted.starts]
            large = children[held > self._group_rows]
        if not leaves:
            return None
        shown = {f"k{j}": pa.concat_arrays([labels[j] for _, labels in leaves]) for j in range(len(quasi))}
        return self.jobs.table({"node": np.concatenate([nodes for nodes, _ in leaves]), **shown})

    def _counts(self, nodes: IntArray) -> tuple[LevelCounts, IntArray]:
        """Count every value of every column in these groups: one aggregation. Also the combinations behind each."""
        d = len(self._finish.quasi)
        keys = sorted(self.problem.model.part(table_level=False).histogram_keys())
        wanted = self._value_keys if keys else []
        asked = self.jobs.table({"node": nodes, "group": np.arange(len(nodes), dtype=np.int64)})
        each = F.posexplode(F.array(*(F.col(f"o{j}") for j in range(d)))).alias("column", "code")
        counted = (
            self._frame.join(asked, "node")
            .select("group", "w", *wanted, each)
            .groupBy("group", "column", "code", *wanted)
            .agg(F.sum("w").alias("w"), F.count(F.lit(1)).alias("t"))
        )
        found = self.jobs.collect_large(counted, "partitioning")
        group, column, code, units, tuples = (
            found.column(name).to_numpy().astype(np.int64) for name in ("group", "column", "code", "w", "t")
        )
        codes = self._values.unpack([found.column(name).to_numpy() for name in wanted]) if wanted else []
        values, sizes = {}, {}
        for key in keys:
            values[key], sizes[key] = self._joint(key, codes)
        return LevelCounts(group, column, code, units, values, sizes, len(nodes)), tuples

    def _joint(self, key: Key, codes: Sequence[IntArray]) -> tuple[IntArray, int]:
        names = [c.name for c in self._finish.sensitive]
        joint, size = np.zeros(len(codes[0]), dtype=np.int64), 1
        for name in key:
            at = names.index(name)
            joint = joint * self._values.sizes[at] + codes[at]
            size *= self._values.sizes[at]
        return joint, size

    def _move(self, nodes: IntArray, columns: IntArray, cuts: IntArray, children: IntArray) -> None:
        """Send the combinations of divided groups to their children."""
        if not len(nodes):
            return
        moves = self.jobs.table(
            {"node": nodes, "column": columns + 1, "cut": cuts, "below": children[::2], "above": children[1::2]}
        )
        code = F.element_at(
            F.array(*(F.col(f"o{j}") for j in range(len(self._finish.quasi)))), F.col("column").cast("int")
        )
        child = F.when(F.col("cut").isNull(), F.col("node")).otherwise(
            F.when(code <= F.col("cut"), F.col("below")).otherwise(F.col("above"))
        )
        # needed until the next level is counted
        self._older.append(self._frame)
        names = self._frame.columns
        moved = self._frame.join(moves, "node", "left").withColumn("child", child)
        self._frame = self.jobs.hold(moved.drop("node").withColumnRenamed("child", "node").select(*names))

    def with_cells(self) -> DataFrame:
        """The combinations with their cells."""
        return self._combinations.frame.join(self._cells, self.content.keys)

    def _looked_up(self, book: DataFrame) -> tuple[DataFrame, Cellbook]:
        """Join the cells of combinations to the rows."""
        content = self.content
        self._cells, cells = numbered_cells(content, book, content.keys)
        rows = content.rows.join(self._cells, content.keys, "inner")
        return shown_columns(content, rows, {f"g{i}": F.col(f"g{i}") for i in range(len(cells.packing))}), cells
