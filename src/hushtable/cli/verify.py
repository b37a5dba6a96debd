"""``hushtable verify``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.linked import refuse_given, verify_folder
from hushtable.cli.options import AsJson, Original, Schema, SqlTable, no_schema
from hushtable.cli.output import Console, deliver, put
from hushtable.cli.progress import progress_bar, waiting
from hushtable.errors import DataError, UsageError, counted
from hushtable.io.secret import SECRET
from hushtable.io.urls import Source, is_url, redacted, source_of

if TYPE_CHECKING:
    from hushtable.engines.release import Release
    from hushtable.policy.policy import Policy
    from hushtable.release.verify import Verification

_Published = Annotated[
    str,
    typer.Argument(metavar="RELEASE", help="The published table: the folder that 'run' wrote, a file or an address."),
]
_Promised = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        "-p",
        metavar="POLICY",
        help="The promised policy (YAML). Defaults to policy.yaml in the release's folder.",
    ),
]
_Evidence = Annotated[
    Path | None,
    typer.Option(
        "--evidence",
        metavar="FILE",
        help="release.json, or the JSON file of a report, to check files and signature too. Defaults to the "
        "release.json next to the table.",
    ),
]
_Companion = Annotated[
    Path | None,
    typer.Option(
        "--companion",
        metavar="DIR",
        help="Private companion of the release. Defaults to the folder RELEASE_DIR.private next to it.",
    ),
]
_Rerun = Annotated[
    bool,
    typer.Option("--rerun", help="Run the policy on the original again, and check that it gives exactly this file."),
]


def verify(
    published: _Published,
    policy_file: _Promised = None,
    evidence: _Evidence = None,
    companion: _Companion = None,
    table: SqlTable = None,
    schema: Schema = None,
    data: Original = None,
    rerun: _Rerun = False,
    as_json: AsJson = False,
) -> None:
    """Recompute from a published table whether every model holds. Exits with 1 if one is violated.

    Needs only the published cells and the policy, and release.json if nothing was suppressed. Otherwise, models that
    compare with the whole table, and models that count people if rows are not people, need the private companion.
    Models that depend on which person each value belongs to need the original: --data. With a policy of linked tables,
    RELEASE is the folder of the release or a database, and the published tables suffice.
    """
    from hushtable import api
    from hushtable.policy.files import is_linked, load_policy
    from hushtable.release.written import check_nothing_else, files_of, table_file
    from hushtable.report.signature import check_report, is_report

    promised = policy_file or _own_policy(published)
    if is_linked(promised):
        refuse_given({"companion": companion, "table": table, "data": data or None, "rerun": rerun or None})
        verify_folder(published, promised, schema, evidence, as_json=as_json)
        return
    if schema is not None:
        raise no_schema()
    whole = source = source_of(published, table=table)
    if isinstance(source, Path):
        source = table_file(source)
    policy = load_policy(promised)
    checked = None
    if evidence is not None and is_report(evidence):
        checked, evidence = check_report(evidence, source), None
    if rerun:
        if isinstance(source, Path) and source != whole:
            check_nothing_else(source.parent, files_of(source, policy.build_algorithm().recoding))
        verification = run_again(source, policy, data or [])
    else:
        with waiting("reading and verifying"):
            verification = api.verify(whole, policy, evidence, companion, data or None)
    if policy_file is None and verification.ok and isinstance(source, Path):
        _check_statements(source, policy, verification)
    found = {"file": redacted(source), "own_policy": policy_file is None, "reproduced": rerun}
    found |= {**verification.as_dict(), "evidence": checked}
    unread = bool(data) and not rerun and not verification.from_original
    deliver(found, as_json, lambda to: _print(to, found, unread=unread))
    if not found["satisfied"]:
        raise typer.Exit(1)


def _own_policy(published: str) -> Path:
    """Return the policy in the folder of a release."""
    from hushtable.release.written import folder_hint

    if not is_url(published):
        place = Path(published)
        if not place.exists():
            raise DataError(f"There is no file {str(place)!r}.", code="no-file", hint="Check the path.")
        own = (place if place.is_dir() else place.parent) / "policy.yaml"
        if own.is_file() and (own.parent / "release.json").is_file():
            return own
    raise UsageError(
        "The published table is not in the folder of a release, so its policy is not known.",
        code="no-policy",
        hint=folder_hint(
            Path(published), "Give the folder that 'hushtable run' wrote, or pass the promised policy with --policy."
        ),
    )


def _check_statements(published: Path, policy: Policy, verification: Verification) -> None:
    """Refuse a ``release.json`` that contradicts the release next to it; hushtable 0.1 stated other things."""
    from hushtable.io.files import column_names
    from hushtable.release.companion import load_evidence
    from hushtable.release.published import check_statements
    from hushtable.release.written import files_of

    stated = load_evidence(published.parent / "release.json")
    if stated.get("format", 1) < 2:
        return
    algorithm = policy.build_algorithm()
    files = [file for file in files_of(published, algorithm.recoding) if file.name != "patterns.csv"]
    check_statements(stated, verification, {name for file in files for name in column_names(file)}, algorithm.name)


def _print(to: Console, found: Mapping[str, Any], *, unread: bool) -> None:
    from hushtable.cli.summary import print_models

    rows, classes = found["rows"], found["classes"]
    put(to, f"{found['file']}: {counted(rows, 'row', 'rows')} in "
            f"{counted(classes, 'equivalence class', 'equivalence classes')}.")  # fmt: skip
    print_models(to, found["models"])
    if found["reproduced"]:
        put(to, "Running the policy again on the original gives exactly this file.")
    if unread:
        put(to, "The release and its private companion were enough, so --data was not read. To compare it, add "
            "--rerun.")  # fmt: skip
    if found["evidence"]:
        put(to, found["evidence"]["words"])
    if found["satisfied"]:
        put(to, "Satisfied: every model holds.", style="green")
    else:
        put(to, "VIOLATED: do not publish this table.", style="bold red")
    if found["own_policy"]:
        put(to, "The policy is the release's own. If another one was agreed on, pass it with --policy.")


# ``hushtable verify --rerun``: run the policy again on the original, and compare with the published file.


def run_again(published: Source, policy: Policy, data: Sequence[Source]) -> Verification:
    """Run a policy again on an original, compare the result with the published file, and return how it was verified.

    Raises
    ------
    UsageError
        If the published table is in a database, whose bytes cannot be compared.
    DataError
        If the result is not the published table byte for byte.
    """
    from hushtable.api import run_plan
    from hushtable.io.sources import is_address, read_tables
    from hushtable.release.companion import stored_coins

    if not data:
        raise UsageError("Rerunning the policy needs the original.", code="no-original", hint="Give it with --data.")
    if is_address(published):
        raise UsageError(
            "A rerun can only be compared with a file.",
            code="not-a-file",
            hint="Verify the table in the folder that 'run' wrote.",
        )
    with progress_bar() as progress:
        table = read_tables(data)
        own = policy.for_columns(table.column_names).plan()
        if own.algorithm.samples:
            raise UsageError(
                f"{own.algorithm.name} draws records with the operating system's randomness, so the release cannot be "
                "reproduced.",
                code="not-repeatable",
                hint="Leave out --rerun: the published classes are still verified.",
            )
        plan = replace(own.repeating(), coins=stored_coins(Path(published).parent))
        release = run_plan(table, plan, progress)
        progress(1.0, "comparing")
        _check_same(release, Path(published))
    found: Verification = release.verification
    return found


def _check_same(release: Release, published: Path) -> None:
    """Refuse an original and a published file that do not belong together."""
    import filecmp

    from hushtable.io.files import read_table, write_table
    from hushtable.io.formulas import guard_table
    from hushtable.io.sources import table_files
    from hushtable.io.temporary import private_folder
    from hushtable.release.companion import stored_coins
    from hushtable.release.written import is_guarded

    if not published.exists():
        raise DataError(
            f"The published table {str(published)!r} does not exist.",
            code="no-release",
            hint="Give the folder that 'hushtable run' wrote.",
        )
    # where sensitive values are apart from their people, the published file has the people alone
    table = release.halves()[0] if release.apart else release.table
    if published.suffix == ".csv" and is_guarded(published.parent):
        table = guard_table(table)
    same, at = True, 0
    with private_folder() as place:
        # a folder holds the table in parts
        for file in table_files([published]):
            rows = table.num_rows if file == published else read_table(file).num_rows
            again = Path(place) / file.name
            write_table(table.slice(at, rows), again)
            same = same and filecmp.cmp(again, file, shallow=False)
            at += rows
    if not same or at != table.num_rows:
        if release.problem.used_coins is not None and stored_coins(published.parent) is None:
            raise DataError(
                f"The release {str(published)!r} was made with secret coins. This computer's secret and these data do "
                "not reproduce it.",
                code="other-secret",
                hint=f"Name the secret's file with {SECRET}, or put the release's private folder back. If both are "
                "lost, the release cannot be reproduced, but its rows can still be verified.",
            )
        raise DataError(
            f"The original and the saved policy do not reproduce {str(published)!r}.",
            code="not-reproduced",
            hint="Give exactly the data that were released. A release cannot be reproduced if it was edited, stopped "
            "by a time limit, or made by another version of hushtable.",
        )
