"""Protect: the models, the algorithm, and whether the models can be satisfied, checked before a run."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from hushtable import registry
from hushtable.errors import HushtableError
from hushtable.release.forms.base import DEFAULT_FORM, build_form
from hushtable.schema.columns import Missing, Role
from hushtable.studio.explanations import explanation, summary
from hushtable.studio.pages.details import categories, orders, outside, policy_text, treatments
from hushtable.studio.pages.forms import ParameterForm
from hushtable.studio.pages.layout import Page, needs
from hushtable.studio.pages.widgets import after_showing, attempted, card, html_table, note, once_left, problems, text
from hushtable.studio.projects import Project
from hushtable.studio.texts import CELLS, MISSING, T

__all__ = ["build"]


async def build(page: Page, project: Project) -> None:
    """Build the page."""
    if project.profile is None:
        needs(project, T.NO_DATA, "data")
        return
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


def _sensitive(project: Project) -> list[str]:
    return [n for n, c in project.document()["columns"].items() if c.get("role") == Role.SENSITIVE]


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
        known = self._known()
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

    def _known(self) -> dict[str, Any] | None:
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
        rows = [
            [m["model"], ", ".join(f"{k} = {v}" for k, v in m["parameters"].items()), T.CAN_HOLD[m["feasible"]]]
            for m in found["models"]
        ]
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
            options = {name: f"{name}: {summary(known)}" for name, known in registry.models.items()}
            with ui.element("div").classes("ht-row q-mt-sm"):
                self.choice = (
                    ui.select(options, label=T.ADD_MODEL, with_input=True, on_change=lambda: self._explain())
                    .props("outlined dense options-dense clearable")
                    .classes("grow")
                )
                ui.button(T.ADD_MODEL, icon="add", on_click=self._add).props("no-caps outline")
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
                text(summary(known), "div", "ht-soft")
            ui.button(T.REMOVE, icon="close", on_click=lambda: self._remove(place)).props(
                f'flat no-caps aria-label="{T.REMOVE}: {name}"'
            )
        self.forms.append(ParameterForm(known, values, self._changed, columns=_sensitive(self.project)))
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
        options = {name: f"{name}: {summary(known)}" for name, known in registry.algorithms.items()}
        ((name, _),) = self._chosen().items()
        with card(T.ALGORITHM):
            text(T.ALGORITHM_TEXT)
            ui.select(options, value=name, label=T.ALGORITHM, on_change=lambda e: self._choose(e.value)).props(
                "outlined dense options-dense"
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
        ).props(f'outlined dense bottom-slots hint="{T.SUPPRESSION_HINT}"')
        once_left(suppression, lambda: change("suppression", float(suppression.value or 0) / 100))
        ui.select(
            {str(m): MISSING[m] for m in Missing},
            value=document.get("missing", str(Missing.OWN_CATEGORY)),
            label=T.MISSING,
            on_change=lambda e: change("missing", e.value),
        ).props("outlined dense")
        ui.select(
            CELLS,
            value=build_form(document.get("cells", DEFAULT_FORM)).name,
            label=T.CELLS,
            on_change=lambda e: change("cells", e.value),
        ).props("outlined dense")
        identifiers = [n for n, c in document["columns"].items() if c.get("role") == Role.IDENTIFIER]
        ui.select(
            {"": T.ENTITY_NONE, **{n: n for n in identifiers}},
            value=document.get("entity") or "",
            label=T.ENTITY,
            on_change=lambda e: change("entity", e.value or None),
        ).props(f'outlined dense bottom-slots hint="{T.ENTITY_HINT}"')
        output = document.get("output") or {}
        ui.select(
            {"csv": "CSV", "spreadsheet": T.FOR_SPREADSHEETS, "parquet": "Parquet"},
            value="spreadsheet" if output.get("reader") == "spreadsheet" else output.get("format", "csv"),
            label=T.FORMAT,
            on_change=lambda e: change(
                "output", {"reader": e.value} if e.value == "spreadsheet" else {"format": e.value}
            ),
        ).props("outlined dense")
        seed = ui.number(T.SEED, value=document.get("seed", 0), min=0, step=1, precision=0).props(
            f'outlined dense bottom-slots hint="{T.SEED_HINT}"'
        )
        once_left(seed, lambda: change("seed", int(seed.value or 0)))
        tokens = ui.input(T.TOKENS, value=", ".join(document.get("missing_values", []))).props("outlined dense")
        once_left(tokens, lambda: change("missing_values", _words(tokens.value) or None))


def _words(given: str) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in (given or "").split(",") if word.strip()))
