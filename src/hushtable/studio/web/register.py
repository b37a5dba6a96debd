"""Every page at its address."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui

from hushtable.errors import HushtableError
from hushtable.failures import failure
from hushtable.studio.pages import (
    attack,
    columns,
    compare,
    data,
    explore,
    export,
    hierarchies,
    home,
    protect,
    run,
)
from hushtable.studio.pages.layout import frame, needs, which_run
from hushtable.studio.pages.widgets import note
from hushtable.studio.service import Studio
from hushtable.studio.texts import STEPS, T


def register(studio: Studio, app: FastAPI) -> None:
    """Register the pages of a studio before its REST API, once per process."""

    @ui.page("/")
    def first() -> None:
        home.build(studio)

    @ui.page("/api-page")
    def api_page() -> None:
        home.api_page(studio, {**app.openapi(), "x-path": str(app.openapi_url)})

    @ui.page("/p/{project}/{step}", response_timeout=30)
    async def step_page(project: str, step: str, run: int | None = None, column: str = "") -> None:
        await _step(studio, project, step, run, column)

    nicegui_app.on_exception(_report)
    # the bar that slides over the page for every request has no name for screen readers, and tells nothing
    nicegui_app.config.quasar_config["loadingBar"]["skipHijack"] = True
    ui.run_with(
        app,
        title=T.TITLE,
        dark=None,
        language="en-US",
        tailwind=False,
        show_welcome_message=False,
        gzip_middleware_factory=None,  # the guard adds its nonce to pages, and everything stays on this machine
        # a minute: on a busy machine server or browser may not get a turn for long, and a page that is given up loads
        # itself anew, without what was half filled in
        reconnect_timeout=60,
    )


def _report(error: Exception) -> None:
    """Report an internal error to the user and the terminal, without any value of the table."""
    said = failure(error)[0]
    sys.stderr.write(f"{said['message']}\n")
    with contextlib.suppress(RuntimeError):  # a fault outside any page has nobody to tell
        ui.notify(said["message"], type="negative", multi_line=True, close_button=True)


_WITH_RUN: dict[str, Any] = {
    "explore": explore.build,
    "compare": compare.build,
    "attack": attack.build,
    "export": export.build,
}
_PLAIN: dict[str, Any] = {"data": data.build, "columns": columns.build, "protect": protect.build, "run": run.build}

_NEED_DATA = ("columns", "hierarchies", "protect")

_LINKED = ("data", "run", "attack", "export")
"""The steps of linked tables."""


async def _step(studio: Studio, name: str, step: str, number: int | None, column: str) -> None:
    try:
        project = studio.projects[name]
    except HushtableError:
        project = None
    if project is None or step not in STEPS:
        with frame(studio, T.PROJECTS):
            note(T.GONE, "bad")
            ui.link(T.PROJECTS, "/").classes("ht-link")
        return
    with frame(studio, STEPS[step][0], project, step) as page:
        if project.linked and step not in _LINKED:
            note(T.LINKED_STEP)
        elif step in _NEED_DATA and project.profile is None:
            needs(project, T.NO_DATA, "data")
        elif step in _WITH_RUN:
            run_shown = which_run(project, number, step)
            if run_shown is not None:
                await _WITH_RUN[step](page, run_shown)
        elif step == "hierarchies":
            await hierarchies.build(page, project, column)
        else:
            await _PLAIN[step](page, project)
