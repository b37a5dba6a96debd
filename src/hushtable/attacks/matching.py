"""Which classes a person may be in: those whose published cells cover the person in every column.

A representative (the mean of a class, the middle of a range) covers nobody in particular, so columns that publish one
exclude nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.attacks.people import People, Unseen
from hushtable.attacks.view import View
from hushtable.hierarchy.base import ROOT
from hushtable.release.cells import Cells
from hushtable.release.centroid import CentroidCells
from hushtable.schema.columns import CellStyle, Kind
from hushtable.utility.cover import covers, extent

__all__ = ["candidates", "match_chunks", "tells_no_bounds"]

_AT_ONCE = 1 << 22
"""Pairs of a person and a class that are compared at once."""


def candidates(view: View, people: People, columns: Sequence[int] | None = None) -> tuple[IntArray, IntArray]:
    """Return the classes that cover each person, in compressed rows: offsets and classes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> view = View.of(ht.anonymize(table, policy))
    >>> offsets, classes = candidates(view, People.of_table(view, pa.table({"age": [31, 40, 52]})))
    >>> offsets.tolist(), classes.tolist()
    ([0, 1, 1, 2], [0, 1])
    """
    lengths, found = [np.zeros(1, dtype=np.int64)], []
    for _, inside in match_chunks(view, people, columns):
        owner, group = np.nonzero(inside)
        lengths.append(np.bincount(owner, minlength=len(inside)).astype(np.int64))
        found.append(group.astype(np.int64))
    return np.cumsum(np.concatenate(lengths)), np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def match_chunks(
    view: View, people: People, columns: Sequence[int] | None = None
) -> Iterator[tuple[slice, BoolArray]]:
    """Yield, for some people at a time, the matrix of who is covered by which class."""
    used = range(len(view.cells)) if columns is None else columns
    tables = []
    for j in used:
        distinct, inverse = np.unique(people.codes[j], return_inverse=True)
        tables.append((_packed(view.cells[j], distinct, people.unseen[j]), inverse))
    # classes without records are not published
    filled = np.packbits(view.sizes > 0)
    step = max(_AT_ONCE // max(view.n_groups, 1), 1)
    for start in range(0, len(people), step):
        part = slice(start, min(start + step, len(people)))
        bits = np.tile(filled, (part.stop - part.start, 1))
        for packed, inverse in tables:
            bits &= packed[inverse[part]]
        yield part, np.unpackbits(bits, axis=1, count=view.n_groups).astype(np.bool_)


def _packed(cells: Cells, codes: IntArray, unseen: Unseen) -> npt.NDArray[np.uint8]:
    out = np.empty((len(codes), (len(cells) + 7) // 8), dtype=np.uint8)
    step = max(_AT_ONCE // max(len(cells), 1), 1)
    groups = np.arange(len(cells), dtype=np.int64)
    for start in range(0, len(codes), step):
        some = codes[start : start + step]
        inside = np.zeros((len(some), len(cells)), dtype=np.bool_)
        known = np.flatnonzero((some >= 0) & (some < cells.column.coded.size))
        if tells_no_bounds(cells):
            inside[:] = True
        else:
            pairs = np.tile(groups, len(known)), np.repeat(some[known], len(cells))
            inside[known] = covers(cells, *pairs).reshape(len(known), len(cells))
            for i in np.flatnonzero(some >= cells.column.coded.size):
                inside[i] = _covers_unseen(cells, unseen, int(some[i]) - cells.column.coded.size)
        out[start : start + step] = np.packbits(inside, axis=1)
    return out


def tells_no_bounds(cells: Cells) -> bool:
    """Whether the cells are representatives: they cover nobody in particular."""
    return isinstance(cells, CentroidCells) or cells.style is CellStyle.MIDPOINT


def _covers_unseen(cells: Cells, unseen: Unseen, at: int) -> BoolArray:
    coded, style = cells.column.coded, cells.style
    if style is CellStyle.SETS:
        return np.zeros(len(cells), dtype=np.bool_)
    if style is CellStyle.NODES:
        path = unseen.paths[at]
        out = np.zeros(len(cells), dtype=np.bool_)
        for h in range(1, coded.height + 1):
            same = np.array([label == ROOT or (h < len(path) and label == path[h]) for label in coded.labels[h]])
            here = cells.height == h
            out[here] = same[cells.node[here]]
        return out
    if coded.kind not in (Kind.NUMERIC, Kind.DATE) or not len(coded.values):
        return np.asarray(cells.mixed)
    first = int(coded.missing)
    low, high = extent(cells)
    numbers = _numbers(coded.values)
    value = _numbers(unseen.values)[at]
    inside = (numbers[np.maximum(low - first, 0)] <= value) & (value <= numbers[np.maximum(high - first, 0)])
    return np.asarray(cells.mixed | (inside & (high >= first)))


def _numbers(values: pa.Array) -> AnyArray:
    """Whole numbers stay such: as floats, neighbours beyond 2^53 are the same."""
    plain = values.cast(pa.int32()) if pa.types.is_date(values.type) else values
    return np.asarray(plain.to_numpy(zero_copy_only=False))
