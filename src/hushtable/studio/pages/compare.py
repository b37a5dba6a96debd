"""Compare: the release, on request with the user's original rows; distributions; classes and their rows."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from hushtable.io.figures import number
from hushtable.report.content import ColumnEvidence
from hushtable.report.page.utility import column_charts
from hushtable.schema.columns import Role
from hushtable.studio import views
from hushtable.studio.pages.layout import Page
from hushtable.studio.pages.widgets import after_showing, card, html_table, pager, picture, text
from hushtable.studio.projects import Run
from hushtable.studio.texts import ROLES, T
from hushtable.studio.theme import shade

_CLASSES = 10
_ROWS = 12
_CHARTS = 6


async def build(page: Page, run: Run) -> None:
    """Build the page."""
    rows = _Rows(run)
    await rows.everything()
    await _classes(run, rows)
    _distributions(run)


class _Rows:
    """Published rows, colored, with the original on request."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.first, self.total = 0, run.facts["rows"]
        with card(T.COMPARE_TITLE) as self.card:
            text(T.COMPARE_TEXT)
            with ui.element("div").classes("ht-row ht-legend"):
                for step, words in enumerate(T.SHADES):
                    text(words, "span", "").style(shade(step / 5 - 0.1))
            with ui.element("div").classes("ht-row"):
                self.original = ui.checkbox(T.ORIGINAL, value=False, on_change=lambda: self._again())
                text(T.ORIGINAL_TEXT, "span", "ht-soft")
            self.what = text("", "h3", "").props("role=status")
            self.back = ui.button(T.ALL_ROWS, on_click=lambda: self.everything()).props("flat dense")
            self.table = ui.element("div")
            self.foot = ui.element("div")

    async def everything(self) -> None:
        """Show all rows."""
        self.what.set_text("")
        self.back.set_visibility(False)
        await self._span(0, self.run.facts["rows"])

    async def of_class(self, place: int, first: int, size: int) -> None:
        """Show the rows of one class."""
        self.what.set_text(T.CLASS_ROWS.format(size, place + 1))
        self.back.set_visibility(True)
        await self._span(first, size)
        ui.run_javascript(f"getHtmlElement({self.card.id}).scrollIntoView({{block: 'start'}})")

    async def _span(self, first: int, total: int) -> None:
        self.first, self.total = first, total
        self.foot.clear()
        with self.foot:
            self.go = pager(total, self._show, size=_ROWS)
        await self.go(0)

    async def _again(self) -> None:
        await self.go(0)

    async def _show(self, offset: int, size: int) -> None:
        limit = min(size, self.total - offset)
        found = await asyncio.to_thread(
            views.rows_page, self.run, self.first + offset, limit, original=bool(self.original.value)
        )
        columns, rows, styles, kinds = _beside(found) if "original" in found else _alone(found)
        self.table.clear()
        with self.table:
            html_table(columns, rows, caption=T.COMPARE_TITLE, styles=styles, kinds=kinds)


def _styles(found: dict[str, Any], columns: list[str]) -> list[list[str]]:
    place = {name: j for j, name in enumerate(found["quasi"])}
    return [[shade(row[place[name]]) if name in place else "" for name in columns] for row in found["shades"]]


def _alone(found: dict[str, Any]) -> tuple[list[str], list[list[Any]], list[list[str]], list[str]]:
    return found["columns"], found["rows"], _styles(found, found["columns"]), [""] * len(found["rows"])


def _beside(found: dict[str, Any]) -> tuple[list[str], list[list[Any]], list[list[str]], list[str]]:
    """Return the original row above each published one."""
    own = {name: i for i, name in enumerate(found["original_columns"])}
    columns = found["columns"]
    rows: list[list[Any]] = []
    styles: list[list[str]] = []
    kinds: list[str] = []
    for row, before, style in zip(found["rows"], found["original"], _styles(found, columns), strict=True):
        rows += [[T.AS_WAS, *(before[own[c]] if c in own else "" for c in columns)], [T.AS_IS, *row]]
        styles += [[""] * (len(columns) + 1), ["", *style]]
        kinds += ["own", ""]
    return ["", *columns], rows, styles, kinds


async def _classes(run: Run, rows: _Rows) -> None:
    facts = run.facts
    with card(T.CLASSES):
        text(T.PARTITION_TEXT)
        table = ui.element("div")
        choose = ui.element("div").classes("ht-row")

        async def show(first: int, size: int) -> None:
            found = await asyncio.to_thread(views.classes_page, run, first, size)
            people = found["columns"].index("people")
            lines = [
                [first + i + 1, *row[:people], *(number(float(v)) if v is not None else None for v in row[people:])]
                for i, row in enumerate(found["rows"])
            ]
            table.clear()
            with table:
                numbers = (0, *range(people + 1, len(found["columns"]) + 1))
                html_table(["class", *found["columns"]], lines, caption=T.CLASSES, numbers=numbers)
            choose.clear()
            with choose:
                text(T.SHOW_CLASS, "span", "ht-soft")
                for i, (begin, n) in enumerate(zip(found["first"], found["sizes"], strict=True)):
                    ui.button(
                        str(first + i + 1), on_click=lambda p=first + i, b=begin, n=n: rows.of_class(p, b, n)
                    ).props(f'flat dense aria-label="{T.SHOW_CLASS}: {first + i + 1}"')

        await pager(facts["classes"], show, size=_CLASSES)(0)


def _distributions(run: Run) -> None:
    """The report's charts: before and after on one scale, the columns with the largest loss first."""
    facts = run.facts
    found = [ColumnEvidence(**column) for column in facts.get("columns", ())]
    drawn = sorted((c for c in found if c.bars), key=lambda c: -(c.covered or 0.0))
    if not drawn:
        return
    with card(T.DISTRIBUTIONS):
        text(T.DISTRIBUTIONS_TEXT)
        options = {"": T.ALL_COLUMNS, **{c.name: f"{c.name} ({ROLES[Role(c.role)][0].lower()})" for c in drawn}}
        column = ui.select(options, value="", label=T.COLUMN, with_input=True)
        column.style("max-width:420px")
        box = ui.element("div").classes("ht-pairs q-mt-md")

        async def show(first: int, size: int) -> None:
            chosen = [c for c in drawn if c.name == column.value] or drawn[first : first + size]
            box.clear()
            with box:
                for one in chosen:
                    picture(column_charts(one, counterfeits=bool(facts.get("counterfeits"))))

        go = pager(len(drawn), show, size=_CHARTS, words=T.COLUMNS_OF)
        column.on_value_change(lambda: go(0))
        after_showing(lambda: go(0))
