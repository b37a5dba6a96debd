"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hushtable.errors import UsageError


class OutputFormat(StrEnum):
    """File formats of a release."""

    CSV = "csv"
    PARQUET = "parquet"


ExpectNewPeople = Annotated[
    bool, typer.Option("--expect-new-people", help="With a ledger: confirm that nobody is in an earlier release.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only one JSON document on stdout.")]
PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy (YAML).")]
Data = Annotated[
    list[str],
    typer.Option(
        "--data",
        "-d",
        metavar="FILE|URL",
        help="The table: CSV, TSV, Parquet, Arrow or Excel, or an address such as postgresql://user@host/db. "
        "May be repeated for a table in several files.",
    ),
]
Original = Annotated[
    list[str] | None,
    typer.Option("--data", "-d", metavar="FILE|URL", help="The original table, exactly as given to 'run'."),
]
OnlyMeasures = Annotated[
    str | None, typer.Option("--only", metavar="NAMES", help="Measures to compute, separated by commas.")
]
OnlyAttacks = Annotated[
    str | None, typer.Option("--only", metavar="NAMES", help="Attacks to run, separated by commas.")
]
ReleaseFolder = Annotated[Path, typer.Argument(metavar="RELEASE_DIR", help="Folder that 'run' wrote.")]
FileFormat = Annotated[
    OutputFormat | None, typer.Option("--format", help="csv or parquet. Defaults to the policy's format.")
]
SqlTable = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="Table of the database, or sheet of the Excel file.")
]
Schema = Annotated[
    str | None, typer.Option("--schema", metavar="NAME", help="Schema of the database that holds the linked tables.")
]
Query = Annotated[str | None, typer.Option("--query", metavar="SELECT", help="Query to run on the database.")]
Files = Annotated[
    Path | None,
    typer.Option(
        "--files",
        metavar="DIR",
        help="Base folder for files that the policy refers to. Defaults to the release's folder.",
    ),
]
Folder = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed. Defaults to the policy's seed.")]
MaybeName = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show the details of one entry.")]


def names(text: str | None) -> list[str] | None:
    """Split names at commas; None if none were given.

    Examples
    --------
    >>> names("mondrian, datafly"), names(None)
    (['mondrian', 'datafly'], None)
    """
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def no_schema() -> UsageError:
    """The error of a schema without linked tables."""
    return UsageError("--schema is for a policy of linked tables.", code="linked",
                      hint="Write ?schema=NAME&table=NAME in the address.")  # fmt: skip


def registered(text: str | None, known: Mapping[str, Any]) -> list[str] | None:
    """Split names of a registry at commas, and refuse unknown names before any work is done.

    Examples
    --------
    >>> from hushtable.registry import measures
    >>> registered("ncp,loss", measures), registered("", measures)
    (['ncp', 'loss'], None)
    """
    found = names(text or None)
    for name in found or ():
        known[name]
    return found
