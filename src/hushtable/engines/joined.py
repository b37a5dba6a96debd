"""What classes of an earlier release publish, in the values of a new batch.

Newcomers who join a class are published under its cells, which cover more than the newcomers themselves. What is lost
is measured by the values of the batch that the cells cover.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, IntArray
from hushtable.attacks.matching import match_chunks, tells_no_bounds
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.kernels.grouping import number_rows
from hushtable.release.cells import Cells
from hushtable.table.encoded import QuasiColumn

__all__ = ["covered_values", "covering_cells", "values_of"]


def values_of(column: QuasiColumn, codes: AnyArray) -> pa.Array:
    """The batch's values as they were understood, whatever stands for a missing one."""
    place = codes.astype(np.int64) - int(column.coded.missing)
    return column.coded.values.take(pa.array(place, mask=place < 0))


def covered_values(view: View, quasi: Sequence[QuasiColumn], groups: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return for each column which of these classes' cells cover which values of the batch: places and codes.

    None are returned for cells that tell no bounds.
    """
    spans = [column.coded.size for column in quasi]
    every = {c.name: values_of(c, np.minimum(np.arange(max(spans)), c.coded.size - 1)) for c in quasi}
    people = People.of_table(view, pa.table(every), "The batch")
    found = []
    for j, span in enumerate(spans):
        pairs = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        if not tells_no_bounds(view.cells[j]):
            for part, inside in match_chunks(view, people.take(np.arange(span)), [j]):
                code, place = np.nonzero(inside[:, groups])
                pairs.append((place, code + part.start))
        found.append((np.concatenate([p for p, _ in pairs]), np.concatenate([c for _, c in pairs])))
    return found


def covering_cells(column: QuasiColumn, labels: IntArray, groups: IntArray, codes: IntArray, n: int) -> Cells:
    """What classes publish in one column: the values of the batch that are covered, not those alone that are there."""
    group, code = np.concatenate([labels, groups]), np.concatenate([column.codes.astype(np.int64), codes])
    real = group >= 0
    group, code = group[real], code[real]
    _, first = number_rows([group, code], [n, column.coded.size])
    return Cells(column, np.searchsorted(group[first], np.arange(n + 1)).astype(np.int64), code[first])
