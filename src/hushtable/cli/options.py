"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "Data", "Folder", "MaybeName", "PolicyFile", "Seed"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else on stdout.")]
PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy (YAML).", show_default=False)]
Data = Annotated[
    list[Path],
    typer.Option(
        "--data",
        "-d",
        metavar="FILE",
        help="The table: CSV, TSV, Parquet, Arrow or Excel. Repeat it for a table in several files.",
        show_default=False,
    ),
]
Folder = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Use this seed instead of the policy's.", show_default=False)]
MaybeName = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Tell all about one.", show_default=False)]
