"""Figures that ARX 3.9.2 reports for its own optima on Adult: same cells, same numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.release.comparison import RowComparison
from hushtable.release.forms.base import of_groups
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.encoded import EncodedTable
from hushtable.utility.summary import measure_all

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
           "salary-class")  # fmt: skip

# k, level of each column, suppressed records, classes, what is measured
OPTIMA = [
    (5, (0, 3, 0, 2, 2, 1, 1, 2, 0), 506, 222,
     {"loss": 0.3137130352819242, "ncp": 0.357482, "discernibility": 52454192}),
    (2, (0, 3, 0, 0, 1, 1, 0, 1, 0), 2093, 1913,
     {"loss": 0.1617597757412803, "ncp": 0.167078, "discernibility": 67143421}),
    (50, (1, 0, 1, 2, 3, 2, 2, 2, 1), 330, 55, {"discernibility": 29880636, "ncp": 0.890105}),
    (5, (0, 0, 1, 1, 1, 2, 2, 0, 1), 7185, 1847,
     {"average-class-size": 16.321428571428573, "ncp": 0.629919, "discernibility": 217156325}),
    (50, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0, 24,
     {"average-class-size": 1256.75, "ncp": 0.635544, "discernibility": 70009068}),
]  # fmt: skip


@pytest.fixture(scope="module")
def columns(adult, adult_hierarchy_files):
    out = []
    for name in COLUMNS:
        kind = Kind.NUMERIC if name == "age" else Kind.NOMINAL
        data = adult.column(name).combine_chunks().dictionary_encode()
        values = data.dictionary.cast(pa.int64() if name == "age" else pa.string())
        counts = np.bincount(data.indices.to_numpy(), minlength=len(values))
        hierarchy = Taxonomy(file=str(adult_hierarchy_files[name]))
        coded = hierarchy.code(values, kind, missing=False, column=name, counts=counts)
        place = pc.index_in(values, value_set=coded.values).to_numpy()
        out.append(QuasiColumn(name, place[data.indices.to_numpy()].astype(np.uint8), coded))
    return tuple(out)


@pytest.mark.parametrize(("k", "levels", "suppressed", "classes", "want"), OPTIMA)
def test_measures_agree_with_arx(columns, k, levels, suppressed, classes, want):
    lifted = [c.coded.levels[h][c.codes] for c, h in zip(columns, levels, strict=True)]
    labels, first = number_rows(lifted, [c.coded.size for c in columns])
    small = np.bincount(labels, minlength=len(first)) < k
    labels = np.append(np.where(small, -1, np.cumsum(~small) - 1), -1)[labels]
    rows, offsets = group_rows(labels, int((~small).sum()))
    cells = tuple(of_groups(c, rows, offsets, h) for c, h in zip(columns, levels, strict=True))
    release = RowComparison(EncodedTable(columns, (), len(labels), len(labels)), labels, cells, k=k)
    assert (release.n_suppressed, release.n_classes) == (suppressed, classes)
    got = measure_all(release, list(want))
    assert got["discernibility"] == want["discernibility"]
    assert got == pytest.approx(want, rel=1e-9, abs=5e-7)
