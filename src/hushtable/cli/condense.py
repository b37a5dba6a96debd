"""``hushtable condense``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Files, Original, Overwrite, ReleaseFolder
from hushtable.cli.output import Console, deliver, put
from hushtable.errors import counted

_File = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write: .csv or .parquet.")]
_Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="NAME", help="Numeric quasi-identifier to draw. May be repeated. Defaults to all of them."
    ),
]


def condense(
    folder: ReleaseFolder,
    output: _File,
    data: Original = None,
    columns: _Columns = None,
    files: Files = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw new numbers from the mean and covariance of each class of a release (condensation).

    Needs the original: --data. Your local secret determines the draw, so the same release gives the same rows.
    The drawn rows are not k-anonymous themselves; the classes that they are drawn from satisfy the models.
    A note in a .json file next to the output says so.
    """
    from hushtable.release.sample.condense import write_condensed
    from hushtable.release.sample.opened import check_sample_target

    check_sample_target(output, overwrite=overwrite)
    with opened(folder, data or [], files) as (release, progress):
        progress(0.3, "drawing rows")
        found = write_condensed(release, output, columns=columns, overwrite=overwrite)

    def text(to: Console) -> None:
        rows = counted(found["rows"], "row", "rows")
        put(to, f"{output}: {rows}, drawn from the classes of {found['release']['rows']:,} people.")
        put(to, found["note"])

    deliver({"output": str(output), **found}, as_json, text)
