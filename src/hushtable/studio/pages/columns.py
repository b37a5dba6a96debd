"""Columns: one grid with all facts and settings of each column; several columns can be changed at once."""

from __future__ import annotations

import json
from typing import Any

from nicegui import events, ui

from hushtable.io.figures import share
from hushtable.schema.columns import Role
from hushtable.studio.grid import SCRIPT, GridState, added_uniqueness
from hushtable.studio.overviews import known_overviews, quasi_of
from hushtable.studio.pages.data import repeated
from hushtable.studio.pages.layout import Page, needs
from hushtable.studio.pages.widgets import after_showing, attempted, card, html_table, problems, text
from hushtable.studio.projects import Project
from hushtable.studio.runs import runs_of
from hushtable.studio.texts import ROLES, T


async def build(page: Page, project: Project) -> None:
    """Build the page."""
    profile = project.profile
    if profile is None:
        needs(project, T.NO_DATA, "data")
        return
    text(T.ROLES_TEXT)
    repeated(project, profile)
    if profile["duplicates"]:
        text(T.DUPLICATES.format(profile["duplicates"]), "p", "ht-soft")
    ui.add_head_html(SCRIPT)
    _Columns(page, project, profile)
    _subsets(profile, project)
    with ui.expansion(T.MORE, icon="help_outline").classes("ht-card"), ui.element("dl").classes("ht-list"):
        for title, meaning in ROLES.values():
            text(title, "dt", "ht-good")
            text(meaning, "dd", "")


class _Columns:
    """The grid and its event handlers."""

    def __init__(self, page: Page, project: Project, profile: dict[str, Any]) -> None:
        self.page, self.project, self.profile = page, project, profile
        self.names = [column["name"] for column in profile["columns"]]
        self.adds = added_uniqueness(profile["subsets"])
        grid = self._grid()
        with ui.element("section").classes("ht-card ht-grid-card"):
            with ui.element("div").classes("ht-bar ht-grid-bar"):
                # every name and word in it is escaped; a sanitizer would take its fields away
                ui.html(grid.tools(), sanitize=False)
                self.state = text("", "span", "ht-one-line").props("role=status")
            ui.html(grid.table(), sanitize=False).classes("ht-scroll")
        self.faults = ui.element("div")
        ui.on("ht-columns", self._set)
        page.again = self._again
        self._tell()
        after_showing(self._sizes)

    def _grid(self) -> GridState:
        runs = runs_of(self.project)
        return GridState(
            project=self.project.id,
            found=self.profile["columns"],
            settings=self.project.document()["columns"],
            sparks=self.project.json("sparks.json") or [],
            sizes={name: entry["nodes"] for name, entry in known_overviews(self.project).items()},
            losses=runs[-1].facts["losses"] if runs else {},
            adds=self.adds,
        )

    async def _set(self, event: events.GenericEventArguments) -> None:
        """Apply a choice made in the browser: rows, setting and value."""
        said = event.args if isinstance(event.args, dict) else {}
        rows = [i for i in said.get("rows") or () if isinstance(i, int) and 0 <= i < len(self.names)]
        setting, value = said.get("set"), said.get("value")
        if rows and setting in ("role", "kind") and isinstance(value, str):
            changes: dict[str, Any] = {setting: value or None}
            if setting == "kind":
                # another kind of values needs another hierarchy
                changes |= {"hierarchy": None}
            with attempted():
                self.page.write(self.page.studio.set_columns, [self.names[i] for i in rows], changes)
        self._again(rows)
        await self._sizes()

    def _again(self, rows: list[int] | None = None) -> None:
        """Refresh these rows, or all rows."""
        grid = self._grid()
        shown = {i: grid.row(i) for i in (range(len(self.names)) if rows is None else rows)}
        ui.run_javascript(f"htGrid.update({json.dumps(shown)})")
        self._tell()

    async def _sizes(self) -> None:
        """Try the hierarchies that are not known yet, and show the number of labels on their levels."""
        if set(known_overviews(self.project)) >= set(quasi_of(self.project.document())):
            return
        with attempted():
            studio = self.page.studio
            job = studio.busy(self.project, "hierarchies") or studio.look_at_all(self.project)
            await studio.jobs.ended(job.id)
            self._again()

    def _tell(self) -> None:
        found = self.page.studio.faults(self.project)
        self.state.set_text(f"{T.BLOCKED} {found[0]['message']}" if found else T.COMPLETE)
        self.state.classes(*(("ht-bad",) if found else ()), remove="" if found else "ht-bad")
        self.faults.clear()
        if found:
            with self.faults:
                problems(found, T.BLOCKED)


def _subsets(profile: dict[str, Any], project: Project) -> None:
    quasi = {name for name, settings in project.document()["columns"].items() if settings.get("role") == Role.QUASI}
    known = [s for s in profile["subsets"] if quasi.issuperset(s["columns"])]
    subsets = sorted(known, key=lambda s: (-s["unique_share"], len(s["columns"])))[:12]
    if not subsets:
        return
    with card(T.UNIQUE):
        text(T.UNIQUE_TEXT)
        if profile["subset_rows"] < profile["rows"]:
            text(T.SAMPLED.format(profile["subset_rows"]), "p", "ht-soft")
        rows = [[" + ".join(s["columns"]), share(s["unique_share"])] for s in subsets]
        html_table(["columns known to an adversary", "unique records"], rows, caption=T.UNIQUE, numbers=(1,))
