"""Kernels of the lattice: grouping distinct tuples at the levels of a node."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray, inverted
from hushtable.kernels.compile import dispatch
from hushtable.kernels.packing import block_offsets

AT_ONCE = 4096
"""Keys that are looked up before their tuples are numbered: they stay in the fastest cache."""


def group_tuples(
    packed: AnyArray,
    units: IntArray,
    blocks: IntArray,
    lut: AnyArray,
    at: IntArray,
    leaves: IntArray,
    strides: IntArray,
    space: int,
) -> tuple[AnyArray, IntArray, IntArray]:
    """Group tuples whose codes are equal after looking them up.

    Parameters
    ----------
    packed : (T, blocks) integer array
        Leaf codes, as ``pack_tuples`` returns them.
    units : int64 array
        Weight of each tuple.
    blocks : int64 array
        The first column of each block, and the number of columns.
    lut : integer array
        All look-up tables, one after the other; column j of the node begins at ``at[j]``.
    leaves : int64 array
        How many leaf codes each column has.
    strides : int64 array
        The value of one step of column j in the key, as for digits: one step outweighs all later columns. ``space`` is
        the number of keys (below 2**62).

    Returns
    -------
    group, sizes, first
        The group of every tuple, numbered by first occurrence; units per group; the first tuple of each group.
    """
    group = np.empty(len(packed), dtype=np.int32)
    sizes = np.empty(len(packed), dtype=np.int64)
    first = np.empty(len(packed), dtype=np.int64)
    n = dispatch(_group_loops, _group_numpy, 50 * len(packed))(
        packed, units, blocks, lut, at, leaves, strides, space, group, sizes, first
    )
    return group, sizes[:n], first[:n]


def size_facts(
    packed: AnyArray,
    units: IntArray,
    blocks: IntArray,
    lut: AnyArray,
    starts: IntArray,
    sizes: IntArray,
    leaves: IntArray,
    node: IntArray,
    minimum: int,
    into: tuple[AnyArray, IntArray, IntArray] | None = None,
) -> tuple[int, int, int, int]:
    """Return statistics of the sizes of a node's groups.

    Parameters
    ----------
    starts, sizes : (d, levels) int64 arrays
        Where the look-up table of a column's level begins, and how many nodes it has; fewer than 2**62 at any node.
    node : int64 array
        The level of every column.
    minimum : int
        Groups with fewer units are too small.
    into : three arrays, optional
        The groups, as ``group_tuples`` returns them, are written here: 32-bit, 64-bit and 64-bit numbers, and at least
        one per tuple. Large arrays that are made anew for every node cost as much as grouping.

    The other parameters are those of ``group_tuples``.

    Returns
    -------
    groups, small, squares, large
        Number of groups; units in groups that are too small; the sum of the squared sizes of the others, and their
        number. Squares must fit into 63 bits.

    Examples
    --------
    >>> lut, starts, sizes = np.array([0, 1, 0, 0]), np.array([[0, 2]]), np.array([[2, 1]])
    >>> packed, units, leaves = np.array([[0], [1]], dtype=np.uint16), np.array([3, 1]), np.array([2])
    >>> size_facts(packed, units, np.array([0, 1]), lut, starts, sizes, leaves, np.array([0]), 2)
    (2, 1, 9, 1)
    """
    out = np.empty(4, dtype=np.int64)
    dispatch(_facts_loops, _facts_numpy, 50 * len(packed))(
        packed, units, blocks, lut, starts, sizes, leaves, node, minimum, *(into or room_for(len(packed))), out
    )
    groups, small, squares, large = out.tolist()
    return groups, small, squares, large


def room_for(tuples: int) -> tuple[AnyArray, IntArray, IntArray]:
    """Return arrays for the groups of this many tuples."""
    return np.empty(tuples, np.int32), np.empty(tuples, np.int64), np.empty(tuples, np.int64)


def _facts_numpy(
    packed: Any, units: Any, blocks: Any, lut: Any, starts: Any, sizes: Any, leaves: Any, node: Any, minimum: Any,
    group: Any, found: Any, first: Any, out: Any,
) -> None:  # fmt: skip
    columns = np.arange(len(node))
    at, width = starts[columns, node], sizes[columns, node]
    strides = np.concatenate([np.cumprod(width[::-1])[::-1][1:], [1]]).astype(np.int64)
    space = int(strides[0] * width[0])
    n = _group_numpy(packed, units, blocks, lut, at, leaves, strides, space, group[: len(packed)], found, first)
    large = found[:n] >= minimum
    kept = found[:n][large]
    out[:] = n, found[:n][~large].sum(), (kept * kept).sum(), len(kept)


def _facts_loops(
    packed: Any, units: Any, blocks: Any, lut: Any, starts: Any, sizes: Any, leaves: Any, node: Any, minimum: Any,
    group: Any, found: Any, first: Any, out: Any,
) -> None:  # fmt: skip
    d = len(node)
    at = np.empty(d, np.int64)
    strides = np.empty(d, np.int64)
    space = np.int64(1)
    for j in range(d - 1, -1, -1):
        at[j] = starts[j, node[j]]
        strides[j] = space
        space *= sizes[j, node[j]]
    n = _group_loops(packed, units, blocks, lut, at, leaves, strides, space, group, found, first)
    small = np.int64(0)
    squares = np.int64(0)
    large = np.int64(0)
    for g in range(n):
        size = found[g]
        if size < minimum:
            small += size
        else:
            squares += size * size
            large += 1
    out[0] = n
    out[1] = small
    out[2] = squares
    out[3] = large


def _group_numpy(
    packed: Any, units: Any, blocks: Any, lut: Any, at: Any, leaves: Any, strides: Any, space: Any,
    group: Any, sizes: Any, first: Any,
) -> int:  # fmt: skip
    key = np.zeros(len(packed), dtype=np.int64)
    for number in range(packed.shape[1]):
        rest = packed[:, number].astype(np.int64)
        for j in range(blocks[number + 1] - 1, blocks[number] - 1, -1):
            key += lut[at[j] + rest % leaves[j]].astype(np.int64) * strides[j]
            rest //= leaves[j]
    _, start, inverse = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(start, kind="stable")
    group[:] = inverted(order)[inverse]
    n = len(start)
    sizes[:n] = 0
    np.add.at(sizes, group, units)
    first[:n] = start[order]
    return n


def _group_loops(
    packed: Any, units: Any, blocks: Any, lut: Any, at: Any, leaves: Any, strides: Any, space: Any,
    group: Any, sizes: Any, first: Any,
) -> int:  # fmt: skip
    n_tuples, n_blocks = packed.shape
    # what each combination adds to the key, block after block; unsigned indices spare the check for negative ones
    offset = block_offsets(blocks, leaves)
    worth = np.zeros(offset[n_blocks], np.int64)
    for b in range(n_blocks):
        own = worth[offset[b] : offset[b + 1]]
        width = 1
        for j in range(blocks[b], blocks[b + 1]):
            # backwards: those entries have been read by then
            for combination in range(width - 1, -1, -1):
                before = own[combination]
                for c in range(leaves[j] - 1, -1, -1):
                    own[combination * leaves[j] + c] = before + lut[at[j] + c] * strides[j]
            width *= leaves[j]
    ends = np.empty(1 + min(n_tuples, np.int64(offset[1])), np.int64)
    # the longest prefix of columns whose nodes ascend: its groups are stretches, and each needs a small table only
    n_runs = 0
    step = space
    for last in range(blocks[1] - 1, -1, -1):
        step = strides[last]
        n_runs = _runs(packed, worth, step, ends)
        if n_runs > 0:
            break
    if n_runs <= 1:
        step = space
        n_runs = 1
        ends[0] = n_tuples
    longest = np.int64(0)
    begin = np.int64(0)
    for r in range(n_runs):
        longest = max(longest, ends[r] - begin)
        begin = ends[r]
    if step <= 4 * longest + 1024:
        return int(_number_dense(packed, offset, worth, units, ends[:n_runs], step, group, sizes, first))
    return int(_number_hashed(packed, offset, worth, units, ends[:n_runs], longest, group, sizes, first))


def _runs(packed: Any, worth: Any, step: Any, ends: Any) -> Any:
    """Find where runs of equal prefixes end; return their number, or 0 if prefixes do not ascend.

    A prefix is a combination without its last column, whose codes count in steps of ``step``.
    """
    if len(packed) == 0:
        return 0
    n = 0
    code = packed[0, 0]
    prefix = worth[np.uint64(code)] // step
    for i in range(1, len(packed)):
        if packed[i, 0] != code:
            code = packed[i, 0]
            other = worth[np.uint64(code)] // step
            if other < prefix:
                return 0
            if other > prefix:
                prefix = other
                ends[n] = i
                n += 1
    ends[n] = len(packed)
    return n + 1


def _fill(packed: Any, offset: Any, worth: Any, begin: Any, keys: Any) -> Any:
    """Look up the keys of the next tuples, as many as fit; return where they end."""
    end = min(begin + len(keys), len(packed))
    # a separate loop: combined with the numbering, which branches, it takes three times as long
    for i in range(begin, end):
        key = np.int64(0)
        for b in range(packed.shape[1]):
            key += worth[offset[b] + np.uint64(packed[i, b])]
        keys[i - begin] = key
    return end


def _number_dense(
    packed: Any, offset: Any, worth: Any, units: Any, ends: Any, step: Any, group: Any, sizes: Any, first: Any
) -> Any:
    # groups of earlier stretches have lower numbers than the first of this one, so nothing needs clearing
    table = np.full(step, -1, np.int32)
    keys = np.empty(AT_ONCE, np.int64)
    n = np.int32(0)
    at = looked_up = filled = 0
    for end in ends:
        fresh = n
        base = np.int64(-1)
        while at < end:
            if at == filled:
                looked_up = at
                filled = _fill(packed, offset, worth, at, keys)
            if base < 0:
                base = keys[at - looked_up] // step * step
            stop = min(end, filled)
            for i in range(at, stop):
                key = np.uint64(keys[i - looked_up] - base)
                g = table[key]
                if g < fresh:
                    g = n
                    table[key] = n
                    first[np.uint64(n)] = i
                    sizes[np.uint64(n)] = 0
                    n += np.int32(1)
                group[i] = g
                sizes[np.uint64(g)] += units[i]
            at = stop
    return np.int64(n)


def _number_hashed(
    packed: Any, offset: Any, worth: Any, units: Any, ends: Any, longest: Any, group: Any, sizes: Any, first: Any
) -> Any:
    capacity = 64
    while capacity < 2 * longest:
        capacity *= 2
    table = np.full(capacity, -1, np.int32)
    known = np.empty(capacity, np.int64)
    last = np.uint64(capacity - 1)
    keys = np.empty(AT_ONCE, np.int64)
    n = np.int32(0)
    at = looked_up = filled = 0
    for end in ends:
        fresh = n
        while at < end:
            if at == filled:
                looked_up = at
                filled = _fill(packed, offset, worth, at, keys)
            stop = min(end, filled)
            for i in range(at, stop):
                key = keys[i - looked_up]
                # Fibonacci hashing; keys are compared in full, so collisions cost time and never exactness
                h = ((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & last
                g = table[h]
                while g >= fresh and known[h] != key:
                    h = (h + np.uint64(1)) & last
                    g = table[h]
                if g < fresh:
                    g = n
                    table[h] = n
                    known[h] = key
                    first[np.uint64(n)] = i
                    sizes[np.uint64(n)] = 0
                    n += np.int32(1)
                group[i] = g
                sizes[np.uint64(g)] += units[i]
            at = stop
    return np.int64(n)


def spread(values: AnyArray, places: AnyArray) -> AnyArray:
    """Return ``values[places]`` as 32-bit numbers, without the wide copy of the places that indexing makes.

    Examples
    --------
    >>> spread(np.array([7, 8], dtype=np.int16), np.array([1, 0, 1])).tolist()
    [8, 7, 8]
    """
    out = np.empty(len(places), dtype=np.int32)
    dispatch(_spread_loops, _spread_numpy, len(places))(values, places, out)
    return out


def _spread_numpy(values: Any, places: Any, out: Any) -> None:
    out[:] = values[places]


def _spread_loops(values: Any, places: Any, out: Any) -> None:
    for i in range(len(places)):
        out[i] = values[np.uint64(places[i])]
