"""The page: one HTML file that needs no script, no network and no other file."""

from __future__ import annotations

import base64
import hashlib

from hushtable.report.content.report import Report
from hushtable.report.html import Markup, join, tag
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

__all__ = ["page"]

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
    # no script, no frame, no request: even a hostile column name could do nothing
    allowed = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", report.title),
        tag("style", Markup(STYLE)),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n"


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
