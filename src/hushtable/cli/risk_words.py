"""Risks in plain words: one table of numbers before and after, and the columns that single people out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hushtable.cli.output import grid, number, put, share

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_risks"]

_SHARES = ("share", "unique", "kept", "adds", "contribution")


def print_risks(to: Console, target: str, risks: Mapping[str, Any]) -> None:
    """Print what ``RiskSummary.as_dict`` says."""
    both = any("after" in found for found in risks.values())
    put(to, f"{target}: how exposed people are" + (", before and after." if both else " before it is anonymized."))
    to.print()
    heads = ["risk", "what", "before", "after"] if both else ["risk", "what", "before"]
    rows = []
    for name, found in risks.items():
        after = found.get("after", {})
        for i, (key, value) in enumerate(_plain(found["before"])):
            row = [name if i == 0 else "", key.replace("_", " "), _cell(key, value)]
            rows.append([*row, _cell(key, after.get(key))] if both else row)
    to.print(grid(heads, rows, right=heads[2:], fold=["risk", "what"]))
    to.print()
    for when in ("before", "after"):
        for found in risks.values():
            _lists(to, when, found.get(when, {}))


def _plain(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What is one number or one word."""
    return ((key, value) for key, value in found.items() if not isinstance(value, list))


def _cell(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if value is not None and key.startswith(_SHARES) and key != "uniques":
        return share(value)
    return number(value)


def _lists(to: Console, when: str, found: Mapping[str, Any]) -> None:
    """The columns and sets of columns that a measure names."""
    subsets = [s for s in found.get("subsets", []) if s["people"]]
    if subsets:
        put(to, f"Columns that single people out, {when}:")
        rows = [(" + ".join(s["columns"]), number(s["people"]), share(s["share"])) for s in subsets]
        to.print(grid(["columns", "people", "share"], rows, right=["people", "share"], fold=["columns"]))
        to.print()
    adding = [c for c in found.get("columns", []) if "adds_unique" in c]
    if adding:
        put(to, f"What each column adds, {when}:")
        lines = [
            (
                c["column"],
                number(c["distinct"]),
                share(c["unique_alone"]),
                share(c["adds_unique"]),
                share(c["adds_risk"]),
            )
            for c in adding
        ]
        heads = ["column", "distinct", "unique alone", "adds unique", "adds risk"]
        to.print(grid(heads, lines, right=heads[1:], fold=["column"]))
        to.print()
