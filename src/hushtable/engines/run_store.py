"""A streamed table as algorithms see it: combinations that were counted run by run, or rows if they are asked for."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from hushtable.algorithms.base import Problem
from hushtable.table.encoded import EncodedTable

__all__ = ["RunStore"]


class RunStore:
    """A table as combinations; see ``hushtable.algorithms.store``.

    Parameters
    ----------
    combinations : EncodedTable
        Every combination with its weight.
    read : callable
        Returns the problem on rows, and the columns beside the quasi-identifiers.

    Attributes
    ----------
    rows : (Problem, pyarrow.Table), optional
        What ``read`` returned, if the algorithm asked for rows.
    """

    rows: tuple[Problem, pa.Table] | None = None

    def __init__(self, combinations: EncodedTable, read: Callable[[], tuple[Problem, pa.Table]]) -> None:
        self.outline, self._read = combinations, read

    @property
    def sample_units(self) -> int:
        """Size of the sample, in units."""
        return self.outline.sample_units

    @property
    def digest(self) -> bytes:
        """A digest of the records: the same for combinations with their weights."""
        return self.outline.digest

    @property
    def fits(self) -> bool:
        """Whether the combinations are at hand: they are."""
        return True

    @property
    def far(self) -> None:
        """Nothing is elsewhere: rows can be read."""

    @property
    def given(self) -> EncodedTable:
        """The rows, if they were asked for; else the combinations."""
        return self.outline

    def records(self) -> EncodedTable:
        """Read the rows, once."""
        if self.rows is None:
            self.rows = self._read()
            # nobody needs the combinations beside them
            self.outline = self.rows[0].table
        return self.outline

    def combinations(self, why: str = "") -> EncodedTable:
        """Return every combination with its weight."""
        return self.outline
