"""The classes that a person may be in: those whose published cells cover the person in every column.

A representative (the mean of a class, the middle of a range) covers nobody in particular, so columns that publish one
exclude nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hushtable.arrays import BoolArray, IntArray
from hushtable.attacks.people import People, Unseen
from hushtable.attacks.view import View
from hushtable.release.forms.base import Cells

_AT_ONCE = 1 << 22
"""Number of pairs of a person and a class that are compared at once."""


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
    ([0, 1, 2, 3], [0, 0, 1])
    """
    lengths, found = [np.zeros(1, dtype=np.int64)], []
    for _, inside in match_chunks(view, people, columns):
        owner, group = np.nonzero(inside)
        lengths.append(np.bincount(owner, minlength=len(inside)).astype(np.int64))
        found.append(group.astype(np.int64))
    return np.cumsum(np.concatenate(lengths)), np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def match_chunks(view: View, people: People, columns: Sequence[int] | None = None) -> Iterator[tuple[slice, BoolArray]]:
    """Yield the matrix of which class covers which person, for some people at a time."""
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


def covering(cells: Cells, groups: IntArray) -> npt.NDArray[np.uint8]:
    """Return, for every code of a column, which of some classes cover it: one bit per class."""
    size = cells.column.coded.size
    if not cells.tells_bounds:
        return np.full((size, (len(groups) + 7) // 8), 255, dtype=np.uint8)
    inside = cells.covers(np.tile(groups, size), np.repeat(np.arange(size), len(groups)))
    return np.packbits(inside.reshape(size, len(groups)), axis=1)


def _packed(cells: Cells, codes: IntArray, unseen: Unseen) -> npt.NDArray[np.uint8]:
    out = np.empty((len(codes), (len(cells) + 7) // 8), dtype=np.uint8)
    step = max(_AT_ONCE // max(len(cells), 1), 1)
    groups = np.arange(len(cells), dtype=np.int64)
    for start in range(0, len(codes), step):
        some = codes[start : start + step]
        inside = np.zeros((len(some), len(cells)), dtype=np.bool_)
        known = np.flatnonzero((some >= 0) & (some < cells.column.coded.size))
        if not cells.tells_bounds:
            inside[:] = True
        else:
            pairs = np.tile(groups, len(known)), np.repeat(some[known], len(cells))
            inside[known] = cells.covers(*pairs).reshape(len(known), len(cells))
            for i in np.flatnonzero(some >= cells.column.coded.size):
                inside[i] = cells.covers_new(*_described(unseen, int(some[i]) - cells.column.coded.size))
        out[start : start + step] = np.packbits(inside, axis=1)
    return out


def _described(unseen: Unseen, at: int) -> tuple[tuple[str | None, ...], float | int | None]:
    """Return the labels of a value that does not occur in the original, and its number."""
    values = unseen.values
    plain = values.cast(pa.int32()) if pa.types.is_date(values.type) else values
    number = plain[at].as_py() if pa.types.is_integer(plain.type) or pa.types.is_floating(plain.type) else None
    return unseen.paths[at], number
