"""The studio in a browser: a release beside its original, its risks, and attacks on it."""

from __future__ import annotations

import os
import re
import signal

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import Server, go, open_page, run_it, try_it

pytestmark = pytest.mark.browser


def test_the_original_is_shown_on_request_only(page, released):
    go(page, released, "compare")
    page.get_by_role("heading", name="The release, row by row").wait_for()
    page.get_by_role("cell", name="[", exact=False).first.wait_for()
    assert page.get_by_text("original", exact=True).count() == 0
    page.get_by_role("checkbox", name="Show my original rows with the release").click()
    page.get_by_role("cell", name="original", exact=True).first.wait_for()
    page.get_by_role("button", name="Show its rows: 2", exact=True).click()
    page.get_by_text(re.compile("The .* rows of class 2")).wait_for()
    page.get_by_label("Distribution of age before and after").wait_for()
    page.get_by_label("Column", exact=True).first.fill("diagnosis")
    page.get_by_role("option", name="diagnosis").first.click()
    page.get_by_label("Distribution of diagnosis before and after").wait_for()
    assert page.get_by_label("Distribution of age before and after").count() == 0


def test_attacks_and_risks(page, released):
    go(page, released, "attack")
    page.get_by_role("button", name="Assess the risk").click()
    page.get_by_role("cell", name="prosecutor").wait_for()
    page.get_by_label("Attacks (default: all)").click()
    page.get_by_role("option", name="homogeneity:").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run the attacks").click()
    page.get_by_role("cell", name="homogeneity").wait_for()
    page.get_by_label("Success of attacks compared with guessing").wait_for()
    assert page.get_by_text("no better than guessing").or_(page.get_by_text("beyond the baseline")).count() >= 1


def test_what_was_asked_for_is_shown_in_its_place(page, server, released):
    """A list that is open elsewhere on the page stays open when a job ends."""
    go(page, released, "attack")
    page.evaluate("window.same = true")
    (worker,) = server.workers("heavy")
    os.kill(worker, signal.SIGSTOP)
    try:
        page.get_by_role("button", name="Assess the risk").click()
        page.get_by_role("button", name="Cancel", exact=True).wait_for()
        page.get_by_label("Attacks (default: all)").click()
    finally:
        os.kill(worker, signal.SIGCONT)
    page.get_by_role("button", name="Cancel", exact=True).wait_for(state="detached")
    page.get_by_role("cell", name="prosecutor").wait_for()
    assert page.get_by_role("option", name="homogeneity:").is_visible()
    assert page.evaluate("window.same")
    go(page, released, "export")
    page.evaluate("window.same = true")
    page.get_by_role("button", name="Write the evidence report").click()
    page.get_by_role("link", name="Download evidence.html").wait_for()
    page.get_by_role("button", name="Verify the file again").click()
    page.get_by_text("Every promise holds").wait_for()
    assert page.evaluate("window.same")


def test_a_streamed_release_is_compared_attacked_and_reported(chromium, tmp_path):
    """Tables that are large for this studio are streamed; its pages open what was written."""
    server = Server(tmp_path / "home", HUSHTABLE_STREAM_FROM="1")
    try:
        page = open_page(chromium, server)
        base = try_it(page)
        run_it(page, base)
        go(page, base, "compare")
        page.get_by_role("cell", name="[", exact=False).first.wait_for()
        for worker in server.workers("heavy"):
            os.kill(worker, signal.SIGKILL)  # the next one knows of no release but what is on disk
        go(page, base, "attack")
        page.get_by_role("button", name="Assess the risk").click()
        page.get_by_role("cell", name="prosecutor").wait_for()
        go(page, base, "export")
        page.get_by_role("button", name="Write the evidence report").click()
        page.get_by_role("link", name="Download the report").wait_for()
        page.context.close()
    finally:
        server.stop()
