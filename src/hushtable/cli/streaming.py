"""Whether ``hushtable run`` streams: asked for, asked not to, or by the size of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.errors import UsageError

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy

__all__ = ["streams"]


def streams(data: Sequence[str], policy: Policy, *, asked: bool | None, part_rows: int | None, elsewhere: bool) -> bool:
    """Return whether a run streams its table from files to files.

    Parameters
    ----------
    data : sequence of str
        Files, folders, patterns and addresses.
    policy : Policy
    asked : bool, optional
        What the user said; where nothing, large tables are streamed if the policy allows it.
    part_rows : int, optional
        Parts are written by streaming only.
    elsewhere : bool
        Whether the run has to do with more than files on this machine.

    Raises
    ------
    UsageError
        If what was asked for does not go together.
    """
    from hushtable.engines.stream import is_streamable
    from hushtable.io.sizes import is_large
    from hushtable.io.sources import table_files
    from hushtable.io.urls import is_url

    outside = elsewhere or any(is_url(source) for source in data)
    if asked is False and part_rows is not None:
        raise UsageError("Parts are written by streaming.", code="part-rows", hint="Leave out --no-stream.")
    if asked or part_rows is not None:
        if outside:
            raise UsageError(
                "Streaming goes from files to a folder on this machine.",
                code="stream",
                hint="Leave out --stream, or export the table to Parquet first.",
            )
        return True
    if asked is False or outside or policy.ledger is not None or not is_streamable(policy.build_algorithm()):
        return False
    return is_large(table_files(data))
