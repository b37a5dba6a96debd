from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from support_utility import comparisons, make_coded, make_comparison, rows_of

from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.utility.classification import ColumnFeatures


def counts_of(cells):
    return np.bincount(cells.column.codes, minlength=cells.column.coded.size)


@given(comparisons())
def test_features_of_cells_agree_with_those_of_single_values(comparison):
    rows = rows_of(comparison)
    for j, cells in enumerate(comparison.cells):
        features = ColumnFeatures(cells, counts_of(cells))
        codes, groups = features.of_codes, features.of_cells
        assert np.all((codes >= 0) & (codes <= 1))
        ordered = cells.column.coded.kind.ordered
        for i, label in enumerate(comparison.labels.tolist()):
            if label < 0:
                continue
            members = sorted(rows[i][j].covered)
            assert np.allclose(groups[label][ordered:], codes[members].mean(axis=0)[ordered:])
            known = [c for c in members if not (cells.column.coded.missing and c == 0)]
            if ordered and known:
                assert math.isclose(groups[label][0], (codes[known[0], 0] + codes[known[-1], 0]) / 2)


def test_rare_nominal_values_share_a_feature():
    coded = make_coded(Kind.NOMINAL, 100, False)
    codes = [i for i in range(100) for _ in range(2 if i >= 60 else 1)]
    release = make_comparison([(codes, coded, Sets(), 1.0)], list(range(len(codes))))
    features = ColumnFeatures(release.cells[0], counts_of(release.cells[0])).of_codes
    assert features.shape == (100, 33)
    assert np.all(features.sum(axis=1) == 1)
    assert features[60, 0] == 1
    assert features[0, 32] == 1
