"""Building blocks of pages: text, tables, pagers, notes and jobs."""

from __future__ import annotations

import html
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from nicegui import events, ui
from nicegui.elements.mixins.text_element import TextElement

from hushtable.errors import HushtableError
from hushtable.studio.jobs import Job
from hushtable.studio.projects import Run
from hushtable.studio.service import Studio
from hushtable.studio.texts import STATES, STOPPED, T

PAGE = 25
"""Rows per page of a table."""

_CLAMPED = 24

# the look of all pages
ui.button.default_props("no-caps")
for _field in (ui.input, ui.number, ui.select):
    _field.default_props("outlined dense")


def text(words: str, tag: str = "p", classes: str = "ht-text") -> TextElement:
    """A piece of text; nothing in it is read as HTML."""
    return TextElement(tag=tag, text=words).classes(classes)


@contextmanager
def card(title: str = "", *, level: str = "h2") -> Iterator[ui.element]:
    """A framed part of a page, with a heading."""
    with ui.element("section").classes("ht-card") as made:
        if title:
            text(title, level, "")
        yield made


def note(words: str, kind: str = "") -> ui.element:
    """A remark that screen readers announce too."""
    with ui.element("div").classes(f"ht-note {kind}").props("role=status") as made:
        text(words, "span", "")
    return made


def problems(found: Sequence[Mapping[str, Any]], title: str) -> None:
    """Problems, each with its remedy."""
    with ui.element("div").classes("ht-note bad").props("role=status"):
        text(title, "strong", "")
        with ui.element("ul").classes("ht-list"):
            for problem in found:
                where = f"{problem['where']}: " if problem.get("where") else ""
                text(f"{where}{problem['message']} {problem.get('hint', '')}".strip(), "li", "")


def picture(svg: str) -> ui.html:
    """A chart; the browser removes anything that is not a drawing."""
    return ui.html(svg).classes("ht-scroll")


