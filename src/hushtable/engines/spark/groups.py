"""Dividing a table whose records do not fit on the driver: level by level, from counts.

Combinations stay with Spark, each with the number of its group. As long as a group has too many of them for one task,
aggregations count it, an algorithm decides from the counts, and combinations move to the parts. The same algorithm
divides small groups within a task. If an algorithm separates equal records, a combination is divided too: its records
are identified by their place (``at``) among equal ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.children import Trees
from hushtable.algorithms.store import BranchCounts, Division, LevelCounts
from hushtable.arrays import BoolArray, IntArray
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.compared import compared
from hushtable.engines.spark.dictionaries import looked_up
from hushtable.engines.spark.driver_rows import DriverRows, drawn_classes
from hushtable.engines.spark.jobs import spark_errors
from hushtable.engines.spark.people import UNITS
from hushtable.engines.spark.publish import Cellbook, numbered_cells, rows_in_turn, shown_columns
from hushtable.engines.spark.published import CountedCells
from hushtable.release.comparison import Comparison
from hushtable.release.forms.base import cells_of
from hushtable.table.coins import Coins
from hushtable.table.ranks import dense_ranks
from hushtable.table.stats import Key


class SparkGroups:
    """A table that is divided on Spark; see ``hushtable.algorithms.store.Groups``.

    Parameters
    ----------
    combinations : Combinations
    most : int
        Maximum number of combinations, or records, in one task.
    coins : Coins, optional

    Attributes
    ----------
    problem : Problem
    expected : int
        Rows that are published.
    """

    recoded = None
    summarised = False

    def __init__(self, combinations: Combinations, most: int, coins: Coins | None = None) -> None:
        self._combinations, self.most, self._coins = combinations, most, coins
        self.content, self._jobs = combinations.content, combinations.jobs
        self.problem: Problem = replace(combinations.problem, tossed=coins or combinations.problem.tossed)
        self.expected = self.content.records
        self._finish = replace(combinations.finish, coins=coins)
        self._quasi = self._finish.quasi
        self._trees = Trees(self._quasi)
        self._frame = combinations.frame.withColumn("node", F.lit(0).cast("long"))
        self._parts = False
        self._older: list[DataFrame] = []

    def __len__(self) -> int:
        return self._combinations.held

    @property
    def _by(self) -> list[str]:
        """What decides the cells of a combination: its quasi-identifiers, or all of it if it may be divided."""
        keys = self.content.keys
        return [*keys, *self.content.rest_keys, *self.content.units] if self._parts else keys

    def _asked(self, groups: IntArray, **more: Any) -> DataFrame:
        """The combinations of some groups, renumbered in the column ``group``."""
        table = self._jobs.table({"node": groups, "group": np.arange(len(groups), dtype=np.int64), **more})
        return self._frame.join(table, "node")

    def _moved(self, frame: DataFrame, node: str) -> None:
        """Continue with combinations in other groups; the older ones are needed until these have been counted."""
        names = self._frame.columns
        self._older.append(self._frame)
        self._frame = self._jobs.hold(frame.drop("node").withColumnRenamed(node, "node").select(*names))

    def _collected(self, frame: DataFrame, most: int | None = None) -> dict[str, IntArray]:
        found = self._jobs.collect_large(frame, "partitioning", most)
        for older in self._older:
            self._jobs.let_go(older)
        self._older.clear()
        return {name: found.column(name).to_numpy().astype(np.int64) for name in found.column_names}

    def counts(self, groups: IntArray, keys: Sequence[Key]) -> tuple[LevelCounts, IntArray]:
        """Count every value of every column in these groups: one aggregation."""
        wanted = self._combinations.value_keys if keys else []
        each = F.posexplode(F.array(*(F.col(f"o{j}") for j in range(len(self._quasi))))).alias("column", "code")
        found = self._collected(
            self._asked(groups)
            .select("group", "w", *wanted, each)
            .groupBy("group", "column", "code", *wanted)
            .agg(F.sum("w").alias("w"), F.count(F.lit(1)).alias("t"))
        )
        codes = self._combinations.values.unpack([found[name] for name in wanted]) if wanted else []
        joint = {key: self._joint(key, codes) for key in keys}
        counted = LevelCounts(
            found["group"], found["column"], found["code"], found["w"],
            {key: values for key, (values, _) in joint.items()}, {key: size for key, (_, size) in joint.items()},
            len(groups),
        )  # fmt: skip
        return counted, found["t"]

    def _joint(self, key: Key, codes: Sequence[IntArray]) -> tuple[IntArray, int]:
        names, sizes = [c.name for c in self._finish.sensitive], self._combinations.values.sizes
        joint, size = np.zeros(len(codes[0]), dtype=np.int64), 1
        for name in key:
            at = names.index(name)
            joint = joint * sizes[at] + codes[at]
            size *= sizes[at]
        return joint, size

    def cut(self, groups: IntArray, columns: IntArray, cuts: IntArray, children: IntArray) -> None:
        """Send the combinations of divided groups to their children."""
        if not len(groups):
            return
        moves = self._jobs.table(
            {"node": groups, "column": columns + 1, "cut": cuts, "below": children[::2], "above": children[1::2]}
        )
        code = F.element_at(F.array(*(F.col(f"o{j}") for j in range(len(self._quasi)))), F.col("column").cast("int"))
        child = F.when(F.col("cut").isNull(), F.col("node")).otherwise(
            F.when(code <= F.col("cut"), F.col("below")).otherwise(F.col("above"))
        )
        self._moved(self._frame.join(moves, "node", "left").withColumn("child", child), "child")

    def kinds(self) -> Kinds:
        """Return the kinds of records, and give every combination its kind, its place and its rank among equal ones."""
        self._parts = True
        keys = [*self._combinations.value_keys, *self.content.units]
        frame = self._frame.withColumns({"at": F.lit(0).cast("long"), "tie": self._tie()})
        if not keys:
            one = pa.table({"w": np.ones(1, dtype=np.int64), **self._zeros(1)})
            self._frame = self._jobs.hold(frame.withColumn("kind", F.lit(0).cast("long")))
            return self._kinds_of(one)
        found = self._jobs.collect(self._combinations.frame.select(*keys).distinct(), "counting kinds")
        weights = found.column(UNITS) if self.content.weighted else pa.array(np.ones(len(found), int))
        rows = found.append_column("w", weights)
        for name, zeros in self._zeros(len(found)).items():
            rows = rows.append_column(name, pa.array(zeros))
        kinds = self._kinds_of(rows)
        table = {name: found.column(name) for name in keys}
        look_up = self._jobs.table({**table, "kind": kinds.of_row.astype(np.int64)})
        self._frame = self._jobs.hold(frame.join(look_up, keys))
        return kinds

    def _zeros(self, n: int) -> dict[str, IntArray]:
        return {f"o{j}": np.zeros(n, dtype=np.int64) for j in range(len(self._quasi))}

    def _kinds_of(self, rows: pa.Table) -> Kinds:
        table = self._finish.encoded(rows)
        if not self.content.weighted:
            table = replace(table, row_units=np.empty(0, dtype=np.int64))
        return Kinds.of(replace(self.problem, store=table))

    def _tie(self) -> Column:
        """The ranks of the other published cells, if they are part of the combinations, then of other spellings."""
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

    def extents(self, groups: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Count records and weight of groups, and find the range of their ranks: one aggregation."""
        ends = [end(rank) for rank in self._ranks() for end in (F.min, F.max)]
        own = self._asked(groups).groupBy("group")
        found = self._collected(
            own.agg(F.sum("n").alias("n"), F.sum("w").alias("w"), *(e.alias(f"e{i}") for i, e in enumerate(ends))),
            len(groups),
        )
        order = np.argsort(found["group"])
        d = len(self._trees.ranks)
        low, high = (np.column_stack([found[f"e{2 * j + end}"][order] for j in range(d)]) for end in (0, 1))
        return found["n"][order], found["w"][order], low, high

    def _child(self, column: int, above: Column) -> Column:
        """The child that a record belongs to, one level below a height."""
        nodes = self._trees.nodes[column]
        rank = looked_up(F.col(f"o{column}"), self._trees.ranks[column])
        return looked_up((above - 1) * F.lit(nodes.shape[1]) + rank, nodes.reshape(-1))

    def branches(self, groups: IntArray, heights: IntArray, able: BoolArray) -> BranchCounts:
        """Count the kinds of records among the children of groups, along every column: one aggregation."""
        d = heights.shape[1]
        asked = {f"h{j}": pa.array(heights[:, j], mask=~able[:, j]) for j in range(d)}
        children = [F.when(F.col(f"h{j}").isNotNull(), self._child(j, F.col(f"h{j}"))) for j in range(d)]
        ranks = {f"z{j}": rank for j, rank in enumerate(self._ranks())}
        each = F.posexplode(F.array(*children)).alias("column", "child")
        ends = [end(f"z{j}").alias(f"{name}{j}") for j in range(d) for name, end in (("low", F.min), ("high", F.max))]
        counted = (
            self._asked(groups, **asked)
            .withColumns(ranks)
            .select("group", "kind", "n", *ranks, each)
            .filter(F.col("child").isNotNull())
            .groupBy("group", "column", "child", "kind")
            .agg(F.sum("n").alias("n"), *ends)
        )
        found = self._collected(counted)
        low, high = (np.column_stack([found[f"{name}{j}"] for j in range(d)]) for name in ("low", "high"))
        return BranchCounts(found["group"], found["column"], found["child"], found["kind"], found["n"], low, high)

    def divide(self, groups: IntArray, heights: IntArray, division: Division, first: int) -> None:
        """Send the combinations of divided groups to their parts, and divide those with records that go back."""
        divided = np.flatnonzero(division.chosen >= 0)
        if not len(divided):
            return
        column = division.chosen[divided]
        table = self._jobs.table({"node": groups[divided], "column": column, "above": heights[divided, column]})
        children = [F.when(F.col("column") == j, self._child(j, F.col("above"))) for j in range(heights.shape[1])]
        parts = self._jobs.table(
            {"node": groups[division.group], "child": division.node, "part": first + division.part}
        )
        # the table is named once: a plan that names it twice doubles with every level
        moved = self._frame.join(table, "node", "left").withColumn("child", F.coalesce(*children))
        moved = moved.join(parts, ["node", "child"], "left").withColumn("part", F.coalesce("part", "node"))
        group, node, kind, count, part = division.taken
        if len(group):
            taken = self._jobs.table(
                {"node": groups[group], "child": node, "kind": kind, "count": count, "back": first + part}
            )
            moved = self._taken(moved.join(taken, ["node", "child", "kind"], "left"))
        self._moved(moved, "part")

    def _taken(self, moved: DataFrame) -> DataFrame:
        """Divide combinations whose first records go back, in secret order of combinations."""
        codes = [F.col(f"o{j}").cast("long") for j in range(len(self._quasi))]
        order: list[Column | str] = [*codes, *self._combinations.value_keys, "tie"]
        order += [*self.content.units, *self.content.keys, *self.content.rest_keys, "at"]
        if self._coins is not None:
            first, last = (F.lit(end).cast("long") for end in self._coins.ends)
            order.insert(0, F.xxhash64(first, *codes, last))
        # what stays unchanged need not be sorted
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

    def finish(
        self, leaves: IntArray, closed: tuple[IntArray, BoolArray] | None, run: Callable[..., Partition]
    ) -> Partition:
        """Find the cells of all combinations: of leaves from their values, of other groups in tasks."""
        names = [*self._by, *(["at", "n"] if self._parts else [])]
        cells = [f"k{j}" for j in range(len(self._quasi))]
        schema = StructType(
            [*(StructField(name, LongType()) for name in names), *(StructField(k, StringType()) for k in cells)]
        )
        finish = replace(self._finish, keys=tuple(self._by), run=run)
        with spark_errors("partitioning"):
            done = self._leaf_table(leaves)
            small = self._small(done, closed)
            books = []
            if small is not None:
                # Spark counts the arguments of a function, and a bound method has one more
                parted = finish.divided_cells if self._parts else finish.cells
                books.append(small.groupBy("node").applyInArrow(lambda rows: parted(rows), schema))
            if done is not None:
                shown = self._frame if self._parts else self._frame.select("node", *names).distinct()
                books.append(shown.join(done, "node").select(*names, *cells))
            book = reduce(lambda one, other: one.unionByName(other), books)
        self._book, self._classes = numbered_cells(self.content, self._jobs.hold(book), names)
        return Partition(np.empty(0, dtype=np.int64), 0)

    def _small(self, done: DataFrame | None, closed: tuple[IntArray, BoolArray] | None) -> DataFrame | None:
        """The combinations of groups that are divided in tasks; bits of ``shut`` are their closed columns."""
        if closed is None:
            rest = self._frame if done is None else self._frame.join(done.select("node"), "node", "left_anti")
            return rest.withColumn("shut", F.lit(0).cast("long"))
        groups, shut = closed
        if not len(groups):
            return None
        bits = (shut.astype(np.int64) << np.arange(shut.shape[1])).sum(axis=1)
        return self._frame.join(self._jobs.table({"node": groups, "shut": bits}), "node")

    def _leaf_table(self, leaves: IntArray) -> DataFrame | None:
        """The cells of finished groups, from their values."""
        if not len(leaves):
            return None
        each = F.posexplode(F.array(*(F.col(f"o{j}") for j in range(len(self._quasi))))).alias("column", "code")
        most = len(leaves) * sum(c.coded.size for c in self._quasi)
        found = self._collected(self._asked(leaves).select("group", each).distinct(), most)
        group, column, code = found["group"], found["column"], found["code"]
        shown: dict[str, Any] = {"node": leaves}
        for j, quasi in enumerate(self._quasi):
            mine = np.flatnonzero(column == j)
            mine = mine[np.lexsort((code[mine], group[mine]))]
            offsets = np.searchsorted(group[mine], np.arange(len(leaves) + 1)).astype(np.int64)
            shown[f"k{j}"] = cells_of(quasi, offsets, code[mine]).labels()
        return self._jobs.table(shown)

    def publish(self) -> tuple[DataFrame, Cellbook]:
        """Join the cells of combinations to the rows; equal rows in several classes are distinguished by their turn."""
        content, by, cells = self.content, self._by, self._classes
        names = [f"g{i}" for i in range(len(cells.packing))]
        numbers = {name: F.col(name) for name in names}
        if not self._parts:
            return shown_columns(content, content.rows.join(self._book, by, "inner"), numbers), cells
        own = F.struct(*names)
        spans = self._jobs.hold(self._book.groupBy(*by).agg(F.min(own).alias("least"), F.max(own).alias("most")))
        once = spans.filter("least = most").select(*by, "least.*")
        rows = shown_columns(content, content.rows.join(once, by, "inner"), numbers)
        several = spans.filter("least <> most").select(*by)
        if several.isEmpty():
            return rows, cells
        turns = self._book.join(several, by, "left_semi")
        taking = rows_in_turn(content, several, by).join(turns, by, "inner")
        inside = (F.col("turn") > F.col("at")) & (F.col("turn") <= F.col("at") + F.col("n"))
        return rows.unionByName(shown_columns(content, taking.filter(inside), numbers)), cells

    def compare(self, partition: Partition, counted: CountedCells, book: Cellbook) -> tuple[DriverRows, Comparison]:
        """Return some whole classes, and the release compared with its original."""
        combinations = self._combinations
        if self._parts:
            unit = F.col(UNITS) if self.content.weighted else F.lit(1)
            shown = combinations.frame.drop("n", "w").join(self._book, self._by).withColumn("w", F.col("n") * unit)
        else:
            shown = combinations.frame.join(self._book, self._by)
        known = drawn_classes(combinations, shown, counted, book.packing)
        return known, compared(combinations, shown, None, counted, book.packing, known)
