"""Ranks by which ties between records are broken: what is published of them beside codes."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.schema.columns import Role
from hushtable.schema.prepare import check_publishable
from hushtable.table.plan import TablePlan
from hushtable.table.ranks import dense_ranks

__all__ = ["rest_rank", "with_spellings"]


def rest_rank(table: pa.Table, plan: TablePlan) -> IntArray | None:
    """Rank of the published cells that are neither quasi nor sensitive; None where there are none."""
    names = plan.named(Role.INSENSITIVE)
    if not names:
        return None
    for name in names:
        check_publishable(name, table.column(name).type)
    ranks = [dense_ranks(table.column(name)) for name in names]
    return number_rows([r for r, _ in ranks], [n for _, n in ranks])[0]


def with_spellings(
    ties: IntArray | Callable[[], IntArray] | None, table: pa.Table, names: list[str]
) -> IntArray | Callable[[], IntArray] | None:
    """Let the published cells of these columns break ties too: rows of one code may be written differently."""
    if not names:
        return ties

    def ranks() -> IntArray:
        columns, sizes = zip(*(dense_ranks(table.column(name)) for name in names), strict=True)
        if ties is not None:
            others = ties() if callable(ties) else ties
            columns, sizes = (others, *columns), (int(others.max(initial=0)) + 1, *sizes)
        return number_rows(list(columns), list(sizes))[0]

    return ranks
