"""Patterns: a class publishes the values that all its records share, and blanks the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.errors import IncompatibleError
from hushtable.hierarchy.base import ROOT
from hushtable.release.forms.base import Cells, Form, Widening, count_codes, escape_value
from hushtable.release.forms.nodes import NodeCells
from hushtable.release.forms.widening import risen
from hushtable.schema.columns import Cover, Kind
from hushtable.table.coded_columns import QuasiColumn

if TYPE_CHECKING:
    from hushtable.algorithms.base import Partition
    from hushtable.release.forms.reading import Meaning
    from hushtable.table.plan import ColumnPlan


@dataclass(frozen=True)
class PatternCells(NodeCells):
    """The cells of one column, one per class: the common value, a leaf, or ``*``, the root.

    A value that is missing in all records of a class is common to them, unless ``blank_unknown`` is set. ``blanked``
    are classes that show nothing although their records agree.
    """

    blank_unknown: bool = False
    blanked: BoolArray | None = None

    own_records: ClassVar[bool] = True
    treatment: ClassVar[str] = "blanked"

    @cached_property
    def kept(self) -> BoolArray:
        """Which classes publish a value."""
        kept = self.counts <= 1
        if self.blanked is not None:
            kept &= ~self.blanked
        return np.asarray(kept & ~self.with_gap) if self.blank_unknown else kept

    @cached_property
    def height(self) -> IntArray:
        """0 for a common value, otherwise the root's height."""
        return np.where(self.kept, 0, self.column.coded.height)

    @cached_property
    def named_by_values(self) -> BoolArray:
        """None: a blank has no name."""
        return np.zeros(len(self), dtype=np.bool_)

    def _taken(self, groups: IntArray, at: IntArray) -> dict[str, Any]:
        taken = super()._taken(groups, at)
        return taken if self.blanked is None else {**taken, "blanked": self.blanked[groups]}

    @property
    def minimal(self) -> bool:
        """False: a blank reveals nothing about what it hides."""
        return False

    @property
    def at_levels(self) -> bool:
        """False: a class is blanked as soon as its records differ."""
        return False

    def widened(self, how: Widening, open_to: BoolArray, luck: FloatArray) -> Cells:
        """Blank some values that all records of a class share."""
        return risen(self, open_to & (luck < how.exact), how.coins, straight_to_root=True)

    def labels(self) -> pa.Array:
        """Return the common values as text, and ``*`` elsewhere."""
        names = [escape_value(label) for label in self.column.coded.labels[0]]
        pairs = zip(self.low.tolist(), self.kept.tolist(), strict=True)
        return pa.array([names[code] if kept else ROOT for code, kept in pairs], pa.string())

    def said(self, group: int) -> str:
        """Return that it was blanked, and why."""
        if self.blanked is not None and self.blanked[group]:
            return "blanked: with other cells of its row, it would apply to too few people"
        return "blanked: the records of its class differ"

    def finer(self, group: int) -> int | None:
        """Return 1: the next finer cell of a pattern is the value itself."""
        return 1


@dataclass(frozen=True)
class Pattern(Form):
    """Publishes the values that all records of a class share, and ``*`` elsewhere.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> Pattern().from_records(age, np.array([0, 1, 3]), np.array([0, 2, 3])).labels().to_pylist()
    ['*', '53']
    """

    name: ClassVar[str] = "pattern"
    in_words: ClassVar[str] = "common values, and * elsewhere"
    follows: ClassVar[str] = "pattern"
    own_records: ClassVar[bool] = True
    can_draw: ClassVar[bool] = False

    def cover(self, kind: Kind) -> Cover:
        """Return that a pattern covers one leaf or all."""
        return Cover.NODE

    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return the patterns of these codes."""
        return PatternCells(column, offsets, members)

    def from_records(
        self, column: QuasiColumn, rows: AnyArray, offsets: IntArray, partition: Partition | None = None
    ) -> Cells:
        """Return the patterns; the algorithm may blank missing values."""
        counted, members, _ = count_codes(column, rows, offsets)
        if partition is None:
            return PatternCells(column, counted, members)
        blanked = None if partition.blanked is None else partition.blanked[column.name]
        return PatternCells(column, counted, members, None, partition.blank_unknown, blanked)

    def meanings(self, names: Sequence[str], column: ColumnPlan) -> list[Meaning]:
        """Return the common values; blanks have no meaning."""
        from hushtable.release.forms.reading import meaning_of_value

        if ROOT in names:
            raise IncompatibleError(
                f"Column {column.name!r} is blanked if the records of a class differ, and nothing shows what a "
                "blank hides.",
                code="nothing-to-draw",
                hint="Use an algorithm that generalizes, such as mondrian, with 'cells: counts'.",
            )
        return [meaning_of_value(name) for name in names]
