"""Overlapping cells, such as 142** and 14***, and which class covers a person.

If the cells of two classes share a point, an adversary's candidates are the union of both. Models that survive merging
still hold; for the others, overlapping classes must become one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.kernels.pairs import overlapping_boxes
from hushtable.release.forms.base import Cells

__all__ = ["class_of", "merge_overlapping"]


def merge_overlapping(cells: Sequence[Cells]) -> tuple[IntArray, int]:
    """Number the groups so that groups with overlapping cells get the same number.

    Returns
    -------
    labels, n
        A number for every group, and how many numbers there are.
    """
    bounds = [c.extent for c in cells]
    low = np.column_stack([b[0] for b in bounds])
    high = np.column_stack([b[1] for b in bounds])
    pairs = overlapping_boxes(low, high)
    parent = list(range(len(cells[0])))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in pairs.tolist():
        if all(c.shares_leaf(a, b) for c in cells):
            ra, rb = root(a), root(b)
            parent[max(ra, rb)] = min(ra, rb)
    roots = np.array([root(i) for i in range(len(parent))], dtype=np.int64)
    _, labels = np.unique(roots, return_inverse=True)
    return labels.astype(np.int64), int(labels.max(initial=-1)) + 1


def class_of(cells: Sequence[Cells], codes: Sequence[AnyArray]) -> IntArray:
    """Return the class that covers each person, given the codes of people column by column; -1 for none.

    No two classes may overlap.
    """
    person, first = number_rows(list(codes), [c.column.coded.size for c in cells])
    people = [np.asarray(column[first], dtype=np.int64) for column in codes]
    bounds = [c.extent for c in cells]
    low = np.column_stack([np.concatenate([b[0], own]) for b, own in zip(bounds, people, strict=True)])
    high = np.column_stack([np.concatenate([b[1], own]) for b, own in zip(bounds, people, strict=True)])
    n = len(cells[0])
    pairs = overlapping_boxes(low, high)
    # distinct people are distinct points, so that every pair is a class and a person
    groups, who = pairs[:, 0], pairs[:, 1] - n
    real = (groups < n) & (who >= 0)
    groups, who = groups[real], who[real]
    for column, own in zip(cells, people, strict=True):
        inside = column.covers(groups, own[who])
        groups, who = groups[inside], who[inside]
    out = np.full(len(first), -1, dtype=np.int64)
    out[who] = groups
    return out[person]
