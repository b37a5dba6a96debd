"""``hushtable mcp``."""

from __future__ import annotations

from typing import Annotated

import typer

from hushtable.errors import UsageError


def mcp(
    folders: Annotated[
        list[str],
        typer.Argument(metavar="FOLDER...", help="Folders with tables and policies that may be read.")
    ],
    write: Annotated[
        str | None,
        typer.Option("--write", metavar="FOLDER", help="Folder for policies and releases. Without it nothing is "
                     "written.")
    ] = None,
    floor: Annotated[
        int, typer.Option("--floor", min=2, help="Counts of people below this are withheld.")
    ] = 5,
) -> None:  # fmt: skip
    """Serve an assistant over stdio (Model Context Protocol), which anonymizes tables without seeing any cell.

    An MCP client starts this command; it ends when the client does. Replies hold roles, kinds, rounded counts and
    shares, names of columns and settings of policies.
    """
    import importlib.util

    if importlib.util.find_spec("mcp_types") is None:
        raise UsageError(
            "The server needs the package mcp.", code="needs-mcp", hint="Install it with: pip install 'hushtable[mcp]'."
        )
    from hushtable.agents.server import serve

    serve(folders, write, floor)
