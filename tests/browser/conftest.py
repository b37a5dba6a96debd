"""Headless Chromium for what people see: the report, the documentation, the studio."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from studio_driver import QUIET, chromium_program


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for the session; take a new context of it in each test."""
    program = chromium_program()
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        # root has no user namespaces for Chromium's own sandbox; tabs of one site share a process while one is open
        flags = [*QUIET, "--no-sandbox", "--process-per-site"]
        browser = play.chromium.launch(executable_path=program, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page of its own, 1280 x 800, that may load nothing from outside this machine."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()
