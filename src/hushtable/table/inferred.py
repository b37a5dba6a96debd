"""Check that suppressed records do not decide the inferred kind of a column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, IntArray
from hushtable.errors import DataError
from hushtable.schema.columns import Kind
from hushtable.schema.parse import infer_kind
from hushtable.table.encoded import EncodedTable, QuasiColumn, SensitiveColumn
from hushtable.table.plan import TablePlan

__all__ = ["check_inferred_kind", "check_inferred_kinds", "is_inferred"]


def check_inferred_kinds(table: EncodedTable, plan: TablePlan, rows: IntArray) -> None:
    """Refuse a release in which the kind of a column reveals something about suppressed records.

    A column of text without a declared kind is numeric if every value is a number. One odd value of a suppressed record
    makes it nominal, which would change the published cells or what a model achieves.

    Parameters
    ----------
    table : EncodedTable
    plan : TablePlan
    rows : int64 array
        The published rows of the sample.

    Raises
    ------
    DataError
        If the published values alone have another kind. The remedy is to declare it.
    """
    if len(rows) == table.n_sample:
        return
    columns: list[QuasiColumn | SensitiveColumn] = [*table.quasi, *table.sensitive]
    for column in columns:
        if is_inferred(column, plan):
            check_inferred_kind(column, column.codes[rows])


def is_inferred(column: QuasiColumn | SensitiveColumn, plan: TablePlan) -> bool:
    """Whether a kind may depend on a few values: numbers and dates stay such if some of them are removed."""
    declared = next(c for c in plan.columns if c.name == column.name)
    return declared.kind is None and not declared.order and column.coded.kind is Kind.NOMINAL


def check_inferred_kind(column: QuasiColumn | SensitiveColumn, codes: AnyArray) -> None:
    """Refuse a nominal column whose published codes have another kind; see ``check_inferred_kinds``."""
    used = np.unique(codes).astype(np.int64) - int(column.coded.missing)
    kind, _ = infer_kind(column.coded.values.take(pa.array(used[used >= 0])))
    if kind is not Kind.NOMINAL:
        raise DataError(
            f"Column {column.name!r} is read as text only because of suppressed records: all its published values are "
            f"of kind {kind}. The release would show that.",
            code="kind-of-suppressed",
            hint=f"Declare 'kind: nominal' or 'kind: {kind}' for it in the policy, and list what is no value under "
            "'missing_values'.",
        )
