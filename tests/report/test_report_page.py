"""The page: escaped, self-contained, and complete."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.report.charts.bars import Interval, bar_chart, change_chart, interval_chart, pair_chart
from hushtable.report.charts.frame import Heading, ticks
from hushtable.report.html import join, tag
from hushtable.report.page.page import page
from hushtable.report.templates.general import General

HOSTILE = '"><script>alert(1)</script>\x1b[31m'


class Balanced(HTMLParser):
    """Counts tags, and notes what a page must not have."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        if name not in ("meta", "br", "hr"):
            self.open.append(name)
        self.outside += [f"{name} {k}" for k, _ in attributes if k in ("src", "style") or k.startswith("on")]
        self.outside += [f"{k}={v}" for k, v in attributes if k == "href" and not (v or "").startswith("#")]
        self.outside += [name] if name in ("script", "link", "iframe", "img", "object") else []

    def handle_startendtag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(name, attributes)
        self.open.pop()

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name


@pytest.fixture
def hostile() -> Any:
    columns = {
        f"q{HOSTILE}": [str(i % 4) for i in range(40)],
        f"age{HOSTILE}": list(range(40)),
        f"s{HOSTILE}": [str(i % 5) for i in range(40)],
    }
    names = list(columns)
    policy = ht.Policy(quasi=names[:2], sensitive=names[2:], models=[ht.KAnonymity(k=3), {"distinct-l": {"l": 2}}])
    return ht.anonymize(pa.table(columns), policy)


def test_hostile_names_stay_text(hostile, tmp_path: Path) -> None:
    hostile.report(tmp_path / "evidence.html", labels=True)
    text = (tmp_path / "evidence.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "\x1b" not in text
    read = Balanced()
    read.feed(text)
    assert read.open == []
    assert read.outside == []


def test_the_page_begins_with_who_may_see_it(hostile) -> None:
    """Not at its end: whoever forwards it by mistake reads the first lines."""
    report = General().report(hostile, attacks=False)
    assert page(report).index("Private: do not hand this report over") < page(report).index('id="summary"')
    assert report.limits[0].startswith("This report is a private document.")


def test_the_policy_of_the_page_allows_its_own_style_and_nothing_else(hostile) -> None:
    text = page(General().report(hostile, attacks=False))
    (allowed,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert allowed.startswith("default-src &#x27;none&#x27;; style-src &#x27;sha256-")
    assert "http://" not in text
    assert "https://" not in text
    assert '<html lang="en">' in text


def test_ids_are_unique_whatever_columns_are_called(hostile) -> None:
    ids = re.findall(r' id="([^"]+)"', page(General().report(hostile, attacks=False)))
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "drawn",
    [
        pair_chart(Heading("a", "T", "C"), [("x<", 3, 5), ("y", 0, 0)], show=str, scale=str, head="h"),
        pair_chart(Heading("a", "T", "C"), [], show=str, scale=str, head="h", narrow=True),
        bar_chart(Heading("a", "T", "C"), [("x<", 0.2), ("y", 0)], show=str, scale=str, head=("h", "v"), most=1),
        change_chart(Heading("a", "T", "C"), [("x<", 0.2, 0.9)], head="h"),
        interval_chart(Heading("a", "T", "C"), [Interval("x<", 1.0, 0.9, 1.0, 0.0, True)]),
    ],
)
def test_charts_are_well_formed_and_inside_their_frame(drawn: str) -> None:
    (svg,) = re.findall(r'<svg viewBox="0 0 [^>]*class="chart">.*?</svg>', drawn)
    root = ElementTree.fromstring(svg)
    width, height = map(float, root.get("viewBox", "").split()[2:])
    assert root.get("role") == "img"
    assert root.find("title").text == "T"
    assert root.find("desc").text
    for element in root.iter():
        for name, most in (("x", width), ("x1", width), ("x2", width), ("cx", width), ("y", height), ("cy", height)):
            if element.get(name) is not None:
                assert 0 <= float(element.get(name)) <= most
        if element.tag == "rect":
            assert float(element.get("x")) + float(element.get("width")) <= width
    assert "<table>" in drawn


@pytest.mark.parametrize("most", [0.0, 1e-9, 0.003, 0.99, 1.0, 7.0, 99.0, 12345.0, 10**9])
def test_scales_reach_what_they_show(most: float) -> None:
    marks = ticks(most)
    assert marks[0] == 0
    assert marks[-1] >= most or most < 1e-6
    assert 2 <= len(marks) <= 7


def test_markup_is_not_escaped_twice() -> None:
    assert join(tag("b", "<"), "<", None) == "<b>&lt;</b>&lt;"
    assert tag("a", href="x&y") == '<a href="x&amp;y"></a>'
