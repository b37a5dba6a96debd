"""Hierarchies: how values may be made coarser, tried on the column while they are built."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from hushtable import registry
from hushtable.errors import HushtableError
from hushtable.hierarchy.spec import hierarchy_data, parse_hierarchy
from hushtable.schema.columns import Kind, Role
from hushtable.studio import charts
from hushtable.studio.outline import grouped, outline_of, tree_of
from hushtable.studio.pages.file_field import file_field
from hushtable.studio.pages.forms import Form
from hushtable.studio.pages.layout import Page, needs
from hushtable.studio.pages.widgets import (
    after_showing,
    attempted,
    card,
    html_table,
    note,
    once_left,
    picture,
    problems,
    text,
)
from hushtable.studio.projects import Project
from hushtable.studio.texts import KINDS, T
from hushtable.studio.uploads import HIERARCHIES

__all__ = ["build"]

_CUTS = 40


async def build(page: Page, project: Project, wanted: str = "") -> None:
    """Build the page."""
    if project.profile is None:
        needs(project, T.NO_DATA, "data")
        return
    columns = project.document()["columns"]
    quasi = [name for name, settings in columns.items() if settings.get("role") == Role.QUASI]
    if not quasi:
        needs(project, T.NO_QUASI, "roles")
        return
    text(T.HIERARCHIES_TEXT)
    chosen = wanted if wanted in quasi else quasi[0]

    def open_column(name: str) -> None:
        ui.navigate.to(f"/p/{project.id}/hierarchies?column={_quoted(name)}")

    after = quasi[(quasi.index(chosen) + 1) % len(quasi)]
    with ui.element("div").classes("ht-row top q-mb-md"):
        ui.select(quasi, value=chosen, label=T.COLUMN, on_change=lambda e: open_column(e.value)).props(
            "outlined dense"
        ).style("min-width:min(360px,100%)")
        _weight(page, project, chosen, columns[chosen].get("weight", 1.0))
        if len(quasi) > 1:
            ui.button(T.NEXT_COLUMN.format(after), on_click=lambda: open_column(after)).props("no-caps outline")
    editor = _Editor(page, project, chosen, columns[chosen].get("hierarchy"))
    after_showing(editor.look)


def _weight(page: Page, project: Project, column: str, weight: float) -> None:
    def change() -> None:
        value = float(field.value or 1)
        with attempted():
            page.studio.set_column(project, column, {"weight": None if value == 1 else value})
            page.seen()

    field = ui.number(T.WEIGHT, value=weight, min=0, step=1).props(
        f'outlined dense bottom-slots hint="{T.WEIGHT_HINT}"'
    )
    field.style("min-width:min(300px,100%)")
    once_left(field, change)


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")


class _Editor:
    """One column's hierarchy while it is edited; nothing is kept before it is saved."""

    def __init__(self, page: Page, project: Project, column: str, spec: Any) -> None:
        self.page, self.project, self.column = page, project, column
        recipe = parse_hierarchy(spec, column)
        self.saved = hierarchy_data(recipe)  # as the fields say it, whichever way it was written
        self.recipe, self.values = recipe.name, recipe.values()
        self.form: Form | None = None
        self.tree: Any = self.values.get("tree")
        self.found: dict[str, Any] = {}
        self.turn = 0
        with ui.element("div").classes("ht-cols"):
            with card(T.RECIPE):
                self._recipes()
                self.fields = ui.element("div")
                self.verdict = ui.element("div").classes("q-mt-sm")
                with self.verdict:
                    text(T.CHECKING, "span", "ht-soft")
                with ui.element("div").classes("ht-row q-mt-sm"):
                    ui.button(T.SAVE, icon="save", on_click=self.save).props("no-caps")
                    self.state = text("", "span", "ht-soft").props("role=status")
            self.chart = ui.element("section").classes("ht-card")
        ui.element("div").classes("q-mt-md")
        self.editor = ui.element("div")
        self.levels = ui.element("div")
        self._files()
        self._fill()

    def _recipes(self) -> None:
        options = {}
        for name, known in registry.hierarchies.items():
            summary = (known.__doc__ or "").strip().split("\n")[0].replace("``", "")
            options[name] = f"{name}: {summary}"
        ui.select(options, value=self.recipe, label=T.RECIPE, on_change=lambda e: self._choose(e.value)).props(
            "outlined dense options-dense"
        ).style("width:100%")

    async def _choose(self, name: str) -> None:
        self.recipe, self.values = name, {}
        if self._by_hand():
            # begin with the values as they are
            self.tree = self.tree or [value for value, _ in self.found.get("values", [])]
            self.values = {"tree": self.tree}
        self._fill()
        await self.look()

    def _by_hand(self) -> bool:
        """Whether the recipe takes a tree that people write."""
        return any(param.name == "tree" for param in registry.hierarchies[self.recipe].params())

    def _fill(self) -> None:
        self.fields.clear()
        with self.fields:
            self.form = Form(registry.hierarchies[self.recipe], self.values, self.look, hidden=("tree", "rows"))

    def spec(self) -> Any:
        """What the fields say, as policy data."""
        assert self.form is not None
        values = self.form.values()
        if values.get("file"):
            values = {k: v for k, v in values.items() if k not in ("tree", "rows")}
        elif self.tree is not None and self._by_hand():
            values = {k: v for k, v in values.items() if k != "rows"} | {"tree": self.tree}
        return hierarchy_data(registry.hierarchies.build(self.recipe, values))

    async def look(self) -> None:
        """Try the hierarchy as it is on the column; what was asked last is told."""
        self.turn += 1
        turn = self.turn
        self.verdict.clear()
        try:
            spec = self.spec()
        except HushtableError as error:
            with self.verdict:
                note(str(error), "bad")
            return
        with self.verdict:
            text(T.CHECKING, "span", "ht-soft")
        job = await asyncio.to_thread(
            self.page.studio.look_at, self.project, self.column, spec, given=spec != self.saved
        )
        over = await self.page.studio.jobs.ended(job.id)
        if turn != self.turn:
            return
        self.verdict.clear()
        if over.state != "done":
            with self.verdict:
                note((over.error or {}).get("message", over.state), "bad")
            return
        self.found = over.result
        self._tell(spec)

    def _tell(self, spec: Any) -> None:
        found = self.found
        with self.verdict:
            if found["problems"]:
                problems([{"message": sentence} for sentence in found["problems"]], T.CHECK_BAD)
            else:
                note(T.CHECK_OK.format(" → ".join(f"{n:,}" for n in found["nodes"])), "good")
        self.state.set_text("" if spec == self.saved else T.UNSAVED)
        self.chart.clear()
        with self.chart:
            self._picture(found)
        self.levels.clear()
        if found["levels"]:
            with self.levels, card(T.LEVELS):
                names = [T.VALUE, *(T.LEVEL.format(i) for i in range(1, len(found["levels"][0])))]
                html_table(names, found["levels"][:25], caption=T.LEVELS)
                ui.link(T.EXPORT_CSV, f"/api/projects/{self.project.id}/hierarchies/{_quoted(self.column)}").classes(
                    "ht-link"
                ).set_visibility(spec == self.saved)
        self._tree_editor(found)

    def _picture(self, found: dict[str, Any]) -> None:
        text(T.SPREAD if found["histogram"] else T.FREQUENT, "h2", "")
        text(f"{self.column}: {KINDS[Kind(found['kind'])]}, {T.DISTINCT.format(found['distinct'])}", "p", "ht-soft")
        if found["histogram"]:
            # the finest level whose intervals can be told apart in a picture
            level, cuts = next(((i, c) for i, c in enumerate(found["cuts"], 1) if 0 < len(c) <= _CUTS), (0, []))
            picture(charts.histogram(found["histogram"], f"{T.SPREAD}: {self.column}", cuts))
            if cuts:
                text(T.CUTS.format(level), "p", "ht-soft")
        else:
            picture(charts.bars(found["values"][:12], f"{T.FREQUENT}: {self.column}"))

    def _tree_editor(self, found: dict[str, Any]) -> None:
        self.editor.clear()
        if not self._by_hand() or self.values.get("file"):
            return
        tree = self.tree if self.tree is not None else found.get("tree")
        if tree is None:
            return
        with self.editor, card(T.TREE):
            text(T.TREE_TEXT)
            with ui.element("div").classes("ht-row top"):
                values = [value for value, _ in found["values"]]
                chosen = (
                    ui.select(values, multiple=True, label=T.GROUP_VALUES, value=[])
                    .props("outlined dense use-chips options-dense")
                    .classes("grow")
                )
                name = ui.input(T.GROUP_NAME).props("outlined dense").classes("grow")
                ui.button(T.GROUP, on_click=lambda: self._group(tree, chosen.value, name.value)).props(
                    "no-caps outline"
                )
            area = (
                ui.textarea(T.TREE, value=outline_of(tree))
                .props("outlined autogrow")
                .classes("q-mt-md")
                .style("width:100%;font-family:ui-monospace,monospace")
            )
            once_left(area, lambda: self._outline(area.value))

    async def _group(self, tree: Any, chosen: list[str], name: str) -> None:
        with attempted():
            self.tree = grouped(tree, chosen, name or "")
            self._use_tree()
            await self.look()

    async def _outline(self, written: str) -> None:
        with attempted():
            self.tree = tree_of(written or "")
            self._use_tree()
            await self.look()

    def _use_tree(self) -> None:
        self.values = {"tree": self.tree}

    async def save(self) -> None:
        """Keep the hierarchy in the policy."""
        with attempted():
            spec = self.spec()
            await asyncio.to_thread(self.page.studio.set_column, self.project, self.column, {"hierarchy": spec})
            self.saved = spec
            self.page.seen()
            await self.look()
            self.state.set_text(T.SAVED)

    def _files(self) -> None:
        with card(T.IMPORT):
            text(T.IMPORT_TEXT)
            file_field(T.UPLOAD_LABEL, f"/api/projects/{self.project.id}/files/{{name}}", HIERARCHIES, self._imported)

    async def _imported(self, name: str) -> None:
        with attempted():
            recipe = parse_hierarchy(f"files/{name}", self.column)
            self.recipe, self.values, self.tree = recipe.name, recipe.values(), None
            self._fill()
            await self.look()
