"""The first page: try the demo, start with your own table, or continue a project."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

from nicegui import ui

from hushtable.errors import counted
from hushtable.studio.pages.layout import frame
from hushtable.studio.pages.widgets import attempted, card, html_table, sure, text
from hushtable.studio.projects import Project, runs_of
from hushtable.studio.service import Studio
from hushtable.studio.texts import T

_FIELD = "project-name"
# the name travels with the click: on a slow machine the two would arrive in any order while the page connects
_SEND = f"() => emit(document.getElementById('{_FIELD}').value)"


def build(studio: Studio) -> None:
    """Build the page."""
    with frame(studio, T.PROJECTS):
        text(f"{T.CLAIM} {T.LOCAL}", "p", "ht-lead")
        with ui.element("div").classes("ht-cols"):
            with card(T.TRY):
                text(T.TRY_TEXT)
                ui.button(T.TRY, icon="play_arrow", on_click=lambda: _try(studio))
            with card(T.OWN):
                text(T.OWN_TEXT)
                ui.input(T.NAME).props(f"maxlength=80 for={_FIELD}").style("width:100%").on(
                    "keydown.enter", lambda e: _create(studio, e.args), js_handler=_SEND
                )
                create = ui.button(T.CREATE, icon="add").classes("q-mt-sm")
                create.on("click", lambda e: _create(studio, e.args), js_handler=_SEND)
        ui.element("div").classes("q-mt-md")
        with card(T.YOURS):
            found = studio.projects.all()
            if not found:
                text(T.NONE_YET, "p", "ht-soft")
            for project in found:
                _line(studio, project)


def _line(studio: Studio, project: Project) -> None:
    facts = project.facts
    made = dt.datetime.fromtimestamp(facts["created"]).strftime("%Y-%m-%d %H:%M")
    rows = f"{counted(facts['rows'], 'row', 'rows')} · " if facts.get("rows") else ""
    with ui.element("div").classes("ht-row").style("padding:6px 0;border-top:1px solid var(--line)"):
        with ui.element("div").classes("grow"):
            ui.link(facts["name"], f"/p/{project.id}/data").classes("ht-link")
            text(f"{rows}{counted(len(runs_of(project)), 'release', 'releases')} · {made}", "div", "ht-soft")
        delete = ui.button(T.DELETE, icon="delete", on_click=lambda: _delete(studio, project)).props("flat")
        delete.props["aria-label"] = f"{T.DELETE}: {facts['name']}"


def _try(studio: Studio) -> None:
    project = studio.create(T.EXAMPLE_NAME)
    studio.example(project)
    ui.navigate.to(f"/p/{project.id}/data")


def _create(studio: Studio, name: object) -> None:
    with attempted():
        project = studio.create(name if isinstance(name, str) else "")
        ui.navigate.to(f"/p/{project.id}/data")


def _delete(studio: Studio, project: Project) -> None:
    async def delete() -> None:
        with attempted():
            await asyncio.to_thread(studio.delete, project)
        ui.navigate.reload()

    sure(T.DELETE_SURE.format(project.facts["name"]), T.DELETE, delete)


# A readable page of the REST API: the OpenAPI description, without external resources.


def api_page(studio: Studio, schema: dict[str, Any]) -> None:
    """Build the page."""
    with frame(studio, T.API):
        text(schema["info"]["description"], "p", "ht-lead")
        ui.link("openapi.json", schema["x-path"]).classes("ht-link")
        tags: dict[str, list[list[str]]] = {}
        for path, methods in schema["paths"].items():
            for method, operation in methods.items():
                tags.setdefault(operation["tags"][0], []).append(
                    [method.upper(), path, operation.get("description", "")]
                )
        for tag, rows in tags.items():
            with card(tag):
                html_table(["method", "path", "description"], rows, caption=tag)
