"""An original in files or databases, read again column by column on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.io.urls import Source
from hushtable.schema.columns import Role
from hushtable.table.plan import TablePlan
from hushtable.table.ranks import rest_rank


@dataclass(frozen=True)
class Files:
    """An original in files or databases.

    Attributes
    ----------
    sources : tuple of paths and addresses
    """

    sources: tuple[Source, ...]

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return some columns, or all, as codes with a byte or two per cell."""
        from hushtable.io.dictionary_reader import read_coded  # tables in memory are never read again

        return read_coded(self.sources, columns)

    def count(self, columns: Sequence[str]) -> tuple[pa.Table, IntArray]:
        """Return the distinct rows of some columns, and how often each occurs."""
        from hushtable.io.dictionary_reader import count_coded

        return count_coded(self.sources, columns)


@dataclass(frozen=True)
class RestRanks:
    """The ranks of the other published cells of each record, for breaking ties.

    Attributes
    ----------
    files : Files
    plan : TablePlan
    """

    files: Files
    plan: TablePlan

    def __call__(self) -> IntArray:
        """Return the ranks; only the ranked columns are read."""
        ranks = rest_rank(self.files.read(self.plan.named(Role.INSENSITIVE)), self.plan)
        assert ranks is not None
        return ranks
