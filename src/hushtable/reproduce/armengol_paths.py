"""Patterns of Armengol and Torra counted once for every way that leads to them.

Several attributes may induce equally many sets. The paper divides by each of them, so the same pattern can be reached
in several ways. hushtable's own search keeps each pattern once; here every set carries the number of ways to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.algorithms.pattern.common import INDIFFERENT, Condition, selected
from hushtable.algorithms.pattern.search import Records, divide_sets, keep_sets
from hushtable.arrays import IntArray
from hushtable.kernels.grouping import number_rows

__all__ = ["Counted", "count_paths"]


@dataclass(frozen=True)
class Counted:
    """How many patterns one run found.

    Attributes
    ----------
    paths : int
        Patterns, each counted once for every way that leads to it.
    patterns : int
        Patterns, each counted once for every depth at which it is found.
    rest : int
        Records that match none.
    """

    paths: int
    patterns: int
    rest: int


def count_paths(
    columns: Sequence[IntArray],
    classes: IntArray,
    *,
    k: int,
    conditions: Sequence[Condition],
    length: int,
    passes: int | None = None,
    unknown: Sequence[int | None] | None = None,
) -> Counted:
    """Run the paper's ANONYMIZE and count.

    Parameters
    ----------
    columns : sequence of int64 arrays
    classes : int64 array
        The confidential value of every record.
    k, length : int
        Records and fixed attributes that a pattern needs.
    conditions : sequence of {"<", ">"}
    passes : int, optional
        How often each condition is tried; by default until it finds nothing more.
    unknown : sequence of int, optional
        The code of each column that stands for an unknown value, which no records share; None for columns without.

    Examples
    --------
    >>> columns = [np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])]
    >>> count_paths(columns, np.zeros(4, dtype=np.int64), k=2, conditions="<", length=2)
    Counted(paths=4, patterns=2, rest=0)
    """
    records = _records(columns, unknown)
    left = np.ones(len(classes), dtype=np.bool_)
    paths = patterns = 0
    for condition in conditions:
        done = 0
        while passes is None or done < passes:
            found = [
                _one_set(records, np.flatnonzero(left & (classes == one)), condition, length, k)
                for one in range(int(classes.max()) + 1)
            ]
            for n, m, covered in found:
                paths += n
                patterns += m
                left[covered] = False
            if not any(n for n, _, _ in found):
                break
            done += 1
    return Counted(paths, patterns, int(left.sum()))


def _records(columns: Sequence[IntArray], unknown: Sequence[int | None] | None) -> Records:
    """The records as the search sees them: an unknown value has code 0."""
    if unknown is None:
        return Records(columns, [int(c.max()) + 1 for c in columns], [False] * len(columns))
    moved = [c if code is None else np.where(c == code, 0, c + 1) for c, code in zip(columns, unknown, strict=True)]
    return Records(moved, [int(c.max()) + 1 for c in moved], [code is not None for code in unknown])


def _one_set(records: Records, rows: IntArray, condition: Condition, length: int, k: int) -> tuple[int, int, IntArray]:
    """Paths, patterns and the records that they cover, level by level from one set."""
    at = np.array([0, len(rows)])
    ways = np.ones(1, dtype=np.int64)
    paths = patterns = 0
    covered: list[IntArray] = [np.empty(0, dtype=np.int64)]
    while len(at) > 1:
        large = np.diff(at) >= k
        rows, at = keep_sets(rows, at, large)
        if not large.any():
            break
        n_sets, shared = records.describe(rows, at)
        lead = np.minimum.reduceat(rows, at[:-1])
        labels, first = number_rows(
            [lead, *(shared + 1).T], [int(lead.max()) + 1, *(size + 1 for size in records.sizes)]
        )
        together = np.zeros(len(first), dtype=np.int64)
        np.add.at(together, labels, ways[large])
        ways = np.zeros(len(shared), dtype=np.int64)
        ways[first] = together
        long = (records.patterns(shared) != INDIFFERENT).sum(axis=1) >= length
        done = (ways > 0) & long
        paths += int(ways[done].sum())
        patterns += int(done.sum())
        covered.append(keep_sets(rows, at, done)[0])
        chosen = selected(n_sets, condition) & ((ways > 0) & ~long)[:, None]
        ways = np.concatenate([np.repeat(ways[c], n_sets[c, j]) for j, c in enumerate(chosen.T)])
        rows, at = divide_sets(records, rows, at, chosen)
    return paths, patterns, np.unique(np.concatenate(covered))
