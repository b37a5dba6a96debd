"""The studio in a browser: runs and comparisons that are begun, watched, canceled and interrupted."""

from __future__ import annotations

import re
import signal

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import Server, go, open_page, run_it, take_algorithm, try_it

pytestmark = pytest.mark.browser


def test_settings_are_compared_and_one_is_chosen(page, base):
    go(page, base, "run")
    page.get_by_text("Not sure? Compare settings").click()
    values = page.get_by_label("k of k-anonymity: values to try")
    values.wait_for()
    assert values.input_value() == "5, 10, 20", "there is something to compare from the start"
    assert page.get_by_label("Records that may be suppressed").last.input_value().count(",") == 1
    values.fill("5, x")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("must be an int >= 2").wait_for()
    values.fill("5, 20, 6000")
    page.get_by_label("Records that may be suppressed").last.fill("2")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("heading", name="Results of the comparison").wait_for()
    assert page.get_by_label("k of k-anonymity: values to try").input_value() == "5, 20, 6000"
    assert page.get_by_role("button", name="Use setting 3").count() == 0, "it gives no release"
    assert page.get_by_label("Records that may be suppressed").last.input_value() == "2"
    page.get_by_label("Risk at most, in percent").fill("6")
    page.get_by_role("button", name="Suggest one").click()
    page.get_by_text("Setting 2: mondrian").wait_for()
    page.get_by_role("button", name="Use setting 2").first.click()
    page.get_by_text("Setting 2 is the policy now.").wait_for()
    go(page, base, "protect")
    assert page.get_by_label("k *").input_value() == "20"


def test_a_comparison_is_readable_on_a_phone(page, base):
    go(page, base, "run")
    page.get_by_text("Not sure? Compare settings").click()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("heading", name="Results of the comparison").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(400)
    chart = page.locator("svg[aria-label='Results of the comparison']:visible")
    assert chart.count() == 1
    heights = chart.evaluate("e => [...e.querySelectorAll('text')].map(t => t.getBBox().height * e.getScreenCTM().a)")
    assert min(heights) > 10, "letters are as large as elsewhere"
    words = chart.evaluate("e => [...e.querySelectorAll('text')].map(t => t.textContent)")
    assert any("%" in word for word in words) and "0" in words
    assert page.evaluate("document.documentElement.scrollWidth") <= 391


def test_a_comparison_is_cancelled(page, base):
    go(page, base, "run")
    page.get_by_text("Not sure? Compare settings").click()
    page.get_by_label("k of k-anonymity: values to try").fill(", ".join(map(str, range(5, 65))))
    page.get_by_label("Records that may be suppressed").last.fill("2")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name="Cancel the comparison").click()
    page.get_by_text("Finished settings are not run again.").wait_for()
    assert page.get_by_role("heading", name="Results of the comparison").count() == 0


def test_a_run_that_ends_leaves_the_page_as_it_is(page, base):
    """What somebody has typed meanwhile, and where they are, stays; what is new is shown."""
    go(page, base, "run")
    page.get_by_text("Not sure? Compare settings").click()
    values = page.get_by_label("k of k-anonymity: values to try")
    values.fill("5, 17")
    page.evaluate("window.untouched = true")
    step = page.get_by_role("navigation").get_by_role("listitem").filter(has_text="Run")
    assert "✓" not in step.inner_text()
    for number in (1, 2):
        page.get_by_role("button", name="Start a run").click()
        page.get_by_role("heading", name=f"Release {number}:").wait_for()
        page.get_by_role("status").filter(has_text=f"Release {number} is finished").wait_for()
    step.get_by_text("✓").wait_for()
    page.get_by_role("button", name="Delete release 2").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("heading", name="Release 2:").wait_for(state="detached")
    assert page.get_by_role("heading", name="Release 1:").count() == 1
    assert page.get_by_text("Release 2 is finished").count() == 0
    assert values.input_value() == "5, 17"
    assert page.evaluate("window.untouched") is True


def test_a_release_is_deleted_with_a_question(page, base):
    run_it(page, base)
    page.get_by_role("button", name="Delete release 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert page.get_by_role("heading", name="Release 1:").count() == 1
    page.get_by_role("button", name="Delete release 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("heading", name="Release 1:").wait_for(state="detached")


def test_a_run_is_cancelled(page, base):
    take_algorithm(page, base, "incognito")
    go(page, base, "run")
    page.get_by_role("button", name="Start a run").click()
    page.get_by_role("button", name="Cancel the run").click()
    page.get_by_text("canceled", exact=True).first.wait_for()
    page.reload()
    page.get_by_text("Runs without a release").wait_for()
    page.get_by_role("cell", name="You stopped it").wait_for()
    assert page.get_by_text("(empty)").count() == 0
    assert page.get_by_text("Release 1:").count() == 0


def test_a_reload_in_mid_run_and_a_second_tab(page, base):
    take_algorithm(page, base, "optimal")
    go(page, base, "run")
    other = page.context.new_page()
    go(other, base, "run")
    page.get_by_role("button", name="Start a run").click()
    page.get_by_role("button", name="Cancel the run").wait_for()
    page.reload()
    page.get_by_role("heading", name="Release 1:").or_(
        page.get_by_role("button", name="Cancel the run")
    ).first.wait_for()
    # the second tab watches the same run instead of starting another
    other.get_by_role("button", name="Start a run").click()
    page.get_by_role("heading", name="Release 1:").wait_for()
    other.close()
    go(page, base, "explore")
    page.get_by_role("heading", name="Solutions of the search").wait_for()
    dots = page.locator("[data-pick]")
    dots.first.wait_for()
    before = dots.count()
    page.get_by_role("checkbox", name="Only those that keep all promises").click()
    page.get_by_text(re.compile("Showing")).wait_for()
    page.wait_for_function("n => document.querySelectorAll('[data-pick]').length < n", arg=before)
    page.locator("[data-pick]").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Solution", exact=True).get_by_text("exact").first.wait_for()
    page.get_by_role("button", name="Make this a release").click()
    page.get_by_role("heading", name="Release 2:").wait_for()
    # the new release is one of these solutions, and is found among them
    page.get_by_role("link", name="Explore").nth(1).click()
    page.get_by_role("heading", name="Solutions of the search").wait_for()
    page.wait_for_function("n => document.querySelectorAll('.ht-wide [data-pick]').length === n", arg=before // 2)
    assert "run=2" in page.url and page.locator("svg[role=group]:visible .ring").count() == 1
    page.get_by_label("age: at most").click()
    page.get_by_role("option", name="1: as [").wait_for()


def test_a_restart_keeps_everything_and_tells_what_was_interrupted(chromium, tmp_path):
    server = Server(tmp_path / "home")
    try:
        page = open_page(chromium, server)
        base = try_it(page)
        take_algorithm(page, base, "incognito")
        go(page, base, "run")
        page.get_by_role("button", name="Start a run").click()
        page.get_by_role("status").filter(has_text="running").wait_for()
        page.context.close()
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
        server.start()
        page = open_page(chromium, server)
        page.get_by_role("link", name="Embedded patients").click()
        page.get_by_text("5,000 rows, 11 columns").wait_for()
        go(page, page.url.rsplit("/", 1)[0], "run")
        page.get_by_role("cell", name="The studio was closed").wait_for()
        page.context.close()
    finally:
        assert server.stop() == 0, "Ctrl-C is how the studio is meant to end"
