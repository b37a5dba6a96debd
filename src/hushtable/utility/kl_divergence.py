"""KL divergence between the original's distribution and the one that the release suggests.

KL = sum over the distinct original tuples t of ``p(t) log2(p(t) / q(t))``, in bits. ``p(t)`` is the share of
original records with the quasi-identifiers t. ``q`` spreads each class evenly over the combinations of leaves that
its cells cover: ``q(t) = sum over the classes G that cover t of (|G| / N) x product over columns of 1 /
leaves_j(G)``, plus, for suppressed records, ``(suppressed / N) x product of 1 / D_j``. Every class that covers t
counts, not only those with t's records, and the result is exact: an unchanged table gives 0. Survey weights, if there
are any, replace counts of records.
Its cost grows with the number of pairs of a class and a tuple that it covers, so it is not part of a summary.

References
----------
D. Kifer, J. Gehrke, "Injecting utility into anonymized datasets", 2006.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray, joined_ranges, run_starts
from hushtable.kernels.grouping import number_rows
from hushtable.release.forms.base import Cells
from hushtable.utility.base import Comparison, Measure
from hushtable.utility.ncp import ncp_of_columns


@dataclass(frozen=True)
class KLDivergence(Measure):
    """Bits per record lost between the original's joint distribution and the one that the release suggests.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> round(KLDivergence().compute(example()), 4)  # q: 2/5 x 1/4 and 2/5 x 1/2, each + 1/5 x 1/15; 1/5 x 1/15
    1.0719
    """

    name: ClassVar[str] = "kl-divergence"
    default: ClassVar[bool] = False
    weighs: ClassVar[bool] = True

    def compute(self, comparison: Comparison) -> float:
        """Add up probabilities as logarithms: products over many columns would underflow."""
        # columns whose cells are narrow first: fewer classes have to be followed down
        order = np.argsort(ncp_of_columns(comparison), kind="stable").tolist()
        cells = [comparison.cells[j] for j in order]
        real = np.flatnonzero(comparison.sizes)
        classes, left_out = comparison.represented
        everybody = float(classes.sum()) + left_out
        weight = np.log2(classes[real] / everybody)
        for j in order:
            weight -= np.log2(comparison.by_class(j, comparison.cells[j].leaves)[real])
        lost = float("-inf")
        if comparison.n_suppressed:
            lost = np.log2(left_out / everybody)
            lost -= sum(float(np.log2(c.column.coded.size)) for c in cells)
        of_class = [comparison.by_class(j, np.arange(len(comparison.cells[j])))[real] for j in order]

        def divergence(columns: Sequence[AnyArray], records: AnyArray) -> FloatArray:
            """Return the sum over some tuples."""
            trie = Trie.of([columns[j] for j in order], [c.column.coded.size for c in cells])
            p = np.empty(len(records))
            p[trie.numbers] = records / everybody
            q = np.full(len(p), lost)
            for group, row in covered_tuples(trie, cells, of_class):
                np.logaddexp2.at(q, row, weight[group])
            return np.array([(p * (np.log2(p) - q)).sum()])

        # rounding may leave a hair below 0
        return max(float(comparison.over_tuples(divergence)[0]), 0.0)


# All pairs of a class and an original tuple that its cells cover, without trying all of them.
#
# The distinct tuples, sorted, form a trie: one level per column. Classes descend it level by level; at each level
# the children that a cell covers are found by bisection, so the work is about the number of pairs that still agree.


_AT_ONCE = 1 << 21
"""Number of pairs that are expanded at once: bounds the memory, not the result."""


@dataclass(frozen=True)
class Trie:
    """The distinct rows of several code columns, as a trie.

    Attributes
    ----------
    keys : tuple of int64 arrays
        ``keys[j]``, ascending: ``parent * size + code`` of every node of level j. A node's number is its position.
    sizes : tuple of int
        Codes of each column.
    numbers : int64 array
        The leaf (the distinct row) of every row.
    """

    keys: tuple[IntArray, ...]
    sizes: tuple[int, ...]
    numbers: IntArray

    @classmethod
    def of(cls, columns: Sequence[AnyArray], sizes: Sequence[int]) -> Trie:
        """Sort the distinct rows and number the prefixes.

        Examples
        --------
        >>> trie = Trie.of([np.array([1, 0, 1]), np.array([0, 2, 2])], [2, 3])
        >>> [keys.tolist() for keys in trie.keys], trie.numbers.tolist()
        ([[0, 1], [2, 3, 5]], [1, 0, 2])
        """
        numbers, first = number_rows(columns, sizes)
        parent = np.zeros(len(first), dtype=np.int64)
        keys = []
        for column, size in zip(columns, sizes, strict=True):
            key = parent * size + column[first].astype(np.int64)
            new = run_starts(key)
            keys.append(key[new])
            parent = np.cumsum(new) - 1
        return cls(tuple(keys), tuple(sizes), numbers)


def covered_tuples(
    trie: Trie, cells: Sequence[Cells], of_class: Sequence[IntArray]
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield all pairs (class, distinct row) where every cell of the class covers the row's code, in chunks.

    Parameters
    ----------
    trie : Trie
    cells : sequence of Cells
        In the trie's column order.
    of_class : sequence of int64 arrays
        For each column, the cell of every class.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> given = example()
    >>> trie = Trie.of([c.codes for c in given.table.quasi], [5, 3])
    >>> [(c.tolist(), t.tolist()) for c, t in covered_tuples(trie, given.cells, [np.arange(2)] * 2)]
    [([0, 0, 1, 1], [0, 1, 2, 3])]
    """
    bounds = [c.extent for c in cells]
    n = len(of_class[0])
    stack = [(0, np.arange(n, dtype=np.int64), np.zeros(n, dtype=np.int64))]
    while stack:
        level, group, node = stack.pop()
        if level == len(cells):
            yield group, node
            continue
        size, (low, high) = trie.sizes[level], bounds[level]
        cell = of_class[level][group]
        start = np.searchsorted(trie.keys[level], node * size + low[cell])
        end = np.searchsorted(trie.keys[level], node * size + high[cell], side="right")
        lengths = end - start
        if lengths.sum() > _AT_ONCE and len(group) > 1:
            half = len(group) // 2
            stack += [(level, group[half:], node[half:]), (level, group[:half], node[:half])]
            continue
        child = joined_ranges(start, lengths)
        owner = np.repeat(group, lengths)
        if cells[level].has_holes:
            keep = cells[level].covers(of_class[level][owner], trie.keys[level][child] % size)
            owner, child = owner[keep], child[keep]
        if len(owner):
            stack.append((level + 1, owner, child))
