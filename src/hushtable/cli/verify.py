"""``hushtable verify``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.options import AsJson, Original, Schema, SqlTable, no_schema

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["verify"]


_Published = Annotated[
    str,
    typer.Argument(metavar="RELEASE_FILE", help="The published table: a file or an address.", show_default=False),
]
_Promised = Annotated[
    Path, typer.Option("--policy", "-p", metavar="POLICY", help="The promised policy (YAML).", show_default=False)
]
_Evidence = Annotated[
    Path | None,
    typer.Option(
        "--evidence",
        metavar="FILE",
        help="release.json, or the JSON file of a report, to check files and signature too. Defaults to the "
        "release.json next to the table.",
        show_default=False,
    ),
]
_Companion = Annotated[
    Path | None,
    typer.Option(
        "--companion",
        metavar="DIR",
        help="Private companion of the release. Defaults to the folder RELEASE_DIR.private next to it.",
        show_default=False,
    ),
]
_Rerun = Annotated[
    bool,
    typer.Option("--rerun", help="Run the policy on the original again, and check that it gives exactly this file."),
]


def verify(
    published: _Published,
    policy_file: _Promised,
    evidence: _Evidence = None,
    companion: _Companion = None,
    table: SqlTable = None,
    schema: Schema = None,
    data: Original = None,
    rerun: _Rerun = False,
    as_json: AsJson = False,
) -> None:
    """Recompute the promise from a published file. Exits with 1 if it is broken.

    Needs only the published cells and the policy, and release.json if nothing was suppressed. Otherwise, models that
    compare with the whole table, and models that count people if rows are not people, need the private companion.
    Models that depend on which person each value belongs to need the original: --data. With a policy of linked tables,
    RELEASE_FILE is the folder of the release or a database, and the published tables suffice.
    """
    from hushtable import api
    from hushtable.cli.output import deliver
    from hushtable.cli.progress import waiting
    from hushtable.cli.rerun import run_again
    from hushtable.io.urls import shown, source_of
    from hushtable.policy.files import is_linked, load_policy
    from hushtable.report.checking import check_report, is_report

    if is_linked(policy_file):
        from hushtable.cli.linked import refuse_given, verify_folder

        refuse_given({"companion": companion, "table": table, "data": data or None, "rerun": rerun or None})
        verify_folder(published, policy_file, schema, evidence, as_json=as_json)
        return
    if schema is not None:
        raise no_schema()
    source = source_of(published, table=table)
    policy = load_policy(policy_file)
    checked = None
    if evidence is not None and is_report(evidence):
        checked, evidence = check_report(evidence, source), None
    if rerun:
        verification = run_again(source, policy, data or [])
    else:
        with waiting("reading and verifying"):
            verification = api.verify(source, policy, evidence, companion, data or None)
    found = {"file": shown(source), "reproduced": rerun, **verification.as_dict(), "evidence": checked}
    deliver(found, as_json, lambda to: _print(to, found))
    if not found["satisfied"]:
        raise typer.Exit(1)


def _print(to: Console, found: Mapping[str, Any]) -> None:
    from hushtable.cli.output import put
    from hushtable.cli.summary import print_models
    from hushtable.errors import counted

    rows, classes = found["rows"], found["classes"]
    put(to, f"{found['file']}: {counted(rows, 'row', 'rows')} in "
            f"{counted(classes, 'equivalence class', 'equivalence classes')}.")  # fmt: skip
    print_models(to, found["models"])
    if found["reproduced"]:
        put(to, "Running the policy again on the original gives exactly this file.")
    if found["evidence"]:
        put(to, found["evidence"]["words"])
    if found["satisfied"]:
        put(to, "Satisfied: every model holds.", style="green")
    else:
        put(to, "VIOLATED: do not publish this table.", style="bold red")
