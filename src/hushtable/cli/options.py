"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "Data", "Files", "Folder", "MaybeName", "PolicyFile", "Query", "Seed", "SqlTable"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else on stdout.")]
PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy (YAML).", show_default=False)]
Data = Annotated[
    list[str],
    typer.Option(
        "--data",
        "-d",
        metavar="FILE|URL",
        help="The table: CSV, TSV, Parquet, Arrow or Excel, or an address such as postgresql://user@host/db. "
        "Repeat it for a table in several files.",
        show_default=False,
    ),
]
SqlTable = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="Which table of the database.", show_default=False)
]
Query = Annotated[
    str | None, typer.Option("--query", metavar="SELECT", help="What to ask the database for.", show_default=False)
]
Files = Annotated[
    Path | None,
    typer.Option(
        "--files",
        metavar="DIR",
        help="Where the files are that the policy names. The release's folder where left out.",
        show_default=False,
    ),
]
Folder = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Use this seed instead of the policy's.", show_default=False)]
MaybeName = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Tell all about one.", show_default=False)]
