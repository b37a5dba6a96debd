"""Cells: what a group publishes in one column, and how far that is from the original.

A cell covers a set of leaves of the column's domain. From the distinct codes of each group follow its label in the
chosen style, the number of leaves it covers (for loss) and the height of the lowest node above it (for distortion).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.hierarchy.base import ROOT
from hushtable.kernels.grouping import histogram, number_rows
from hushtable.schema.columns import CellStyle, Kind
from hushtable.table.coded_columns import published_numbers
from hushtable.table.encoded import QuasiColumn

__all__ = ["Cells", "escape_member", "escape_value"]

MOST_NUMBERED = 64
"""Sets with more members are hardly ever equal, and written one by one."""


def escape_member(label: str | None) -> str:
    r"""Write one member of a set: delimiters are escaped, the missing value is ``null``.

    Examples
    --------
    >>> print(escape_member("a, b"), escape_member(None), escape_member("null"))
    a\, b null \null
    """
    if label is None:
        return "null"
    text = label.replace("\\", "\\\\").replace(",", "\\,").replace("{", "\\{").replace("}", "\\}")
    return "\\null" if text == "null" else text


def escape_value(label: str | None) -> str | None:
    r"""Write a single value so that it cannot be taken for a set, an interval or the root.

    Examples
    --------
    >>> print(escape_value("*"), escape_value("flu"))
    \* flu
    """
    if label is None:
        return None
    return f"\\{label}" if label[:1] in ("{", "[", "\\") or label == ROOT else label


@dataclass(frozen=True)
class Cells:
    """The cells of one column, one per group.

    Attributes
    ----------
    column : QuasiColumn
    offsets, members : int64 arrays
        The distinct codes of each group, ascending, in compressed rows. A group may be empty.
    level : int or int64 array, optional
        For global recoding, the level that every cell is generalised to, or that each leaf is. A class that holds
        several nodes of that level (it was merged after all) is published at the lowest node above them.
    """

    column: QuasiColumn
    offsets: IntArray
    members: IntArray
    level: int | IntArray | None = None

    @classmethod
    def of_groups(
        cls, column: QuasiColumn, rows: AnyArray, offsets: IntArray, level: int | IntArray | None = None
    ) -> Cells:
        """Collect the codes of the groups ``rows[offsets[g]:offsets[g + 1]]``."""
        counted, members, _ = histogram(
            rows, offsets[:-1], offsets[1:], column.codes, np.empty(0, dtype=np.int64), column.coded.size
        )
        return cls(column, counted, members, level)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> IntArray:
        """How many distinct codes each group has."""
        return np.diff(self.offsets)

    def _at(self, position: IntArray) -> IntArray:
        if not len(self.members):
            return np.zeros(len(self), dtype=np.int64)
        return self.members[np.clip(position, 0, len(self.members) - 1)]

    @cached_property
    def low(self) -> IntArray:
        """The least code of each group."""
        return self._at(self.offsets[:-1])

    @cached_property
    def high(self) -> IntArray:
        """The greatest code of each group."""
        return self._at(self.offsets[1:] - 1)

    @cached_property
    def with_gap(self) -> BoolArray:
        """Which groups hold the missing value."""
        return np.asarray((self.low == 0) & self.column.coded.missing)

    @cached_property
    def mixed(self) -> BoolArray:
        """Which groups hold the missing value beside others."""
        return self.with_gap & (self.counts > 1)

    @cached_property
    def height(self) -> IntArray:
        """Height of the lowest node that covers each group."""
        covering = self._covering_height()
        if self.level is None:
            return covering
        wanted = self.level if isinstance(self.level, int) else self.level[self.low]
        return np.maximum(covering, wanted)

    def _covering_height(self) -> IntArray:
        coded = self.column.coded
        height = np.full(len(self), coded.height, dtype=np.int64)
        for h in range(coded.height - 1, -1, -1):
            level = coded.levels[h]
            if coded.contiguous:
                together = level[self.low] == level[self.high]
            elif self.style in (CellStyle.INTERVALS, CellStyle.MIDPOINT):
                # a range covers the leaves between its ends too, whatever node they are under
                last = np.append(np.flatnonzero(np.diff(level)), coded.size - 1)
                together = last[np.searchsorted(last, self.low)] >= self.high
            else:
                node = level[self.members]
                filled = self.counts > 0
                together = np.ones(len(self), dtype=np.bool_)
                starts = self.offsets[:-1][filled]
                together[filled] = np.maximum.reduceat(node, starts) == np.minimum.reduceat(node, starts)
            height[together] = h
        return height

    @cached_property
    def node(self) -> IntArray:
        """The covering node of each group, within its level."""
        node = np.zeros(len(self), dtype=np.int64)
        for h, level in enumerate(self.column.coded.levels):
            here = self.height == h
            node[here] = level[self.low[here]]
        return node

    @property
    def style(self) -> CellStyle:
        """How the cells are written, resolved for the column's kind."""
        style = self.column.style
        if self.level is not None:
            return CellStyle.NODES
        kind = self.column.coded.kind
        if style is CellStyle.MIDPOINT and kind is not Kind.NUMERIC:
            style = CellStyle.INTERVALS
        if style is CellStyle.INTERVALS and not kind.ordered:
            style = CellStyle.SETS
        return style

    @cached_property
    def leaves(self) -> IntArray:
        """How many leaves of the domain each cell covers.

        A node covers its leaves, a set its members, a range every leaf of the domain inside it. Where a range would
        have to hold the missing value too, it is published as the root and covers all.
        """
        coded, style = self.column.coded, self.style
        if style is CellStyle.SETS:
            return self.counts
        if style is CellStyle.NODES:
            out = np.zeros(len(self), dtype=np.int64)
            for h in range(coded.height + 1):
                here = self.height == h
                out[here] = coded.leaves(h)[self.node[here]]
            return out
        return np.where(self.mixed, coded.size, self.high - self.low + 1)

    @cached_property
    def named_by_values(self) -> BoolArray:
        """Which cells are nodes that were made from the data, and named after what is published in them.

        Without global recoding that includes classes that only the root covers.
        """
        coded = self.column.coded
        made = np.zeros(len(self), dtype=np.bool_)
        if coded.naming is None or self.style is not CellStyle.NODES:
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
        """The least and the greatest code that name each such node.

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
        """How many characters each value of the column has."""
        labels = pa.array(self.column.coded.labels[0], pa.string())
        return np.asarray(pc.fill_null(pc.utf8_length(labels), 0).to_numpy(), dtype=np.int64)

    @cached_property
    def longest(self) -> IntArray:
        """How long the longest value is that a node may stand for: of its class, or with global recoding of all."""
        out = np.zeros(len(self), dtype=np.int64)
        filled = np.flatnonzero(self.counts)
        if len(filled):
            out[filled] = np.maximum.reduceat(self.lengths[self.members], self.offsets[:-1][filled])
        if self.level is not None:
            out[:] = np.where(self.named_by_values, out, 0).max(initial=0)
        return out

    def representatives(self, numbers: FloatArray) -> FloatArray:
        """Return numbers that are published for cells otherwise than by what these cover, on another scale; else NaN.

        Parameters
        ----------
        numbers : float array
            The number of every code on that scale.
        """
        return np.full(len(self), np.nan)

    def labels(self) -> pa.Array:
        """The published cells: text, or numbers where the style is the midpoint."""
        style = self.style
        if style is CellStyle.MIDPOINT:
            return self._midpoints()
        if style is CellStyle.NODES:
            return self._nodes()
        return self._ranges() if style is CellStyle.INTERVALS else self._sets()

    def _nodes(self) -> pa.Array:
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

    def _ranges(self) -> pa.Array:
        names = self.column.coded.labels[0]
        size = self.column.coded.size
        # the key behind all pairs is the root's
        key = np.where(self.mixed, size * size, self.low * size + self.high)
        distinct, place = np.unique(key, return_inverse=True)
        out: list[str | None] = []
        for pair in distinct.tolist():
            low, high = divmod(pair, size)
            if low == size:
                out.append(ROOT)
            elif low == high:
                out.append(escape_value(names[low]))
            else:
                out.append(f"[{escape_member(names[low])}, {escape_member(names[high])}]")
        return pa.array(out, pa.string()).take(pa.array(place))

    def _sets(self) -> pa.Array:
        """Write each distinct set once: many groups share theirs."""
        names = self.column.coded.labels[0]
        safe = [escape_member(label) for label in names]
        text = [escape_value(label) for label in names]
        place = np.where(self.counts == 1, self.low, 0)
        for count in np.unique(self.counts[self.counts != 1]).tolist():
            groups = np.flatnonzero(self.counts == count)
            sets = self.members[self.offsets[:-1][groups][:, None] + np.arange(count)]
            label, first = _distinct_rows(sets, self.column.coded.size)
            place[groups] = label + len(text)
            text += ["{" + ", ".join(safe[c] for c in row) + "}" for row in sets[first].tolist()]
        return pa.array(text, pa.string()).take(pa.array(place))

    def _midpoints(self) -> pa.Array:
        """The middle of each range; null for groups with missing values, whose middle is not a number."""
        coded = self.column.coded
        shift = int(coded.missing)
        values = published_numbers(coded, self.members)
        hidden = self.with_gap
        low = values[np.where(hidden, 0, self.low - shift)] if len(values) else np.zeros(len(self))
        high = values[np.where(hidden, 0, self.high - shift)] if len(values) else np.zeros(len(self))
        if values.dtype.kind == "i" and np.array_equal(low, high):
            return pa.array(low, mask=hidden)
        return pa.array(low / 2 + high / 2, mask=hidden)


def _distinct_rows(rows: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Number the distinct rows of a matrix of codes; return every row's number, and a row of each."""
    if rows.shape[1] > MOST_NUMBERED:
        everyone = np.arange(len(rows))
        return everyone, everyone
    return number_rows(list(rows.T), [size] * rows.shape[1])
