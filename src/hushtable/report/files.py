"""A report on disk: one self-contained HTML file, and the same as JSON next to it."""

from __future__ import annotations

import os
from pathlib import Path

from hushtable.errors import OutputError, UsageError
from hushtable.io.atomic import atomic_write_text
from hushtable.release.targets import check_outside
from hushtable.report.content.report import Report

__all__ = ["check_paths", "json_path", "write_report"]


def json_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the JSON file.

    Examples
    --------
    >>> json_path("evidence.html").name
    'evidence.json'
    """
    return Path(path).with_suffix(".json")


def check_paths(path: str | os.PathLike[str]) -> None:
    """Refuse a path that the report cannot be written to, before any work is done.

    Examples
    --------
    >>> check_paths("evidence.json")
    Traceback (most recent call last):
    hushtable.errors.UsageError: A report is an HTML file, and the JSON file is written next to it. Name it '....html'.
    """
    place = Path(path)
    if place.suffix.lower() not in (".html", ".htm"):
        raise UsageError(
            "A report is an HTML file, and the JSON file is written next to it.", hint="Name it '....html'."
        )
    parent = Path(os.path.realpath(place)).parent
    if not parent.is_dir():
        raise OutputError(
            f"{str(place)!r} cannot be written: its folder does not exist.", hint="Create the folder first."
        )
    for target in (place, json_path(place)):
        if target.is_dir():
            raise OutputError(f"{str(target)!r} cannot be written: it is a folder.", hint="Choose a file name.")
    check_outside(place, "a report")


def write_report(report: Report, path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write both files, each completely or not at all; return their paths, the HTML file's first."""
    from hushtable.report.page.page import page

    html, data = Path(path), json_path(path)
    text = page(report)
    atomic_write_text(data, report.model_dump_json(indent=1) + "\n")
    atomic_write_text(html, text)
    return html, data
