"""``hushtable measure``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.options import AsJson, Data

if TYPE_CHECKING:
    from rich.console import Console

    from hushtable.release.release import Release

__all__ = ["measure"]


def measure(
    folder: Annotated[Path, typer.Argument(metavar="RELEASE_DIR", help="What 'run' wrote.", show_default=False)],
    data: Data,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="NAMES", help="These measures, separated by commas.", show_default=False),
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(
            "--files",
            metavar="DIR",
            help="Where the hierarchy and population files are that the policy names. The release's folder where "
            "left out.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what a release is still good for, beside its original.

    Releases are deterministic: the saved policy is run again on the original, the result must be the published table
    byte for byte, and what the measures need is taken from that run.
    """
    from hushtable import registry
    from hushtable.api import anonymize
    from hushtable.cli.output import deliver, put
    from hushtable.cli.progress import announce_compiling, progress_bar
    from hushtable.cli.summary import print_measures
    from hushtable.cli.tables import read_tables
    from hushtable.errors import DataError
    from hushtable.policy.files import load_policy
    from hushtable.release.files import load_evidence

    known = registry.measures
    names = [name.strip() for name in only.split(",") if name.strip()] if only else _without_parameters(known)
    for name in names:
        known[name]
    if not folder.is_dir():
        raise DataError(
            f"{str(folder)!r} is not a folder.", code="no-release", hint="Give the folder that 'hushtable run' wrote."
        )
    evidence = load_evidence(folder / "release.json")
    policy = load_policy(folder / "policy.yaml").based_in(files or folder)
    announce_compiling()
    with progress_bar() as progress:
        release = anonymize(read_tables(data), policy, progress=progress)
        progress(1.0, "comparing")
        _check_same(release, folder / str(evidence.get("file", "release.csv")))
        progress(1.0, "measuring")
        measured = release.measures(names)

    def text(to: Console) -> None:
        put(to, f"{folder}: the original gives the published table byte for byte.")
        print_measures(to, measured)

    deliver({"release": folder, "reproduced": True, "measures": measured}, as_json, text)


def _without_parameters(known: Any) -> list[str]:
    return [name for name, found in known.items() if not any(p.required for p in found.params())]


def _check_same(release: Release, published: Path) -> None:
    """Refuse originals, or a published file, that do not belong together."""
    import filecmp
    import tempfile

    from hushtable.errors import DataError
    from hushtable.io.files import write_table

    if not published.is_file():
        raise DataError(
            f"The published table {str(published)!r} is not there.",
            code="no-release",
            hint="Give the folder that 'hushtable run' wrote.",
        )
    with tempfile.TemporaryDirectory(prefix="hushtable-") as place:
        again = Path(place) / published.name
        write_table(release.table, again)
        same = filecmp.cmp(again, published, shallow=False)
    if not same:
        raise DataError(
            f"The original and the saved policy do not give {str(published)!r} again.",
            code="not-reproduced",
            hint="Give the very data that were released; a release that was edited, or made by another version of "
            "hushtable, cannot be measured.",
        )
