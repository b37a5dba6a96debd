"""Specialising a table whose records do not fit on the driver: level by level, from counts of kinds of records.

As long as a group has more records than one task may take, one aggregation counts the kinds of records among the
children of all such groups, along every column; the algorithm decides the level from these counts, and combinations
move to the parts. Where only some of a combination's records go back to a parent, it is divided: the records that go
are told apart by their place (``at``) among equal ones. Groups that are small enough are finished by
the same algorithm where they are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.branch_counts import BranchCounts, CountedBranches, Division
from hushtable.algorithms.partition.children import Trees
from hushtable.algorithms.partition.localpk import Specialising
from hushtable.arrays import BoolArray, IntArray
from hushtable.engines import local
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.dictionaries import looked_up
from hushtable.engines.spark.jobs import spark_errors
from hushtable.engines.spark.people import UNITS
from hushtable.engines.spark.publish import Cellbook, numbered_cells, rows_in_turn, shown_columns
from hushtable.release.forms.base import cells_of
from hushtable.table.ranks import dense_ranks

__all__ = ["Branches"]


class Branches:
    """A table that is specialised where it is.

    Parameters
    ----------
    combinations : Combinations
    group_rows : int
        Records that one task may take.
    """

    def __init__(self, combinations: Combinations, group_rows: int) -> None:
        self._combinations, self._group_rows = combinations, group_rows
        self.content, self._jobs = combinations.content, combinations.jobs
        # where no model looks at a sensitive value, nothing is decided by lots
        looking = combinations.problem.model.histogram_keys()
        self._coins = (self.content.plan.coins or combinations.coins()) if looking else None
        self.problem = replace(combinations.problem, tossed=self._coins)
        self._finish = replace(combinations.finish, coins=self._coins)
        self._trees = Trees(self._finish.quasi)
        self._by = [*self.content.keys, *self.content.rest_keys, *self.content.units]
        self._kinds, self._frame = self._with_kinds()
        self._minimum = max(self.problem.model.min_group_size(), 1) * self.problem.table.unit
        self._older: list[DataFrame] = []

    def _with_kinds(self) -> tuple[Kinds, DataFrame]:
        """Tell the kinds of records, and give every combination its kind, its place and its rank among equal ones."""
        combinations, content = self._combinations, self.content
        keys = [*combinations.value_keys, *content.units]
        frame = combinations.frame.withColumns({"at": F.lit(0).cast("long"), "node": F.lit(0).cast("long")})
        frame = frame.withColumn("tie", self._tie())
        if not keys:
            one = pa.table({"w": np.ones(1, dtype=np.int64), **self._zeros(1)})
            return self._kinds_of(one), self._jobs.hold(frame.withColumn("kind", F.lit(0).cast("long")))
        found = self._jobs.collect(combinations.frame.select(*keys).distinct(), "counting kinds")
        rows = found.append_column("w", found.column(UNITS) if content.weighted else pa.array(np.ones(len(found), int)))
        for name, zeros in self._zeros(len(found)).items():
            rows = rows.append_column(name, pa.array(zeros))
        kinds = self._kinds_of(rows)
        table = {name: found.column(name) for name in keys}
        look_up = self._jobs.table({**table, "kind": kinds.of_row.astype(np.int64)})
        return kinds, self._jobs.hold(frame.join(look_up, keys))

    def _zeros(self, n: int) -> dict[str, IntArray]:
        return {f"o{j}": np.zeros(n, dtype=np.int64) for j in range(len(self._finish.quasi))}

    def _kinds_of(self, rows: pa.Table) -> Kinds:
        table = self._finish.encoded(rows)
        if not self.content.weighted:
            table = replace(table, row_units=np.empty(0, dtype=np.int64))
        return Kinds.of(replace(self.problem, table=table))

    def _tie(self) -> Column:
        """The ranks of the other published cells, where they are part of the combinations, then of other spellings."""
        content, first = self.content, len(self.content.quasi)
        sensitive = self._finish.sensitive
        places = content.rest_packing.unpack_columns([F.col(name) for name in content.rest_keys])
        spelt = [i for i, column in enumerate(sensitive) if column.spellings]
        # in the order of ``Content.apart``
        order = [*range(len(sensitive), len(places)), *spelt]
        ranks = [looked_up(places[i], dense_ranks(content.dictionaries[first + i].values)[0]) for i in order]
        return F.array(*ranks).cast("array<long>")

    def _ranks(self) -> list[Column]:
        return [looked_up(F.col(f"o{j}"), rank) for j, rank in enumerate(self._trees.ranks)]

    def publish(self) -> tuple[DataFrame, Cellbook]:
        """Specialise, and return the published rows as ``published_rows`` does."""
        local.check_feasible(self.problem)
        problem, algorithm = self.problem, self.content.plan.algorithm
        if not bool(problem.model.table_satisfied(problem.reference.whole(), problem.reference)[0]):
            raise algorithm.not_found(problem)
        small, leaves = self._divide()
        names = [*self._by, "at", "n"]
        cells = [f"k{j}" for j in range(len(self._finish.quasi))]
        schema = StructType(
            [*(StructField(name, LongType()) for name in names), *(StructField(k, StringType()) for k in cells)]
        )
        finish = replace(self._finish, keys=tuple(self._by))
        with spark_errors("partitioning"):
            books = []
            if small is not None:
                groups = self._frame.join(small, "node").groupBy("node")
                # Spark counts the arguments of what it is given, and a bound method has one more
                books.append(groups.applyInArrow(lambda rows: finish.divided_cells(rows), schema))
            if leaves is not None:
                books.append(self._frame.join(leaves, "node").select(*names, *cells))
            book = reduce(lambda one, other: one.unionByName(other), books)
        return self._looked_up(self._jobs.hold(book))

    def _divide(self) -> tuple[DataFrame | None, DataFrame | None]:
        """Divide groups until tasks can take them: those, with their closed columns, and the cells of finished ones."""
        d = len(self._finish.quasi)
        nodes, closed = np.zeros(1, dtype=np.int64), np.zeros((1, d), dtype=np.bool_)
        small: list[tuple[IntArray, BoolArray]] = []
        leaves: list[IntArray] = []
        fresh = 1
        while len(nodes):
            self._jobs.progress(0.0, "partitioning")
            records, units, heights = self._measured(nodes)
            able = ~closed & (heights > 0)
            opened = (units >= 2 * self._minimum) & able.any(axis=1)
            large = opened & (records > self._group_rows)
            leaves.append(nodes[~opened])
            small.append((nodes[opened & ~large], closed[opened & ~large]))
            nodes, heights, closed, able = nodes[large], heights[large], closed[large], able[large]
            if not len(nodes):
                break
            counts = self._counts(nodes, heights, able)
            branches = CountedBranches(self.problem, self._trees, self._kinds, counts, heights, closed)
            Specialising(self.problem, branches, 0, self._kinds).work()
            division = branches.division
            leaves.append(nodes[division.chosen < 0])
            self._move(nodes, heights, division, fresh)
            nodes = fresh + np.arange(len(division.closed), dtype=np.int64)
            fresh, closed = fresh + len(nodes), division.closed
        return self._small_table(small), self._leaf_table(np.concatenate(leaves))

    def _measured(self, nodes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Count records and weight of groups, and find the heights of the nodes that cover them."""
        ends = [end(rank) for rank in self._ranks() for end in (F.min, F.max)]
        asked = self._jobs.table({"node": nodes, "group": np.arange(len(nodes), dtype=np.int64)})
        own = self._frame.join(asked, "node").groupBy("group")
        found = self._jobs.collect_large(
            own.agg(F.sum("n").alias("n"), F.sum("w").alias("w"), *(e.alias(f"e{i}") for i, e in enumerate(ends))),
            "partitioning",
            len(nodes),
        )
        for older in self._older:
            self._jobs.let_go(older)
        self._older.clear()
        order = np.argsort(found.column("group").to_numpy())
        columns = {name: found.column(name).to_numpy().astype(np.int64)[order] for name in found.column_names}
        d = len(self._trees.ranks)
        low, high = (np.column_stack([columns[f"e{2 * j + end}"] for j in range(d)]) for end in (0, 1))
        return columns["n"], columns["w"], self._trees.heights(low, high)

    def _child(self, column: int, above: Column) -> Column:
        """The child that a record belongs to, one level below a height."""
        nodes = self._trees.nodes[column]
        rank = looked_up(F.col(f"o{column}"), self._trees.ranks[column])
        return looked_up((above - 1) * F.lit(nodes.shape[1]) + rank, nodes.reshape(-1))

    def _counts(self, nodes: IntArray, heights: IntArray, able: BoolArray) -> BranchCounts:
        """Count the kinds of records among the children of groups, along every column: one aggregation."""
        d = heights.shape[1]
        asked: dict[str, Any] = {"node": nodes, "group": np.arange(len(nodes), dtype=np.int64)}
        for j in range(d):
            asked[f"h{j}"] = pa.array(heights[:, j], mask=~able[:, j])
        children = [F.when(F.col(f"h{j}").isNotNull(), self._child(j, F.col(f"h{j}"))) for j in range(d)]
        ranks = {f"z{j}": rank for j, rank in enumerate(self._ranks())}
        each = F.posexplode(F.array(*children)).alias("column", "child")
        ends = [end(f"z{j}").alias(f"{name}{j}") for j in range(d) for name, end in (("low", F.min), ("high", F.max))]
        counted = (
            self._frame.join(self._jobs.table(asked), "node")
            .withColumns(ranks)
            .select("group", "kind", "n", *ranks, each)
            .filter(F.col("child").isNotNull())
            .groupBy("group", "column", "child", "kind")
            .agg(F.sum("n").alias("n"), *ends)
        )
        most = len(nodes) * len(self._kinds.stats) * sum(int(own.max()) + 1 for own in self._trees.nodes)
        found = self._jobs.collect_large(counted, "partitioning", most)
        columns = {name: found.column(name).to_numpy().astype(np.int64) for name in found.column_names}
        low, high = (np.column_stack([columns[f"{name}{j}"] for j in range(d)]) for name in ("low", "high"))
        group, column, child, kind, n = (columns[name] for name in ("group", "column", "child", "kind", "n"))
        return BranchCounts(group, column, child, kind, n, low, high)

    def _move(self, nodes: IntArray, heights: IntArray, division: Division, fresh: int) -> None:
        """Send the combinations of divided groups to their parts, and divide those of which some records go back."""
        divided = np.flatnonzero(division.chosen >= 0)
        if not len(divided):
            return
        column = division.chosen[divided]
        table = self._jobs.table({"node": nodes[divided], "column": column, "above": heights[divided, column]})
        children = [F.when(F.col("column") == j, self._child(j, F.col("above"))) for j in range(heights.shape[1])]
        parts = self._jobs.table({"node": nodes[division.group], "child": division.node, "part": fresh + division.part})
        # the table is named once: a plan that names it twice doubles with every level
        moved = self._frame.join(table, "node", "left").withColumn("child", F.coalesce(*children))
        moved = moved.join(parts, ["node", "child"], "left").withColumn("part", F.coalesce("part", "node"))
        group, node, kind, count, part = division.taken
        if len(group):
            taken = self._jobs.table(
                {"node": nodes[group], "child": node, "kind": kind, "count": count, "back": fresh + part}
            )
            moved = self._taken(moved.join(taken, ["node", "child", "kind"], "left"))
        names = self._frame.columns
        self._older.append(self._frame)
        self._frame = self._jobs.hold(moved.drop("node").withColumnRenamed("part", "node").select(*names))

    def _taken(self, moved: DataFrame) -> DataFrame:
        """Divide combinations of which the first records go back, combinations in secret order."""
        codes = [F.col(f"o{j}").cast("long") for j in range(len(self._finish.quasi))]
        order: list[Column | str] = [*codes, *self._combinations.value_keys, "tie"]
        order += [*self.content.units, *self.content.keys, *self.content.rest_keys, "at"]
        if self._coins is not None:
            first, last = (F.lit(end).cast("long") for end in self._coins.ends)
            order.insert(0, F.xxhash64(first, *codes, last))
        # what stays as it is need not be put in order
        apart = F.when(F.col("count").isNull(), F.xxhash64(*self._by))
        own = Window.partitionBy("node", "child", "kind", apart).orderBy(*order)
        before = F.coalesce(F.sum("n").over(own.rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
        goes = F.least(F.greatest(F.coalesce(F.col("count") - before, F.lit(0)), F.lit(0)), F.col("n"))
        moved = moved.withColumn("goes", goes)
        left, at = F.col("n") - F.col("goes"), F.col("at") + F.col("goes")
        back = F.struct(F.col("goes").alias("n"), F.col("at").alias("at"), F.col("back").alias("part"))
        stays = F.struct(left.alias("n"), at.alias("at"), F.col("part").alias("part"))
        pieces = moved.withColumn("piece", F.explode(F.array(back, stays))).filter("piece.n > 0")
        unit = F.col(UNITS) if self.content.weighted else F.lit(1)
        pieces = pieces.withColumns({name: F.col("piece")[name] for name in ("n", "at", "part")})
        return pieces.withColumn("w", F.col("n") * unit)

    def _small_table(self, small: list[tuple[IntArray, BoolArray]]) -> DataFrame | None:
        nodes = np.concatenate([own for own, _ in small])
        if not len(nodes):
            return None
        closed = np.concatenate([shut for _, shut in small])
        bits = (closed.astype(np.int64) << np.arange(closed.shape[1])).sum(axis=1)
        return self._jobs.table({"node": nodes, "shut": bits})

    def _leaf_table(self, leaves: IntArray) -> DataFrame | None:
        """The cells of finished groups, from the values that they hold."""
        if not len(leaves):
            return None
        d = len(self._finish.quasi)
        asked = self._jobs.table({"node": leaves, "group": np.arange(len(leaves), dtype=np.int64)})
        each = F.posexplode(F.array(*(F.col(f"o{j}") for j in range(d)))).alias("column", "code")
        most = len(leaves) * sum(c.coded.size for c in self._finish.quasi)
        held = self._frame.join(asked, "node").select("group", each).distinct()
        found = self._jobs.collect_large(held, "partitioning", most)
        group, column, code = (found.column(name).to_numpy().astype(np.int64) for name in found.column_names)
        shown: dict[str, Any] = {"node": leaves}
        for j, quasi in enumerate(self._finish.quasi):
            mine = np.flatnonzero(column == j)
            mine = mine[np.lexsort((code[mine], group[mine]))]
            offsets = np.searchsorted(group[mine], np.arange(len(leaves) + 1)).astype(np.int64)
            shown[f"k{j}"] = cells_of(quasi, offsets, code[mine]).labels()
        return self._jobs.table(shown)

    def _looked_up(self, book: DataFrame) -> tuple[DataFrame, Cellbook]:
        """Join the cells of combinations to the rows; equal rows in several classes are told apart by their turn."""
        content, by = self.content, self._by
        self._cells, cells = numbered_cells(content, book, [*by, "at", "n"])
        names = [f"g{i}" for i in range(len(cells.packing))]
        numbers = {name: F.col(name) for name in names}
        own = F.struct(*names)
        spans = self._jobs.hold(self._cells.groupBy(*by).agg(F.min(own).alias("least"), F.max(own).alias("most")))
        once = spans.filter("least = most").select(*by, "least.*")
        rows = shown_columns(content, content.rows.join(once, by, "inner"), numbers)
        several = spans.filter("least <> most").select(*by)
        if several.isEmpty():
            return rows, cells
        turns = self._cells.join(several, by, "left_semi")
        taking = rows_in_turn(content, several, by).join(turns, by, "inner")
        inside = (F.col("turn") > F.col("at")) & (F.col("turn") <= F.col("at") + F.col("n"))
        return rows.unionByName(shown_columns(content, taking.filter(inside), numbers)), cells

    def with_cells(self) -> DataFrame:
        """The combinations with their cells; those in several classes have as many rows."""
        unit = F.col(UNITS) if self.content.weighted else F.lit(1)
        return self._combinations.frame.drop("n", "w").join(self._cells, self._by).withColumn("w", F.col("n") * unit)
