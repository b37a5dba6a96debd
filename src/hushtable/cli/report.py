"""``hushtable report``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable import registry
from hushtable.cli.linked import is_linked_release, no_options, opened_linked
from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Data, Files, OnlyAttacks, ReleaseFolder, registered
from hushtable.cli.options import names as split_names
from hushtable.cli.output import Console, bullet, deliver, put
from hushtable.cli.signals import nearly_done
from hushtable.errors import OutputError, UsageError

if TYPE_CHECKING:
    from hushtable.io.urls import Source
    from hushtable.report.content import Report


def report(
    folder: ReleaseFolder,
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file. The JSON file is written next to it.")
    ] = Path("evidence.html"),
    template: Annotated[
        str, typer.Option("--template", "-t", metavar="NAME", help="Template of questions. See 'hushtable templates'.")
    ] = "general",
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", min=0, max=1,
                     help="Risk above which a person is at risk. Defaults to the template's threshold.")
    ] = None,
    attacks: Annotated[bool, typer.Option("--attacks/--no-attacks", help="Whether to attack the release.")] = True,
    only: OnlyAttacks = None,
    labels: Annotated[
        bool,
        typer.Option("--labels", help="Show values that enough people share. Without it, no value appears.")
    ] = False,
    about: Annotated[
        Path | None,
        typer.Option("--about", metavar="FILE",
                     help="YAML file with dataset, purpose, organisation, signer and recipients.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier report.")] = False,
    files: Files = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write the evidence file of a release: one offline HTML page, and the same as JSON.

    Results of earlier attacks come from the release's private companion, which also keeps new ones.
    """
    from hushtable.release.targets import OURS
    from hushtable.report.content import read_about
    from hushtable.report.page.page import json_path

    said = read_about(about)
    parameters = {} if threshold is None else {"threshold": threshold}
    registry.templates.build(template, parameters)
    linked = is_linked_release(folder)
    if linked:
        no_options({"--labels": labels or None}, "report")
    names = split_names(only) if linked else registered(only, registry.attacks)
    if names and not attacks:
        raise UsageError("--only and --no-attacks exclude each other.", hint="Leave one of them out.")
    ours = [file.name for file in folder.iterdir()] if linked else OURS
    _check_files(output, [*(folder / name for name in ours), *data], overwrite=overwrite)
    given = {"attacks": attacks if names is None else names, "about": said, **parameters}
    given |= {} if linked else {"labels": labels}
    opening: Any = opened_linked if linked else opened
    with opening(folder, data, files) as (release, progress):
        made = release.report(output, template, progress=progress, **given)
    nearly_done()
    files_made = [output, json_path(output)]
    found = {"release": folder, "files": files_made, **_found(made)}
    deliver(found, as_json, lambda to: _print(to, made, *files_made))


def _check_files(output: Path, inputs: Sequence[Source], *, overwrite: bool) -> None:
    """Refuse files that the report could not be written to, before any work is done."""
    from hushtable.release.targets import check_apart
    from hushtable.report.page.page import check_paths, json_path

    check_paths(output)
    for target in (output, json_path(output)):
        if target.exists() and not overwrite:
            raise OutputError(
                f"{str(target)!r} exists.", code="exists", hint="Choose another file, or add --overwrite."
            )
        check_apart(target, inputs)


def _found(made: Report) -> dict[str, Any]:
    return {
        "template": made.template,
        "satisfied": made.summary.ok,
        "verdict": made.summary.verdict,
        "unmet": list(made.summary.unmet),
        "figures": [list(figure) for figure in made.summary.figures],
        "findings": [{"question": f.question, "status": f.status, "answer": f.answer} for f in made.findings],
    }


def _print(to: Console, made: Report, page: Path, data: Path) -> None:
    put(to, made.summary.verdict, style="green" if made.summary.ok else "bold red")
    for line in made.summary.unmet:
        put(to, f"Not met: {line}", style="bold red")
    to.print()
    for number, what, note in made.summary.figures:
        bullet(to, f"{number} {what} ({note})")
    to.print()
    for found in made.findings:
        bullet(to, f"{found.question} {found.status.capitalize()}: {found.answer}")
    to.print()
    put(to, f"Written: {page}", wrap=False)
    put(to, f"         {data}", wrap=False)
