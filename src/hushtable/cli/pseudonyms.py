"""``hushtable pseudonyms``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Files, Original
from hushtable.cli.output import Console, deliver, grid, put
from hushtable.errors import OutputError, UsageError
from hushtable.schema.columns import Role


class PseudonymAction(StrEnum):
    """Actions on pseudonyms."""

    NEW_KEY = "new-key"
    REVEAL = "reveal"


def pseudonyms(
    action: Annotated[
        PseudonymAction, typer.Argument(metavar="new-key|reveal", help="Action to take.")
    ],
    place: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|RELEASE_DIR", help="Key file to create, or the folder that 'run' wrote."
        )
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="PSEUDONYM...", help="Pseudonyms to look up (reveal).")
    ] = None,
    data: Original = None,
    files: Files = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Create a project's key, or reveal to the key holder whom pseudonyms belong to.

    'reveal' needs the original and the key: it recomputes the pseudonyms of all people in the original. Its output
    names people. 'new-key' writes 32 random bytes that only you can read, and never replaces a file.
    """
    if action is PseudonymAction.NEW_KEY:
        _new_key(place)
        deliver({"key": place}, as_json, lambda to: put(to, f"Wrote the key {str(place)!r}. Keep it like a password."))
        return
    found = _revealed(place, names or [], data, files)
    deliver({"release": place, "people": found}, as_json, lambda to: _print(to, found))


def _new_key(place: Path) -> None:
    from hushtable.io.secret import load_secret
    from hushtable.release.companion import check_outside

    if place.exists():
        raise OutputError(
            f"The file {str(place)!r} exists already.",
            code="exists",
            hint="Choose another file: keys are never replaced.",
        )
    check_outside(place, "a key")
    load_secret(place)


def _revealed(folder: Path, names: list[str], data: Original, files: Path | None) -> list[dict[str, str | None]]:
    if not data or not names:
        raise UsageError(
            "The release, the pseudonyms or the original is missing.", code="no-data",
            hint="Give the release's folder, the pseudonyms, and the original with --data.",
        )  # fmt: skip
    with opened(folder, data, files) as (release, progress):
        progress(1.0, "comparing")
        columns = [c for c, given in release.policy["columns"].items() if given.get("role") == Role.PSEUDONYM]
        if not columns:
            raise UsageError("The release has no pseudonyms.", code="no-pseudonyms", hint="Choose another release.")
        known: dict[str, dict[str, str]] = {}
        for column in columns:
            treated, original = release.treated([column]), release.original([column])
            pairs = zip(treated.column(column).to_pylist(), original.column(column).to_pylist(), strict=True)
            known |= {shown: {"column": column, "value": str(value)} for shown, value in pairs if shown in names}
    return [{"pseudonym": name, "column": None, "value": None, **known.get(name, {})} for name in names]


def _print(to: Console, found: list[dict[str, str | None]]) -> None:
    rows = [(one["pseudonym"] or "", one["column"] or "", one["value"] or "(not in the original)") for one in found]
    to.print(grid(["pseudonym", "column", "value"], rows, fold=["value"]))
