"""Parts of a level of a top-down partition: cuts proposed for its groups, and the widths of the groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.models.compose import AllOf
from hushtable.table.encoded import SCALE, QuasiColumn
from hushtable.table.reference import Reference

__all__ = ["Level", "Proposals", "column_spans", "gap_columns"]


@dataclass(frozen=True)
class Proposals:
    """Cuts proposed for some groups of a level; each makes two or more children.

    Attributes
    ----------
    group : int64 array
        The group of the level that a proposal divides.
    column : int64 array
        The quasi-identifier that it cuts.
    offsets : int64 array
        Children ``offsets[p]:offsets[p + 1]`` belong to proposal p.
    starts, ends, units : int64 arrays
        Row range and units of each child.
    cuts : int64 array
        The highest code of each child, except for the last child of a proposal.
    """

    group: IntArray
    column: IntArray
    offsets: IntArray
    starts: IntArray
    ends: IntArray
    units: IntArray
    cuts: IntArray

    @classmethod
    def none(cls) -> Proposals:
        """Return no proposals."""
        empty = np.empty(0, dtype=np.int64)
        return cls(empty, empty, np.zeros(1, dtype=np.int64), empty, empty, empty, empty)

    @classmethod
    def binary(
        cls, group: IntArray, column: IntArray, starts: IntArray, middle: IntArray, ends: IntArray,
        left: IntArray, right: IntArray, cuts: IntArray,
    ) -> Proposals:  # fmt: skip
        """Return proposals with two children each."""
        return cls(
            group,
            column,
            2 * np.arange(len(group) + 1, dtype=np.int64),
            _interleave(starts, middle),
            _interleave(middle, ends),
            _interleave(left, right),
            _interleave(cuts, cuts),
        )

    def __len__(self) -> int:
        return len(self.group)

    def all_children(self, satisfied: BoolArray) -> BoolArray:
        """Return which proposals have only satisfied children."""
        if not len(self):
            return np.empty(0, dtype=np.bool_)
        return np.logical_and.reduceat(satisfied, self.offsets[:-1])

    def children_of(self, chosen: IntArray) -> IntArray:
        """Return the numbers of these proposals' children."""
        lengths = np.diff(self.offsets)[chosen]
        begin = np.cumsum(lengths) - lengths
        return np.repeat(self.offsets[:-1][chosen] - begin, lengths) + np.arange(lengths.sum())

    def take(self, chosen: BoolArray | IntArray) -> Proposals:
        """Return some of the proposals."""
        index: IntArray = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        kids = self.children_of(index)
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[index])]).astype(np.int64)
        return Proposals(
            self.group[index], self.column[index], offsets,
            self.starts[kids], self.ends[kids], self.units[kids], self.cuts[kids],
        )  # fmt: skip

    @staticmethod
    def concat(parts: Sequence[Proposals]) -> Proposals:
        """Return the proposals of all parts."""
        lengths = np.concatenate([np.diff(p.offsets) for p in parts])
        return Proposals(
            np.concatenate([p.group for p in parts]),
            np.concatenate([p.column for p in parts]),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([p.starts for p in parts]),
            np.concatenate([p.ends for p in parts]),
            np.concatenate([p.units for p in parts]),
            np.concatenate([p.cuts for p in parts]),
        )


class Level(Protocol):
    """The groups of a level, represented by their rows or by histograms."""

    width: int

    def propose(self, turn: int, accepted: Proposals) -> Proposals:
        """Return each undivided group's cut of its widest column but ``turn``, if every child is large enough."""

    def judge(self, proposals: Proposals, model: AllOf, reference: Reference) -> BoolArray:
        """Return which proposed children satisfy a groupwise model."""


def gap_columns(quasi: Sequence[QuasiColumn]) -> list[int]:
    """Return the columns that have both missing and other values.

    Such a column gets an extra column in front of all others, which says whether a value is missing: separating
    missing values is the widest cut.
    """
    return [j for j, c in enumerate(quasi) if c.coded.missing and c.coded.size > 1]


def column_spans(quasi: Sequence[QuasiColumn], gaps: Sequence[int], low: IntArray, high: IntArray) -> IntArray:
    """Return the width of each group in each column, those for gaps first; -1 if it has only one value."""
    spans = np.empty_like(low)
    for at, j in enumerate([*gaps, *range(len(quasi))]):
        column = quasi[j]
        if at < len(gaps):
            spans[:, at] = round(SCALE * column.weight)
        else:
            spans[:, at] = column.positions[high[:, at]] - column.positions[low[:, at]]
    spans[high == low] = -1
    return spans


def _interleave(first: IntArray, second: IntArray) -> IntArray:
    out = np.empty(2 * len(first), dtype=np.int64)
    out[0::2], out[1::2] = first, second
    return out
