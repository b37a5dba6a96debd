"""Widening cells at random: they cover more codes than the class has, so no end or member is certain to occur.

A widened cell is an ordinary cell of a class with a few more codes, so labels, losses and covers need no special code.
The caller decides which codes may be added: those that only suppressed records have would reveal them. Exact cells (one
value for the whole class) reveal nothing more, but some are widened too: otherwise both values of a cell with two would
be certain to occur.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import BoolArray, FloatArray, IntArray, inverted
from hushtable.table.coins import Coins

if TYPE_CHECKING:
    from hushtable.release.forms.base import Cells, Widening
    from hushtable.release.forms.nodes import NodeCells

    AnyCells = TypeVar("AnyCells", bound=Cells)
    AnyNodes = TypeVar("AnyNodes", bound=NodeCells)

_AROUND = 2
"""Leaves around a set that count as near, in addition to one for each member that may be added."""


def widen(cells: Cells, how: Widening, among: IntArray | None = None) -> Cells:
    """Return the cells of one column, widened in their own form.

    Parameters
    ----------
    cells : Cells
    how : Widening
    among : int64 array, optional
        The codes that may be added, ascending, including those of the cells. Defaults to all.

    Examples
    --------
    >>> from hushtable.release.forms.base import Widening
    >>> from hushtable.utility.example import example
    >>> age = example().cells[0]
    >>> age.labels().to_pylist(), widen(age, Widening(0.5, 0.5, 0.5, Coins(b"key"))).labels().to_pylist()
    (['[30, 31]', '[52, 53]'], ['[30, 53]', '[30, 53]'])
    """
    if not len(cells):
        return cells
    if among is not None and len(among) < cells.column.coded.size:
        return _among(cells, among, how)
    # a class whose values are all missing publishes no value; one that mixes them with others, the root
    return cells.widened(how, (cells.counts > 0) & ~cells.with_gap, how.coins.uniform("exact", len(cells)))


def _among(cells: Cells, shown: IntArray, how: Widening) -> Cells:
    """Widen cells as if the domain had only these codes."""
    coded = cells.column.coded
    missing = coded.missing and shown[0] == 0
    levels, labels = [], []
    for level, row in zip(coded.levels, coded.labels, strict=True):
        used, nodes = np.unique(level[shown], return_inverse=True)
        levels.append(nodes.reshape(-1).astype(np.int64))
        labels.append(tuple(row[node] for node in used.tolist()))
    known = shown[int(missing) :] - int(coded.missing)
    fewer = replace(
        coded, values=coded.values.take(pa.array(known)), missing=missing, levels=tuple(levels), labels=tuple(labels)
    )
    column = replace(cells.column, coded=fewer, codes=np.empty(0, dtype=np.int64))
    some = widen(replace(cells, column=column, members=np.searchsorted(shown, cells.members)), how)
    return replace(cells, offsets=some.offsets, members=shown[some.members])


def wider_ranges(cells: AnyCells, open_to: BoolArray, spread: float, coins: Coins) -> AnyCells:
    """Add some leaves, a random number of them below; those outside the domain are added at the other end.

    Two leaves need two more: among three, the one in the middle always occurs.
    """
    first, last = int(cells.column.coded.missing), cells.column.coded.size - 1
    width = cells.high - cells.low + 1
    least = np.where(width <= 2, 2, 1)
    more = least + coins.below("growth", np.maximum(2 * _growth(width, spread) - least, 0) + 1)
    below = coins.below("ends", more + 1)
    low, high = cells.low - below, cells.high + more - below
    low, high = low - np.maximum(high - last, 0), high + np.maximum(first - low, 0)
    low, high = np.maximum(low, first), np.minimum(high, last)
    group = np.flatnonzero(open_to)
    return _with(cells, np.concatenate([group, group]), np.concatenate([low[group], high[group]]))


def more_members(cells: AnyCells, open_to: BoolArray, spread: float, coins: Coins) -> AnyCells:
    """Add members that do not occur, from one up to a share of those that do, if the domain has any left.

    They are drawn from between the members and a little around them, in leaf order: a distant value would obviously not
    belong to the class.
    """
    first, last = int(cells.column.coded.missing), cells.column.coded.size - 1
    most = _growth(cells.counts, spread)
    wanted = np.where(open_to, 1 + coins.below("members", most), 0)
    for turn in range(int(wanted.max(initial=0))):
        start = np.maximum(cells.low - most - _AROUND, first)
        free = np.minimum(cells.high + most + _AROUND, last) - start + 1 - cells.counts
        group = np.flatnonzero((wanted > turn) & (free > 0))
        if not len(group):
            break
        # no member lies below the start, so all codes there are free
        rank = (start - first)[group] + coins.below(f"member {turn}", free[group])
        cells = _with(cells, group, first + _outside(cells, group, rank, first))
    return cells


def _outside(cells: Cells, group: IntArray, rank: IntArray, first: int) -> IntArray:
    """Return the code above ``first`` with this rank among those that a group's set does not contain."""
    owner = np.repeat(np.arange(len(cells)), cells.counts)
    place = np.arange(len(cells.members)) - cells.offsets[:-1][owner]
    # the free codes below a member are always fewer than the codes of the domain
    scale = cells.column.coded.size + 1
    below = owner * scale + cells.members - first - place
    held = np.searchsorted(below, group * scale + rank, side="right") - cells.offsets[:-1][group]
    return np.asarray(rank + held, dtype=np.int64)


