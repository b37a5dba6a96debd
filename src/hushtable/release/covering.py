"""Which leaves the cells of a class cover, and which class covers a person.

A node covers its leaves, a set its members, a range every leaf inside it; where a range would have to hold the missing
value too, it is published as the root and covers everything. A node that is called after the first and the last value
published in it covers what lies between them, and one with masks no value that is longer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.release.cells import Cells
from hushtable.schema.columns import CellStyle

__all__ = ["class_of", "covers", "extent"]


def extent(cells: Cells) -> tuple[IntArray, IntArray]:
    """Return the least and the greatest leaf that each cell covers."""
    coded = cells.column.coded
    if cells.style is CellStyle.SETS:
        return cells.low, cells.high
    if cells.style is CellStyle.NODES:
        low, high = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=np.int64)
        leaf = np.arange(coded.size)
        for h, level in enumerate(coded.levels):
            here = cells.height == h
            least, most = (
                np.zeros(len(coded.labels[h]), dtype=np.int64),
                np.zeros(len(coded.labels[h]), dtype=np.int64),
            )
            # of several writes to one place the last one stays
            least[level[::-1]] = leaf[::-1]
            most[level] = leaf
            low[here], high[here] = least[cells.node[here]], most[cells.node[here]]
        if coded.naming is not None and coded.naming.ranged:
            made, (first, last) = cells.named_by_values, cells.ends
            low, high = np.where(made, first, low), np.where(made, last, high)
        return low, high
    return np.where(cells.mixed, 0, cells.low), np.where(cells.mixed, coded.size - 1, cells.high)


def covers(cells: Cells, groups: IntArray, codes: IntArray) -> BoolArray:
    """Return whether the cell of ``groups[i]`` covers the leaf ``codes[i]``."""
    coded = cells.column.coded
    if cells.style is CellStyle.SETS:
        owner = np.repeat(np.arange(len(cells)), cells.counts)
        keys = owner * coded.size + cells.members
        wanted = groups * coded.size + codes
        place = np.searchsorted(keys, wanted)
        inside = place < len(keys)
        inside[inside] = keys[place[inside]] == wanted[inside]
        return inside
    if cells.style is CellStyle.NODES:
        out = np.zeros(len(groups), dtype=np.bool_)
        for h, level in enumerate(coded.levels):
            here = np.flatnonzero(cells.height[groups] == h)
            out[here] = level[codes[here]] == cells.node[groups[here]]
        if coded.naming is not None and coded.naming.ranged:
            low, high = extent(cells)
            out &= (codes >= low[groups]) & (codes <= high[groups])
        elif coded.naming is not None:
            # no mask stands for the end of a longer value
            out &= ~cells.named_by_values[groups] | (cells.lengths[codes] <= cells.longest[groups])
        return out
    low, high = extent(cells)
    return np.asarray((codes >= low[groups]) & (codes <= high[groups]))


def class_of(cells: Sequence[Cells], codes: Sequence[AnyArray]) -> IntArray:
    """Return the class that covers each person, given the codes of people column by column; -1 for none.

    No two classes may overlap.
    """
    from hushtable.kernels.pairs import overlapping_boxes

    person, first = number_rows(list(codes), [c.column.coded.size for c in cells])
    people = [np.asarray(column[first], dtype=np.int64) for column in codes]
    bounds = [extent(c) for c in cells]
    low = np.column_stack([np.concatenate([b[0], own]) for b, own in zip(bounds, people, strict=True)])
    high = np.column_stack([np.concatenate([b[1], own]) for b, own in zip(bounds, people, strict=True)])
    n = len(cells[0])
    pairs = overlapping_boxes(low, high)
    # distinct people are distinct points, so that every pair is a class and a person
    groups, who = pairs[:, 0], pairs[:, 1] - n
    real = (groups < n) & (who >= 0)
    groups, who = groups[real], who[real]
    for column, own in zip(cells, people, strict=True):
        inside = covers(column, groups, own[who])
        groups, who = groups[inside], who[inside]
    out = np.full(len(first), -1, dtype=np.int64)
    out[who] = groups
    return out[person]