def html_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    caption: str,
    numbers: Sequence[int] = (),
    styles: Sequence[Sequence[str]] | None = None,
    kinds: Sequence[str] | None = None,
) -> ui.html:
    """A table of cells, all of them as text.

    Parameters
    ----------
    columns, rows : sequences
    caption : str
        For screen readers.
    numbers : sequence of int
        Columns that are aligned right.
    styles : sequence of sequences of str, optional
        The style of every cell.
    kinds : sequence of str, optional
        The class of every row.
    """
    head = "".join(
        f'<th scope="col"{" class=num" if i in numbers else ""}>{html.escape(str(c))}</th>'
        for i, c in enumerate(columns)
    )
    lines = []
    for r, row in enumerate(rows):
        cells = []
        for i, cell in enumerate(row):
            style = f' style="{styles[r][i]}"' if styles and styles[r][i] else ""
            if cell is None or cell == "":
                cells.append(f'<td class="empty"{style}>{T.EMPTY}</td>')
                continue
            shown = html.escape(str(cell))
            # what does not fit into two lines can be read where the mouse rests
            whole = f' title="{shown}"' if len(str(cell)) > _CLAMPED else ""
            number = " class=num" if i in numbers else ""
            clamp = "clamp" if whole else "short"
            cells.append(f'<td{number}{style}{whole}><div class="{clamp}">{shown}</div></td>')
        lines.append(f"<tr{f' class={kinds[r]}' if kinds and kinds[r] else ''}>{''.join(cells)}</tr>")
    made = ui.html(
        f'<table class="ht-table" aria-label="{html.escape(caption)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
    # wide tables scroll by themselves, with the keyboard too
    return made.classes("ht-scroll").props(f'tabindex=0 role=region aria-label="{html.escape(caption)}"')


def pager(
    total: int, show: Callable[[int, int], Awaitable[None]], size: int = PAGE, words: str = T.ROWS_OF
) -> Callable[[int], Awaitable[None]]:
    """Buttons that page through a table; returns a function that goes to a row."""
    place = {"first": 0}

    with ui.element("div").classes("ht-row"):
        back = ui.button(icon="chevron_left").props(f'flat dense aria-label="{T.EARLIER}"')
        where = text("", "span", "ht-soft").props("role=status")
        on = ui.button(icon="chevron_right").props(f'flat dense aria-label="{T.LATER}"')

    async def go(first: int) -> None:
        place["first"] = max(0, min(first, max(total - 1, 0) // size * size))
        last = min(place["first"] + size, total)
        where.set_text(words.format(first=min(place["first"] + 1, total), last=last, total=total))
        back.set_enabled(place["first"] > 0)
        on.set_enabled(last < total)
        await show(place["first"], size)

    back.on_click(lambda: go(place["first"] - size))
    on.on_click(lambda: go(place["first"] + size))
    return go


@contextmanager
def attempted() -> Iterator[None]:
    """Report an error instead of failing silently."""
    try:
        yield
    except HushtableError as error:
        ui.notify(str(error), type="negative", multi_line=True, timeout=8000, close_button=True)


def once_left(field: ui.element, changed: Callable[[], Any]) -> None:
    """Call ``changed`` when a field is left or Enter is pressed, not at every keystroke: half a number is not a number.

    The browser reports the new value separately; the callback runs after it.
    """
    field.on("change", lambda: changed(), js_handler="(...args) => setTimeout(() => emit(...args), 0)")


def after_showing(look: Callable[[], Awaitable[None]]) -> None:
    """Do slow work once the page is loaded: a page that waits for a worker stays blank."""
    ui.timer(0.01, look, once=True)


def in_one_line(parameters: Mapping[str, Any]) -> str:
    """Return the parameters of a model in one line.

    Examples
    --------
    >>> in_one_line({"on": ["result"], "beta": 4.0}), in_one_line({"on": ["illness", "pay"], "l": 3})
    ('on = result, beta = 4', 'on = illness + pay, l = 3')
    """

    def shown(value: Any) -> str:
        if isinstance(value, list | tuple):
            return " + ".join(map(shown, value))
        return f"{value:g}" if isinstance(value, float) else str(value)

    return ", ".join(f"{name} = {shown(value)}" for name, value in parameters.items())


def duration(seconds: float) -> str:
    """Return a duration in human-readable form.

    Examples
    --------
    >>> duration(4.2), duration(200), duration(9000)
    ('5 s', '4 min', '2.5 h')
    """
    if seconds < 90:
        return f"{int(seconds) + 1} s"
    return f"{int(seconds / 60) + 1} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def percent_done(part: float) -> str:
    """Return the progress of a running job: not 100% before it has ended.

    Examples
    --------
    >>> percent_done(0.5), percent_done(0.998), percent_done(1.0)
    ('50%', '99%', '99%')
    """
    return f"{min(int(100 * part), 99)}%"


def watch(studio: Studio, job: Job, over: Callable[[Job], Any], *, cancel: str = T.CANCEL) -> ui.element:
    """Show the progress of a job, with the time left and a way to cancel it; call ``over`` once it has ended."""
    with ui.element("div").props("role=group") as box:
        words = text("", "p", "ht-text").props("role=status")
        # not animated: the bar shows what is known, and a test can read it
        bar = ui.linear_progress(job.share, show_value=False, size="12px").props(
            f'instant-feedback aria-label="{T.STEPS}"'
        )
        stop = ui.button(cancel, icon="close").props("flat")

    def tell(now: Job) -> None:
        left = now.seconds_left()
        done = percent_done(now.share) if now.state == "running" and now.share > 0 else ""
        parts = [
            STATES[now.state],
            done,
            now.what,
            T.LEFT.format(duration(left)) if left is not None else T.LONGER if now.late else "",
        ]
        if now.cancelling and not now.over:
            parts = [T.STOPPING]
        words.set_text(" · ".join(part for part in parts if part))
        bar.set_value(round(now.share, 3))
        # nothing is known yet: it moves, so that a long first step does not look like a stop
        if now.share > 0:
            bar.props(remove="indeterminate")
        else:
            bar.props("indeterminate")

    def look() -> None:
        try:
            now = studio.jobs.store.job(job.id)
        except HushtableError:
            # another tab deleted the project
            timer.cancel()
            ui.navigate.to("/")
            return
        tell(now)
        if now.over:
            timer.cancel()
            box.delete()
            over(now)

    def ask_to_stop() -> None:
        stop.disable()
        tell(studio.cancel(job.id))

    stop.on_click(ask_to_stop)
    tell(job)
    timer = ui.timer(0.25, look)
    return box


def sure(question: str, words: str, go: Callable[[], Any], otherwise: Callable[[], Any] = lambda: None) -> None:
    """Ask for confirmation before something that cannot be undone; ``otherwise`` is called if the answer is no."""

    def stay() -> None:
        dialog.close()
        otherwise()

    async def done() -> None:
        dialog.close()
        result = go()
        if isinstance(result, Awaitable):
            await result

    with ui.dialog() as dialog, ui.card():
        text(question)
        with ui.element("div").classes("ht-row"):
            ui.button(T.CANCEL, on_click=stay).props("flat")
            ui.button(words, on_click=done).props("color=negative")
    dialog.open()


def failed(job: Job) -> None:
    """Say how a job ended that did not succeed."""
    broken = job.state == "failed"
    title = T.FAILED if broken else STATES[job.state].capitalize()
    with ui.element("div").classes(f"ht-note {'bad' if broken else 'warn'}").props("role=alert"):
        text(title, "strong", "")
        # a policy with several faults has a line for each
        text(" ".join(why_not_done(job)).strip(), "p", "ht-text").style("white-space:pre-line")


def why_not_done(job: Job) -> tuple[str, str]:
    """The reason and the remedy of a job that did not succeed."""
    error = job.error or {}
    return STOPPED.get(job.state) or (error.get("message", ""), error.get("hint", ""))


def job_on(studio: Studio, run: Run, kind: str, over: Callable[[], Any]) -> bool:
    """Show the running job of a kind on a run, or how the last one failed; return whether one is running.

    ``over`` is called once it has ended, to show the findings in its place: reloading the page would close what is open
    elsewhere on it.
    """
    busy = studio.busy(run.project, kind, run=run.number)
    if busy is not None:
        watch(studio, busy, lambda job: over())
        return True
    last = studio.job_of(run.project, kind, run=run.number)
    if last is not None and last.state != "done":
        failed(last)
    return False


# The field that uploads a file to the studio.


def file_field(label: str, address: str, accept: Sequence[str], done: Callable[[str], Any], *, seen: str = "") -> None:
    """A field that immediately uploads a file to the REST API; ``done`` is called with its name.

    Parameters
    ----------
    label : str
    address : str
        Upload address, with ``{name}`` for the file's name.
    accept : sequence of str
        Endings.
    done : callable
    seen : str
        The revision of the project that the page shows; the file is refused if that is no longer the latest.
    """
    with ui.element("div").classes("ht-file"):
        with ui.element("label"):
            text(label, "span", "")
            field = ui.element("input").props(f'type=file accept="{",".join(accept)}"')
        state = text("", "div", "ht-soft").props("role=status")
        refused = text("", "div", "ht-note bad").props("role=alert")
        refused.set_visibility(False)

    def answered(event: events.GenericEventArguments) -> Any:
        said = event.args if isinstance(event.args, dict) else {}
        refused.set_visibility(False)
        if said.get("begun"):
            state.set_text(T.UPLOADING)
            return None
        state.set_text("")
        if said.get("ok"):
            return done(str(said.get("name", "")))
        refused.set_text(f"{said.get('message', T.REJECTED)} {said.get('hint', '')}".strip())
        refused.set_visibility(True)
        return None

    headers = json.dumps({"if-match": seen} if seen else {})
    before, after = address.split("{name}")
    field.on(
        "change",
        answered,
        js_handler=f"""async (e) => {{
            const file = e.target.files[0];
            if (!file) return;
            emit({{begun: true}});
            try {{
                const to = {json.dumps(before)} + encodeURIComponent(file.name) + {json.dumps(after)};
                const said = await fetch(to, {{method: "PUT", body: file, headers: {headers}}});
                emit(said.ok ? {{ok: true, name: file.name}} : await said.json());
            }} catch (error) {{
                emit({{}});
            }}
            e.target.value = "";
        }}""",
    )
