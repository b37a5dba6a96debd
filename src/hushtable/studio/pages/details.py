"""Rarely needed settings: which sensitive values are the worst, orders, outside knowledge, and the policy as text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from hushtable import registry
from hushtable.errors import PolicyError
from hushtable.policy.text import write_yaml
from hushtable.schema.columns import Kind, Role
from hushtable.studio.outline import outline_of, tree_of
from hushtable.studio.pages.file_field import file_field
from hushtable.studio.pages.forms import ParameterForm
from hushtable.studio.pages.layout import Page
from hushtable.studio.pages.widgets import once_left, text
from hushtable.studio.projects import Project
from hushtable.studio.texts import T
from hushtable.studio.uploads import OUTSIDE

__all__ = ["categories", "orders", "outside", "policy_text", "treatments"]

Again = Callable[[], Awaitable[None]]


def categories(page: Page, project: Project, again: Again) -> None:
    """Let the user mark the most sensitive values of a sensitive column."""
    columns = project.document()["columns"]
    wanted = [n for n, c in columns.items() if c.get("role") == Role.SENSITIVE and c.get("kind") != Kind.NUMERIC]
    if not wanted:
        return
    with ui.expansion(T.CATEGORIES, icon="low_priority").classes("ht-card"):
        text(T.CATEGORIES_TEXT)
        for place, name in enumerate(wanted):
            _outline(page, place, name, columns[name].get("categories") or {}, again)


def _outline(page: Page, place: int, name: str, have: dict[str, Any], again: Again) -> None:
    async def change() -> None:
        with page.kept(f"categories-{place}"):
            wanted = tree_of(area.value) if (area.value or "").strip() else None
            if wanted is not None and not (
                isinstance(wanted, dict) and all(isinstance(v, list) for v in wanted.values())
            ):
                raise PolicyError("Categories are groups of values.", hint="Indent the values below their group.")
            page.write(page.studio.set_column, name, {"categories": wanted})
            await again()

    area = (
        ui.textarea(f"{T.CATEGORIES}: {name}", value=outline_of(have) if have else "")
        .props("outlined autogrow")
        .style("width:100%")
        .classes("q-mb-md ht-mono")
    )
    once_left(area, change)


def orders(page: Page, project: Project, again: Again) -> None:
    """Let the user define an order of labels."""
    columns = project.document()["columns"]
    plain = (Kind.NOMINAL, Kind.ORDINAL, None)
    wanted = [n for n, c in columns.items() if c.get("role") in (Role.QUASI, Role.SENSITIVE) and c.get("kind") in plain]
    if not wanted:
        return
    with ui.expansion(T.ORDERS, icon="sort").classes("ht-card"):
        text(T.ORDERS_TEXT)
        for place, name in enumerate(wanted):
            _order(page, place, name, columns[name].get("order") or [], again)


def _order(page: Page, place: int, name: str, have: list[str], again: Again) -> None:
    async def change() -> None:
        values = [line.strip() for line in (area.value or "").splitlines() if line.strip()]
        kind = Kind.ORDINAL if values else Kind.NOMINAL
        with page.kept(f"order-{place}"):
            page.write(page.studio.set_column, name, {"kind": str(kind), "order": values or None})
            await again()

    area = ui.textarea(f"{T.ORDERS}: {name}", value="\n".join(have)).props("outlined autogrow").style("width:100%")
    once_left(area.classes("q-mb-md"), change)


def treatments(page: Page, project: Project, again: Again) -> None:
    """Let the user choose treatments that change values before records are grouped."""
    columns = project.document()["columns"]
    wanted = [n for n, c in columns.items() if Role(str(c.get("role"))).published]
    chosen = any(columns[name].get("treatment") for name in wanted)
    with ui.expansion(T.TREATMENTS, icon="shuffle", value=chosen).classes("ht-card"):
        text(T.TREATMENTS_TEXT)
        for place, name in enumerate(wanted):
            if not isinstance(columns[name].get("treatment"), list):  # several in order are for the policy's text
                _Treatment(page, place, name, columns[name], again)


class _Treatment:
    """The treatment of one column and its parameters."""

    def __init__(self, page: Page, place: int, name: str, settings: dict[str, Any], again: Again) -> None:
        self.page, self.place, self.name, self.again = page, place, name, again
        given = settings.get("treatment") or ""
        have, values = (given, {}) if isinstance(given, str) else next(iter(given.items()))
        role, kind = settings.get("role"), settings.get("kind")
        fits = [n for n, t in registry.treatments.items() if role in t.roles and (kind is None or kind in t.kinds)]
        options = {"": T.OUTSIDE_NONE, **{n: n for n in dict.fromkeys([*fits, *([have] if have else [])])}}
        ui.select(options, value=have, label=f"{T.TREATMENTS}: {name}", on_change=self._choose).props("outlined dense")
        self.box = ui.element("div").classes("q-mb-md")
        self.form: ParameterForm | None = None
        self._show(have, values or {})

    def _show(self, have: str, values: dict[str, Any]) -> None:
        self.box.clear()
        self.form = None
        if have:
            with self.box:
                self.form = ParameterForm(registry.treatments[have], values, self._changed)
                text(registry.treatments[have].promise)

    async def _choose(self, event: Any) -> None:
        self._show(event.value, {})
        await self._changed()

    async def _changed(self) -> None:
        with self.page.kept(f"treatment-{self.place}"):
            wanted = None if self.form is None else {self.form.known.name: self.form.values()}
            self.page.write(self.page.studio.set_column, self.name, {"treatment": wanted})
            await self.again()


def outside(page: Page, project: Project, again: Again) -> None:
    """Let the user name the tables that some models compare a release with."""
    document = project.document()
    known = document.get("background") or {}
    files = page.studio.files(project)
    sensitive = [n for n, c in document["columns"].items() if c.get("role") == Role.SENSITIVE]

    async def change(settings: dict[str, Any]) -> None:
        with page.kept("outside"):
            page.write(page.studio.set_settings, settings)
            await again()

    async def believed() -> None:
        if table.value and not on.value:
            return  # half of it; the column is asked for beside it
        said = {"file": table.value, "on": on.value, "probability": (share.value or "").strip() or "probability"}
        await change({"background": said if table.value else None})

    with ui.expansion(T.OUTSIDE, icon="travel_explore", value=bool(known or document.get("population"))).classes(
        "ht-card"
    ):
        text(T.OUTSIDE_TEXT)
        address = f"/api/projects/{project.id}/files/{{name}}"
        file_field(T.UPLOAD_LABEL, address, OUTSIDE, lambda name: ui.navigate.reload())
        options = {"": T.OUTSIDE_NONE, **{name: name.removeprefix("files/") for name in files}}
        with ui.element("div").classes("ht-cols q-mt-md"):
            ui.select(
                options,
                value=document.get("population") or "",
                label=T.POPULATION,
                on_change=lambda e: change({"population": e.value or None}),
            ).props(f'outlined dense bottom-slots hint="{T.POPULATION_HINT}"')
            table = ui.select(options, value=known.get("file", ""), label=T.BACKGROUND, on_change=believed)
            on = ui.select(sensitive, value=known.get("on"), label=T.BACKGROUND_ON, on_change=believed)
            share = ui.input(T.BACKGROUND_SHARE, value=known.get("probability", "probability"))
            once_left(share, believed)
            for made in (table, on, share):
                made.props("outlined dense")


def policy_text(page: Page, project: Project) -> None:
    """The whole policy as YAML, to read, edit and paste."""
    with ui.expansion(T.POLICY, icon="code").classes("ht-card") as part:
        text(T.POLICY_TEXT)
        with ui.element("div").props("data-unsaved=policy"):
            area = (
                ui.textarea(T.POLICY, value=write_yaml(project.document()))
                .props("outlined autogrow")
                .classes("ht-mono")
                .style("width:100%")
            )

        shown = {"text": area.value}

        def opened(open_now: bool) -> None:
            # what was chosen above since then belongs into the text, unless somebody is editing it
            if open_now and area.value == shown["text"]:
                shown["text"] = write_yaml(project.document())
                area.set_value(shown["text"])

        part.on_value_change(lambda e: opened(e.value))

        def save() -> None:
            with page.kept("policy"):
                page.write(page.studio.set_policy, area.value or "")
                ui.navigate.reload()

        late = "(...args) => setTimeout(() => emit(...args), 120)"
        made = ui.button(T.POLICY_SAVE, icon="save").props("no-caps outline").classes("q-mt-sm")
        made.on("click", save, js_handler=late)
