"""``hushtable studio``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hushtable.cli.options import AsJson
from hushtable.cli.output import console, print_json, put
from hushtable.errors import UsageError


def studio(
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="Table to start a project with.")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="ADDRESS", help="Address to listen on. Any address other than loopback needs --token."
        )
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Port. Defaults to the first free port from 8080 on; 0 uses any free port."
        )
    ] = None,
    token: Annotated[
        str | None,
        typer.Option("--token", metavar="SECRET", envvar="HUSHTABLE_STUDIO_TOKEN",
                     help="Secret that opens the studio. Defaults to a random one.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Open the studio: a local web app that takes a table to a verified release.

    Everything stays on this machine. Projects are kept in the folder that HUSHTABLE_STUDIO names, by default in your
    data folder. Ctrl-C ends it.
    """
    import importlib.util

    # pages import it when they are asked for, and what it builds on may be there without it
    if importlib.util.find_spec("nicegui") is None:
        raise UsageError(
            "The studio needs the package nicegui.",
            code="needs-nicegui",
            hint="Install it with: pip install 'hushtable[studio]'.",
        )
    from hushtable.studio.web.server import serve

    def announce(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            put(console(), f"The studio is open at {url}", wrap=False)
            put(console(), "Everything stays on this machine. Press Ctrl-C to end it.")
        sys.stdout.flush()

    serve(host, port, token or "", data=data, open_browser=not no_browser, announce=announce)
