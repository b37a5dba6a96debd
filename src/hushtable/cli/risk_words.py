"""Risks in plain words: a table of numbers before and after, and the columns that single people out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hushtable.cli.output import grid, put
from hushtable.io.figures import number, share

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_risks"]

# shown elsewhere: in the sentence above the table, or next to what they decide
_SETTINGS = {"basis", "fraction", "population", "threshold", "comparison", "k", "sample_uniques"}
# said by several measures; once is enough
_ONCE = {"people", "classes"}
_SHARES = ("share", "unique", "kept", "adds", "contribution")


def print_risks(to: Console, target: str, risks: Mapping[str, Any]) -> None:
    """Print the contents of ``RiskSummary.as_dict``."""
    both = any("after" in found for found in risks.values())
    put(to, f"{target}: how exposed people are" + (", before and after." if both else " before anonymization."))
    basis = _basis(risks)
    if basis:
        put(to, basis)
    to.print()
    heads = ["risk", "what", "before", "after"] if both else ["risk", "what", "before"]
    rows, said = [], set()
    for name, found in risks.items():
        title = name
        for key, what, value in _plain(found["before"]):
            after = found.get("after", {}).get(key)
            if key in _ONCE and (key, value, after) in said:
                continue
            said.add((key, value, after))
            rows.append([title, what, _cell(key, value), _cell(key, after)][: len(heads)])
            title = ""
    to.print(grid(heads, rows, right=heads[2:], fold=["risk", "what"]))
    to.print()
    for when in ("before", "after"):
        for found in risks.values():
            _lists(to, when, found.get(when, {}))


def _basis(risks: Mapping[str, Any]) -> str:
    """Say once where the numbers about the population come from."""
    for found in risks.values():
        if "fraction" in found["before"]:
            basis, fraction = found["before"]["basis"], found["before"]["fraction"]
            if basis == "table":
                return (
                    "The table is treated as the whole population. If it is a sample, pass --fraction, or name a "
                    "population "
                    "table in the policy."
                )
            return f"The table is {share(fraction)} of the population, according to the {basis}."
    return ""


def _plain(found: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Return single numbers and words as (key, label, value)."""
    for key, value in found.items():
        if key in _SETTINGS or isinstance(value, list):
            continue
        what = key.replace("_", " ")
        if key.endswith("at_risk"):
            what += f" ({found['comparison']} {found['threshold']:g})"
        elif key.endswith("below"):
            what += f" k={found['k']}"
        yield key, what, value


def _cell(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if value is not None and key.startswith(_SHARES) and key != "uniques":
        return share(value)
    return number(value)


def _lists(to: Console, when: str, found: Mapping[str, Any]) -> None:
    """Print the columns and sets of columns that a measure names."""
    subsets = [s for s in found.get("subsets", []) if s["people"]]
    if subsets:
        put(to, f"Columns that single people out, {when}:")
        rows = [(" + ".join(s["columns"]), number(s["people"]), share(s["share"])) for s in subsets]
        to.print(grid(["columns", "people", "share"], rows, right=["people", "share"], fold=["columns"]))
        to.print()
    diverse = found.get("diversity", [])
    if diverse:
        put(to, f"Diversity of the sensitive values in people's classes, {when}:")
        keys = ("least", "median", "mean", "most")
        table = [[d["column"], d["measure"], *(number(d[key]) for key in keys)] for d in diverse]
        to.print(grid(["column", "measure", *keys], table, right=keys, fold=["column"]))
        to.print()
    adding = [c for c in found.get("columns", []) if "adds_unique" in c]
    if adding:
        put(to, f"Contribution of each column, {when}:")
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
