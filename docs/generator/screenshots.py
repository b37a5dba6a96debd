"""Pictures of every page of the studio, for docs/screenshots: ``make screenshots``.

Starts a studio in a folder of its own, makes two releases of the embedded patients, and photographs each page at
1280 x 800; some of them in a narrow window and in the dark too. Needs Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.browser.studio_driver import QUIET, STEPS, Server, chromium_program

TARGET = Path(__file__).resolve().parents[1] / "screenshots"
SIZES: dict[str, dict[str, Any]] = {
    "": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "-narrow": {"viewport": {"width": 390, "height": 800}, "color_scheme": "light"},
    "-dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
}


def main() -> None:
    """Take them all."""
    program = chromium_program()
    if program is None:
        sys.exit("Chromium is needed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        server = Server(Path(home))
        try:
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=program, args=[*QUIET, "--no-sandbox"])
                _photograph(browser, server.url)
                browser.close()
        finally:
            server.stop()


def _photograph(browser: Any, url: str) -> None:
    page = browser.new_context(**SIZES[""]).new_page()
    page.set_default_timeout(60_000)
    page.goto(url)
    page.get_by_role("heading", name="Projects", exact=True).wait_for()
    _take(page, "home")
    page.get_by_role("button", name="Try it with the embedded patients").click()
    page.get_by_text("5,000 rows, 11 columns").wait_for()
    base = page.url.rsplit("/", 1)[0]
    _two_releases(page, base)
    for suffix, size in SIZES.items():
        context = browser.new_context(**size)
        shown = context.new_page()
        shown.set_default_timeout(60_000)
        shown.goto(url)
        shown.get_by_role("heading", name="Projects", exact=True).wait_for()
        for step in STEPS:
            shown.goto(f"{base}/{step}")
            shown.locator("h1").wait_for()
            if step == "explore":
                shown.locator("[data-pick]:visible").first.wait_for()
            if step == "hierarchies":
                shown.get_by_text("each covers every value").wait_for()
            if step == "protect":
                shown.get_by_text("No problems found").wait_for()
            if step == "run":
                _fold(shown)
            if step == "compare" and not suffix:
                shown.get_by_role("checkbox", name="Show my original rows").click()
                shown.get_by_role("cell", name="original", exact=True).first.wait_for()
            _take(shown, f"{step}{suffix}")
        context.close()
    _settings(page, base)
    _report(browser, page, base)
    page.goto(f"{base}/hierarchies?column=country")
    page.get_by_label("Tree").wait_for()
    page.get_by_label("Tree").scroll_into_view_if_needed()
    _take(page, "hierarchies-tree")


def _two_releases(page: Any, base: str) -> None:
    """One by partitioning, one of a search, so that Explore has something to show; risks and attacks of the last."""
    for number, algorithm in enumerate(("mondrian:", "optimal:"), 1):
        page.goto(f"{base}/protect")
        page.get_by_text("No problems found").wait_for()
        page.get_by_label("Algorithm", exact=True).first.click()
        page.get_by_role("option", name=algorithm).first.click()
        page.get_by_text("No problems found").wait_for()
        page.goto(f"{base}/run")
        page.get_by_role("button", name="Start a run").click()
        page.get_by_role("heading", name=f"Release {number}:").wait_for(timeout=120_000)
    _compare_settings(page, base)
    page.goto(f"{base}/attack")
    page.get_by_role("button", name="Assess the risk").click()
    page.get_by_role("cell", name="prosecutor").wait_for()
    page.get_by_role("button", name="Run the attacks").click()
    page.get_by_role("cell", name="homogeneity").wait_for(timeout=240_000)
    page.goto(f"{base}/export")
    page.get_by_role("button", name="Verify the file again").click()
    page.get_by_text("Every promise holds").wait_for()


def _compare_settings(page: Any, base: str) -> None:
    """Several k and two algorithms on the same table."""
    page.goto(f"{base}/run")
    page.get_by_text("Not sure? Compare settings").click()
    page.get_by_label("Algorithms to try").click()
    page.get_by_role("option", name="mondrian:").first.click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("heading", name="Results of the comparison").wait_for(timeout=240_000)


def _fold(page: Any) -> None:
    """Close the part about settings, so that the releases are in the picture."""
    if page.get_by_role("heading", name="Results of the comparison").is_visible():
        page.get_by_text("Not sure? Compare settings").click()
        page.get_by_role("heading", name="Results of the comparison").wait_for(state="hidden")


def _settings(page: Any, base: str) -> None:
    page.goto(f"{base}/run")
    page.get_by_label("Risk at most, in percent").fill("11")
    page.get_by_role("button", name="Suggest one").click()
    page.get_by_text("It has the least loss among").wait_for()
    page.get_by_role("heading", name="Results of the comparison").scroll_into_view_if_needed()
    page.evaluate("window.scrollBy(0, 420)")
    _take(page, "run-settings")


def _report(browser: Any, page: Any, base: str) -> None:
    """The evidence report as the officer sees it first."""
    page.goto(f"{base}/export")
    page.get_by_role("button", name="Write the evidence report").click()
    page.get_by_role("link", name="Download the report").wait_for(timeout=240_000)
    with page.expect_download() as got:
        page.get_by_role("link", name="Download the report").click()
    shown = browser.new_context(**SIZES[""]).new_page()
    with tempfile.TemporaryDirectory() as folder:
        got.value.save_as(Path(folder, "evidence.html"))
        shown.goto(Path(folder, "evidence.html").as_uri())
        _take(shown, "report")
    shown.context.close()


def _take(page: Any, name: str) -> None:
    page.wait_for_timeout(500)
    path = TARGET / f"studio-{name}.png"
    page.screenshot(path=path)
    _shrink(path)


def _shrink(path: Path) -> None:
    """A palette is enough for pages of text; without Pillow the picture stays as it is."""
    try:
        from PIL import Image
    except ImportError:
        return
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(255)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
