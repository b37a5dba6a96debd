"""``hushtable sample``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hushtable.cli.linked import is_linked_release, no_options, sample_tables
from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Files, Overwrite, ReleaseFolder
from hushtable.cli.output import Console, deliver, put
from hushtable.errors import counted
from hushtable.io.figures import share

_File = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", help="The file to write: .csv or .parquet. For linked tables: a new folder."
    ),
]
_Seed = Annotated[int, typer.Option("--seed", help="Seed: the same seed gives the same rows.")]
_Rows = Annotated[
    int | None, typer.Option("--rows", metavar="N", help="Number of rows. Defaults to the number of published rows.")
]
_Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where", metavar="RULE", help='Rule that all rows satisfy: "age < 15 -> marital_status = N". May be repeated.'
    ),
]


def sample(
    folder: ReleaseFolder,
    output: _File,
    seed: _Seed = 0,
    rows: _Rows = None,
    where: _Where = None,
    files: Files = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw a table with the original's columns and types from a release.

    Needs only the published files: the table, policy.yaml and release.json. Values are assigned at random: a
    row that matches a person does so by chance. A note in a .json file next to the output says so.
    A sample is never written into a release's folder.
    """
    from hushtable.release.sample.opened import check_sample_target, write_sample

    if is_linked_release(folder):
        no_options({"--rows": rows, "--where": where or None, "--overwrite": overwrite or None}, "sample")
        sample_tables(folder, output, files, seed, as_json=as_json)
        return
    check_sample_target(output, overwrite=overwrite)
    with opened(folder, [], files) as (release, progress):
        progress(0.3, "drawing rows")
        found = write_sample(release, output, seed=seed, rows=rows, where=where or (), overwrite=overwrite)

    def text(to: Console) -> None:
        rows = counted(found["rows"], "row", "rows")
        put(to, f"{output}: {rows}, drawn from {found['release']['rows']:,} published ones.")
        put(to, found["note"])
        if found["empty"]:
            put(to, f"Empty, because published as '*' everywhere: {', '.join(found['empty'])}.")
        if found["vague"]:
            named = ", ".join(f"{name} ({share(part)})" for name, part in found["vague"].items())
            put(to, f"Often '*', where any value is drawn: {named}. Means and counts of these columns can be far off.",
                style="yellow")  # fmt: skip

    deliver({"output": str(output), **found}, as_json, text)
