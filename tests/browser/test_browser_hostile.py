"""A hostile page beside an open studio gets nothing, and the browser keeps nothing of the people in it."""

from __future__ import annotations

import pytest

from fuzz.hostile import ATTEMPTS, attack, hosted, learned
from fuzz.storage import session

pytest.importorskip("nicegui", reason="needs hushtable[studio]")


def test_a_page_of_another_origin_gets_nothing(chromium, tmp_path):
    # another port is the same site: the browser sends the cookie along
    tried, wrong = attack(tmp_path, guesses=5, hosts=["127.0.0.1"], kind=chromium.browser_type)
    assert wrong == []
    assert tried > 60


def test_the_attempts_get_what_is_not_guarded(page):
    with hosted() as port:
        base = f"http://127.0.0.1:{port}"
        page.goto(base)
        got = learned(page.evaluate(ATTEMPTS, [base, "000000000000", 1]))
    for name in ("fetch include /", "no-cors omit /api/projects", "post json", "frame /", "window /", "guessed tokens"):
        assert name in got, got


def test_the_browser_keeps_no_cell(chromium, tmp_path):
    looked, wrong = session(tmp_path, kind=chromium.browser_type)
    assert wrong == []
    assert looked > 100
