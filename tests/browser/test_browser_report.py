"""The report of Adult as people see it: offline, accessible in light and dark, on A4, without scripts."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.datasets import patients as generate_patients
from hushtable.datasets import patients_policy
from hushtable.registry import templates
from hushtable.report.page.page import write_report

pytestmark = pytest.mark.browser

SENSITIVE = "occupation"


@pytest.fixture(scope="module")
def adult_report(adult: pa.Table, adult_hierarchy_files: dict[str, Path], tmp_path_factory: Any) -> tuple[Path, float]:
    """The report of 30,162 records, attacks included, and how long it took."""
    files = {name: file for name, file in adult_hierarchy_files.items() if name not in (SENSITIVE, "salary-class")}
    policy = ht.Policy(
        quasi={name: {"hierarchy": str(file)} for name, file in files.items()},
        sensitive=[SENSITIVE],
        insensitive=["salary-class"],
        models=[ht.KAnonymity(k=5), {"distinct-l": {"l": 3}}],
        suppression=0.02,
    )
    release = ht.anonymize(adult, policy)
    path = tmp_path_factory.mktemp("adult") / "evidence.html"
    start = time.perf_counter()
    report = release.report(path)
    seconds = time.perf_counter() - start
    assert len(report.facts.attacks) >= 12
    return path, seconds


@pytest.fixture(scope="module")
def patient_reports(tmp_path_factory: Any) -> dict[str, Path]:
    """A report under each template, of patients with dates, gaps and suppressed records."""
    release = ht.anonymize(generate_patients(800), ht.Policy(**patients_policy()))
    folder = tmp_path_factory.mktemp("patients")
    attacks = ["linkage", "homogeneity", "similarity"]
    facts = templates.build("general").report(release, attacks=attacks).facts
    for name in templates:
        write_report(templates.build(name).answered(facts), folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in templates}


def violations(page: Any) -> list[str]:
    """What axe complains about."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]


def test_adult_is_fast_and_small(adult_report: tuple[Path, float]) -> None:
    path, seconds = adult_report
    assert seconds < 90
    assert path.stat().st_size < 3_000_000
    assert path.with_suffix(".json").stat().st_size < 3_000_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_adult_passes_axe(chromium: Any, adult_report: tuple[Path, float], scheme: str) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(adult_report[0].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    try:
        assert violations(page) == []
    finally:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("template", list(templates))
def test_every_template_passes_axe(chromium: Any, patient_reports: dict[str, Path], template: str, scheme: str) -> None:
    context = chromium.new_context(viewport={"width": 400, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(patient_reports[template].as_uri())
    try:
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
    finally:
        context.close()


def test_nothing_is_requested_and_nothing_is_refused(chromium: Any, adult_report: tuple[Path, float]) -> None:
    """One file, no script: also with scripts switched off, and with no network to be had."""
    context = chromium.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(adult_report[0].as_uri())
    assert requests == [adult_report[0].as_uri()]
    assert complaints == []  # such as styles that the content security policy refuses
    assert page.locator("h1").is_visible()
    assert page.locator("#summary").bounding_box()["y"] < 400
    assert page.locator("svg.chart").count() > 10
    context.close()


def test_first_screen_tells_the_verdict_and_the_limits(page: Any, adult_report: tuple[Path, float]) -> None:
    page.goto(adult_report[0].as_uri())
    for text in ("The policy holds", "Assumptions", "Not promised"):
        box = page.get_by_text(text, exact=False).first.bounding_box()
        assert box["y"] + box["height"] < 800


def test_charts_have_text_alternatives_and_tables(page: Any, adult_report: tuple[Path, float]) -> None:
    page.goto(adult_report[0].as_uri())
    missing = page.evaluate(
        """() => [...document.querySelectorAll('svg.chart')].filter(s => s.getAttribute('role') !== 'img'
             || !s.querySelector('title').textContent || s.querySelector('desc').textContent.length < 20
             || !s.closest('figure').querySelector('details table')).length"""
    )
    assert missing == 0
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_prints_on_a4_without_cutting_anything(page: Any, adult_report: tuple[Path, float]) -> None:
    page.goto(adult_report[0].as_uri())
    pdf = page.pdf(prefer_css_page_size=True)
    boxes = {
        tuple(round(float(n)) for n in m.split()) for m in re.findall(r"/MediaBox \[([^\]]+)\]", pdf.decode("latin-1"))
    }
    assert boxes == {(0, 0, 595, 842)}
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 680, "height": 950})  # A4 less its margins, in CSS pixels
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    wide = page.evaluate(
        "[...document.querySelectorAll('table, svg, figure, pre')].filter(e => e.getBoundingClientRect().right > "
        "681).length"
    )
    assert wide == 0
    # ink on white paper, whatever the screen's scheme
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
