"""``hushtable measure``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hushtable import registry
from hushtable.cli.linked import is_linked_release, measure_linked, no_options
from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Files, OnlyMeasures, Original, ReleaseFolder, registered
from hushtable.cli.output import Console, deliver, put
from hushtable.errors import UsageError


def measure(
    folder: ReleaseFolder,
    data: Original = None,
    only: OnlyMeasures = None,
    every: Annotated[bool, typer.Option("--all", help="All measures, including slow ones.")] = False,
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """Measure what a release is still good for, compared with its original.

    Measures computed during the run come from the release's private companion. Other measures need the original:
    --data. For linked tables, all measures are computed during the run.
    """
    from hushtable.cli.summary import print_measures

    if is_linked_release(folder):
        no_options({"--only": only, "--all": every or None, "--files": files}, "measure")
        measure_linked(folder, as_json=as_json)
        return
    if every and only is not None:
        raise UsageError("--only and --all exclude each other.", hint="Leave one of them out.")
    known = registry.measures
    names = _without_parameters(known) if every else registered(only, known)
    with opened(folder, data or [], files) as (release, progress):
        progress(1.0, "measuring")
        measured = release.measures(names)
        unread = bool(data) and set(measured) <= set(release.origin.measured)

    def text(to: Console) -> None:
        print_measures(to, measured)
        if unread:
            put(to, "These measures were computed during the run, so --data was not read.")

    deliver({"release": folder, "measures": measured}, as_json, text)


def _without_parameters(known: Any) -> list[str]:
    return [name for name, found in known.items() if not any(p.required for p in found.params())]
