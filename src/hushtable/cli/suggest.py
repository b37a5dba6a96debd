"""``hushtable suggest``."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.cli.options import AsJson
from hushtable.cli.output import Console, deliver, grid, put
from hushtable.errors import OutputError
from hushtable.io.figures import number

if TYPE_CHECKING:
    from hushtable.comparison.outcomes import Suggestion


def suggest(
    folder: Annotated[Path, typer.Argument(metavar="COMPARISON_DIR", help="Folder that 'compare' wrote.")],
    minimise: Annotated[str | None, typer.Option("--minimise", metavar="NAME", help="Measure to minimize.")] = None,
    maximise: Annotated[str | None, typer.Option("--maximise", metavar="NAME", help="Measure to maximize.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="CONDITION", help="Condition, for example 'prosecutor <= 0.09'. May be repeated."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File for the policy.")] = Path(
        "suggested.yaml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Turn a comparison into a policy: the best setting that meets all conditions.

    Exits with 3 if none does, and names the closest.
    """
    from hushtable.comparison.outcomes import load_outcomes
    from hushtable.io.atomic import atomic_write_text
    from hushtable.release.companion import check_outside

    found = load_outcomes(folder).suggest(minimise, where or [], maximise=maximise)
    if output.exists() and not force:
        raise OutputError(
            f"{str(output)!r} exists already.", code="exists", hint="Choose another file, or add --force."
        )
    check_outside(output, "a suggested policy")
    atomic_write_text(output, found.text(Path(os.path.abspath(output)).parent))
    row = {k: v for k, v in found.row.items() if k != "policy"}
    result = {
        "goal": found.goal,
        "conditions": [str(c) for c in found.conditions],
        "fulfilled": found.fulfilled,
        "tried": found.tried,
        "setting": row,
        "output": output,
    }
    deliver(result, as_json, lambda to: _text(to, found, output))


def _text(to: Console, found: Suggestion, output: Path) -> None:
    conditions = " and ".join(map(str, found.conditions))
    put(
        to,
        f"{found.fulfilled} of {found.tried} settings meet {conditions}."
        if conditions
        else f"{found.fulfilled} of {found.tried} settings produced a release.",
    )
    put(to, f"To {found.goal}: {found.row['algorithm']} with {found.row['models']}.", style="bold")
    to.print()
    rows = [(name, number(value)) for name, value in found.row["values"].items()]
    to.print(grid(["what", "value"], rows, right=["value"], fold=["what"]))
    to.print()
    put(to, f"Written to {output}. Read it, then: hushtable run {quote(str(output))} --data ...", wrap=False)
