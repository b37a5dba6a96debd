"""What all pages share: the bar, the steps, the way back and on, and the notice about other tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from hushtable.studio.pages.widgets import text
from hushtable.studio.projects import Project
from hushtable.studio.runs import Run, runs_of
from hushtable.studio.service import Studio
from hushtable.studio.texts import STEPS, T
from hushtable.studio.theme import CSS

__all__ = ["Page", "frame", "needs", "which_run"]


class Page:
    """A page that is being shown: what it is about, and whether another tab changed it meanwhile."""

    def __init__(self, studio: Studio, project: Project | None) -> None:
        self.studio = studio
        self.project = project
        self._seen = project.revision() if project else ""
        self.show_steps: Callable[[], Any] = lambda: None
        """Show the list of steps as it is now."""

    def seen(self) -> None:
        """Note that what is shown is up to date: the change was made here."""
        if self.project:
            self._seen = self.project.revision()

    @property
    def stale(self) -> bool:
        """Whether another tab changed the project."""
        try:
            return self.project is not None and self.project.revision() != self._seen
        except OSError:
            return True


@contextmanager
def frame(studio: Studio, title: str, project: Project | None = None, step: str = "") -> Iterator[Page]:
    """Build the frame of a page; its content goes inside."""
    page = Page(studio, project)
    ui.page_title(f"{title} - {T.TITLE}")
    ui.add_css(CSS)
    dark = ui.dark_mode({"dark": True, "light": False}.get(studio.jobs.store.setting("mode")))
    main = ui.element("main").classes("ht-main").props("id=main")
    drawer = None
    if project is not None:
        # it opens by itself where there is room for it
        drawer = ui.left_drawer(value=False).classes("ht-nav").props("show-if-above width=216 breakpoint=800")
        with drawer, ui.element("nav").props(f'aria-label="{T.STEPS}"'):
            steps = ui.refreshable(_steps)
            steps(project, step)
            page.show_steps = steps.refresh
    with ui.header().classes("ht-head"):
        if drawer is not None:
            ui.button(icon="menu", on_click=drawer.toggle).props(f'flat dense color=white aria-label="{T.MENU}"')
        ui.link(T.TITLE, "/").classes("ht-brandname")
        text(project.facts["name"] if project else "", "span", "ht-project")
        ui.link(T.API, "/api-page").classes("gt-xs")
        ui.button(icon="contrast", on_click=lambda: _switch(studio, dark)).props(
            f'flat dense color=white aria-label="{T.DARK}"'
        )
    ui.skip_link(T.SKIP, target=main)  # after the header: it puts itself in front of what is there
    with main:
        text(title, "h1", "")
        if step:
            text(STEPS[step][1], "p", "ht-lead")
        yield page
        if step and project is not None:
            _way(project, step)
    if project is not None:
        _notice(page, main)


def _switch(studio: Studio, dark: ui.dark_mode) -> None:
    now = dark.value
    wanted = not now if now is not None else True
    dark.set_value(wanted)
    studio.jobs.store.set("mode", "dark" if wanted else "light")


def _steps(project: Project, step: str) -> None:
    done = {"data": project.profile is not None, "run": bool(runs_of(project))}
    with ui.element("ol"):
        for number, (name, (title, _)) in enumerate(STEPS.items(), 1):
            with ui.element("li"), ui.element("a").props(f"href=/p/{project.id}/{name}") as link:
                if name == step:
                    link.props("aria-current=page")
                ready = done.get(name)
                text("✓" if ready else str(number), "span", "ht-num done" if ready else "ht-num").props(
                    "aria-hidden=true"
                )
                text(title, "span", "")


def _way(project: Project, step: str) -> None:
    names = list(STEPS)
    place = names.index(step)
    with ui.element("div").classes("ht-foot"):
        if place:
            before = names[place - 1]
            _go(T.BACK.format(STEPS[before][0]), project, before).props("outline")
        else:
            ui.element("span")
        if place + 1 < len(names):
            after = names[place + 1]
            _go(T.NEXT.format(STEPS[after][0]), project, after)


def _go(words: str, project: Project, step: str) -> ui.button:
    return ui.button(words, on_click=lambda: ui.navigate.to(f"/p/{project.id}/{step}")).props("no-caps")


def needs(project: Project, words: str, step: str) -> None:
    """Say what has to be done first, with the way there."""
    with ui.element("div").classes("ht-note"):
        text(words, "p", "ht-text")
        _go(T.NEEDS.format(STEPS[step][0]), project, step)


def which_run(project: Project, wanted: int | None, step: str) -> Run | None:
    """Let the user choose a release, where there are several; None where there is none."""
    runs = runs_of(project)
    if not runs:
        needs(project, T.NO_RUNS, "run")
        return None
    run = next((r for r in runs if r.number == wanted), runs[-1])
    options = {r.number: _title(r) for r in reversed(runs)}
    if len(runs) > 1:
        ui.select(
            options,
            value=run.number,
            label=T.WHICH,
            on_change=lambda e: ui.navigate.to(f"/p/{project.id}/{step}?run={e.value}"),
        ).props("outlined dense").classes("q-mb-md").style("max-width:520px")
    else:
        text(options[run.number], "p", "ht-lead")
    return run


def _title(run: Run) -> str:
    summary = run.facts["summary"]
    algorithm = next(iter(summary["algorithm"]))
    models = ", ".join(dict.fromkeys(entry["model"] for entry in summary["models"]))
    return f"{T.RUN_NAME.format(run.number)}: {algorithm}; {models}; {summary['released']:,} records"


def _notice(page: Page, main: ui.element) -> None:
    shown: list[ui.element] = []

    def look() -> None:
        if not main.client.has_socket_connection:
            return  # nobody sees it: the server keeps a page for a while after it was left
        if page.stale and not shown:
            with main:
                with ui.element("div").classes("ht-note").props("role=status") as banner:
                    text(T.STALE, "span", "")
                    ui.button(T.STALE_SHOW, on_click=ui.navigate.reload).props("flat no-caps")
                banner.move(main, 0)
            shown.append(banner)
        elif not page.stale and shown:
            shown.pop().delete()

    ui.timer(1.0, look)
