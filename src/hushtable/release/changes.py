"""Effect of treatments: how far the treated values of each column are from the original ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import TablePlan
from hushtable.treatments.treating import prepared

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.schema.prepare import Prepared

__all__ = ["change_of", "changes"]


def changes(original: pa.Table, treated: pa.Table, plan: TablePlan, published: pa.Array) -> dict[str, float]:
    """Return how much the treatment changed each treated column, over the published records.

    Parameters
    ----------
    original, treated : pyarrow.Table
        The same rows.
    plan : TablePlan
    published : pyarrow.Array
        The rows that are published.

    Returns
    -------
    dict
        For numbers and dates: the mean distance of the two values, relative to the original range. For others: the
        share of records with a different value. Pseudonyms are omitted: all of them are different.
    """
    return {
        column.name: change_of(prepared(original, column, plan), prepared(treated, column, plan), published)
        for column in plan.columns
        if column.name in original.column_names
        and column.treatments
        and not any(Role.PSEUDONYM in one.roles for one in column.treatments)
    }


def change_of(before: Prepared, after: Prepared, published: pa.Array) -> float:
    """Return how much of a column was changed, from 0 (nothing) on."""
    rows = np.asarray(published)
    if not len(rows):
        return 0.0
    if before.kind in (Kind.NUMERIC, Kind.DATE):
        first, second = (np.append(_numbers(one), np.nan)[one.codes()] for one in (before, after))
        span = float(np.nanmax(first) - np.nanmin(first)) if before.missing < len(before) else 0.0
        moved = np.nan_to_num(np.abs(first[rows] - second[rows]))
        return float(moved.mean() / span) if span else float((moved > 0).mean())
    labels = (np.array([*one.values.to_pylist(), None], dtype=object)[one.codes()] for one in (before, after))
    first_labels, second_labels = labels
    return float(np.mean(first_labels[rows] != second_labels[rows]))


def _numbers(column: Prepared) -> np.typing.NDArray[np.float64]:
    values = column.values.cast("int32") if column.kind is Kind.DATE else column.values
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
