"""The page: one HTML file that needs no script, no network and no other file."""

from __future__ import annotations

import os
from pathlib import Path

from hushtable.errors import OutputError, UsageError
from hushtable.io.atomic import atomic_write_text
from hushtable.release.targets import check_outside
from hushtable.report.content.report import Report
from hushtable.report.html import Markup, document, join, tag
from hushtable.report.page.privacy import adversaries_section, attacks_section, models_section, risks_section
from hushtable.report.page.story import (
    about_section,
    findings_section,
    limits_section,
    provenance_section,
    signature_section,
    summary_box,
    treatment_section,
    usefulness_section,
)
from hushtable.report.page.style import STYLE
from hushtable.report.page.utility import columns_section, utility_section

_SECTIONS = {
    "about": ("Dataset, purpose and recipients", about_section),
    "findings": ("Questions and answers", findings_section),
    "origin": ("The release and its origin", provenance_section),
    "models": ("Promises and achievements", models_section),
    "adversaries": ("Adversaries considered", adversaries_section),
    "risks": ("Risk of re-identification, before and after", risks_section),
    "attacks": ("Attacks", attacks_section),
    "treatment": ("Suppressed records and missing values", treatment_section),
    "columns": ("Column by column", columns_section),
    "utility": ("What it is still good for", utility_section),
    "verdict": ("Verdict and price list", usefulness_section),
    "limits": ("Limits", limits_section),
    "signature": ("Files and signature", signature_section),
}


def page(report: Report) -> str:
    """Return the whole HTML file."""
    body = join(
        tag("header", tag("h1", report.title), tag("p", report.about, class_="about"), _line(report)),
        tag(
            "main",
            summary_box(report),
            _contents(),
            *(
                tag("section", tag("h2", f"{i}. {title}", id=key), made(report), aria_labelledby=key)
                for i, (key, (title, made)) in enumerate(_SECTIONS.items(), 1)
            ),
        ),
        _footer(report),
    )
    return document(report.title, STYLE, body, tag("meta", name="referrer", content="no-referrer"))


def _line(report: Report) -> Markup:
    made = report.facts.provenance
    return tag("p", f"Made {made.created} by hushtable {made.hushtable}; template {report.template}.", class_="meta")


def _contents() -> Markup:
    links = [tag("li", tag("a", title, href=f"#{key}")) for key, (title, _) in _SECTIONS.items()]
    return tag("nav", tag("ol", *links), aria_label="Contents")


def _footer(report: Report) -> Markup:
    return tag(
        "footer",
        tag("p", *(f"{sentence} " for sentence in report.facts.rules.sentences)),
        tag(
            "p",
            "The JSON file of the same name contains the same data, in the format ",
            tag("code", report.format),
            ".",
        ),
    )


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
    html, data = Path(path), json_path(path)
    text = page(report)
    atomic_write_text(data, report.model_dump_json(indent=1) + "\n")
    atomic_write_text(html, text)
    return html, data
