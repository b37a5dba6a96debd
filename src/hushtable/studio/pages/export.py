"""Export: the release, its policy, the code that repeats it, the evidence; verified once more on request."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hushtable import registry
from hushtable.cli.output import number
from hushtable.studio.explanations import summary
from hushtable.studio.exports import code_of, export_files
from hushtable.studio.pages.layout import Page, which_run
from hushtable.studio.pages.widgets import attempted, card, failed, html_table, note, text, watch
from hushtable.studio.projects import Project
from hushtable.studio.runs import Run
from hushtable.studio.texts import T

__all__ = ["build"]


async def build(page: Page, project: Project, wanted: int | None = None) -> None:
    """Build the page."""
    run = which_run(project, wanted, "export")
    if run is None:
        return
    text(T.EXPORT_TEXT)
    _files(project, run)
    _evidence(page, project, run)
    _verification(page, project, run)
    with card(T.CODE):
        text(code_of(run), "pre", "ht-code").props(f'tabindex=0 role=region aria-label="{T.CODE}"')


def _at(project: Project, run: Run) -> str:
    return f"/api/projects/{project.id}/runs/{run.number}/export"


def _reload(project: Project, run: Run) -> None:
    ui.navigate.to(f"/p/{project.id}/export?run={run.number}")


def _files(project: Project, run: Run) -> None:
    with card(T.FILES):
        with ui.element("ul").style("list-style:none;padding:0;margin:0 0 12px"):
            for name, meaning in export_files(run).items():
                with ui.element("li").classes("ht-row").style("padding:6px 0;border-top:1px solid var(--ht-line)"):
                    with ui.element("div").classes("grow"):
                        text(name, "strong", "")
                        text(meaning, "div", "ht-soft")
                    ui.link(T.DOWNLOAD.format(name), f"{_at(project, run)}/{name}").classes("ht-link").props(
                        f'download="{name}"'
                    )
        ui.link(T.BUNDLE, f"{_at(project, run)}/bundle.zip").classes("ht-link").props('download="bundle.zip"')


def _evidence(page: Page, project: Project, run: Run) -> None:
    with card(T.EVIDENCE):
        text(T.EVIDENCE_TEXT)
        there = "evidence.html" in export_files(run)
        with ui.element("div").classes("ht-row"):
            _report(page, project, run, there=there)


def _report(page: Page, project: Project, run: Run, *, there: bool) -> None:
    busy = page.studio.busy(project, "report")
    if busy is not None:
        watch(page.studio, busy, lambda job: _reload(project, run))
        return
    last = page.studio.job_of(project, "report")
    if last is not None and last.state == "failed" and last.arguments.get("run") == run.number:
        failed(last)

    def write() -> None:
        with attempted():
            page.studio.report(project, run.number, str(template.value))
            _reload(project, run)

    options = {name: f"{name}: {summary(known)}" for name, known in registry.templates.items()}
    template = (
        ui.select(options, value="general", label=T.TEMPLATE).props("outlined dense options-dense").classes("grow")
    )

    ui.button(T.REPORT_AGAIN if there else T.REPORT, icon="description", on_click=write).props(
        "no-caps outline" if there else "no-caps"
    )
    if there:
        ui.link(T.REPORT_FETCH, f"{_at(project, run)}/evidence.html").classes("ht-link").props(
            'download="evidence.html"'
        )


def _verification(page: Page, project: Project, run: Run) -> None:
    with card(T.VERIFY):
        text(T.VERIFY_TEXT)

        def verify() -> None:
            with attempted():
                page.studio.verify(project, run.number)
                _reload(project, run)

        busy = page.studio.busy(project, "verify")
        if busy is not None:
            watch(page.studio, busy, lambda job: _reload(project, run))
        else:
            ui.button(T.VERIFY, icon="verified", on_click=verify).props("no-caps outline")
        found: dict[str, Any] | None = run.json("verified")
        if found is None:
            return
        ui.element("div").classes("q-mt-md")
        if found["satisfied"]:
            note(T.VERIFY_OK, "good")
        else:
            unknown = found["satisfied"] is None
            reason = found.get("reason", "")
            note(f"{T.VERIFY_UNKNOWN if unknown else T.VERIFY_BAD} {reason}", "" if unknown else "bad")
        rows = [
            [
                m["model"],
                f"{m['comparison']} {number(m['bound'])}",
                number(m["achieved"]),
                "✓" if m["satisfied"] else "✗",
            ]
            for m in found.get("models", [])
        ]
        if rows:
            html_table(["model", "needed", "achieved", "holds"], rows, caption=T.VERIFY, numbers=(2,))
