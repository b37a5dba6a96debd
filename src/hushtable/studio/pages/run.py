"""Run: make releases, watch them, cancel them, and keep several."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from hushtable.errors import counted
from hushtable.io.figures import number, share
from hushtable.release.verify import needed_and_achieved
from hushtable.studio.pages import trials
from hushtable.studio.pages.layout import Page, needs
from hushtable.studio.pages.widgets import attempted, card, failed, html_table, note, problems, sure, text, watch
from hushtable.studio.projects import Project
from hushtable.studio.runs import Run, runs_of
from hushtable.studio.store import Job
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
        trials.build(page, project)
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
                rows = [
                    [STATES[j.state], (j.error or {}).get("message", ""), (j.error or {}).get("hint", "")]
                    for j in lost[:5]
                ]
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
                ", ".join(f"{k} = {v}" for k, v in m["parameters"].items()),
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
