"""Export: the release, its policy, the code that repeats it, the evidence; verified once more on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from hushtable import registry
from hushtable.about import summary_of
from hushtable.io.figures import number
from hushtable.release.verify import needed_and_achieved
from hushtable.studio.exports import code_of, export_files
from hushtable.studio.pages.layout import Page
from hushtable.studio.pages.widgets import attempted, card, html_table, job_on, note, text
from hushtable.studio.projects import Run
from hushtable.studio.texts import T


async def build(page: Page, run: Run) -> None:
    """Build the page."""
    text(T.EXPORT_TEXT)
    files = _files(run)
    _evidence(page, run, files)
    _verification(page, run)
    with card(T.CODE):
        text(code_of(run), "pre", "ht-code").props(f'tabindex=0 role=region aria-label="{T.CODE}"')


def _at(run: Run) -> str:
    return f"/api/projects/{run.project.id}/runs/{run.number}/export"


def _files(run: Run) -> Callable[[], Any]:
    """List the downloads; return a function that refreshes the list."""

    @ui.refreshable
    def listed() -> None:
        with ui.element("ul").style("list-style:none;padding:0;margin:0 0 12px"):
            for name, meaning in export_files(run).items():
                with ui.element("li").classes("ht-row").style("padding:6px 0;border-top:1px solid var(--line)"):
                    with ui.element("div").classes("grow"):
                        text(name, "strong", "")
                        text(meaning, "div", "ht-soft")
                    ui.link(T.DOWNLOAD.format(name), f"{_at(run)}/{name}").classes("ht-link").props(
                        f'download="{name}"'
                    )

    with card(T.FILES):
        listed()
        ui.link(T.BUNDLE, f"{_at(run)}/bundle.zip").classes("ht-link").props('download="bundle.zip"')
    return listed.refresh


def _evidence(page: Page, run: Run, written: Callable[[], Any]) -> None:
    """The report; ``written`` is called when a new one is written."""

    def over() -> None:
        report.refresh()
        written()

    @ui.refreshable
    def report() -> None:
        with ui.element("div").classes("ht-row"):
            if not job_on(page.studio, run, "report", over):
                _report(page, run, report.refresh)

    with card(T.EVIDENCE):
        text(T.EVIDENCE_TEXT)
        report()


def _report(page: Page, run: Run, begun: Callable[[], Any]) -> None:
    there = "evidence.html" in export_files(run)

    def write() -> None:
        with attempted():
            page.studio.report(run.project, run.number, str(template.value))
            begun()

    options = {name: f"{name}: {summary_of(known)}" for name, known in registry.templates.items()}
    template = ui.select(options, value="general", label=T.TEMPLATE).props("options-dense").classes("grow")

    ui.button(T.REPORT_AGAIN if there else T.REPORT, icon="description", on_click=write).props(
        "outline" if there else ""
    )
    if there:
        ui.link(T.REPORT_FETCH, f"{_at(run)}/evidence.html").classes("ht-link").props('download="evidence.html"')


def _verification(page: Page, run: Run) -> None:
    def verify() -> None:
        with attempted():
            page.studio.verify(run.project, run.number)
            found.refresh()

    @ui.refreshable
    def found() -> None:
        if not job_on(page.studio, run, "verify", found.refresh):
            ui.button(T.VERIFY, icon="verified", on_click=verify).props("outline")
        kept: dict[str, Any] | None = run.json("verified")
        if kept is not None:
            _verified(kept)

    with card(T.VERIFY):
        text(T.VERIFY_TEXT)
        found()


def _verified(found: Mapping[str, Any]) -> None:
    ui.element("div").classes("q-mt-md")
    if found["satisfied"]:
        note(T.VERIFY_OK, "good")
    else:
        unknown = found["satisfied"] is None
        reason = found.get("reason", "")
        note(f"{T.VERIFY_UNKNOWN if unknown else T.VERIFY_BAD} {reason}", "" if unknown else "bad")
    rows = [
        [m["model"], *needed_and_achieved(m, number), "✓" if m["satisfied"] else "✗"] for m in found.get("models", [])
    ]
    if rows:
        html_table(["model", "needed", "achieved", "holds"], rows, caption=T.VERIFY, numbers=(2,))
