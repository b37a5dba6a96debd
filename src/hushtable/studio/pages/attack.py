"""Attack & risk: how exposed people are, and how successful published attacks are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nicegui import ui

from hushtable import registry
from hushtable.about import summary_of
from hushtable.io.figures import number, share
from hushtable.linked.risk import MEANINGS
from hushtable.report.charts.bars import Interval, interval_chart
from hushtable.report.charts.frame import Heading
from hushtable.studio.pages.layout import Page
from hushtable.studio.pages.widgets import attempted, card, html_table, job_on, picture, text
from hushtable.studio.projects import Run
from hushtable.studio.texts import T


async def build(page: Page, run: Run) -> None:
    """Build the page."""
    _risk(page, run)
    _attacks(page, run)


def _risk(page: Page, run: Run) -> None:
    with card(T.RISK):
        text(T.RISK_TEXT)
        with ui.element("div").classes("ht-row top"):
            fraction = ui.number(T.FRACTION, min=0.001, max=100).props(f'bottom-slots hint="{T.FRACTION_HINT}"')
            fraction.style("min-width:min(420px,100%)")

            def assess() -> None:
                with attempted():
                    wanted = None if fraction.value is None else float(fraction.value) / 100
                    page.studio.assess(run.project, run.number, wanted)
                    found.refresh()

            ui.button(T.ASSESS, icon="insights", on_click=assess)

        @ui.refreshable
        def found() -> None:
            job_on(page.studio, run, "risk", found.refresh)
            if kept := run.json("risk"):
                _risks(kept)

        found()


def _risks(found: Mapping[str, Any]) -> None:
    """Show the figures, those about people at risk first; estimates for the population are in a separate part."""
    found = dict(sorted(found.items(), key=lambda entry: "share_at_risk" not in entry[1]["before"]))
    estimates = {name: entry for name, entry in found.items() if "estimator" in entry["before"]}
    for title, part in ((T.RISK, {n: e for n, e in found.items() if n not in estimates}), (T.ESTIMATES, estimates)):
        rows = [row for name, entry in part.items() for row in _risk_rows(name, entry)]
        if not rows:
            continue
        if part is estimates:
            with ui.expansion(title).props("dense"):
                html_table(["estimate", "what", T.BEFORE, T.AFTER], rows, caption=title, numbers=(2, 3))
        else:
            html_table(["risk", "what", T.BEFORE, T.AFTER], rows, caption=title, numbers=(2, 3))
    with ui.expansion(T.MEANINGS).props("dense"), ui.element("dl").classes("ht-list"):
        for name in found:
            text(name, "dt", "ht-good")
            text(summary_of(registry.risks[name]) if name in registry.risks else MEANINGS[name], "dd", "")


def _risk_rows(name: str, found: Mapping[str, Any]) -> Iterator[list[str]]:
    title = name
    after = found.get("after", {})
    for key, value in found["before"].items():
        if isinstance(value, list | dict | str | bool) or key in ("threshold", "fraction", "k", "population"):
            continue
        yield [title, key.replace("_", " "), _figure(key, value), _figure(key, after.get(key))]
        title = "\u00a0"


def _figure(key: str, value: Any) -> str:
    if not isinstance(value, int | float):
        return number(None)
    # 'uniques' and 'at risk' are numbers of people
    is_share = key.startswith("share") or key in ("highest", "lowest", "average", "unique", "kept")
    return share(value) if is_share and isinstance(value, float) and 0 <= value <= 1 else number(value)


def _attacks(page: Page, run: Run) -> None:
    with card(T.ATTACKS):
        text(T.ATTACKS_TEXT)
        options = {name: f"{name}: {words}" for name, words in page.studio.attacks(run.project).items()}
        with ui.element("div").classes("ht-row top"):
            chosen = (
                ui.select(options, multiple=True, value=[], label=T.ATTACK_SOME).props("options-dense").classes("grow")
            )

            def play() -> None:
                with attempted():
                    page.studio.attack(run.project, run.number, chosen.value)
                    found.refresh()

            ui.button(T.ATTACK_ALL, icon="gavel", on_click=play)

        @ui.refreshable
        def found() -> None:
            job_on(page.studio, run, "attack", found.refresh)
            if kept := run.json("attacks"):
                _results(kept)

        found()


def _results(found: dict[str, Any]) -> None:
    tried = {name: entry for name, entry in found["attacks"].items() if entry["targets"]}
    if tried:
        dots = [
            Interval(name, e["rate"], low, high, e["baseline"], low > e["baseline"])
            for name, e in tried.items()
            for low, high in [e["interval"]]
        ]
        picture(interval_chart(Heading("attacks", T.ATTACKS_CHART, T.ATTACKS_CAPTION), dots))
    rows = []
    for name, entry in found["attacks"].items():
        low, high = entry["interval"]
        beyond = low > entry["baseline"]
        rows.append(
            [
                name,
                f"{entry['successes']:,} of {entry['targets']:,}",
                share(entry["rate"]),
                f"{100 * low:.1f}-{100 * high:.1f}%",
                share(entry["baseline"]),
                f"▲ {T.BEYOND}" if beyond else f"○ {T.WITHIN}",
            ]
        )
    heads = ["attack", "right about", "rate", "95% interval", "baseline", "verdict"]
    html_table(heads, rows, caption=T.ATTACKS, numbers=(1, 2, 3, 4))
    worse = {n: e for n, e in found["attacks"].items() if e["interval"][0] > e["baseline"]}
    with ui.element("ul").classes("ht-list q-mt-md"):
        for name, entry in worse.items():
            text(f"{name}: {entry['remedy']}", "li", "")
    if found["not_run"]:
        with ui.expansion(f"{T.LACKING} ({len(found['not_run'])})").props("dense"):
            html_table(["attack", "reason"], list(found["not_run"].items()), caption=T.LACKING)
