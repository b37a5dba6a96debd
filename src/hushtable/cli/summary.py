"""A release in plain words: what went in, what came out, what every model achieved and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable import registry
from hushtable.cli.output import Console, grid, put
from hushtable.errors import counted
from hushtable.io.figures import number, share
from hushtable.release.verify import needed_and_achieved

_SENSES = {">=": "at least", "<=": "at most", "<": "below"}


def print_summary(to: Console, summary: Mapping[str, Any]) -> None:
    """Print the contents of ``Release.summary``."""
    records, released, suppressed = summary["records"], summary["released"], summary["suppressed"]
    classes = summary["classes"]
    put(
        to,
        f"{released:,} of {records:,} records are published ({suppressed:,} suppressed, "
        f"{share(suppressed / records)}), in {counted(classes, 'equivalence class', 'equivalence classes')}: "
        f"{number(released / classes if classes else None)} records each on average.",
    )
    if summary.get("notes", {}).get("stopped_by_time"):
        put(to, "Refinement was stopped by its time limit, so another run may give a different table.", style="yellow")
    _print_gap(to, summary.get("notes", {}))
    print_models(to, summary["models"])
    print_measures(to, summary["measures"])


def _print_gap(to: Console, notes: Mapping[str, Any]) -> None:
    """Print the largest possible distance from the optimum of a search that reached its limit."""
    if "gap" not in notes or notes.get("optimum_proven", True):
        return
    put(
        to,
        f"The search stopped after {notes['nodes_judged']:,} of {notes['nodes']:,} nodes. The best node costs "
        f"{number(notes['value'])} ({notes['objective']}); no node costs less than {number(notes['lower_bound'])}.",
        style="yellow",
    )


def print_models(to: Console, models: Sequence[Mapping[str, Any]]) -> None:
    """Print the requirement of every model and what the worst class achieved."""
    rows = []
    for entry in models:
        parameters = ", ".join(f"{k}={_parameter(v)}" for k, v in entry["parameters"].items())
        broken = entry["violations"]
        verdict = "holds" if entry["satisfied"] else f"VIOLATED by {broken:,} class{'es' if broken != 1 else ''}"
        rows.append((f"{entry['model']} ({parameters})", *needed_and_achieved(entry, number, _SENSES), verdict))
    columns = ["privacy model", "needed", "achieved", "verdict"]
    to.print()
    to.print(grid(columns, rows, right=["achieved"], fold=["privacy model"]))
    to.print()


def print_measures(to: Console, measures: Mapping[str, float]) -> None:
    """Print measures with their meaning and the better direction."""
    from hushtable.about import summary_of

    rows = []
    for name, value in measures.items():
        known = registry.measures[name]
        about = getattr(value, "about", "")
        rows.append((name, number(value), known.better, summary_of(known) + (f" ({about})" if about else "")))
    columns = ["measure", "value", "better", "meaning"]
    to.print(grid(columns, rows, right=["value"], fold=["meaning"]))
    to.print()


def _parameter(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
