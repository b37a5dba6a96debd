"""A table whose rows fit on the driver: spread out to codes there, grouped as on one machine, published by joins."""

from __future__ import annotations

from pyspark.sql import DataFrame

from hushtable.algorithms.base import Partition
from hushtable.engines import local
from hushtable.engines.spark.content import Content
from hushtable.engines.spark.known import Known
from hushtable.engines.spark.publish import Cellbook, published_rows
from hushtable.engines.spark.repeated import Differing
from hushtable.engines.spark.shown import Counted
from hushtable.release.comparison import Comparison

__all__ = ["OnDriver"]


class OnDriver:
    """All rows of a table, grouped.

    Parameters
    ----------
    content : Content

    Attributes
    ----------
    problem : Problem
    partition : Partition
    recoded : Recoded
    expected : int
        Rows that are published.
    """

    summarised = False

    def __init__(self, content: Content) -> None:
        self._content, plan = content, content.plan
        if content.apart():
            content.hold()
        self._tuples = content.tuples()
        self.problem = content.problem(self._tuples)
        self.partition, self.recoded = local.solve(self.problem, plan)
        self.expected = len(local.kept_rows(self.problem, plan, self.recoded))
        content.jobs.progress(1.0, "publishing")

    def publish(self) -> tuple[DataFrame | Differing, Cellbook]:
        """Return the published rows as ``published_rows`` does."""
        return published_rows(self._content, self._tuples, self.recoded)

    def compare(self, partition: Partition, counted: Counted, book: Cellbook) -> tuple[Known, Comparison]:
        """Return all rows, and the release beside its original."""
        known = Known(self.problem, partition, self.recoded, self._tuples)
        return known, known.comparison
