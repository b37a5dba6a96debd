"""The studio in a browser: what is slow, or away for a while, takes nothing from a page."""

from __future__ import annotations

import os
import signal
import time

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import go, open_page

pytestmark = pytest.mark.browser


def test_a_page_is_there_while_the_worker_is_busy(page, base, server):
    """A page says that it checks instead of staying blank until a worker has time for it."""
    (worker,) = server.workers("quick")
    os.kill(worker, signal.SIGSTOP)
    try:
        go(page, base, "protect")
        page.get_by_text("Checking ...").wait_for()
        go(page, base, "hierarchies?column=age")
        page.get_by_text("Checking ...").wait_for()
    finally:
        os.kill(worker, signal.SIGCONT)
    page.get_by_text("This hierarchy covers every value").wait_for()


def test_a_name_and_enter_before_the_page_is_connected(chromium, server):
    """Both are kept, in this order, however slow the connection is."""
    page = open_page(chromium, server)
    page.route_web_socket(lambda url: True, lambda ws: (time.sleep(2), ws.connect_to_server()))
    page.goto(server.base)
    page.get_by_label("Name of the project").fill("In a hurry")
    page.get_by_label("Name of the project").press("Enter")
    page.get_by_role("heading", name="Upload a table").wait_for()
    page.get_by_text("In a hurry").wait_for()
    page.context.close()


def test_a_page_that_lost_the_server_for_a_while_stays_as_it_is(page, released):
    """A page that is given up by the server loads itself anew: what is open or half filled in would be gone."""
    go(page, released, "attack")
    page.get_by_label("Share of the population that the table holds, in percent").fill("7")
    page.get_by_label("Attacks (default: all)").click()
    homogeneity = page.get_by_role("option", name="homogeneity:")
    homogeneity.wait_for()
    page.evaluate("""() => {
        window.lost = 0;
        window.socket.on("disconnect", () => window.lost++);
        const connection = window.socket.io;
        connection.randomizationFactor(0);
        connection.reconnectionDelay(15000);
        connection.reconnectionDelayMax(15000);
        connection.engine.close();
    }""")
    page.wait_for_function("window.lost === 1 && !window.socket.connected")
    page.wait_for_function("window.lost === 1 && window.socket.connected")
    homogeneity.click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run the attacks").click()
    page.get_by_role("cell", name="homogeneity").wait_for()
    assert page.evaluate("window.lost") == 1, "the page is not a new one"
    assert page.get_by_label("Share of the population that the table holds, in percent").input_value() == "7"
