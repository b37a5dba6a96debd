"""The studio in a browser: screen readers, narrow windows and the keyboard."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import STEPS, go

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("step", ["home", "api-page", *STEPS])
def test_no_serious_barrier(page, server, released, step):
    """axe finds no serious violation (names, contrast, structure), and a narrow window needs no sideways scrolling."""
    from axe_playwright_python.sync_playwright import Axe

    page.goto(server.base if step == "home" else f"{server.base}/{step}" if "-" in step else f"{released}/{step}")
    page.locator("h1").wait_for()
    page.wait_for_timeout(700)
    for mode in ("light", "dark"):
        if mode == "dark":
            page.get_by_role("button", name="Light or dark").click()
            page.wait_for_timeout(400)
        found = Axe().run(page).response["violations"]
        serious = [
            (v["id"], [n["html"][:200] + n["failureSummary"][:300] for n in v["nodes"]][:3])
            for v in found
            if v["impact"] in ("serious", "critical")
        ]
        assert serious == [], mode
    page.get_by_role("button", name="Light or dark").click()
    page.set_viewport_size({"width": 390, "height": 800})
    # the layout moves for a moment; what stays too wide never gets there
    page.wait_for_function("document.documentElement.scrollWidth <= 391", timeout=10_000)


def test_the_steps_in_a_narrow_window(page, released):
    page.set_viewport_size({"width": 390, "height": 800})
    go(page, released, "run")
    page.get_by_role("button", name="Show or hide the steps").click()
    page.get_by_role("link", name="Columns").click()
    page.get_by_role("heading", name="Columns", level=1).wait_for()


def test_hints_and_short_cells_have_room(page, released):
    """A hint of two lines once covered the next field, and a cell such as ``< 30`` was broken after its sign."""
    page.set_viewport_size({"width": 390, "height": 800})
    go(page, released, "protect")
    page.locator(".q-field__messages").first.wait_for()
    spilt = """() => [...document.querySelectorAll('.q-field__bottom')].filter(hint =>
        hint.getBoundingClientRect().bottom > hint.closest('.q-field').getBoundingClientRect().bottom + 1).length"""
    assert page.evaluate(spilt) == 0
    go(page, released, "compare")
    page.locator(".ht-table td").first.wait_for()
    broken = """() => { const cell = document.querySelector('.ht-table td:nth-child(2)'), text = document.createRange();
        cell.textContent = '< 1982'; text.selectNodeContents(cell); return text.getClientRects().length; }"""
    assert page.evaluate(broken) == 1


def test_the_keyboard_is_enough(page, released):
    go(page, released, "run")
    page.get_by_role("button", name="Start a run").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("(document.activeElement.getAttribute('aria-label') || document.activeElement.innerText)")
        )
    assert any("Start a run" in (name or "") for name in seen)
    assert any("Export" in (name or "") for name in seen)
