"""The published table: recoded quasi-identifiers, other columns as they are, rows in an order that tells nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.io.dictionaries import compact
from hushtable.kernels.grouping import number_rows
from hushtable.release.recode import Recoded
from hushtable.schema.columns import Role
from hushtable.table.plan import TablePlan
from hushtable.table.ranks import dense_ranks

__all__ = ["publish", "published_order"]


def publish(source: pa.Table, recoded: Recoded, plan: TablePlan, rows: IntArray) -> pa.Table:
    """Return the published table for these rows of the source, in the policy's column order.

    Identifiers never reach it.
    """
    place = {c.column.name: j for j, c in enumerate(recoded.cells)}
    take = pa.array(rows)
    columns, names = [], []
    for column in plan.columns:
        if not column.role.published:
            continue
        names.append(column.name)
        if column.role is Role.QUASI:
            columns.append(recoded.column(place[column.name], rows))
        else:
            columns.append(source.column(column.name).take(take))
    # a dictionary would otherwise still list the values of suppressed records
    return compact(pa.table(columns, names=names))


def published_order(table: pa.Table) -> IntArray:
    """Return the order of rows by all their published cells.

    It is a function of the released multiset alone: neither the input's order nor a seed shows in it.
    """
    ranks = [dense_ranks(column) for column in table.columns]
    labels, _ = number_rows([r for r, _ in ranks], [n for _, n in ranks])
    return np.argsort(labels, kind="stable")
