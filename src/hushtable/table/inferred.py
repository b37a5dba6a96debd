"""Kinds that were inferred from values: those of suppressed records may not decide them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, IntArray
from hushtable.errors import DataError
from hushtable.hierarchy.base import Coded
from hushtable.schema.columns import Kind
from hushtable.schema.parse import infer_kind
from hushtable.table.encoded import EncodedTable, QuasiColumn, SensitiveColumn
from hushtable.table.plan import TablePlan

__all__ = ["check_inferred_kinds"]


def check_inferred_kinds(table: EncodedTable, plan: TablePlan, rows: IntArray) -> None:
    """Refuse a release in which the kind of a column tells something about suppressed records.

    A column of text without a declared kind is numeric if every value is a number. One odd value of a suppressed record
    makes it nominal, and the published cells, or what a model achieves, would look different for that.

    Parameters
    ----------
    table : EncodedTable
    plan : TablePlan
    rows : int64 array
        The published rows of the sample.

    Raises
    ------
    DataError
        If the published values alone are of another kind. The remedy is to declare it.
    """
    if len(rows) == table.n_sample:
        return
    undeclared = {c.name for c in plan.columns if c.kind is None and not c.order}
    columns: list[QuasiColumn | SensitiveColumn] = [*table.quasi, *table.sensitive]
    for column in columns:
        # numbers and dates stay such if some of them are left out
        if column.name not in undeclared or column.coded.kind is not Kind.NOMINAL:
            continue
        kind, _ = infer_kind(_values(column.coded, column.codes[rows]))
        if kind is not Kind.NOMINAL:
            raise DataError(
                f"Column {column.name!r} is read as text only because of suppressed records: all its published values "
                f"are of kind {kind}. The release would show that.",
                code="kind-of-suppressed",
                hint=f"Declare 'kind: nominal' or 'kind: {kind}' for it in the policy, and list what is no value under "
                "'missing_values'.",
            )


def _values(coded: Coded, codes: AnyArray) -> pa.Array:
    used = np.unique(codes).astype(np.int64) - int(coded.missing)
    return coded.values.take(pa.array(used[used >= 0]))
