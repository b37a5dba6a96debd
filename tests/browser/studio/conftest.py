"""One studio for the tests in the browser, and pages of it that may load nothing from elsewhere."""

from __future__ import annotations

import pytest
from studio_driver import Server, open_page, run_it, try_it


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("studio") / "home")
    yield made
    made.stop()


@pytest.fixture
def page(chromium, server):
    made = open_page(chromium, server)
    yield made
    refused = "Failed to load resource: the server responded with a status of 4"  # the browser says so by itself
    assert [c for c in made.complaints if not c.startswith(refused)] == []
    assert {url.split("/")[2] for url in made.asked if url.startswith(("http", "ws"))} == {server.base.split("/")[2]}
    made.context.close()


@pytest.fixture
def base(page):
    """The address of a project with the embedded patients, which the page shows."""
    return try_it(page)


@pytest.fixture(scope="module")
def released(chromium, server):
    """A project with a release, for the tests that look at one."""
    page = open_page(chromium, server)
    base = try_it(page)
    run_it(page, base)
    page.context.close()
    return base
