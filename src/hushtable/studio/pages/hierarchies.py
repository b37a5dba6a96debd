"""Hierarchies: how values may be generalized; an overview of all, and an editor for each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from nicegui import ui

from hushtable import registry
from hushtable.about import summary_of
from hushtable.errors import HierarchyError, HushtableError
from hushtable.hierarchy.spec import hierarchy_data, parse_hierarchy
from hushtable.schema.columns import Kind, Role
from hushtable.studio import charts
from hushtable.studio.jobs import Job
from hushtable.studio.outline import grouped, outline_of, tree_of
from hushtable.studio.pages.forms import ParameterForm
from hushtable.studio.pages.layout import Page, needs, open_button
from hushtable.studio.pages.widgets import (
    after_showing,
    attempted,
    card,
    file_field,
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
from hushtable.studio.views import known_overviews, named


async def build(page: Page, project: Project, wanted: str = "") -> None:
    """Build the page: the editor of the requested column, or the overview."""
    columns = project.document()["columns"]
    quasi = named(project.document(), Role.QUASI)
    if not quasi:
        needs(project, T.NO_QUASI, "columns")
        return
    if wanted not in quasi:
        _overview(page, project, quasi)
        return
    after = quasi[(quasi.index(wanted) + 1) % len(quasi)]
    with ui.element("div").classes("ht-row q-mb-md"):
        open_button(T.ALL_HIERARCHIES, f"/p/{project.id}/hierarchies").props("outline icon=list")
        if len(quasi) > 1:
            open_button(T.NEXT_COLUMN.format(after), _address(project, after)).props("outline")
    own = columns[wanted]
    editor = Editor(page, project, wanted, own.get("hierarchy"), own.get("weight", 1.0))
    after_showing(editor.check)


def _address(project: Project, column: str) -> str:
    return f"/p/{project.id}/hierarchies?column={quote(column, safe='')}"


class _Line:
    """One hierarchy of the overview: a link whose cells are filled in once their contents are known."""

    def __init__(self, project: Project, column: str, spec: Any) -> None:
        with ui.element("a").classes("ht-line").props(f'href="{_address(project, column)}"'):
            text(column, "strong", "")
            text(_recipe(spec, column), "span", "ht-soft")
            self.sizes = text("…", "span", "ht-num-text")
            self.example = text("", "span", "ht-example")

    def tell(self, found: Mapping[str, Any]) -> None:
        """Fill in the findings."""
        if found["problems"]:
            self.sizes.set_text(T.NOT_USABLE)
            self.sizes.classes("ht-bad")
            self._show(found["problems"][0])
            return
        self.sizes.set_text(" → ".join(f"{n:,}" for n in found["nodes"]))
        self._show(" → ".join(found["example"]))

    def _show(self, words: str) -> None:
        self.example.set_text(words)
        self.example.props["title"] = words


def _recipe(spec: Any, column: str) -> str:
    recipe = parse_hierarchy(spec, column)
    said = [str(v) if not isinstance(v, list | tuple) else ", ".join(map(str, v)) for v in recipe.values().values()]
    short = [words for words in said if len(words) <= 24][:2]
    return f"{recipe.name} ({'; '.join(short)})" if short else recipe.name


def _overview(page: Page, project: Project, quasi: list[str]) -> None:
    text(T.HIERARCHIES_TEXT)
    columns = project.document()["columns"]
    lines: dict[str, _Line] = {}
    with card():
        state = text(" ", "p", "ht-soft ht-steady").props("role=status")
        with ui.element("div").classes("ht-line ht-line-head"):
            for words in T.OVERVIEW_HEADS:
                text(words, "span", "")
        for name in quasi:
            lines[name] = _Line(project, name, columns[name].get("hierarchy"))
    known = known_overviews(project)

    def tell() -> None:
        found = known_overviews(project)
        for name, line in lines.items():
            if name in found:
                line.tell(found[name])
        bad = sum(bool(entry["problems"]) for entry in found.values())
        words = T.OVERVIEW_BAD.format(bad) if bad else T.OVERVIEW_OK.format(len(found))
        state.set_text(words if len(found) == len(lines) else T.CHECKING)

    async def look() -> None:
        with attempted():
            job = page.studio.busy(project, "hierarchies") or page.studio.look_at_all(project)
            while not (await page.studio.jobs.ended(job.id, patience=1.0)).over:
                tell()
            tell()

    tell()
    if len(known) < len(quasi):
        after_showing(look)


# The editor of one hierarchy: tried on the column while the user types, and saved only if it is usable.


_CUTS = 40
_PAUSE = 0.35
"""Seconds without a keystroke after which the typed hierarchy is tried."""

_PART = "hierarchy"


class Editor:
    """One column's hierarchy while it is edited; nothing is stored until it is saved."""

    def __init__(self, page: Page, project: Project, column: str, spec: Any, weight: float) -> None:
        self.page, self.project, self.column = page, project, column
        recipe = parse_hierarchy(spec, column)
        self.saved = hierarchy_data(recipe)  # as the fields say it, whichever way it was written
        self.recipe, self.values = recipe.name, recipe.values()
        self.form: ParameterForm | None = None
        self.area: Any = None
        self.name: Any = None
        self.found: dict[str, Any] = {}
        self.turn = 0
        text(column, "h2", "")
        with ui.element("div").classes("ht-bar"):
            # a moment later than the click: what was typed last arrives before it
            late = "(...args) => setTimeout(() => emit(...args), 120)"
            ui.button(T.SAVE, icon="save").on("click", self.save, js_handler=late)
            self.drop = ui.button(T.DISCARD, on_click=self.discard).props("flat")
            self.state = text("", "span", "ht-soft").props("role=status")
        with ui.element("div").classes("ht-cols"):
            with card(T.RECIPE):
                self._recipes()
                self.fields = ui.element("div").props(f"data-unsaved={_PART}")
                # of one height, whatever it says: nothing below may move while somebody types or clicks there
                self.verdict = ui.element("div").classes("ht-verdict")
                with self.verdict:
                    text(T.CHECKING, "span", "ht-soft")
            self.chart = ui.element("section").classes("ht-card ht-chart-card")
        with ui.element("div").classes("ht-cols q-mt-md q-mb-md"):
            self._files()
            self._weight(weight)
        # what grows and shrinks comes last: nothing below it can move
        self.editor = ui.element("div").props(f"data-unsaved={_PART}")
        self.levels = ui.element("div")
        self._fill()
        if self._by_hand() and self.values.get("tree") is not None:
            self._tree_editor(self.values["tree"])

    def _recipes(self) -> None:
        options = {name: f"{name}: {summary_of(known)}" for name, known in registry.hierarchies.items()}
        self.choice = (
            ui.select(options, value=self.recipe, label=T.RECIPE, on_change=lambda e: self._choose(e.value))
            .props("options-dense")
            .style("width:100%")
        )

    async def _choose(self, name: str) -> None:
        if name == self.recipe:
            return
        tree = self._written()
        self.recipe, self.values = name, {}
        self._fill()
        self.editor.clear()
        self.area = None
        if self._by_hand():
            # begin with the tree that was there, else with the values as they are
            self._tree_editor(tree if tree is not None else [value for value, _ in self.found.get("values", [])])
        await self.check()

    def _by_hand(self) -> bool:
        """Whether the recipe accepts a tree that users write."""
        return any(param.name == "tree" for param in registry.hierarchies[self.recipe].params())

    def _fill(self) -> None:
        self.fields.clear()
        with self.fields:
            hidden = ("tree", "rows")
            known = registry.hierarchies[self.recipe]
            self.form = ParameterForm(known, self.values, self.check, hidden=hidden, typed=self.check)

    def _written(self) -> Any:
        """Return the tree as written, or None if there is none or it cannot be read."""
        try:
            return tree_of(self.area.value or "") if self.area is not None else None
        except HushtableError:
            return None

    def spec(self) -> Any:
        """Return the contents of the fields as policy data; raise if something cannot be read."""
        assert self.form is not None
        values = self.form.values()
        if values.get("file"):
            values = {k: v for k, v in values.items() if k not in ("tree", "rows")}
        elif self.area is not None:
            tree = tree_of(self.area.value or "")
            values = {k: v for k, v in values.items() if k != "rows"} | {"tree": tree}
        return hierarchy_data(registry.hierarchies.build(self.recipe, values))

    async def check(self) -> None:
        """Try the current hierarchy on the column after a pause in typing; only the latest result is shown."""
        self.turn += 1
        turn = self.turn
        if self.found:
            self._mark()
            await asyncio.sleep(_PAUSE)
        if turn != self.turn:
            return
        try:
            spec = self.spec()
            job = await self._tried(spec, given=spec != self.saved)
        except HushtableError as error:
            if turn == self.turn:
                self._say(lambda said=str(error): note(said, "bad"))
            return
        if turn == self.turn:
            self.found = job.result
            self._tell()

    async def _tried(self, spec: Any, *, given: bool) -> Job:
        job = await asyncio.to_thread(self.page.studio.look_at, self.project, self.column, spec, given=given)
        over = await self.page.studio.jobs.ended(job.id)
        if over.state != "done":
            raise HierarchyError((over.error or {}).get("message", over.state), hint=(over.error or {}).get("hint", ""))
        return over

    def _say(self, words: Any) -> None:
        self.verdict.clear()
        with self.verdict:
            words()

    def _mark(self) -> None:
        """Say whether the page differs from the policy, and have the browser ask before changes are lost."""
        try:
            same = self.spec() == self.saved
        except HushtableError:
            same = False
        same = same and not (self.name is not None and (self.name.value or "").strip())
        self.page.unsaved(_PART, not same)
        self.drop.set_enabled(not same)
        self.state.set_text("" if same else T.UNSAVED)

    def _tell(self) -> None:
        found = self.found
        if found["problems"]:
            self._say(lambda: problems([{"message": sentence} for sentence in found["problems"]], T.CHECK_BAD))
        else:
            self._say(lambda: note(T.CHECK_OK.format(" → ".join(f"{n:,}" for n in found["nodes"])), "good"))
        self.chart.clear()
        with self.chart:
            self._picture(found)
        self.levels.clear()
        if found["levels"]:
            with self.levels, card(T.LEVELS):
                names = [T.VALUE, *(T.LEVEL.format(i) for i in range(1, len(found["levels"][0])))]
                html_table(names, found["levels"][:25], caption=T.LEVELS)
        if self.area is None and self._by_hand() and not self.values.get("file") and found.get("tree") is not None:
            self._tree_editor(found["tree"])
        self._mark()

    def _picture(self, found: dict[str, Any]) -> None:
        text(T.SPREAD if found["histogram"] else T.FREQUENT, "h2", "")
        text(f"{self.column}: {KINDS[Kind(found['kind'])]}, {T.DISTINCT.format(found['distinct'])}", "p", "ht-soft")
        if found["histogram"]:
            # the finest level whose intervals can be distinguished in a picture
            level, cuts = next(((i, c) for i, c in enumerate(found["cuts"], 1) if 0 < len(c) <= _CUTS), (0, []))
            picture(charts.histogram(found["histogram"], f"{T.SPREAD}: {self.column}", cuts))
            if cuts:
                text(T.CUTS.format(level), "p", "ht-soft")
        else:
            picture(charts.bars(found["values"][:12], f"{T.FREQUENT}: {self.column}"))

    def _tree_editor(self, tree: Any) -> None:
        self.editor.clear()
        with self.editor, card(T.TREE):
            text(T.TREE_TEXT)
            with ui.element("div").classes("ht-row top"):
                values = [value for value, _ in self.found.get("values", [])] or sorted(_leaves(tree))
                chosen = (
                    ui.select(values, multiple=True, label=T.GROUP_VALUES, value=[])
                    .props("use-chips options-dense")
                    .classes("grow")
                )
                self.name = ui.input(T.GROUP_NAME).classes("grow")
                self.name.on_value_change(self._mark)
                ui.button(T.GROUP, on_click=lambda: self._group(chosen)).props("outline")
            self.area = (
                ui.textarea(T.TREE, value=outline_of(tree), on_change=self.check)
                .props("outlined autogrow")
                .classes("q-mt-md ht-mono")
                .style("width:100%")
            )

    async def _group(self, chosen: Any) -> None:
        with attempted():
            tree = grouped(tree_of(self.area.value or ""), chosen.value, self.name.value or "")
            self.name.set_value("")
            chosen.set_value([])
            self.area.set_value(outline_of(tree))  # which has it checked, too

    async def save(self) -> None:
        """Save the hierarchy in the policy, if it is usable; a broken one stays here, unsaved."""
        self.turn += 1
        with self.page.kept(_PART):
            spec = self.spec()
            self.state.set_text(T.CHECKING)
            self.found = (await self._tried(spec, given=True)).result
            self._tell()
            if self.found["problems"]:
                raise HierarchyError(T.NOT_SAVED, code="hierarchy", hint=self.found["problems"][0])
            self.page.write(self.page.studio.set_column, self.column, {"hierarchy": spec})
            self.saved = spec
            self._tell()
            self.state.set_text(T.SAVED)
            # the policy's own now: the file to export is written
            await self._tried(spec, given=False)
            return
        self.state.set_text(T.UNSAVED)

    def discard(self) -> None:
        """Revert to the policy's hierarchy."""
        self.page.unsaved(_PART, False)
        ui.navigate.reload()

    def _files(self) -> None:
        with card(T.IMPORT):
            text(T.IMPORT_TEXT)
            file_field(T.UPLOAD_LABEL, f"/api/projects/{self.project.id}/files/{{name}}", HIERARCHIES, self._imported)
            address = f"/api/projects/{self.project.id}/hierarchies/{quote(self.column, safe='')}"
            ui.link(T.EXPORT_CSV, address).classes("ht-link").props("download")

    def _weight(self, weight: float) -> None:
        def change() -> None:
            value = float(field.value or 1)
            with self.page.kept("weight"):
                changes = {"weight": None if value == 1 else value}
                self.page.write(self.page.studio.set_column, self.column, changes)

        with card(T.WEIGHT_TITLE):
            field = ui.number(T.WEIGHT, value=weight, min=0, step=1).props(f'bottom-slots hint="{T.WEIGHT_HINT}"')
            once_left(field, change)

    async def _imported(self, name: str) -> None:
        with attempted():
            recipe = parse_hierarchy(f"files/{name}", self.column)
            self.recipe, self.values, self.area = recipe.name, recipe.values(), None
            self.editor.clear()
            self.choice.set_value(recipe.name)
            self._fill()
            await self.check()


def _leaves(tree: Any) -> set[str]:
    if isinstance(tree, dict):
        return {leaf for below in tree.values() for leaf in _leaves(below)}
    return {str(value) for value in tree}
