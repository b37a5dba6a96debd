"""Run: make releases, watch them, cancel them, and keep several."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from hushtable import registry
from hushtable.about import summary_of
from hushtable.comparison.outcomes import Outcomes
from hushtable.errors import HushtableError, ParameterError, counted
from hushtable.io.figures import number, share
from hushtable.release.verify import needed_and_achieved
from hushtable.studio import charts
from hushtable.studio.comparing import suggested
from hushtable.studio.jobs import Job
from hushtable.studio.pages.forms import field_text, parse_field
from hushtable.studio.pages.layout import Page, needs
from hushtable.studio.pages.widgets import (
    attempted,
    card,
    failed,
    html_table,
    in_one_line,
    note,
    picture,
    problems,
    sure,
    text,
    watch,
    why_not_done,
)
from hushtable.studio.projects import Project, Run, runs_of
from hushtable.studio.texts import STATES, STEPS, T

_TONES = {"useful": "good", "coarse": "warn", "nearly empty": "bad"}


async def build(page: Page, project: Project) -> None:
    """Build the page."""
    if project.profile is None and not project.linked:
        needs(project, T.NO_DATA, "data")
        return
    studio = page.studio
    text(T.RUN_TEXT)
    faults = studio.faults(project)
    if faults:
        problems(faults, T.BLOCKED)
    # as high while it runs as before and after: what stands below it does not move when a run ends
    with card() as box:
        box.classes("ht-run")
        busy = studio.busy(project, "run")
        ended = ui.element("div")
        place = ui.element("div")

        def over(job: Job) -> None:
            with ended:
                if job.state == "done":
                    note(T.RUN_DONE.format((job.result or {}).get("run")), "good")
                else:
                    failed(job)
            start.set_visibility(True)
            changed()

        async def begin() -> None:
            ended.clear()
            with attempted():
                # another tab may have begun one; that is the one to watch
                other = studio.busy(project, "run")
                job = other if other is not None else await asyncio.to_thread(studio.run, project, seen=page.revision)
                start.set_visibility(False)
                with place:
                    watch(studio, job, over, cancel=T.STOP)

        start = ui.button(T.START, icon="play_arrow", on_click=begin)
        if faults:
            start.disable()
        if busy is not None:
            start.set_visibility(False)
            with place:
                watch(studio, busy, over, cancel=T.STOP)
    if not project.linked:
        trials(page, project)
    changed = _listed(page, project, ended)


def _listed(page: Page, project: Project, ended: ui.element) -> Callable[[], Any]:
    """List the releases and the runs without one; return a function that refreshes the list."""

    def changed() -> None:
        listed.refresh()
        page.show_steps()

    def deleted() -> None:
        ended.clear()  # it may speak of what is gone
        changed()

    @ui.refreshable
    def listed() -> None:
        kept = runs_of(project)
        if kept:
            with card(T.RUNS):
                for run in reversed(kept):
                    _line(project, run, deleted)
        ran = page.studio.jobs.store.jobs(project.id, kinds=("run",))
        lost = [j for j in ran if j.over and j.state != "done"]
        if lost:
            with card(T.NOT_RUN):
                rows = [[STATES[j.state], *why_not_done(j)] for j in lost[:5]]
                html_table(["outcome", "reason", "remedy"], rows, caption=T.NOT_RUN)

    listed()
    return changed


def _line(project: Project, run: Run, deleted: Callable[[], Any]) -> None:
    """The card of a release: its summary, then its models."""
    summary = run.facts["summary"]
    with ui.element("div").classes("ht-release"):
        _heading(project, run, deleted)
        _verdict(run)
        rows = [
            [
                m["model"],
                in_one_line(m["parameters"]),
                *needed_and_achieved(m, number),
            ]
            for m in summary["models"]
        ]
        html_table(["model", "parameters", "needed", "achieved"], rows, caption=T.MODELS, numbers=(3,))


def _verdict(run: Run) -> None:
    """What the release is still good for, which settings cost most, and what is not protected."""
    found = run.facts.get("verdict")
    if found is not None:
        note(found["words"], _TONES[found["grade"]])
        if found["changes"]:
            with ui.expansion(T.PRICES).props("dense"):
                rows = [
                    [change["what"], *(_step(change, name) for name in ("ncp", "query_error")), change["setting"]]
                    for change in found["changes"]
                ]
                html_table(T.PRICE_COLUMNS, rows, caption=T.PRICES)
    for caution in run.facts.get("warnings") or ():
        note(caution, "warn")


def _step(change: Mapping[str, Any], name: str) -> str:
    before, after = change["before"][name], change["after"][name]
    return "" if before is None or after is None else f"{share(before)} → {share(after)}"


def _heading(project: Project, run: Run, deleted: Callable[[], Any]) -> None:
    facts = run.facts
    summary = facts["summary"]

    def delete() -> None:
        with attempted():
            run.delete()
        deleted()

    at = f"/p/{project.id}/{{}}?run={run.number}"
    with ui.element("div").classes("ht-row"):
        with ui.element("div").classes("grow"):
            text(f"{T.RUN_NAME.format(run.number)}: {next(iter(summary['algorithm']))}", "h3", "")
            left_out = share(summary["suppressed"] / max(summary["records"], 1))
            text(
                f"{summary['released']:,} of {counted(summary['records'], 'record', 'records')} in "
                f"{counted(summary['classes'], 'class', 'classes')}; "
                f"{left_out} suppressed; {facts['seconds']:.1f} s",
                "div",
                "ht-soft",
            )
        text(f"✓ {T.VERIFIED}", "span", "ht-good")
        for step in ("explore", "compare", "attack", "export"):
            ui.link(STEPS[step][0], at.format(step)).classes("ht-link")
        ask = T.DELETE_RUN.format(run.number)
        ui.button(icon="delete", on_click=lambda: sure(ask, T.DELETE, delete)).props(
            f'flat dense aria-label="{T.DELETE_RELEASE.format(run.number)}"'
        )


# Part of Run: several settings side by side on the user's own table, one of which can be chosen.


_LEFT_OUT = 0.05
"""Additional suppression limit that a comparison tries."""


def trials(page: Page, project: Project) -> None:
    """Build the part; it is open if there is something to see."""
    studio = page.studio

    @ui.refreshable
    def comparison() -> None:
        busy, last = studio.busy(project, "compare"), studio.job_of(project, "compare")
        if busy is not None:
            watch(studio, busy, lambda job: comparison.refresh(), cancel=T.TRIALS_STOP)
            return
        if studio.faults(project):
            text(T.BLOCKED, "p", "ht-soft")
            return
        _Form(page, project, (last.arguments.get("grid") or {}) if last is not None else {}, comparison.refresh)
        if last is not None and last.state in ("failed", "cancelled", "interrupted"):
            failed(last)
            text(T.TRIALS_KEPT, "p", "ht-soft")
        found = studio.compared(project)
        if found is not None:
            _found(page, project, found)

    tried = studio.job_of(project, "compare") is not None or studio.compared(project) is not None
    with ui.expansion(T.TRIALS, icon="balance", value=tried).classes("ht-card"):
        text(T.TRIALS_TEXT)
        comparison()


class _Form:
    """The lists of values to try: one for algorithms, one for each number of a model, one for suppression limits."""

    def __init__(self, page: Page, project: Project, tried: Mapping[str, Any], begun: Callable[[], Any]) -> None:
        self.page, self.project, self.begun = page, project, begun
        document = project.document()
        ((algorithm, self.parameters),) = document["algorithm"].items()
        self.own = algorithm
        options = {name: f"{name}: {summary_of(known)}" for name, known in registry.algorithms.items()}
        with ui.element("div").props("data-unsaved=trials"):
            self._lists(tried, options, document)
        self.place = ui.element("div").classes("q-mt-lg q-mb-md")
        with self.place:
            ui.button(T.TRIALS_START, icon="balance", on_click=self._start).props("outline")

    def _lists(self, tried: Mapping[str, Any], options: Mapping[str, str], document: Mapping[str, Any]) -> None:
        before = [dict(choice) for choice in (tried.get("models") or [[]])[0]]
        self.algorithms = (
            ui.select({**options}, multiple=True, value=_names(tried) or [self.own], label=T.TRIALS_ALGORITHMS)
            .props("options-dense use-chips")
            .classes("q-mb-sm")
            .style("width:100%")
        )
        self.models: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        with ui.element("div").classes("ht-cols"):
            for place, chosen in enumerate(document["models"]):
                ((name, values),) = chosen.items()
                again = before[place].get(name, {}) if place < len(before) else {}
                # the first number of the first model is what most people want to see a range of
                fields = {
                    p.name: self._list(
                        name,
                        p,
                        again.get(p.name) or (_range(p, values[p.name]) if not (place or i) else values[p.name]),
                    )
                    for i, p in enumerate(_numbers(name))
                }
                self.models.append((name, dict(values or {}), fields))
            left = tried.get("suppression") or sorted({document.get("suppression", 0.0), _LEFT_OUT})
            self.left_out = ui.input(T.TRIALS_LEFT_OUT, value=field_text([_plain(100 * v) for v in left])).props(
                f'bottom-slots hint="{T.TRIALS_VALUES_HINT}"'
            )

    def _list(self, model: str, param: Any, value: Any) -> Any:
        label = T.TRIALS_VALUES.format(param=param.name, model=model)
        shown = field_text([_plain(v) for v in (value if isinstance(value, list) else [value])])
        return ui.input(label, value=shown).props(f'bottom-slots hint="{T.TRIALS_VALUES_HINT}"')

    def grid(self) -> dict[str, Any]:
        """Return the contents of the fields."""
        models = []
        for name, values, fields in self.models:
            numbers = {p.name: _values_of(p, fields[p.name].value) for p in _numbers(name)}
            models.append({name: {**values, **numbers}})
        algorithms = [{self.own: self.parameters or {}} if a == self.own else a for a in self.algorithms.value]
        left_out = [float(word) / 100 for word in _values_of(None, self.left_out.value)]
        return {"algorithms": algorithms, "models": [models], "suppression": left_out}

    async def _start(self) -> None:
        with self.page.kept("trials"):
            grid = self.grid()
            await asyncio.to_thread(self.page.studio.compare, self.project, grid, seen=self.page.revision)
            self.begun()


def _names(tried: Mapping[str, Any]) -> list[str]:
    return [choice if isinstance(choice, str) else next(iter(choice)) for choice in tried.get("algorithms") or ()]


def _range(param: Any, value: Any) -> list[Any]:
    """Return a few values, from the policy's own upward, within the parameter's range; less privacy is not proposed."""
    found = [value]
    for more in (2 * value, 4 * value):
        try:
            found.append(param.coerce(more, ""))
        except HushtableError:
            break
    return found


def _plain(value: float) -> str:
    return f"{value:.10g}"


def _numbers(name: str) -> list[Any]:
    """Return the parameters of a model that are single numbers: those that a comparison usually varies."""
    return [p for p in registry.models[name].params() if p.required and p.type in (int, float)]


def _values_of(param: Any, written: str) -> list[Any]:
    words = [word.strip() for word in str(written or "").split(",") if word.strip()]
    if param is not None:
        return [parse_field(param, word) for word in words]
    try:
        return [float(word) for word in words]
    except ValueError:
        raise ParameterError(
            "The list must contain numbers separated by commas.", hint="For example: 0, 2, 5"
        ) from None


def _found(page: Page, project: Project, found: Outcomes) -> None:
    best = set(found.frontier)
    text(T.TRIALS_FOUND, "h3", "q-mt-md")
    text(T.TRIALS_FOUND_TEXT)
    rows = []
    common, own = _told_apart([row["models"] for row in found.rows])
    if common:
        text(T.TRIALS_COMMON.format(common), "p", "ht-soft")
    for i, row in enumerate(found.rows):
        risk, loss = row["values"].get(found.privacy), row["values"].get(found.utility)
        figures = [share(risk), number(loss), share(row["values"]["suppressed"])] if risk is not None else ["", "", ""]
        mark = "★" if i in best else row["reason"] or "\u00a0"
        rows.append([i + 1, row["algorithm"], own[i], share(row["suppression limit"]), *figures, mark])
    html_table(T.TRIALS_HEADS, rows, caption=T.TRIALS_FOUND, numbers=(0, 3, 4, 5, 6))
    points = [
        (i + 1, row["values"][found.privacy], row["values"][found.utility])
        for i, row in enumerate(found.rows)
        if row["values"].get(found.privacy) is not None and row["values"].get(found.utility) is not None
    ]
    if len(points) > 1:
        ringed = [i + 1 for i in best]
        picture(charts.frontier(points, T.TRIALS_FOUND, T.TRIALS_AXES, ringed, T.TRIALS_POINT))
    if points:
        _suggest(page, project)
        with ui.element("div").classes("ht-row q-mt-sm"):
            for place in (p[0] - 1 for p in points):
                ui.button(T.TRIALS_USE.format(place + 1), on_click=lambda p=place: _use(page, project, p)).props(
                    "flat dense"
                )


def _told_apart(models: Sequence[str]) -> tuple[str, list[str]]:
    """Return what all settings have in common and what differs: the same long text in every row hides the rest.

    Examples
    --------
    >>> _told_apart(["k-anonymity k=5 + distinct-l l=3", "k-anonymity k=9 + distinct-l l=3"])
    ('distinct-l l=3', ['k-anonymity k=5', 'k-anonymity k=9'])
    """
    parts = [words.split(" + ") for words in models]
    common = [part for part in parts[0] if all(part in other for other in parts)] if len(parts) > 1 else []
    own = [" + ".join(part for part in mine if part not in common) or T.TRIALS_SAME for mine in parts]
    return " + ".join(common), own


def _suggest(page: Page, project: Project) -> None:
    said = ui.element("div").classes("q-mt-sm")

    def ask() -> None:
        said.clear()
        with attempted():
            limits = [None if field.value is None else float(field.value) / 100 for field in (risk, lost)]
            place, chosen = suggested(project, *limits)
            row = chosen.row
            with said:
                note(
                    T.TRIALS_BEST.format(place + 1, row["algorithm"], row["models"], chosen.fulfilled, chosen.tried),
                    "good",
                )
                ui.button(T.TRIALS_USE.format(place + 1), on_click=lambda: _use(page, project, place))

    with ui.element("div").classes("ht-row q-mt-md"):
        risk = ui.number(T.TRIALS_RISK, min=0, max=100).style("min-width:240px")
        lost = ui.number(T.TRIALS_LOST, min=0, max=100).style("min-width:240px")
        ui.button(T.TRIALS_SUGGEST, icon="lightbulb", on_click=ask).props("outline")
    said.move(target_index=-1)


async def _use(page: Page, project: Project, place: int) -> None:
    with attempted():
        page.write(page.studio.use_setting, place)
        ui.notify(T.TRIALS_USED.format(place + 1), type="positive")
