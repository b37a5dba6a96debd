"""One studio for the tests in the browser, and pages of it that may load nothing from elsewhere."""

from __future__ import annotations

import pytest
from studio_driver import Server, enter, new_context, run_it, try_it


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("studio") / "home")
    yield made
    made.stop()


@pytest.fixture(scope="session")
def visitor(chromium, server):
    """One browser session: with an empty cache, each page would load and compile two megabytes of scripts again.

    One tab stays open, whose process has the scripts compiled and serves all others.
    """
    context = new_context(chromium)
    context.spare = enter(context, server)
    yield context
    context.close()


@pytest.fixture
def page(visitor, server):
    """A page of its own, and nothing left in the session but its cache."""
    made = enter(visitor, server)
    yield made
    for tab in visitor.pages:
        if tab is not visitor.spare:
            tab.close()
    visitor.clear_cookies()
    refused = "Failed to load resource: the server responded with a status of 4"  # the browser says so by itself
    assert [c for c in made.complaints if not c.startswith(refused)] == []
    assert {url.split("/")[2] for url in made.asked if url.startswith(("http", "ws"))} == {server.base.split("/")[2]}


@pytest.fixture
def base(page):
    """The address of a project with the embedded patients, which the page shows."""
    return try_it(page)


@pytest.fixture(scope="module")
def released(visitor, server):
    """A project with a release, for the tests that look at one."""
    page = enter(visitor, server)
    base = try_it(page)
    run_it(page, base)
    page.close()
    return base
