"""``hushtable audit``."""

from __future__ import annotations

from typing import Annotated

import typer

from hushtable.cli.options import AsJson, Query, SqlTable, names
from hushtable.cli.output import Console, deliver, grid, put
from hushtable.cli.progress import waiting
from hushtable.errors import UsageError
from hushtable.io.urls import can_count, source_of


def audit(
    data: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="The table, in one file or in several.")
    ],
    quasi: Annotated[
        str, typer.Option("--quasi", metavar="COLUMNS", help="Quasi-identifiers, separated by commas.")
    ],
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", metavar="COLUMNS", help="Sensitive columns, separated by commas.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option("--entity", metavar="COLUMN",
                                 help="Column that identifies each row's person, to count people instead of rows.")
    ] = None,
    check: Annotated[
        str | None, typer.Option("--check", "--fail-under", metavar="BOUNDS",
                                 help="Exit with 1 unless these hold: k=5,l=3,t=0.2.")
    ] = None,
    table: SqlTable = None,
    query: Query = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Measure what a table achieves, whichever tool made it: k, l, t, risks and the smallest classes.

    No policy and no release.json are needed.
    """
    from hushtable.auditing import audit as audit_table
    from hushtable.io.sources import read_tables

    bounds = _bounds(check)
    with waiting("reading and counting the table"):
        source = source_of(data[0], table=table, query=query) if len(data) == 1 else None
        # a database that can count is not read
        read = source if isinstance(source, str) and can_count(source) else read_tables(data, table=table, query=query)
        found = audit_table(read, names(quasi) or [], names(sensitive) or [], entity=entity)
        rows = found.table_rows()
    if bounds:
        found.check(**bounds)

    def text(to: Console) -> None:
        put(to, found.heading)
        to.print(grid(["reading", "column", "value", "meaning"], rows, right=["value"], fold=["meaning"]))
        if bounds:
            put(to, "All checks passed.", style="green")

    deliver(found.as_dict(), as_json, text)


def _bounds(text: str | None) -> dict[str, float]:
    """Return ``k=5,l=3`` as numbers."""
    found: dict[str, float] = {}
    for part in names(text) or []:
        key, _, value = part.partition("=")
        try:
            bound = float(value)
        except ValueError:
            raise UsageError(
                f"--check accepts bounds such as k=5, not {part!r}.", code="bounds", hint="Write --check k=5,l=3."
            ) from None
        found[key.strip()] = int(bound) if bound.is_integer() else bound
    return found
