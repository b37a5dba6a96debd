"""The published table: recoded quasi-identifiers, other columns unchanged, rows in an order that reveals nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.io.dictionaries import compact
from hushtable.io.inferred import settle
from hushtable.kernels.grouping import number_rows
from hushtable.parallel import each
from hushtable.release.recode import Recoded
from hushtable.schema.columns import Role
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.table.ranks import dense_ranks

_MANY = 1 << 18
"""Number of rows at which columns are processed on all cores."""


def publish(source: pa.Table, recoded: Recoded, plan: TablePlan, rows: IntArray) -> pa.Table:
    """Return the published table for these rows of the source, in the policy's column order.

    Identifiers never reach it. Types that the source declares are kept; others follow from the published cells.
    """
    # a dictionary would otherwise still list the values of suppressed records
    return compact(settle(publish_as_given(source, recoded, plan, rows), source.schema))


def publish_as_given(source: pa.Table, recoded: Recoded, plan: TablePlan, rows: IntArray) -> pa.Table:
    """Return the published cells in the source's types, some of which may reveal something about unpublished cells."""
    place = {c.column.name: j for j, c in enumerate(recoded.cells)}
    take = pa.array(rows)

    def cells(column: ColumnPlan) -> pa.Array | pa.ChunkedArray:
        if column.role is Role.QUASI:
            return recoded.column(place[column.name], rows)
        if column.publish:
            from hushtable.release.class_weights import class_weights  # most tables are not surveys
            from hushtable.table.survey import read_weights

            return pa.array(class_weights(read_weights(source, column.name, plan)[rows], recoded.labels[rows]))
        return source.column(column.name).take(take)

    published = [column for column in plan.columns if column.published]
    columns = list(each(cells, published, many=len(rows) >= _MANY))
    return pa.table(columns, names=[column.name for column in published])


def published_order(table: pa.Table) -> IntArray:
    """Return the order of rows by all their published cells.

    It depends on the released multiset alone, neither on the input's order nor on a seed.
    """
    ranks = list(each(dense_ranks, table.columns, many=table.num_rows >= _MANY))
    labels, _ = number_rows([r for r, _ in ranks], [n for _, n in ranks])
    return np.argsort(labels, kind="stable")
