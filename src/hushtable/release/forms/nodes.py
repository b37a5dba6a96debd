"""Hierarchy nodes: a class publishes the lowest node that covers all its values.

A node covers its leaves. A node that was built from the data is named after the values published in it: a name with the
first and the last of them covers what lies between, and a mask covers no values that are longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import BoolArray, FloatArray, IntArray, summed
from hushtable.hierarchy.base import ROOT
from hushtable.kernels.grouping import number_rows
from hushtable.release.forms.base import Cells, Form, Widening, escape_value
from hushtable.release.forms.widening import risen
from hushtable.schema.columns import Cover, Kind
from hushtable.table.coded_columns import QuasiColumn, known_numbers

if TYPE_CHECKING:
    from hushtable.release.forms.reading import Meaning
    from hushtable.table.plan import ColumnPlan


@dataclass(frozen=True)
class NodeCells(Cells):
    """The nodes of one column, one per class.

    Attributes
    ----------
    level : int or int64 array, optional
        For global recoding, the level of every cell, or of each leaf. A class with several nodes of that level (because
        it was merged later) is published at the lowest node above them.
    """

    level: int | IntArray | None = None

    at_nodes: ClassVar[bool] = True

    @cached_property
    def height(self) -> IntArray:
        """Height of the published node."""
        covering = lowest_above(self)
        if self.level is None:
            return covering
        wanted = self.level if isinstance(self.level, int) else self.level[self.low]
        return np.maximum(covering, wanted)

    @cached_property
    def node(self) -> IntArray:
        """The published node of each class, within its level."""
        node = np.zeros(len(self), dtype=np.int64)
        for h, level in enumerate(self.column.coded.levels):
            here = self.height == h
            node[here] = level[self.low[here]]
        return node

    @cached_property
    def extent(self) -> tuple[IntArray, IntArray]:
        """The smallest and the largest leaf below each node."""
        coded = self.column.coded
        low, high = np.zeros(len(self), dtype=np.int64), np.zeros(len(self), dtype=np.int64)
        leaf = np.arange(coded.size)
        for h, level in enumerate(coded.levels):
            here = self.height == h
            least, most = (np.zeros(len(coded.labels[h]), dtype=np.int64) for _ in range(2))
            # the last of several writes to one place wins
            least[level[::-1]] = leaf[::-1]
            most[level] = leaf
            low[here], high[here] = least[self.node[here]], most[self.node[here]]
        if coded.naming is not None and coded.naming.ranged:
            made, (first, last) = self.named_by_values, self.ends
            low, high = np.where(made, first, low), np.where(made, last, high)
        return low, high

    @property
    def has_holes(self) -> bool:
        """Whether the leaves of a node need not be contiguous."""
        return not self.column.coded.contiguous

    @cached_property
    def leaves(self) -> IntArray:
        """Number of leaves below each node."""
        return self._by_node([self.column.coded.leaves(h) for h in range(self.column.coded.height + 1)])

    def covers(self, groups: IntArray, codes: IntArray) -> BoolArray:
        """Return whether the node of ``groups[i]`` is above the leaf ``codes[i]``."""
        coded = self.column.coded
        out = np.zeros(len(groups), dtype=np.bool_)
        for h, level in enumerate(coded.levels):
            here = np.flatnonzero(self.height[groups] == h)
            out[here] = level[codes[here]] == self.node[groups[here]]
        if coded.naming is not None and coded.naming.ranged:
            out &= super().covers(groups, codes)
        elif coded.naming is not None:
            # a mask covers no longer value
            out &= ~self.named_by_values[groups] | (self.lengths[codes] <= self.longest[groups])
        return out

    def covered(self, weights: IntArray) -> IntArray:
        """Return the sum of ``weights`` over the leaves below each node."""
        coded = self.column.coded
        return self._by_node([summed(weights, level, len(coded.labels[h])) for h, level in enumerate(coded.levels)])

    def _by_node(self, of_node: list[IntArray]) -> IntArray:
        out = np.zeros(len(self), dtype=np.int64)
        for h, values in enumerate(of_node):
            here = self.height == h
            out[here] = values[self.node[here]]
        return out

    def covers_new(self, path: tuple[str | None, ...], number: float | int | None) -> BoolArray:
        """Return which nodes have the value's label at their level; the root covers everything.

        A node that is named after its values covers only what its name says.
        """
        coded = self.column.coded
        out = np.zeros(len(self), dtype=np.bool_)
        for h in range(1, coded.height + 1):
            same = np.array([label == ROOT or (h < len(path) and label == path[h]) for label in coded.labels[h]])
            here = self.height == h
            out[here] = same[self.node[here]]
        if coded.naming is None:
            return out
        if not coded.naming.ranged:
            length = len(path[0] or "") if path else np.inf
            return np.asarray(out & (~self.named_by_values | (length <= self.longest)))
        numbers = known_numbers(coded)
        low, high = (numbers[np.maximum(ends - int(coded.missing), 0)] for ends in self.ends)
        inside = np.zeros(len(self), dtype=np.bool_) if number is None else (low <= number) & (number <= high)
        return np.asarray(out & (~self.named_by_values | inside))

    @cached_property
    def named_by_values(self) -> BoolArray:
        """Which cells are nodes that were built from the data, and named after the values published in them.

        Without global recoding, this includes classes that only the root covers.
        """
        coded = self.column.coded
        made = np.zeros(len(self), dtype=np.bool_)
        if coded.naming is None:
            return made
        for h in range(1, coded.height):
            here = self.height == h
            made[here] = coded.naming.made(coded.labels[h])[self.node[here]]
        if self.level is None and len(self.members):
            open_to = coded.naming.local(coded.labels[1])[coded.levels[1]]
            filled = np.flatnonzero(self.counts)
            every = np.logical_and.reduceat(open_to[self.members], self.offsets[:-1][filled])
            made[filled] |= every & ~self.mixed[filled] & (self.height[filled] > 0)
        return made & (self.counts > 0)

    @cached_property
    def ends(self) -> tuple[IntArray, IntArray]:
        """The smallest and the largest code that name each such node.

        With global recoding, every class at a node has the same name, from all values published there. Otherwise a
        class has the name that its own values give.
        """
        low, high = self.low.copy(), self.high.copy()
        made = np.flatnonzero(self.named_by_values)
        if self.level is not None and len(made):
            size = self.column.coded.size
            _, place = np.unique(self.height[made] * size + self.node[made], return_inverse=True)
            least, most = np.full(len(made), size), np.zeros(len(made), dtype=np.int64)
            np.minimum.at(least, place, low[made])
            np.maximum.at(most, place, high[made])
            low[made], high[made] = least[place], most[place]
        return low, high

    @cached_property
    def lengths(self) -> IntArray:
        """Number of characters in each value of the column."""
        labels = pa.array(self.column.coded.labels[0], pa.string())
        return np.asarray(pc.fill_null(pc.utf8_length(labels), 0).to_numpy(), dtype=np.int64)

    @cached_property
    def longest(self) -> IntArray:
        """The maximum length of the values that a node covers: of its class, or of all values with global recoding."""
        out = np.zeros(len(self), dtype=np.int64)
        filled = np.flatnonzero(self.counts)
        if len(filled):
            out[filled] = np.maximum.reduceat(self.lengths[self.members], self.offsets[:-1][filled])
        if self.level is not None:
            out[:] = np.where(self.named_by_values, out, 0).max(initial=0)
        return out

    @property
    def same_for_all(self) -> str:
        """The scope of the recoding."""
        if self.level is None:
            return ""
        return "column" if isinstance(self.level, int) else "value"

    @property
    def at_levels(self) -> bool:
        """Whether each class was published at its own lowest level."""
        return self.level is None

    @property
    def minimal(self) -> bool:
        """Whether the node is the lowest above its class; false with global recoding, where all share a level."""
        return self.level is None

    def draw_leaves(self, groups: IntArray, luck: FloatArray) -> IntArray:
        """Return leaves below the nodes."""
        return self._below(groups, luck, np.zeros(len(groups), dtype=np.bool_))

    def written_down(self, groups: IntArray, place: IntArray, luck: FloatArray, spread: float) -> IntArray:
        """Return leaves below the nodes; a class's second record is below a different child than its first."""
        return self._below(groups, luck, place == 1)

    def _below(self, groups: IntArray, luck: FloatArray, second: BoolArray) -> IntArray:
        coded = self.column.coded
        out = np.empty(len(groups), dtype=np.int64)
        height = self.height[groups]
        for h, level in enumerate(coded.levels):
            here = np.flatnonzero(height == h)
            if not len(here):
                continue
            child = coded.levels[max(h - 1, 0)]
            leaves = np.lexsort((child, level))
            counts = np.bincount(level)
            begin = (np.cumsum(counts) - counts)[self.node[groups[here]]]
            many = counts[self.node[groups[here]]]
            out[here] = leaves[begin + (luck[here] * many).astype(np.int64)]
            # the record before a second one is the first of its class, and below the same node
            later = here[second[here] & (many > 1)]
            if h and len(later):
                sibling = child[out[later - 1]]
                node = self.node[groups[later]]
                start, n = (np.cumsum(counts) - counts)[node], counts[node]
                of_child = np.bincount(child)[sibling]
                first = np.full(len(np.bincount(child)), len(leaves), dtype=np.int64)
                np.minimum.at(first, child[leaves], np.arange(len(leaves)))
                free = n - of_child
                at = (luck[later] * free).astype(np.int64)
                at = np.where(at < first[sibling] - start, at, at + of_child)
                out[later] = np.where(free > 0, leaves[np.minimum(start + at, len(leaves) - 1)], out[later])
        return out

    def widened(self, how: Widening, open_to: BoolArray, luck: FloatArray) -> Cells:
        """Replace some nodes with the one above. Nodes of a global recoding say nothing about a class, and are kept."""
        if self.level is not None:
            return self
        chance = np.where(self.height > 0, how.climb, how.exact)
        return risen(self, open_to & (luck < chance), how.coins, straight_to_root=False)

    def labels(self) -> pa.Array:
        """Return the labels of the nodes."""
        names = self.column.coded.labels
        text = [escape_value(label) for label in names[0]]
        first = [0]
        for row in names[1:]:
            first.append(len(text))
            text += row
        shown = pa.array(text, pa.string()).take(pa.array(np.array(first)[self.height] + self.node))
        made = np.flatnonzero(self.named_by_values)
        if not len(made):
            return shown
        return pc.replace_with_mask(shown, pa.array(self.named_by_values), self._made_names(made))

    def _made_names(self, made: IntArray) -> pa.Array:
        """Name nodes after the values that are published in them, each name once."""
        coded = self.column.coded
        assert coded.naming is not None
        low, high = (end[made] for end in self.ends)
        longest = np.zeros(len(made), dtype=np.int64) if coded.naming.ranged else self.longest[made]
        keys = [self.height[made], self.node[made], low, high, longest]
        place, one = number_rows(keys, [int(key.max()) + 1 for key in keys])
        distinct = np.column_stack(keys)[one]
        labels = [coded.labels[h][node] or "" for h, node in distinct[:, :2].tolist()]
        first, last = ([coded.labels[0][code] or "" for code in distinct[:, j].tolist()] for j in (2, 3))
        names = coded.naming.names(labels, first, last, distinct[:, 4])
        # a node with one published value is that value
        whole = zip(names, first, last, strict=True)
        names = [escape_value(name) or "" if name == a == b else name for name, a, b in whole]
        return pa.array(names, pa.string()).take(pa.array(place))

    def said(self, group: int) -> str:
        """Return the level."""
        height, coded = int(self.height[group]), self.column.coded
        return f"generalized to level {height} of {coded.height}, a cell of {self._of_all(group)}"

    def finer(self, group: int) -> int | None:
        """Return the level of the published node."""
        return int(self.height[group])


