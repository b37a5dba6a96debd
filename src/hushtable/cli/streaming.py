"""Whether ``hushtable run`` streams: asked for, asked not to, or by the size of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.errors import UsageError

if TYPE_CHECKING:
    from hushtable.io.urls import Source
    from hushtable.policy.policy import Policy

__all__ = ["streams"]


def streams(
    data: Sequence[Source], policy: Policy, *, asked: bool | None, part_rows: int | None, spark: bool = False
) -> bool:
    """Return whether a run streams its table.

    Parameters
    ----------
    data : sequence of path or address
        Files, folders, patterns, databases and stores.
    policy : Policy
    asked : bool, optional
        What the user said; where nothing, large tables are streamed if the policy allows it.
    part_rows : int, optional
        Parts are written by streaming only.
    spark : bool
        Whether Spark does the work, which has its own way with large tables.

    Raises
    ------
    UsageError
        If what was asked for does not go together.
    """
    from hushtable.io.sizes import is_large
    from hushtable.io.sources import table_sources

    if asked is False and part_rows is not None:
        raise UsageError("Parts are written by streaming.", code="part-rows", hint="Leave out --no-stream.")
    if asked or part_rows is not None:
        if spark:
            raise UsageError(
                "Spark does not stream: it holds no table in memory of one machine.",
                code="stream",
                hint="Leave out --stream and --part-rows, or leave out --engine spark.",
            )
        return True
    if asked is False or spark or policy.ledger is not None or not is_large(table_sources(data)):
        return False
    from hushtable.engines.stream import is_streamable

    return is_streamable(policy.build_algorithm())
