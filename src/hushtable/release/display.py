"""The display of a release and its results in a notebook: a few lines, never a record."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from hushtable.errors import counted
from hushtable.io.figures import html_grid
from hushtable.release.verify import needed_and_achieved

if TYPE_CHECKING:
    from hushtable.release.released import Released


def release_text(release: Released) -> str:
    """Return a release as a few lines of text."""
    return "\n".join(
        [f"Release: {_sizes(release)}", *(f"  {e.sentence()}" for e in release.verification.evidence), f"  {_NEXT}"]
    )


def release_html(release: Released) -> str:
    """Return a release as a table of what every model achieved."""
    rows = [
        [
            e.model,
            ", ".join(f"{k} = {v}" for k, v in e.parameters.items()),
            *reversed(needed_and_achieved(e.as_dict(), "{:.4g}".format)),
            "holds" if e.ok else "violated",
        ]
        for e in release.verification.evidence
    ]
    table = html_grid(["model", "parameters", "achieved", "needed", ""], rows)
    return f"<p><b>hushtable release</b>: {html.escape(_sizes(release))}</p>{table}<p>{html.escape(_NEXT)}</p>"


_NEXT = (
    "See .cautions, .frame, .groups, .measures(), .risk(), .attack(name), .explain(row), .report(path), .save(folder)."
)


def _sizes(release: Released) -> str:
    found = release.verification
    people = "" if found.people == found.rows else f" of {counted(round(found.people), 'person', 'people')}"
    return (
        f"{release.n_released:,} of {counted(release.records, 'record', 'records')}{people} in "
        f"{counted(found.classes, 'class', 'classes')}, "
        f"{release.n_suppressed:,} suppressed"
    )