@dataclass(frozen=True)
class Nodes(Form):
    """Publishes the lowest node of the column's hierarchy that covers a class.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> city = example().table.quasi[1]
    >>> Nodes().from_records(city, np.array([0, 1, 3]), np.array([0, 2, 3])).labels().to_pylist()
    ['North', 'Rome']
    """

    name: ClassVar[str] = "nodes"
    in_words: ClassVar[str] = "the label of the hierarchy (1424*, Europe)"
    ranges_of_labels: ClassVar[bool] = True

    def cover(self, kind: Kind) -> Cover:
        """Return that a node covers its leaves."""
        return Cover.NODE

    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return the lowest nodes above these codes."""
        return NodeCells(column, offsets, members)

    def meanings(self, names: Sequence[str], column: ColumnPlan) -> list[Meaning]:
        """Return what is below each node, as the column's hierarchy says."""
        from hushtable.release.forms.reading import meaning_of_value

        shown = sorted(name for name in names if name != ROOT and not name.startswith("\\"))
        below = [] if column.hierarchy is None else column.hierarchy.below(shown, column.name)
        known = {name: tuple(found) for name, found in zip(shown, below, strict=False) if found}
        return [known.get(name) or meaning_of_value(name) for name in names]


def lowest_above(cells: Cells) -> IntArray:
    """Return the height of the lowest node that is above all codes of each class."""
    coded = cells.column.coded
    height = np.full(len(cells), coded.height, dtype=np.int64)
    filled = cells.counts > 0
    starts = cells.offsets[:-1][filled]
    for h in range(coded.height - 1, -1, -1):
        level = coded.levels[h]
        if coded.contiguous:
            together = level[cells.low] == level[cells.high]
        else:
            node = level[cells.members]
            together = np.ones(len(cells), dtype=np.bool_)
            together[filled] = np.maximum.reduceat(node, starts) == np.minimum.reduceat(node, starts)
        height[together] = h
    return height
