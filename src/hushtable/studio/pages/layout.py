"""Shared parts of all pages: the bar, the steps, the navigation, and the protection of unsaved text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from hushtable.errors import HushtableError
from hushtable.studio.pages.widgets import after_showing, attempted, text
from hushtable.studio.projects import Project, Run, runs_of
from hushtable.studio.service import Studio, done_steps, note_visit
from hushtable.studio.texts import STEPS, T
from hushtable.studio.theme import CSS

# The browser knows first that something was typed: a question that waits for the server would come too late. What is
# inside an element with data-unsaved counts from its first key; the server takes it back once it is kept.
_GUARD = """<script>
window.htUnsaved = new Set();
document.addEventListener("input", (e) => {
  const part = e.target.closest && e.target.closest("[data-unsaved]");
  if (part) window.htUnsaved.add(part.dataset.unsaved);
}, true);
document.addEventListener("click", (e) => {
  const link = e.target.closest && e.target.closest("a[href]");
  if (!link || !window.htUnsaved.size || link.hasAttribute("download") || link.target === "_blank") return;
  if (link.getAttribute("href").startsWith("#") || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  e.stopPropagation();
  emitEvent("ht-leave", link.href);
}, true);
window.addEventListener("beforeunload", (e) => { if (window.htUnsaved.size) e.preventDefault(); });
</script>"""


class Page:
    """A page that is being shown: its subject, its unsaved text, and whether another tab changed the project."""

    def __init__(self, studio: Studio, project: Project | None) -> None:
        self.studio = studio
        self.project = project
        self.revision = project.revision() if project else ""
        self.show_steps: Callable[[], Any] = lambda: None
        """Refresh the list of steps."""
        self.again: Callable[[], Any] = ui.navigate.reload
        """Refresh the page after a change was undone."""
        self.changed: Callable[[], Any] = lambda: None
        """Called after every change to the policy on this page."""

    def write(self, change: Callable[..., str], *given: Any) -> None:
        """Change the project as this page shows it; raise if another tab has changed it meanwhile."""
        self.revision = change(self.project, *given, seen=self.revision)
        self.changed()

    @property
    def stale(self) -> bool:
        """Whether another tab changed the project."""
        try:
            return self.project is not None and self.project.revision() != self.revision
        except OSError:
            return True

    @contextmanager
    def kept(self, part: str) -> Iterator[None]:
        """Try to save the text of a part of the page; until that succeeds, leaving the page asks for confirmation."""
        try:
            yield
        except HushtableError as error:
            ui.notify(str(error), type="negative", multi_line=True, timeout=8000, close_button=True)
            self.unsaved(part)
        else:
            self.unsaved(part, False)

    def unsaved(self, part: str, typed: bool = True) -> None:
        """Record whether a part of the page has unsaved text."""
        ui.run_javascript(f"window.htUnsaved.{'add' if typed else 'delete'}('{part}')")


@contextmanager
def frame(studio: Studio, title: str, project: Project | None = None, step: str = "") -> Iterator[Page]:
    """Build the frame of a page; its content goes inside."""
    page = Page(studio, project)
    ui.page_title(f"{title} - {T.TITLE}")
    ui.add_css(CSS)
    ui.add_head_html(_GUARD)
    dark = ui.dark_mode({"dark": True, "light": False}.get(studio.jobs.store.setting("mode")))
    main = ui.element("main").classes("ht-main").props("id=main")
    drawer = None
    if project is not None:
        # it opens by itself where there is room for it
        drawer = ui.left_drawer(value=False).classes("ht-nav").props("show-if-above width=216 breakpoint=800")
        with drawer, ui.element("nav").props(f'aria-label="{T.STEPS}"'):
            steps = ui.refreshable(_steps)
            steps(studio, project, step)
            page.show_steps = steps.refresh
    with ui.header().classes("ht-head"):
        if drawer is not None:
            ui.button(icon="menu", on_click=drawer.toggle).props(f'flat dense color=white aria-label="{T.MENU}"')
        ui.link(T.TITLE, "/").classes("ht-brandname")
        text(project.facts["name"] if project else "", "span", "ht-project")
        if project is not None:
            _undo(page, project)
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
    _ask_before_leaving()
    if project is not None:
        if step:
            _way(project, step)
            _visit(page, project, step)
        _notice(page, main)


def _visit(page: Page, project: Project, step: str) -> None:
    """Record that the user has seen the step once the page is loaded: requesting an address must change nothing."""

    async def seen() -> None:
        if note_visit(project, step):
            page.show_steps()

    after_showing(seen)


def _switch(studio: Studio, dark: ui.dark_mode) -> None:
    now = dark.value
    wanted = not now if now is not None else True
    dark.set_value(wanted)
    studio.jobs.store.set("mode", "dark" if wanted else "light")


def _undo(page: Page, project: Project) -> None:
    """The undo button; it keeps its place if there is nothing to undo."""

    def undo() -> None:
        with attempted():
            page.write(page.studio.undo)
            page.again()

    button = ui.button(icon="undo", on_click=undo).props("flat dense color=white")

    def show() -> None:
        what = project.undoable() if page.project else None
        button.set_enabled(what is not None)
        button.props["aria-label"] = T.UNDO if what is None else T.UNDO_OF.format(what)
        button.props["title"] = button.props["aria-label"]
        button.update()
        page.show_steps()

    show()
    page.changed = show


def _steps(studio: Studio, project: Project, step: str) -> None:
    done = done_steps(studio, project)
    with ui.element("ol"):
        for number, (name, (title, _)) in enumerate(STEPS.items(), 1):
            with ui.element("li"), ui.element("a").props(f"href=/p/{project.id}/{name}") as link:
                if name == step:
                    link.props("aria-current=page")
                ready = name in done
                text("✓" if ready else str(number), "span", "ht-num done" if ready else "ht-num").props(
                    "aria-hidden=true"
                )
                text(title, "span", "")
                if ready:
                    text(T.DONE, "span", "ht-hidden")


def _way(project: Project, step: str) -> None:
    """The navigation at the bottom of the window, which does not move when the page above it changes."""
    names = list(STEPS)
    place = names.index(step)
    with ui.footer().classes("ht-foot"):
        if place:
            before = names[place - 1]
            _go(T.BACK.format(STEPS[before][0]), project, before).props("outline")
        else:
            ui.element("span")
        if place + 1 < len(names):
            after = names[place + 1]
            _go(T.NEXT.format(STEPS[after][0]), project, after)


def _go(words: str, project: Project, step: str) -> ui.button:
    return open_button(words, f"/p/{project.id}/{step}")


def open_button(words: str, address: str) -> ui.button:
    """A button that opens another page, with a confirmation if unsaved text would be lost."""
    made = ui.button(words)
    # the browser reports what was typed last within a moment; the question has to know of it
    to = json.dumps(address)
    leave = f"if (window.htUnsaved.size) emitEvent('ht-leave', {to}); else window.location.href = {to};"
    made.on("click", js_handler=f"() => setTimeout(() => {{ {leave} }}, 120)")
    return made


def _ask_before_leaving() -> None:
    """Ask for confirmation before following a link or button if there is unsaved text."""
    wanted = {"to": ""}

    def leave() -> None:
        ui.run_javascript(f"window.htUnsaved.clear(); window.location.href = {json.dumps(wanted['to'])}")

    with ui.dialog() as dialog, ui.card():
        text(T.LEAVE_QUESTION)
        with ui.element("div").classes("ht-row"):
            ui.button(T.STAY, on_click=dialog.close)
            ui.button(T.LEAVE, on_click=leave).props("flat color=negative")

    def ask(event: Any) -> None:
        said = event.args if isinstance(event.args, str) else ""
        # only a place of the studio itself: the address comes from the browser
        path = "/" + said.split("/", 3)[3] if said.startswith("http") and said.count("/") >= 3 else said
        if path.startswith("/") and not path.startswith(("//", "/\\")):
            wanted["to"] = path
            dialog.open()

    ui.on("ht-leave", ask)


def needs(project: Project, words: str, step: str) -> None:
    """Say which step must be done first, with a link to it."""
    with ui.element("div").classes("ht-note"):
        text(words, "p", "ht-text")
        _go(T.NEEDS.format(STEPS[step][0]), project, step)


def which_run(project: Project, wanted: int | None, step: str) -> Run | None:
    """Let the user choose a release if there are several; return None if there is none."""
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
        ).classes("q-mb-md").style("max-width:520px")
    else:
        text(options[run.number], "p", "ht-lead")
    return run


def _title(run: Run) -> str:
    summary = run.facts["summary"]
    algorithm = next(iter(summary["algorithm"]))
    models = ", ".join(dict.fromkeys(entry["model"] for entry in summary["models"]))
    return f"{T.RUN_NAME.format(run.number)}: {algorithm}; {models}; {summary['released']:,} records"


def _notice(page: Page, main: ui.element) -> None:
    """Say that another tab changed the project, above the page, so that nothing moves under the mouse."""
    with main, ui.element("div").classes("ht-note ht-over").props("role=status") as banner:
        text(T.STALE, "span", "")
        ui.button(T.STALE_SHOW, on_click=ui.navigate.reload).props("flat")
    banner.set_visibility(False)

    def look() -> None:
        if main.client.has_socket_connection:  # else nobody sees it: the server keeps a page for a while after it
            banner.set_visibility(page.stale)

    ui.timer(1.0, look)
