"""``hushtable verdict``, and the verdict that follows every run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.cli.options import AsJson, Data, Files, ReleaseFolder
from hushtable.cli.output import Console, bullet, deliver, put
from hushtable.errors import counted

if TYPE_CHECKING:
    from hushtable.engines.verdict import Verdict
    from hushtable.release.cautions import Caution

_STYLES = {"useful": "green", "coarse": "yellow", "nearly empty": "bold red"}


def verdict(folder: ReleaseFolder, data: Data, files: Files = None, as_json: AsJson = False) -> None:
    """Assess what a release is still good for, and which settings cost most.

    To find out, the policy is run without each quasi-identifier and each model, on a sample if the table is large.
    """
    from hushtable.cli.opening import opened
    from hushtable.engines.verdict import verdict_of

    with opened(folder, data, files) as (release, progress):
        found = verdict_of(release, progress)
    deliver({"release": folder, **found.as_dict()}, as_json, lambda to: print_verdict(to, found))


def print_verdict(to: Console, found: Verdict) -> None:
    """Print a verdict and its price list."""
    put(to, found.words, style=_STYLES[found.grade])
    if not found.changes:
        if found.tried:
            put(to, f"None of {found.tried} single changes to the policy would improve it much.")
        return
    rows = found.changes[0].rows
    put(to, f"Costliest settings (tried on {counted(rows, 'record', 'records')}):")
    for change in found.changes:
        # a model is taken out of a list; everything else is a line to write
        setting = change.setting
        todo = setting[:1].upper() + setting[1:] if change.kind == "model" else f"Write '{setting}'"
        bullet(to, f"{change}. {todo}; then {change.price}.")


def print_cautions(to: Console, found: Sequence[Caution]) -> None:
    """Print what users should know before they publish."""
    if found:
        put(to, "Before you publish:", style="bold yellow")
        for caution in found:
            bullet(to, str(caution), style="yellow")
        to.print()
