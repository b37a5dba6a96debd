"""Protect: the models, the algorithm, and whether the models can be satisfied, checked before a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from hushtable import registry
from hushtable.about import explanation, summary_of
from hushtable.errors import HushtableError, PolicyError
from hushtable.policy.text import write_yaml
from hushtable.release.forms.base import DEFAULT_FORM, build_form
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.studio.outline import outline_of, tree_of
from hushtable.studio.pages.forms import ParameterForm
from hushtable.studio.pages.layout import Page
from hushtable.studio.pages.widgets import (
    after_showing,
    attempted,
    card,
    file_field,
    html_table,
    in_one_line,
    note,
    once_left,
    problems,
    text,
)
from hushtable.studio.projects import Project
from hushtable.studio.texts import CELLS, MISSING, T
from hushtable.studio.uploads import OUTSIDE
from hushtable.studio.views import named


async def build(page: Page, project: Project) -> None:
    """Build the page."""
    text(T.PROTECT_TEXT)
    panel = _Feasibility(page, project)
    _Models(page, project, panel)
    _Algorithm(page, project, panel)
    _settings(page, project, panel)
    categories(page, project, panel.look)
    orders(page, project, panel.look)
    treatments(page, project, panel.look)
    outside(page, project, panel.look)
    policy_text(page, project)
    panel.box.move(target_index=-1)
    after_showing(panel.look)


class _Feasibility:
    """Problems that prevent a run, checked again after every change."""

    def __init__(self, page: Page, project: Project) -> None:
        self.page, self.project = page, project
        self.box = ui.element("section").classes("ht-card")
        with self.box:
            text(T.FEASIBLE, "h2", "")
            self.inner = ui.element("div")
            with self.inner:
                text(T.CHECKING, "p", "ht-soft").props("role=status")
        self._turn = 0

    async def look(self) -> None:
        """Check the policy against the table."""
        self._turn += 1
        turn = self._turn
        faults = self.page.studio.faults(self.project)
        self.inner.clear()
        if faults:
            with self.inner:
                problems(faults, T.FEASIBLE_BAD)
            return
        known = self._last_check()
        if known is not None:
            with self.inner:
                self._tell(known, None)
            return
        with self.inner:
            text(T.CHECKING, "p", "ht-soft").props("role=status")
        try:
            job = await asyncio.to_thread(self.page.studio.check, self.project)
        except HushtableError as error:
            self.inner.clear()
            with self.inner:
                note(str(error), "bad")
            return
        over = await self.page.studio.jobs.ended(job.id)
        if turn == self._turn:
            self.inner.clear()
            with self.inner:
                self._tell(over.result, over.error)
            self.page.show_steps()

    def _last_check(self) -> dict[str, Any] | None:
        """Return the findings of the last check if nothing has changed since; other files of the project may have."""
        last = self.page.studio.job_of(self.project, "check")
        found: dict[str, Any] | None = last.result if last is not None and last.state == "done" else None
        if found is None or self.page.studio.files(self.project):
            return None
        return found if found["revision"] == self.project.revision() else None

    def _tell(self, found: dict[str, Any] | None, error: Any) -> None:
        if found is None:
            note((error or {}).get("message", T.FAILED), "bad")
            return
        if found["ok"]:
            note(T.FEASIBLE_OK, "good")
        else:
            problems(found["problems"], T.FEASIBLE_BAD)
        for caution in found.get("warnings", ()):
            note(f"{caution['where']}: {caution['message']} {caution['hint']}", "warn")
        rows = [[m["model"], in_one_line(m["parameters"]), T.CAN_HOLD[m["feasible"]]] for m in found["models"]]
        html_table(["model", "parameters", "can it hold?"], rows, caption=T.FEASIBLE)
        if found["lattice"]:
            text(T.COMBINATIONS.format(found["lattice"]), "p", "ht-soft q-mt-sm")


class _Models:
    """The chosen models, each with its fields."""

    def __init__(self, page: Page, project: Project, panel: _Feasibility) -> None:
        self.page, self.project, self.panel = page, project, panel
        self.forms: list[ParameterForm] = []
        with card(T.MODELS):
            self.box = ui.element("div")
            options = {name: f"{name}: {summary_of(known)}" for name, known in registry.models.items()}
            with ui.element("div").classes("ht-row q-mt-sm"):
                self.choice = (
                    ui.select(options, label=T.ADD_MODEL, with_input=True, on_change=lambda: self._explain())
                    .props("options-dense clearable")
                    .classes("grow")
                )
                ui.button(T.ADD_MODEL, icon="add", on_click=self._add).props("outline")
            self.words = ui.element("div")
        self._show()

    def _explain(self) -> None:
        self.words.clear()
        if self.choice.value:
            with self.words:
                text(explanation(registry.models[self.choice.value]), "p", "ht-text ht-soft q-mt-sm")

    def _show(self) -> None:
        self.box.clear()
        self.forms = []
        with self.box:
            for place, chosen in enumerate(self.project.document().get("models", [])):
                ((name, values),) = chosen.items()
                with ui.element("div").style("border-top:1px solid var(--line);padding:10px 0"):
                    self._model(place, name, values or {})

    def _model(self, place: int, name: str, values: dict[str, Any]) -> None:
        known = registry.models[name]
        with ui.element("div").classes("ht-row"):
            with ui.element("div").classes("grow"):
                text(name, "h3", "")
                text(summary_of(known), "div", "ht-soft")
            ui.button(T.REMOVE, icon="close", on_click=lambda: self._remove(place)).props(
                f'flat aria-label="{T.REMOVE}: {name}"'
            )
        self.forms.append(
            ParameterForm(known, values, self._changed, columns=named(self.project.document(), Role.SENSITIVE))
        )
        with ui.expansion(T.MORE).props("dense"):
            text(explanation(known), "div", "ht-text").style("white-space:pre-line")

    async def _changed(self) -> None:
        with self.page.kept("models"):
            chosen = [{form.known.name: form.values()} for form in self.forms]
            self.page.write(self.page.studio.set_models, chosen)
            await self.panel.look()

    async def _remove(self, place: int) -> None:
        chosen = self.project.document()["models"]
        with attempted():
            self.page.write(self.page.studio.set_models, [m for i, m in enumerate(chosen) if i != place])
        self._show()
        await self.panel.look()

    async def _add(self) -> None:
        if not self.choice.value:
            return
        known = registry.models[self.choice.value]
        with attempted():
            have = self.project.document().get("models", [])
            self.page.write(self.page.studio.set_models, [*have, {known.name: _usual(known)}])
            self.choice.set_value(None)
            self._show()
            await self.panel.look()


_GUESSES: tuple[Any, ...] = (2, 1, 0.5, 0.2, "", [], {})


def _usual(known: Any) -> dict[str, Any]:
    """Initial values: the smallest that each required parameter takes; the user changes them."""
    found: dict[str, Any] = {}
    for param in known.params():
        if not param.required:
            continue
        for guess in _GUESSES:
            try:
                found[param.name] = param.coerce(guess, known.__name__)
            except HushtableError:
                continue
            break
    return found


class _Algorithm:
    """The algorithm and its fields."""

    def __init__(self, page: Page, project: Project, panel: _Feasibility) -> None:
        self.page, self.project, self.panel = page, project, panel
        options = {name: f"{name}: {summary_of(known)}" for name, known in registry.algorithms.items()}
        ((name, _),) = self._chosen().items()
        with card(T.ALGORITHM):
            text(T.ALGORITHM_TEXT)
            ui.select(options, value=name, label=T.ALGORITHM, on_change=lambda e: self._choose(e.value)).props(
                "options-dense"
            ).style("width:100%")
            self.box = ui.element("div").classes("q-mt-sm")
        self._show()

    def _chosen(self) -> dict[str, Any]:
        found: dict[str, Any] = self.project.document().get("algorithm") or {next(iter(registry.algorithms)): {}}
        return found

    def _show(self) -> None:
        ((name, values),) = self._chosen().items()
        self.box.clear()
        with self.box:
            self.form = ParameterForm(registry.algorithms[name], values or {}, self._changed)
            with ui.expansion(T.MORE).props("dense"):
                text(explanation(registry.algorithms[name]), "div", "ht-text").style("white-space:pre-line")

    async def _choose(self, name: str) -> None:
        with attempted():
            self.page.write(self.page.studio.set_algorithm, {name: {}})
            self._show()
            await self.panel.look()

    async def _changed(self) -> None:
        with self.page.kept("algorithm"):
            self.page.write(self.page.studio.set_algorithm, {self.form.known.name: self.form.values()})
            await self.panel.look()


def _settings(page: Page, project: Project, panel: _Feasibility) -> None:
    document = project.document()

    async def change(name: str, value: Any) -> None:
        with page.kept(name):
            page.write(page.studio.set_settings, {name: value})
            await panel.look()

    with card(T.SETTINGS), ui.element("div").classes("ht-cols"):
        suppression = ui.number(
            T.SUPPRESSION, value=round(100 * document.get("suppression", 0.0), 6), min=0, max=100, step=1
        ).props(f'bottom-slots hint="{T.SUPPRESSION_HINT}"')
        once_left(suppression, lambda: change("suppression", float(suppression.value or 0) / 100))
        ui.select(
            {str(m): MISSING[m] for m in Missing},
            value=document.get("missing", str(Missing.OWN_CATEGORY)),
            label=T.MISSING,
            on_change=lambda e: change("missing", e.value),
        )
        ui.select(
            CELLS,
            value=build_form(document.get("cells", DEFAULT_FORM)).name,
            label=T.CELLS,
            on_change=lambda e: change("cells", e.value),
        )
        identifiers = named(document, Role.IDENTIFIER)
        ui.select(
            {"": T.ENTITY_NONE, **{n: n for n in identifiers}},
            value=document.get("entity") or "",
            label=T.ENTITY,
            on_change=lambda e: change("entity", e.value or None),
        ).props(f'bottom-slots hint="{T.ENTITY_HINT}"')
        output = document.get("output") or {}
        ui.select(
            {"csv": "CSV", "spreadsheet": T.FOR_SPREADSHEETS, "parquet": "Parquet"},
            value="spreadsheet" if output.get("reader") == "spreadsheet" else output.get("format", "csv"),
            label=T.FORMAT,
            on_change=lambda e: change(
                "output", {"reader": e.value} if e.value == "spreadsheet" else {"format": e.value}
            ),
        )
        seed = ui.number(T.SEED, value=document.get("seed", 0), min=0, step=1, precision=0).props(
            f'bottom-slots hint="{T.SEED_HINT}"'
        )
        once_left(seed, lambda: change("seed", int(seed.value or 0)))
        tokens = ui.input(T.TOKENS, value=", ".join(document.get("missing_values", [])))
        once_left(tokens, lambda: change("missing_values", _words(tokens.value) or None))


def _words(given: str) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in (given or "").split(",") if word.strip()))


# Rarely needed settings: which sensitive values are the worst, orders, outside knowledge, and the policy as text.


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
        ui.select(options, value=have, label=f"{T.TREATMENTS}: {name}", on_change=self._choose)
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
    sensitive = named(document, Role.SENSITIVE)

    async def change(settings: dict[str, Any]) -> None:
        with page.kept("outside"):
            page.write(page.studio.set_settings, settings)
            await again()

    async def believed() -> None:
        if table.value and not on.value:
            return  # half of it; the column is asked for next to it
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
            ).props(f'bottom-slots hint="{T.POPULATION_HINT}"')
            table = ui.select(options, value=known.get("file", ""), label=T.BACKGROUND, on_change=believed)
            on = ui.select(sensitive, value=known.get("on"), label=T.BACKGROUND_ON, on_change=believed)
            share = ui.input(T.BACKGROUND_SHARE, value=known.get("probability", "probability"))
            once_left(share, believed)


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
        made = ui.button(T.POLICY_SAVE, icon="save").props("outline").classes("q-mt-sm")
        made.on("click", save, js_handler=late)