def risen(cells: AnyNodes, open_to: BoolArray, coins: Coins, *, straight_to_root: bool) -> AnyNodes:
    """Add a leaf below the next wider node (for a pattern, the root), but not below the cell's own node."""
    height = cells.column.coded.height
    codes = np.full(len(cells), -1, dtype=np.int64)
    draw = coins.uniform("above", len(cells))
    for own in range(height):
        mine = np.flatnonzero(open_to & (cells.height == own))
        for above in range(height if straight_to_root else own + 1, height + 1):
            # a node may have the same leaves as its child; then the next one above is the next wider
            mine = mine[codes[mine] < 0]
            codes[mine] = _another_leaf(cells, mine, own, above, draw[mine])
    group = np.flatnonzero(codes >= 0)
    return _with(cells, group, codes[group])


def _another_leaf(cells: Cells, group: IntArray, own: int, above: int, draw: FloatArray) -> IntArray:
    """Return a leaf below the node at height ``above`` but not below that at height ``own``; -1 if there is none."""
    coded = cells.column.coded
    inner, outer = coded.levels[own], coded.levels[above]
    gap = np.arange(coded.size) < int(coded.missing)
    order = np.lexsort((inner, gap, outer))
    place = inverted(order)
    start = np.full(int(outer.max()) + 1, coded.size, dtype=np.int64)
    np.minimum.at(start, outer, place)
    begin = np.full(int(inner.max()) + 1, coded.size, dtype=np.int64)
    np.minimum.at(begin, inner, place)
    leaf = cells.low[group]
    taken = np.bincount(inner)[inner[leaf]]
    free = np.bincount(outer[~gap], minlength=len(start))[outer[leaf]] - taken
    rank = (draw * free).astype(np.int64)
    at = start[outer[leaf]] + rank
    at += np.where(at >= begin[inner[leaf]], taken, 0)
    return np.asarray(np.where(free > 0, order[np.minimum(at, coded.size - 1)], -1))


def _growth(width: IntArray, spread: float) -> IntArray:
    return np.asarray(np.maximum(np.ceil(spread * width), 1), dtype=np.int64)


def _with(cells: AnyCells, group: IntArray, codes: IntArray) -> AnyCells:
    """Return the cells with more codes in some groups; codes that a group already has change nothing."""
    size = cells.column.coded.size
    owner = np.repeat(np.arange(len(cells)), cells.counts)
    both = np.unique(np.concatenate([owner * size + cells.members, group * size + codes]))
    counts = np.bincount(both // size, minlength=len(cells))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return replace(cells, offsets=offsets, members=both % size)
