"""The documentation site: builds without a warning, has a page for everything, and loads nothing from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from hushtable.cli.main import COMMANDS
from support_site import build_site
from test_docs import KINDS

# where a page loads something from, as opposed to where it leads to
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
LEADS = {"a": "href"}


class Page(HTMLParser):
    """What a page loads, where it leads, and what can be jumped to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if values.get("id"):
            self.anchors.add(values["id"])
        if tag in LOADED and values.get(LOADED[tag]):
            self.loads.append(values[LOADED[tag]])
        if tag in LEADS and values.get(LEADS[tag]):
            self.leads.append(values[LEADS[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return build_site(tmp_path_factory.mktemp("site") / "site")


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    # the page for missing pages is served from anywhere, so that its links are absolute
    files = [file for file in site.rglob("*.html") if file.name != "404.html"]
    return {file: Page(file.read_text(encoding="utf-8")) for file in files}


def test_everything_has_a_page(site):
    for kind, known in KINDS.items():
        folder = "report-templates" if kind == "templates" else kind
        assert [name for name in known if not (site / folder / f"{name}.html").is_file()] == [], kind
    assert [name for name in COMMANDS if not (site / "commands" / f"{name}.html").is_file()] == []


def test_nothing_is_loaded_from_elsewhere(pages):
    assert len(pages) > 100
    foreign = {url for page in pages.values() for url in page.loads if urlsplit(url).scheme or url.startswith("//")}
    assert foreign == set()


def test_style_sheets_load_nothing_from_elsewhere(site):
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert "@import" not in text, sheet
        assert "url(http" not in text and "url(//" not in text and 'url("http' not in text, sheet


def test_every_link_leads_somewhere(site, pages):
    broken = []
    for file, page in pages.items():
        for url in {*page.leads, *page.loads}:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(parts.fragment)
            if not target.is_file():
                broken.append(f"{file.name}: {url}")
            elif anchor and target in pages and anchor not in pages[target].anchors | {"__search", "__tabbed"}:
                broken.append(f"{file.name}: {url} (no such place)")
    assert broken == []


def test_the_page_of_a_model_tells_all(site):
    text = (site / "models" / "t-closeness.html").read_text(encoding="utf-8")
    for title in ("Definition", "When to use", "When not", "Cost", "Properties", "Parameters", "Reference"):
        assert f">{title}<" in text, title
    assert "two satisfied classes are merged" in text
    assert "|i - j| / (m - 1)" in text  # nothing in a docstring is taken for markup


def test_the_page_of_a_command_has_its_options(site):
    text = (site / "commands" / "compare.html").read_text(encoding="utf-8")
    assert "--algorithms" in text and "--where" not in text
