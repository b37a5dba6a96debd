"""``hushtable demo``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.cli.options import AsJson, Folder
from hushtable.cli.output import Console, deliver, grid, put
from hushtable.cli.progress import progress_bar
from hushtable.cli.signals import nearly_done
from hushtable.errors import OutputError

if TYPE_CHECKING:
    from hushtable.engines.release import Release
    from hushtable.engines.verdict import Verdict

_FILES = ("patients.csv", "policy.yaml", "release", "release.private", "report.html", "report.json")


def demo(
    output: Folder = Path("demo"),
    rows: Annotated[int, typer.Option("--rows", "-n", min=1, help="Number of patients to generate.")] = 5000,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed of the generator: a different seed gives different patients.")
    ] = 7,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files that have been edited since the last demo.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Anonymize generated patients and show the result."""
    from hushtable.api import anonymize, open_release
    from hushtable.datasets.patients import patients, patients_policy
    from hushtable.io.atomic import atomic_folder
    from hushtable.io.files import read_table, write_table
    from hushtable.policy.files import load_policy
    from hushtable.policy.policy import Policy

    policy_text = Policy(**patients_policy()).to_yaml()
    _check_unedited(output, policy_text, overwrite=overwrite)
    with progress_bar() as progress, atomic_folder(output, overwrite=True, owned=_FILES) as folder:
        write_table(patients(rows, seed), folder / "patients.csv")
        (folder / "policy.yaml").write_text(policy_text, encoding="utf-8")
        # from the files, so that 'hushtable run' on them gives the same release
        data = read_table(folder / "patients.csv")
        release = anonymize(data, load_policy(folder / "policy.yaml"), progress=progress)
        progress(1.0, "writing")
        release.save(folder / "release")
        # from the saved release, so that the evidence names its files
        saved = open_release(folder / "release", data)
        saved.report(folder / "report.html", progress=progress)
        verdict = saved.verdict
    nearly_done()
    summary = release.summary()
    files = {
        "data": output / "patients.csv",
        "policy": output / "policy.yaml",
        "release": output / "release" / "release.csv",
        "evidence": output / "release" / "release.json",
        "companion": output / "release.private",
        "report": output / "report.html",
    }
    found = {**summary, "verdict": verdict.as_dict(), "files": files}
    deliver(found, as_json, lambda to: _text(to, release, verdict, output))


def _check_unedited(output: Path, policy_text: str, *, overwrite: bool) -> None:
    """Allow a demo to replace an earlier demo, but not a policy that was edited."""
    policy = output / "policy.yaml"
    if policy.is_file() and not overwrite and policy.read_text(encoding="utf-8", errors="replace") != policy_text:
        raise OutputError(
            f"{str(policy)!r} has been edited since the last demo.",
            code="edited",
            hint="Choose another folder with --output, or add --overwrite.",
        )


def _text(to: Console, release: Release, verdict: Verdict, output: Path) -> None:
    from hushtable.cli.summary import print_summary
    from hushtable.cli.verdict import print_verdict

    n = release.records
    put(
        to,
        f"{n:,} patients were generated; none of them exists. Identifiers were removed. Columns that others may know "
        "about a person were generalized until nobody stands out. The other columns were not changed.",
    )
    to.print()
    _peek(to, release)
    print_summary(to, release.summary())
    print_verdict(to, verdict)
    to.print()
    put(to, "Files:", style="bold")
    for name, meaning in (
        ("patients.csv", "the generated table"),
        ("policy.yaml", "the policy: edit it and run again"),
        ("release/release.csv", "the table to publish, verified from its own cells"),
        ("release/release.json", "what was promised and achieved; publish it too"),
        ("release.private", "for verifying and measuring; keep it private"),
        ("report.html", "the evidence: open it in a browser"),
    ):
        put(to, f"  {output / name!s:<28} {meaning}", wrap=False)
    to.print()
    put(to, "Try next:", style="bold")
    place = quote(str(output))
    for command in (
        f"verify {place}/release",
        f"measure {place}/release --data {place}/patients.csv",
        f"init {place}/patients.csv --output my-policy.yaml",
        "models",
    ):
        put(to, f"  hushtable {command}", wrap=False)


def _peek(to: Console, release: Release) -> None:
    """Two people before and after. They are generated, so they may be shown."""
    rows = []
    released = [int(i) for i in (len(release.source_rows) // 3, 2 * len(release.source_rows) // 3)]
    before = release.original().take([int(release.source_rows[i]) for i in released])
    after = release.table.take(released)
    for name in before.column_names:
        cells = [name]
        for i in range(len(released)):
            cells.append(str(before.column(name)[i].as_py() or ""))
            cells.append(str(after.column(name)[i].as_py()) if name in after.column_names else "(removed)")
        rows.append(cells)
    names = ["column", "one patient", "published as", "another", "published as"]
    to.print(grid(names, rows, fold=names[1:]))
    to.print()
