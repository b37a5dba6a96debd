"""Explore: the solutions that a search examined, the resulting classes, and several releases side by side."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import events, ui

from hushtable import registry
from hushtable.io.figures import number, share
from hushtable.studio import charts, views
from hushtable.studio.pages.layout import Page
from hushtable.studio.pages.widgets import attempted, card, html_table, note, picture, text
from hushtable.studio.projects import Project, Run, runs_of
from hushtable.studio.texts import T

_MOST = 300


async def build(page: Page, run: Run) -> None:
    """Build the page."""
    if run.facts["solutions"]:
        space = _Space(page, run)
        await space.show()
    else:
        note(T.NO_SPACE.format(next(iter(run.facts["summary"]["algorithm"]))))
    _partition(run)
    _frontier(run.project, run)


class _Space:
    """The lattice, with filters, selection and a button to apply a solution."""

    def __init__(self, page: Page, run: Run) -> None:
        self.page, self.run = page, run
        self.facts = run.facts
        self.picked: int | None = None
        self.allowed = int(run.policy.suppression * self.facts["summary"]["records"])
        self.nodes: list[dict[str, Any]] = []
        with card(T.SPACE):
            text(T.SPACE_TEXT)
            with ui.element("div").classes("ht-row"):
                self.fits = ui.checkbox(T.ONLY_FITS, value=False, on_change=lambda: self.show())
                self.limits: dict[str, Any] = {}
                for j, (name, height) in enumerate(zip(self.facts["quasi"], self.facts["heights"], strict=True)):
                    levels = {h: f"{h}: {views.level_name(self.facts, j, h)}" for h in range(height + 1)}
                    self.limits[name] = (
                        ui.select(levels, value=height, label=T.LEVEL_OF.format(name), on_change=lambda: self.show())
                        .props("options-dense")
                        .style("min-width:150px")
                    )
            self.count = text("", "p", "ht-soft").props("role=status")
            self.chart = ui.element("div")
            self.detail = ui.element("div").props("role=region aria-live=polite").props(f'aria-label="{T.CHOSEN}"')

    async def show(self) -> None:
        """Draw the solutions that pass the filters."""
        found = await asyncio.to_thread(
            views.solutions,
            self.run,
            {name: field.value for name, field in self.limits.items()},
            self.fits.value,
            _MOST,
        )
        self.nodes, total = found
        self.picked = None
        self.count.set_text(T.MOST_SHOWN.format(shown=len(self.nodes), total=total))
        self._draw()

    def _draw(self) -> None:
        self.chart.clear()
        self.detail.clear()
        if not self.nodes:
            return
        own = tuple(self.facts["levels"] or ())
        current = next((i for i, node in enumerate(self.nodes) if tuple(node["levels"]) == own), None)
        pick = "const n = e.target.closest('[data-pick]'); if (n) emit(Number(n.dataset.pick));"
        with self.chart:
            limit = (self.allowed, T.ALLOWED.format(self.allowed)) if self.allowed else None
            drawn = picture(
                charts.lattice(self.nodes, T.SPACE, T.SPACE_AXES, limit=limit, picked=self.picked, current=current)
            )
            drawn.on("click", self._pick, js_handler=f"(e) => {{ {pick} }}")
            keys = f"(e) => {{ if (e.key === 'Enter' || e.key === ' ') {{ e.preventDefault(); {pick} }} }}"
            drawn.on("keydown", self._pick, js_handler=keys)
        if self.picked is not None:
            with self.detail:
                self._tell(self.nodes[self.picked])

    def _pick(self, event: events.GenericEventArguments) -> None:
        place = event.args
        if isinstance(place, int) and 0 <= place < len(self.nodes):
            self.picked = place
            self._draw()

    def _tell(self, node: dict[str, Any]) -> None:
        with ui.element("div").classes("ht-note"):
            text(T.CHOSEN, "h3", "")
            rows = [
                [name, str(level), views.level_name(self.facts, j, level)]
                for j, (name, level) in enumerate(zip(self.facts["quasi"], node["levels"], strict=True))
            ]
            html_table(["column", "level", "values appear"], rows, caption=T.CHOSEN, numbers=(1,))
            text(node["words"].rsplit(": ", 1)[-1].capitalize() + ".", "p", "ht-text q-mt-sm")
            if node["fits"]:
                ui.button(T.APPLY, icon="check", on_click=lambda: self._apply(node))
            else:
                text(T.DOES_NOT_FIT, "p", "ht-bad")

    async def _apply(self, node: dict[str, Any]) -> None:
        levels = dict(zip(self.facts["quasi"], node["levels"], strict=True))
        with attempted():
            await asyncio.to_thread(self.page.studio.apply, self.run.project, self.run.number, levels)
            ui.notify(T.APPLIED, type="positive")
            ui.navigate.to(f"/p/{self.run.project.id}/run")


def _partition(run: Run) -> None:
    facts = run.facts
    with card(T.PARTITION):
        text(T.PARTITION_TEXT)
        text(T.SIZES, "h3", "")
        picture(charts.sizes(facts["size_counts"], T.SIZES, T.SIZES_AXES))
    if len(facts["quasi"]) < 2 or not views.boxes_of(run, 0, 1, 1):
        return
    with card(T.MAP):
        text(T.MAP_TEXT)
        names = dict(enumerate(facts["quasi"]))
        box = ui.element("div")

        def draw() -> None:
            one, two = int(across.value), int(up.value)
            box.clear()
            with box:
                shown = views.boxes_of(run, one, two)
                domains = (facts["domains"][one], facts["domains"][two])
                marks = (facts["marks"][one], facts["marks"][two]) if "marks" in facts else ((), ())
                picture(charts.partition_map(shown, domains, (names[one], names[two]), marks, T.MAP))

        with ui.element("div").classes("ht-row"):
            # the two columns with the most values show the most
            widest = sorted(range(len(names)), key=lambda j: -facts["domains"][j])[:2]
            across = ui.select(names, value=widest[0], label=T.ACROSS, on_change=draw)
            up = ui.select(names, value=widest[1], label=T.UP, on_change=draw)
        box.move(target_index=-1)
        draw()


def _frontier(project: Project, current: Run) -> None:
    runs = [run.facts for run in runs_of(project)]
    with card(T.FRONTIER):
        text(T.FRONTIER_TEXT if len(runs) > 1 else T.FRONTIER_ONE)
        lost = [
            name
            for name in runs[0]["summary"]["measures"]
            if registry.measures[name].better == "lower"
            and all(r["summary"]["measures"].get(name) is not None for r in runs)
        ]
        if not lost:
            note(T.NONE_YET)
            return
        box = ui.element("div")

        def draw() -> None:
            name = str(measure.value)
            box.clear()
            points = [(r["number"], 1 / max(r["size_counts"][0][0], 1), r["summary"]["measures"][name]) for r in runs]
            with box:
                if len(points) > 1:
                    picture(charts.frontier(points, T.FRONTIER, (T.RISK_AXIS, name), [current.number]))
                rows = [[n, share(risk), number(loss)] for n, risk, loss in points]
                html_table([T.WHICH, T.RISK_AXIS, name], rows, caption=T.FRONTIER, numbers=(1, 2))

        options = {name: name for name in lost}
        # a share of what could be lost reads better than a number without an end
        first = next((n for n in lost if all(r["summary"]["measures"][n] <= 1 for r in runs)), lost[0])
        measure = (
            ui.select(options, value=first, label=T.MEASURE, on_change=draw).classes("q-mb-md").style("max-width:360px")
        )
        box.move(target_index=-1)
        draw()
