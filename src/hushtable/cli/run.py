"""``hushtable run``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.options import (
    AsJson,
    Data,
    ExpectNewPeople,
    FileFormat,
    Folder,
    OutputFormat,
    PolicyFile,
    Query,
    Schema,
    Seed,
    SqlTable,
    no_schema,
)
from hushtable.cli.output import Console, deliver, put
from hushtable.cli.progress import progress_bar
from hushtable.cli.signals import nearly_done, raise_if_cancelled, skipped_by_signals
from hushtable.errors import UsageError, counted
from hushtable.io.urls import redacted, source_of

if TYPE_CHECKING:
    from hushtable.algorithms.base import Progress
    from hushtable.engines.release import Release
    from hushtable.engines.verdict import Verdict
    from hushtable.pipelines.metrics import RunMetrics
    from hushtable.policy.policy import Policy
    from hushtable.release.cautions import Caution


class Engine(StrEnum):
    """Engine that does the work."""

    LOCAL = "local"
    SPARK = "spark"


_To = Annotated[
    str | None,
    typer.Option(
        "--to", metavar="URL", help="Also publish the table to this address: a database table, or Parquet in a store."
    ),
]
_Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace an earlier release in the folder, and the target of --to.")
]
_Engine = Annotated[Engine, typer.Option("--engine", help="Engine that does the work: local or spark.")]
_Master = Annotated[str | None, typer.Option("--master", metavar="URL", help="Spark master, for example local[2].")]
_Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Do not hold the table in memory. This is the default for tables of at least 50 million cells or 256 MiB "
        "of text.",
    ),
]
_PartRows = Annotated[
    int | None,
    typer.Option(
        "--part-rows", metavar="N", min=1, help="Stream, and write the table as a folder with parts of N rows."
    ),
]


_Judge = Annotated[
    bool,
    typer.Option(
        "--verdict/--no-verdict",
        help="Assess what the release is still good for. For tables of more than 2,000,000 rows, use "
        "'hushtable verdict' instead.",
    ),
]
_Metrics = Annotated[
    Path | None,
    typer.Option(
        "--metrics",
        metavar="FILE",
        help="Write metrics of the run to this file, as OpenMetrics text, even if it fails.",
    ),
]


def run(
    policy_file: PolicyFile,
    data: Data,
    output: Folder = Path("release"),
    file_format: FileFormat = None,
    address: _To = None,
    overwrite: _Overwrite = False,
    table: SqlTable = None,
    query: Query = None,
    schema: Schema = None,
    seed: Seed = None,
    engine: _Engine = Engine.LOCAL,
    master: _Master = None,
    stream: _Stream = None,
    part_rows: _PartRows = None,
    expect_new_people: ExpectNewPeople = False,
    judge: _Judge = True,
    metrics: _Metrics = None,
    as_json: AsJson = False,
) -> None:
    """Anonymize a table, verify the result and write it.

    The folder gets the published table, the policy and release.json, all or nothing. Ctrl-C leaves nothing behind. The
    folder OUTPUT.private next to it gets the private companion, which you keep to yourself. With --to, a database gets
    the table in the same transaction. A policy with 'tables' needs one file per table, named after the table, or a
    folder of such files, or the address of a database; with --to, a database gets all tables.
    """
    from hushtable.api import run as run_policy
    from hushtable.release.targets import check_target, written_by_hand

    one = {"query": query, "table": table, "stream": stream, "part-rows": part_rows,
           "expect-new-people": expect_new_people or None, "metrics": metrics}  # fmt: skip
    any_number = {"schema": schema, "to": address, "spark": engine is Engine.SPARK, "master": master, "seed": seed,
                  "format": file_format and file_format.value, "overwrite": overwrite}  # fmt: skip
    if _ran_linked(policy_file, data, output, one, any_number, as_json):
        return
    if schema is not None:
        raise no_schema()
    with _measured(metrics, output) as known, progress_bar() as progress:
        policy = _policy(policy_file, seed, file_format, expect_new_people)
        sources = [source_of(source, table=table, query=query) for source in data]
        check_target(output, overwrite=overwrite, inputs=[*written_by_hand(policy_file), *sources])
        release = run_policy(
            sources, policy, output, engine=_engine(engine, stream, part_rows), to=address, overwrite=overwrite,
            part_rows=part_rows, master=master, progress=progress,
        )  # fmt: skip
        nearly_done()
        verdict, warned = _judged(release, progress) if judge else (None, None)
        summary = release.summary()
        if known is not None:
            from hushtable.pipelines.metrics import stated_in

            known.tell(stated_in(output))
    found = {**summary, "files": _written(output, policy.output.format)}
    found |= _also(release, policy, address, verdict, warned)
    deliver(found, as_json, lambda to: _print_all(to, found, output, verdict, warned or ()))


def _print_all(
    to: Console, found: dict[str, Any], output: Path, verdict: Verdict | None, warned: Sequence[Caution]
) -> None:
    from hushtable.cli.verdict import print_cautions, print_verdict

    _print(to, found, output)
    if warned or verdict is not None:
        to.print()
    print_cautions(to, warned)
    if verdict is not None:
        print_verdict(to, verdict)


def _measured(file: Path | None, output: Path) -> AbstractContextManager[RunMetrics | None]:
    if file is None:
        return nullcontext()
    from hushtable.pipelines.metrics import measured

    return measured(file, target=output.name)


def _ran_linked(
    file: Path,
    data: list[str],
    output: Path,
    one_table: Mapping[str, Any],
    any_number: Mapping[str, Any],
    as_json: bool,
) -> bool:
    """Run a policy of linked tables, and refuse options that only apply to a single table."""
    from hushtable.policy.files import is_linked

    if not is_linked(file):
        return False
    from hushtable.cli.linked import refuse_given, run_linked

    refuse_given(one_table)
    run_linked(file, data, output, any_number, as_json=as_json)
    return True


def _also(
    release: Release, policy: Policy, address: str | None, verdict: Verdict | None, warned: Sequence[Caution] | None
) -> dict[str, Any]:
    """Print remarks that go beyond the summary, if there are any."""
    account = release.plan.account
    found: dict[str, Any] = {} if account is None else {"ledger": account.result()}
    if address is not None:
        found["published"] = redacted(address)
    if warned is not None:
        found["warnings"] = [asdict(caution) for caution in warned]
    if verdict is not None:
        found["verdict"] = verdict.as_dict()
    return {**found, "formulas": _formulas(release, policy)}


def _formulas(release: Release, policy: Policy) -> dict[str, Any]:
    """Count the published cells that a spreadsheet would run, and whether they were escaped for one."""
    from hushtable.engines.verdict import LARGE
    from hushtable.io.formulas import count_formulas

    if policy.output.format != "csv":
        return {}
    cells = count_formulas(release.table) if release.records <= LARGE else None
    return {"cells": cells, "guarded": policy.output.reader == "spreadsheet"}


def _judged(release: Release, progress: Progress) -> tuple[Verdict | None, Sequence[Caution]]:
    """Return what the release is still good for, and what it does not protect."""
    from hushtable.engines.verdict import LARGE, verdict_of

    if release.records > LARGE:
        return None, release.cautions
    progress(1.0, "assessing the release (Ctrl-C skips this)")
    found = None
    with skipped_by_signals():
        found = verdict_of(release, lambda share, what: raise_if_cancelled())
    return found, release.cautions


def _policy(file: Path, seed: int | None, file_format: OutputFormat | None, expect_new_people: bool) -> Policy:
    """Return the policy with the overrides of the command line."""
    from hushtable.policy.files import load_policy

    policy = load_policy(file)
    if seed is not None:
        policy = policy.changed(seed=seed)
    if file_format is not None and file_format.value != policy.output.format:
        policy = policy.changed(output={"format": file_format.value})
    return _expecting(policy) if expect_new_people else policy


def _expecting(policy: Policy) -> Policy:
    """Return the policy with the confirmation that nobody need be in an earlier release."""
    if policy.ledger is None:
        raise UsageError(
            "The policy names no ledger, so earlier releases are not known.",
            code="no-ledger",
            hint="Leave out --expect-new-people.",
        )
    return policy.changed(ledger={**policy.ledger.settings(), "expect_new_people": True})


def _engine(engine: Engine, stream: bool | None, part_rows: int | None) -> str:
    if engine is Engine.SPARK and (stream or part_rows is not None):
        raise UsageError(
            "Spark needs no streaming: it never holds a table in the memory of one machine.",
            code="stream",
            hint="Leave out --stream and --part-rows, or leave out --engine spark.",
        )
    if engine is Engine.SPARK:
        return "spark"
    return "auto" if stream is None else "stream" if stream else "local"


def _written(folder: Path, wanted: str) -> dict[str, Path]:
    """Return the files in the folder; only some algorithms write sensitive values and patterns to separate files."""
    names = {
        "table": f"release.{wanted}",
        "sensitive": f"release-sensitive.{wanted}",
        "patterns": "patterns.csv",
        "policy": "policy.yaml",
        "evidence": "release.json",
    }
    written = {kind: folder / name for kind, name in names.items() if (folder / name).exists()}
    return {**written, "companion": folder.with_name(f"{folder.name}.private")}


def _print_formulas(to: Console, found: Mapping[str, Any]) -> None:
    if not found or found["cells"] == 0:
        return
    cells = "Text" if found["cells"] is None else "1 cell" if found["cells"] == 1 else f"{found['cells']:,} cells"
    if found["guarded"]:
        put(to, f"{cells} that a spreadsheet would run got a leading apostrophe.", style="yellow")
    else:
        put(to, f"{cells} might be run as formulas by a spreadsheet. If the file will be opened in one, write "
                "output: {reader: spreadsheet} in the policy.", style="yellow")  # fmt: skip


def _print(to: Console, found: Mapping[str, Any], output: Path) -> None:
    from hushtable.cli.summary import print_summary

    print_summary(to, found)
    put(to, f"Verified from the published cells and written to {output}:")
    for kind, meaning in (
        ("table", "the table to publish"),
        ("sensitive", "the sensitive values to publish with it, by group"),
        ("patterns", "its patterns, each once, with their records"),
        ("policy", "its policy, and how to read the cells"),
        ("evidence", "what was promised and achieved"),
    ):
        if kind in found["files"]:
            put(to, f"  {found['files'][kind].name:<16} {meaning}", wrap=False)
    put(to, f"Keep {found['files']['companion']} to yourself: verifying and measuring the release may need it, and it "
            "reveals what the release hides.")  # fmt: skip
    _print_formulas(to, found.get("formulas") or {})
    if "held_against" in found.get("ledger", {}):
        earlier, people = found["ledger"]["held_against"], found["ledger"]["of_these_people"]
        releases = counted(earlier, "earlier release", "earlier releases")
        put(
            to,
            f"Compared with {releases} that include {people:,} of these people."
            if earlier
            else "The ledger is empty so far.",
        )
    if "published" in found:
        put(to, f"Published at {found['published']}.")
