"""A table whose rows do not fit on the driver, for algorithms: combinations that Spark counts.

The algorithm's last request decides how its partition is applied: combinations on the driver have labels there; a node
of the lattice is applied column by column; groups are applied on Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.groups import SparkGroups
from hushtable.engines.spark.nodes import RecodedNode
from hushtable.engines.spark.refuse import check_classes, check_groups, check_lattice, too_many
from hushtable.engines.spark.rolled import SparkTuples
from hushtable.engines.spark.summary import DriverSummary
from hushtable.table.coins import Coins
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import Key

__all__ = ["SparkStore"]


class SparkStore:
    """A table as combinations; see ``hushtable.algorithms.store``.

    Parameters
    ----------
    combinations : Combinations
    driver_rows : int
        Most combinations on the driver.
    group_rows : int
        Most combinations, or records, of a group in one task.

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
        why = f"{self._plan.algorithm.name}, as set, distinguishes equal records or compares records with one another"
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
