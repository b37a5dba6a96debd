"""Hierarchies: how values may be generalized; an overview of all, and an editor for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from nicegui import ui

from hushtable.hierarchy.spec import parse_hierarchy
from hushtable.studio.overviews import known_overviews, quasi_of
from hushtable.studio.pages.hierarchy_editor import Editor
from hushtable.studio.pages.layout import Page, needs, open_button
from hushtable.studio.pages.widgets import after_showing, attempted, card, text
from hushtable.studio.projects import Project
from hushtable.studio.texts import T

__all__ = ["build"]


async def build(page: Page, project: Project, wanted: str = "") -> None:
    """Build the page: the editor of the requested column, or the overview."""
    if project.profile is None:
        needs(project, T.NO_DATA, "data")
        return
    columns = project.document()["columns"]
    quasi = quasi_of(project.document())
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
