"""A table whose rows do not fit on the driver, for algorithms: combinations that Spark counts.

The algorithm's last request decides how its partition is applied: combinations on the driver have labels there; a node
of the lattice is applied column by column; groups are applied on Spark.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from hushtable.algorithms.store import Brought
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.dictionaries import looked_up
from hushtable.engines.spark.groups import SparkGroups
from hushtable.engines.spark.jobs import SparkJobs
from hushtable.engines.spark.nodes import RecodedNode
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.refuse import check_classes, check_groups, check_lattice, too_many
from hushtable.engines.spark.summary import DriverSummary
from hushtable.hierarchy.base import Coded
from hushtable.table.coins import Coins
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import Key


class SparkStore:
    """A table as combinations; see ``hushtable.algorithms.store``.

    Parameters
    ----------
    combinations : Combinations
    driver_rows : int
        Maximum number of combinations on the driver.
    group_rows : int
        Maximum number of combinations, or records, of a group in one task.

    Attributes
    ----------
    applied : DriverSummary, RecodedNode or SparkGroups
        How the partition is applied, once there is one.
    """

    applied: DriverSummary | RecodedNode | SparkGroups

    def __init__(self, combinations: Combinations, driver_rows: int, group_rows: int) -> None:
        self._combinations, self._driver_rows, self._group_rows = combinations, driver_rows, group_rows
        self._content, self._plan = combinations.content, combinations.content.plan

    @property
    def outline(self) -> EncodedTable:
        """The columns; rows are the combinations of sensitive values."""
        return self._combinations.problem.table

    @property
    def sample_units(self) -> int:
        """Size of the sample, in units."""
        return self.outline.sample_units

    @property
    def digest(self) -> bytes:
        """A digest of the table, counted by Spark."""
        return self._combinations.digest

    @property
    def fits(self) -> bool:
        """Whether the combinations fit on the driver."""
        return self._combinations.held <= self._driver_rows

    @property
    def given(self) -> EncodedTable:
        """The combinations; rows are not available."""
        return self._summary.table

    @property
    def far(self) -> SparkStore:
        """The questions that Spark answers."""
        return self

    def records(self) -> EncodedTable:
        """Refuse: the rows are too many."""
        name = self._plan.algorithm.name
        why = f"{name}, with these parameters, distinguishes equal records or compares records with one another"
        raise too_many(self._content.records, "rows", self._driver_rows, why)

    def combinations(self, why: str) -> EncodedTable:
        """Collect the combinations on the driver, each with its weight."""
        if not self.fits:
            raise too_many(self._combinations.held, "distinct combinations", self._driver_rows, why)
        self.applied = self._summary
        return self._summary.table

    @cached_property
    def _summary(self) -> DriverSummary:
        return DriverSummary(self._combinations)

    def tuples(self, keys: Sequence[Key]) -> SparkTuples:
        """Return the combinations that models use; they are rolled up on Spark."""
        held, limit = self._combinations.held, self._driver_rows
        check_classes(self._plan, held, limit)
        check_lattice(self._plan, self._combinations.finish.quasi, held, limit)
        return SparkTuples.of(self._combinations, limit, keys)

    def recode(self, levels: IntArray, left_out: AnyArray) -> None:
        """Recode every column to its level."""
        self.applied = RecodedNode(self._combinations, levels, left_out)

    def groups(self, coins: Coins | None = None) -> SparkGroups:
        """Return all combinations as one group, to be divided on Spark."""
        check_classes(self._plan, self._combinations.held, self._driver_rows)
        check_groups(self._plan, self._combinations.held, self._driver_rows)
        self.applied = SparkGroups(self._combinations, self._group_rows, coins)
        return self.applied


# Distinct combinations for the lattice search: rolled up, counted and judged on Spark.
#
# A table of combinations has the leaf codes of one record of each (the first in canonical order, as on one machine),
# the codes of the sensitive columns, and the weight. Rolling up looks up the codes in the hierarchies, groups, and
# keeps the first record of each group, all with expressions.


_WIDEST = 2**22
"""Combinations of leaves that are counted at once, over all sets of columns."""


@dataclass
class _Shape:
    """What all tables of one search share."""

    jobs: SparkJobs
    coded: tuple[Coded, ...]
    keys: tuple[Key, ...]
    limit: int
    room: int
    packing: Packing = field(init=False)

    def __post_init__(self) -> None:
        self.packing = Packing(tuple(c.size for c in self.coded))

    @property
    def records(self) -> list[str]:
        """The columns with the leaf codes of the first record."""
        return [f"r{i}" for i in range(len(self.packing))]

    @property
    def values(self) -> list[str]:
        """The columns with sensitive codes."""
        return [f"t{i}" for i in range(len(self.keys))]

    def nodes(self, levels: IntArray) -> list[Column]:
        """The nodes above the leaf codes, as expressions."""
        codes = self.packing.unpack_columns([F.col(name) for name in self.records])
        return [
            looked_up(code, coded.levels[int(level)]) if level else code
            for code, coded, level in zip(codes, self.coded, levels, strict=True)
        ]

    def sizes(self, levels: IntArray) -> tuple[int, ...]:
        """Number of nodes of each column there."""
        return tuple(len(c.labels[int(level)]) for c, level in zip(self.coded, levels, strict=True))


class SparkTuples:
    """Distinct combinations; see ``hushtable.algorithms.store.Rolled``."""

    def __init__(self, shape: _Shape, frame: DataFrame, levels: IntArray | None = None) -> None:
        self._shape = shape
        self.levels = np.zeros(len(shape.coded), dtype=np.int64) if levels is None else levels
        self._frame = shape.jobs.hold(frame)
        shape.jobs.progress(0.0, "rolling up")
        self._n = frame.count()
        self._cubes: dict[tuple[int, ...], IntArray] = {}

    @classmethod
    def of(cls, combinations: Combinations, limit: int, keys: Sequence[Key]) -> SparkTuples:
        """Return the combinations of quasi-identifiers and these sensitive columns.

        ``limit`` is the maximum that fits on the driver at once.
        """
        finish = combinations.finish
        coded = tuple(c.coded for c in finish.quasi)
        shape = _Shape(combinations.jobs, coded, tuple(keys), limit, limit)
        packed = shape.packing.pack_columns([F.col(f"o{j}") for j in range(len(coded))])
        own = combinations.values.unpack_columns([F.col(name) for name in combinations.value_keys])
        named = {c.name: (code, c.coded.size) for c, code in zip(finish.sensitive, own, strict=True)}
        joint = []
        for key in keys:
            code = F.lit(0).cast("long")
            for name in key:
                code = code * F.lit(named[name][1]) + named[name][0]
            joint.append(code)
        chosen = combinations.frame.select(
            *(number.alias(name) for name, number in zip(shape.records, packed, strict=True)),
            *(code.alias(name) for name, code in zip(shape.values, joint, strict=True)),
            "w",
        )
        return cls(shape, chosen.groupBy(*shape.records, *shape.values).agg(F.sum("w").alias("u")))

    def __len__(self) -> int:
        return self._n

    @property
    def fits(self) -> bool:
        """Whether they fit on the driver temporarily."""
        return self._n <= self._shape.limit

    @property
    def stays(self) -> bool:
        """Whether they are too many to keep on the driver."""
        return self._n > self._shape.room

    def roll_up(self, node: IntArray) -> SparkTuples:
        """Group by the nodes above, and keep the first record of every group."""
        shape = self._shape
        packed = Packing(shape.sizes(node)).pack_columns(shape.nodes(node))
        groups = [f"k{i}" for i in range(len(packed))]
        first = F.min(F.struct(*shape.records)).alias("first")
        rolled = (
            self._frame.withColumns(dict(zip(groups, packed, strict=True)))
            .groupBy(*groups, *shape.values)
            .agg(first, F.sum("u").alias("u"))
        )
        if shape.values:
            # the group's first record, regardless of its sensitive values
            rolled = rolled.withColumn("first", F.min("first").over(Window.partitionBy(*groups)))
        records = [F.col("first")[name].alias(name) for name in shape.records]
        return SparkTuples(shape, rolled.select(*records, *shape.values, "u"), np.asarray(node, dtype=np.int64))

    def bring(self, *, keep: bool = False) -> Brought:
        """Collect them on the driver."""
        if keep:
            self._shape.room -= self._n
        return self._brought(self._shape.jobs.collect_large(self._frame, "rolling up", self._n))

    def pieces(self) -> Iterator[Brought]:
        """Collect them on the driver in pieces of whole groups."""
        pieces = -(-self._n // self._shape.limit)
        piece = F.pmod(F.xxhash64(*self._shape.records), F.lit(pieces))
        for number in range(pieces):
            found = self._shape.jobs.collect_large(self._frame.filter(piece == number), "judging groups", self._n)
            if found.num_rows:
                yield self._brought(found)

    def _brought(self, found: pa.Table) -> Brought:
        shape = self._shape
        names = [*shape.records, *shape.values]
        columns = {name: found.column(name).to_numpy().astype(np.int64) for name in (*names, "u")}
        order = np.lexsort([columns[name] for name in reversed(names)])
        codes = shape.packing.unpack([columns[name][order] for name in shape.records])
        most = np.min_scalar_type(max(c.size for c in shape.coded))
        sensitive = {key: columns[name][order] for key, name in zip(shape.keys, shape.values, strict=True)}
        return Brought(np.stack([c.astype(most) for c in codes]), columns["u"][order], sensitive)

    def group_sizes(self) -> tuple[IntArray, IntArray]:
        """Count the groups of each size: one aggregation, with one number per distinct size."""
        sizes = self._frame.groupBy(*self._shape.records).agg(F.sum("u").alias("s"))
        found = self._shape.jobs.collect(sizes.groupBy("s").agg(F.count(F.lit(1)).alias("t")), "judging groups")
        size, times = (found.column(name).to_numpy().astype(np.int64) for name in ("s", "t"))
        order = np.argsort(size)
        return size[order], times[order]

    def cube(self, columns: Sequence[int], nodes: Sequence[int]) -> IntArray:
        """Count nodes of some columns together; one aggregation counts many sets of columns of the same size."""
        wanted = tuple(columns)
        if wanted not in self._cubes:
            self._cubes.clear()
            self._count_cubes(wanted)
        return self._cubes[wanted].reshape([*nodes, 1, 1][:3])

    def _count_cubes(self, first: tuple[int, ...]) -> None:
        """Count the requested set of columns, and the following ones if they are small."""
        shape, sizes = self._shape, self._shape.sizes(self.levels)
        sets: list[tuple[int, ...]] = []
        total = 0
        for chosen in itertools.combinations(range(len(sizes)), len(first)):
            size = math.prod(sizes[j] for j in chosen)
            if chosen == first or (sets and total + size <= _WIDEST):
                sets.append(chosen)
                total += size
        names = [f"x{j}" for j in range(len(sizes))]
        nodes = zip(shape.nodes(self.levels), names, strict=True)
        codes = self._frame.select(*(node.alias(name) for node, name in nodes), "u")
        which = F.grouping_id(*names).alias("which")
        counted = codes.groupingSets([[names[j] for j in chosen] for chosen in sets], *names)
        found = shape.jobs.collect_large(counted.agg(which, F.sum("u").alias("u")), "counting leaves", total)
        which_set, units = found.column("which").to_numpy(), found.column("u").to_numpy().astype(np.int64)
        d = len(names)
        for chosen in sets:
            # a bit is set for each column that is not grouped by
            bits = (1 << d) - 1 - sum(1 << (d - 1 - j) for j in chosen)
            mine = np.flatnonzero(which_set == bits)
            place = np.zeros(len(mine), dtype=np.int64)
            for j in chosen:
                place = place * sizes[j] + found.column(names[j]).take(pa.array(mine)).to_numpy()
            cube = np.zeros(math.prod(sizes[j] for j in chosen), dtype=np.int64)
            cube[place] = units[mine]
            self._cubes[chosen] = cube

    def close(self) -> None:
        """Let Spark discard them."""
        self._shape.jobs.let_go(self._frame)
