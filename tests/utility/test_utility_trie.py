from __future__ import annotations

import numpy as np
from hypothesis import given
from support_utility import comparisons, rows_of

from hushtable.utility.kl_divergence import Trie, covered_tuples


@given(comparisons())
def test_all_covering_pairs_are_found_once(comparison):
    rows = rows_of(comparison)
    codes = [c.codes for c in comparison.table.quasi]
    trie = Trie.of(codes, [c.coded.size for c in comparison.table.quasi])
    tuples = sorted({tuple(cell.code for cell in row) for row in rows})
    assert [tuples[i] for i in trie.numbers] == [tuple(cell.code for cell in row) for row in rows]
    want = set()
    for row, label in zip(rows, comparison.labels.tolist(), strict=True):
        for number, codes in enumerate(tuples):
            if label >= 0 and all(code in cell.covered for code, cell in zip(codes, row, strict=True)):
                want.add((label, number))
    real = np.flatnonzero(comparison.sizes)
    found = covered_tuples(trie, comparison.cells, [real] * len(comparison.cells))
    got = [(real[group], row) for part in found for group, row in zip(*part, strict=True)]
    assert len(got) == len(set(got))
    assert set(got) == want
