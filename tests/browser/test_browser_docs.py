"""The documentation site as people see it: from a folder, without a network, in light and dark, wide and narrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support_site import build_site

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site") / "site")


def test_the_search_works_from_a_folder(site: Path, chromium: Any) -> None:
    context = chromium.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.locator(".md-search__input").click()
    page.keyboard.type("closeness")
    page.wait_for_selector(".md-search-result__item", timeout=20_000)
    assert "closeness" in page.inner_text(".md-search-result__list")
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(site: Path, chromium: Any, scheme: str) -> None:
    """Contrast, and links that differ from text in more than color; the rest of axe's rules is the theme's."""
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    for name in ("index", "tutorial", "models/t-closeness", "commands/compare"):
        page = context.new_page()
        page.goto((site / f"{name}.html").as_uri())
        found = Axe().run(page, options={"runOnly": ["color-contrast", "link-in-text-block", "empty-table-header"]})
        assert [(name, v["id"], v["nodes"][0]["target"]) for v in found.response["violations"]] == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "models/t-closeness", "commands/compare", "howto/hierarchies"])
def test_no_page_is_wider_than_a_telephone(site: Path, chromium: Any, scheme: str, name: str) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in background.removeprefix("rgb(").removeprefix("rgba(").rstrip(")").split(",")[:3])
    assert (light > 600) == (scheme == "light")
    context.close()
