"""Data: the source of the table, its contents, and the findings about it."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from hushtable.errors import counted
from hushtable.studio import views
from hushtable.studio.pages.layout import Page
from hushtable.studio.pages.widgets import (
    attempted,
    card,
    failed,
    file_field,
    html_table,
    note,
    once_left,
    pager,
    sure,
    text,
    watch,
)
from hushtable.studio.projects import Project, runs_of
from hushtable.studio.texts import T
from hushtable.studio.uploads import UPLOADS

OPENING = ("open", "example", "query")


async def build(page: Page, project: Project) -> None:
    """Build the page."""
    studio = page.studio
    busy = studio.busy(project, *OPENING)
    if busy is not None:
        with card():
            watch(studio, busy, lambda job: ui.navigate.reload())
        return
    last = studio.job_of(project, *OPENING)
    if last is not None and last.state in ("failed", "cancelled", "interrupted"):
        failed(last)
    if project.linked:
        _linked(page, project)
        return
    if project.profile is None:
        _sources(page, project)
        return
    _sheets(page, project)
    await _table(project)
    _profile(project, project.profile)
    if not runs_of(project):
        with ui.expansion(T.OTHER_DATA, icon="swap_horiz").classes("ht-card"):
            _sources(page, project)


def _sources(page: Page, project: Project) -> None:
    studio = page.studio
    with ui.element("div").classes("ht-cols"):
        with card(T.UPLOAD):
            text(T.UPLOAD_TEXT.format(_size(studio.largest)))
            address = f"/api/projects/{project.id}/data?name={{name}}"
            file_field(T.UPLOAD_LABEL, address, UPLOADS, lambda name: ui.navigate.reload(), seen=page.revision)
            limit = ui.number(T.UNPACKED, value=project.facts.get("unpacked"), min=1, step=1, precision=0).props(
                f'bottom-slots clearable hint="{T.UNPACKED_HINT}"'
            )

            def set_limit() -> None:
                with attempted():
                    studio.limit_unpacked(project, int(limit.value) if limit.value else None)

            once_left(limit, set_limit)
            limit.on("clear", set_limit)
        with card(T.TRY):
            text(T.TRY_TEXT)

            def example() -> None:
                with attempted():
                    studio.example(project, seen=page.revision)
                    ui.navigate.reload()

            ui.button(T.TRY, icon="play_arrow", on_click=example)
        with card(T.DATABASE):
            text(T.DATABASE_TEXT)
            with ui.element("div").props("data-unsaved=query"):
                where = ui.input(T.ADDRESS, placeholder=T.ADDRESS_HINT).style("width:100%")
                query = ui.textarea(T.QUERY).props("outlined dense autogrow").style("width:100%")

            def fetch() -> None:
                with page.kept("query"):
                    studio.query(project, where.value or "", query.value or "", seen=page.revision)
                    ui.navigate.reload()

            ui.button(T.FETCH, icon="storage", on_click=fetch).props("outline").classes("q-mt-sm")


def _linked(page: Page, project: Project) -> None:
    """The tables of a linked project, and its policy, which is edited as text."""
    facts = project.facts
    with card(T.LINKED_TABLES):
        text(T.LINKED_FOUND.format(**facts["found"]), "p", "ht-soft")
        html_table(["table", "rows"], [[n, f"{rows:,}"] for n, rows in facts["tables"].items()],
                   caption=T.LINKED_TABLES, numbers=(1,))  # fmt: skip
    with card(T.LINKED_POLICY):
        text(T.LINKED_POLICY_TEXT)
        with ui.element("div").props("data-unsaved=policy"):
            shown = project.policy_file.read_text(encoding="utf-8")
            area = ui.textarea(T.LINKED_POLICY, value=shown).props("outlined dense autogrow").style("width:100%")

        def save() -> None:
            with page.kept("policy"):
                page.write(page.studio.set_policy, area.value or "")

        ui.button(T.LINKED_SAVE, icon="save", on_click=save).classes("q-mt-sm")


def _sheets(page: Page, project: Project) -> None:
    """Let the user choose the sheet of a workbook that has several."""
    facts = project.facts
    if len(facts.get("sheets") or ()) < 2:
        return

    def choose(sheet: str) -> None:
        with attempted():
            page.studio.open_sheet(project, sheet, seen=page.revision)
            ui.navigate.reload()

    with card():
        chosen = ui.select(facts["sheets"], value=facts["sheet"], label=T.SHEET).props(
            f'bottom-slots hint="{T.SHEET_HINT}"'
        )
        chosen.style("max-width:420px")
        chosen.set_enabled(not runs_of(project))
        chosen.on_value_change(
            lambda e: sure(T.SHEET_SURE.format(e.value), T.SHEET_TAKE, lambda: choose(e.value), otherwise=again)
        )

        def again() -> None:
            ui.navigate.reload()


def repeated(project: Project, profile: dict[str, Any]) -> None:
    """Mention that a person has several rows, if the policy says so."""
    entity = project.document().get("entity")
    found = next((c for c in profile["columns"] if c["name"] == entity), None)
    if found is not None:
        note(T.REPEATED.format(name=entity, distinct=found["distinct"], rows=profile["rows"]))


def _size(n: int) -> str:
    return f"{n / 2**30:.3g} GiB" if n >= 2**30 else f"{n / 2**20:.3g} MiB"


async def _table(project: Project) -> None:
    facts = project.facts
    with card(T.PREVIEW):
        rows = f"{counted(facts['rows'], 'row', 'rows')}, {counted(len(facts['columns']), 'column', 'columns')}"
        text(f"{facts['data']}: {rows}", "p", "ht-soft")
        box = ui.element("div")

        async def show(first: int, size: int) -> None:
            found = await asyncio.to_thread(views.data_page, project, first, size)
            box.clear()
            with box:
                html_table(found["columns"], found["rows"], caption=T.PREVIEW)

        await pager(facts["rows"], show, size=10)(0)


def _show_notes(project: Project, profile: dict[str, Any]) -> None:
    """Show what the draft policy says about the table, and what it leaves to the user."""
    document = project.document()
    listed = document.get("missing_values", [])
    seen = dict.fromkeys(token["text"] for column in profile["columns"] for token in column["tokens"])
    if listed:
        text(T.TOKENS_FOUND.format(", ".join(listed)), "p", "ht-soft")
    if rest := [word for word in seen if word not in listed]:
        text(T.TOKENS_MAYBE.format(", ".join(rest)), "p", "ht-soft")
    repeated(project, profile)


def _profile(project: Project, profile: dict[str, Any]) -> None:
    with card(T.FOUND_IN_DATA):
        if profile["duplicates"]:
            text(T.DUPLICATES.format(profile["duplicates"]), "p", "ht-soft")
        _show_notes(project, profile)
        text(T.SEE_COLUMNS, "p", "ht-soft")
