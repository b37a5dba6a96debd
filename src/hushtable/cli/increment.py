"""``hushtable increment``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Data, FileFormat, Files, Folder
from hushtable.cli.output import Console, deliver, put
from hushtable.cli.signals import nearly_done

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy


def increment(
    folder: Annotated[
        Path, typer.Argument(metavar="RELEASE_DIR", help="The earlier release: what 'run' wrote.")
    ],
    data: Data,
    earlier: Annotated[
        list[str],
        typer.Option("--earlier", "-e", metavar="FILE", help="The earlier original, as it was given to 'run'.")
    ],
    output: Folder = Path("increment"),
    file_format: FileFormat = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier batch in the output "
    "folder.")] = False,
    files: Files = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Publish new records of other people as an addition to an earlier release, under its policy.

    New records join published classes if there are enough of them, and form new classes otherwise. Both the batch on
    its own and the old and new records together satisfy the models.
    """
    from hushtable import api
    from hushtable.cli.summary import print_summary
    from hushtable.io.sources import read_tables
    from hushtable.release.targets import check_target

    check_target(output, overwrite=overwrite, inputs=[folder / "release.json", *data, *earlier])
    policy = _policy(folder, files or folder)
    wanted = file_format.value if file_format else policy.output.format
    with opened(folder, earlier, files) as (before, progress):
        batch = api.increment(read_tables(data), policy, before, progress=progress)
        progress(1.0, "writing")
        batch.save(output, format=wanted, overwrite=overwrite)
    nearly_done()
    summary = batch.summary()
    notes: dict[str, Any] = summary["notes"]

    def text(to: Console) -> None:
        print_summary(to, summary)
        put(to, f"{notes['joined']:,} of {summary['records']:,} new records joined {notes['old_classes']:,} published "
                "classes; the others formed new classes.")  # fmt: skip
        put(to, f"Verified on its own and together with {folder}, and written to {output}.")

    deliver({**summary, "earlier": folder, "files": {"table": output / f"release.{wanted}"}}, as_json, text)


def _policy(folder: Path, base: Path) -> Policy:
    """Return the earlier release's policy, with its ledger as it is now."""
    from hushtable.policy.files import load_policy

    policy = load_policy(folder / "policy.yaml").based_in(base)
    if policy.ledger is None:
        return policy
    kept = {k: v for k, v in policy.ledger.settings().items() if k not in ("records", "new")}
    # a batch is of other people
    return policy.changed(ledger={**kept, "expect_new_people": True})
