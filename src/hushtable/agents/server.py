"""The server: tools over stdio, with the protocol's official SDK."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from hushtable._version import __version__
from hushtable.agents.access import AllowedFolders
from hushtable.agents.reply import Word, render
from hushtable.agents.tools import TOOLS, Desk

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

_INSTRUCTIONS = (
    "Anonymize tables about people. You never see a cell of a table: replies contain roles, kinds, rounded counts and "
    "shares, names of columns and settings of policies. Begin with 'profile', then 'draft', 'check' and 'run'. "
    "Paths are relative to the server's folders. A person decides what is published."
)


def make_server(access: AllowedFolders, floor: int) -> Server[Any]:
    """Return a server that answers calls, one at a time."""
    import anyio
    import mcp_types as types
    from mcp.server.lowlevel import Server

    turn = anyio.Lock()

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=tool.description,
                    input_schema=tool.schema(),
                    annotations=types.ToolAnnotations(
                        read_only_hint=not tool.writes, destructive_hint=False, open_world_hint=False
                    ),
                )
                for name, tool in TOOLS.items()
            ]
        )

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        stop = threading.Event()
        desk = Desk(access, floor, stop.is_set)
        async with turn:
            try:
                text, failed = await anyio.to_thread.run_sync(_answered, desk, params.name, params.arguments)
            except anyio.get_cancelled_exc_class():
                stop.set()
                raise
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server(
        "hushtable", version=__version__, instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


def _answered(desk: Desk, name: str, arguments: Any) -> tuple[str, bool]:
    reply, failed = desk.answer(name, arguments)
    return render(reply), failed


def serve(read: list[str], write: str | None, floor: int) -> None:
    """Answer on stdin and stdout until the client disconnects.

    Parameters
    ----------
    read : list of str
        Folders that may be read.
    write : str, optional
        Folder that may be written to.
    floor : int
        Numbers of people below it are not shown.
    """
    access = AllowedFolders.of(read, write)
    import anyio
    from mcp.server.stdio import stdio_server

    server = make_server(access, floor)

    async def main() -> None:
        async with stdio_server() as (reading, writing):
            # imports for the first call run while the client connects
            threading.Thread(target=_warm, daemon=True).start()
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(main)


def _warm() -> None:
    import pyarrow as pa

    from hushtable.schema.profile import profile

    profile(pa.table({"age": ["31", "32"], "town": ["a", "b"]}))
    Word("quasi")
