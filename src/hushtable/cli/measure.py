"""``hushtable measure``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hushtable.cli.options import AsJson, Data, Files, OnlyMeasures, ReleaseFolder, registered
from hushtable.cli.rerun import reproduced

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["measure"]


def measure(
    folder: ReleaseFolder,
    data: Data,
    only: OnlyMeasures = None,
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """Measure what a release is still good for, beside its original.

    Releases are deterministic: the saved policy is run again on the original, the result must be the published table
    byte for byte, and what the measures need is taken from that run.
    """
    from hushtable import registry
    from hushtable.cli.output import deliver, put
    from hushtable.cli.summary import print_measures

    known = registry.measures
    asked = registered(only, known)
    names = _without_parameters(known) if asked is None else asked
    with reproduced(folder, data, files) as (release, progress):
        progress(1.0, "measuring")
        measured = release.measures(names)

    def text(to: Console) -> None:
        put(to, f"{folder}: the original gives the published table byte for byte.")
        print_measures(to, measured)

    deliver({"release": folder, "reproduced": True, "measures": measured}, as_json, text)


def _without_parameters(known: Any) -> list[str]:
    return [name for name, found in known.items() if not any(p.required for p in found.params())]
