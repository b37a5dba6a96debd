"""Five records, small enough to compute every measure by hand: the example of each measure's docstring."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hushtable.hierarchy.flat import Flat
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.kernels.grouping import group_rows
from hushtable.release.comparison import RowComparison
from hushtable.release.forms.base import of_groups
from hushtable.release.forms.nodes import Nodes
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.encoded import EncodedTable


def example() -> RowComparison:
    """Return two classes of two records and one suppressed record.

    ::

        original                release
        30  Oslo    flu         [30, 31]  North  flu
        31  Bergen  cold        [30, 31]  North  cold
        52  Rome    flu         [52, 53]  Rome   flu
        53  Rome    flu         [52, 53]  Rome   flu
        90  Rome    cold        (suppressed)

    The age has 5 leaves under one root; the city has 3 leaves, Bergen and Oslo under North and Rome under South.

    Examples
    --------
    >>> [cells.labels().to_pylist() for cells in example().cells]
    [['[30, 31]', '[52, 53]'], ['North', 'Rome']]
    """
    ones = np.ones(5, dtype=np.int64)
    age = Flat().code(pa.array([30, 31, 52, 53, 90]), Kind.NUMERIC, missing=False, column="age", counts=ones)
    city = Taxonomy(tree={"North": ["Bergen", "Oslo"], "South": ["Rome"]}).code(
        pa.array(["Bergen", "Oslo", "Rome"]), Kind.NOMINAL, missing=False, column="city", counts=ones[:3]
    )
    disease = Flat().code(pa.array(["cold", "flu"]), Kind.NOMINAL, missing=False, column="disease", counts=ones[:2])
    quasi = (
        QuasiColumn("age", np.arange(5), age),
        QuasiColumn("city", np.array([1, 0, 2, 2, 2]), city, form=Nodes()),
    )
    sensitive = (SensitiveColumn("disease", np.array([1, 0, 1, 1, 0]), disease),)
    labels = np.array([0, 0, 1, 1, -1])
    rows, offsets = group_rows(labels, 2)
    cells = tuple(of_groups(column, rows, offsets) for column in quasi)
    return RowComparison(EncodedTable(quasi, sensitive, 5, 5), labels, cells, k=2)
