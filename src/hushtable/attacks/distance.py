"""How far a person is from what a class publishes."""

from __future__ import annotations

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.models.base import TOLERANCE
from hushtable.release.forms.base import Cells
from hushtable.table.coded_columns import scaled_numbers

__all__ = ["distances", "nearest_classes"]

_AT_ONCE = 1 << 21


def nearest_classes(view: View, people: People) -> tuple[IntArray, IntArray]:
    """Return the classes at the least distance from each person, in compressed rows: offsets and classes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> view = View.of(ht.anonymize(table, policy))
    >>> [part.tolist() for part in nearest_classes(view, People.of_table(view, pa.table({"age": [31, 52]})))]
    [[0, 1, 2], [0, 1]]
    """
    filled = np.flatnonzero(view.sizes > 0)
    lengths, found = [np.zeros(1, dtype=np.int64)], []
    step = max(_AT_ONCE // max(len(filled), 1), 1)
    for start in range(0, len(people), step):
        part = slice(start, min(start + step, len(people)))
        total = np.zeros((part.stop - part.start, len(filled)))
        for j, cells in enumerate(view.cells):
            # a table of all people's codes would have as many rows as people where a column's values differ
            codes, inverse = np.unique(people.codes[j][part], return_inverse=True)
            total += distances(cells, codes)[:, filled][inverse]
        owner, group = np.nonzero(total <= total.min(axis=1, keepdims=True) + TOLERANCE)
        lengths.append(np.bincount(owner, minlength=len(total)).astype(np.int64))
        found.append(filled[group])
    return np.cumsum(np.concatenate(lengths)), np.concatenate(found)


def distances(cells: Cells, codes: IntArray) -> FloatArray:
    """Return the distance of each code from the cell of each class: codes x classes, from 0 to 1.

    A value that the original does not have is at distance 1 from every cell, so the other columns decide.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> distances(example().cells[1], np.array([0, 2])).tolist()
    [[0.5, 1.0], [1.0, 0.0]]
    """
    coded = cells.column.coded
    known = (codes >= 0) & (codes < coded.size)
    place = np.where(known, codes, 0)
    if coded.kind.ordered:
        numbers = scaled_numbers(coded)
        if numbers is None:
            first = int(coded.missing)
            numbers = (np.arange(coded.size) - first) / max(coded.size - first - 1, 1)
            numbers[:first] = np.nan
        middles = cells.middles(numbers)
        gap = np.abs(numbers[place][:, None] - middles[None, :])
        # two missing values agree, a missing and another do not
        both = np.isnan(numbers[place])[:, None] & np.isnan(middles)[None, :]
        out = np.where(both, 0.0, np.nan_to_num(gap, nan=1.0))
    else:
        out = 1.0 - cells.nearness(place)
    out[~known] = 1.0
    return np.asarray(out, dtype=np.float64)
