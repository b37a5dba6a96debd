"""``hushtable risk``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable import registry
from hushtable.cli.linked import is_linked_release, no_options, risk_linked
from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Files, registered
from hushtable.cli.output import Console, deliver, grid, put
from hushtable.cli.progress import waiting
from hushtable.errors import UsageError
from hushtable.io.figures import number, share
from hushtable.io.urls import redacted

if TYPE_CHECKING:
    from hushtable.release.exposure import Exposure


def risk(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE_DIR|DATA", help="Folder that 'run' wrote, or a table that is not anonymized yet."
        ),
    ],
    data: Annotated[
        list[str] | None, typer.Option("--data", "-d", metavar="FILE|URL", help="The original of a release.")
    ] = None,
    policy_file: Annotated[
        Path | None, typer.Option("--policy", "-p", metavar="POLICY", help="For a table: its policy (YAML).")
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="NAMES", help="Risks to assess, separated by commas.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", min=0, max=1, help="Risk above which a person is at risk. Defaults to 0.09."),
    ] = None,
    fraction: Annotated[
        float | None, typer.Option("--fraction", min=0, max=1, help="Fraction of the population that is in the table.")
    ] = None,
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """Assess how exposed people are, before and after anonymization, or in a table that is not anonymized yet.

    Only the quasi-identifiers of the original are read. 'hushtable risks' lists the measures. For linked tables, the
    adversary knows as many events of a person as the policy says.
    """
    from hushtable.risk.before_after import risk_summary

    if is_linked_release(Path(target)):
        no_options({"--only": only, "--fraction": fraction, "--policy": policy_file}, "risk")
        risk_linked(Path(target), data or [], files, threshold, as_json=as_json)
        return
    names = registered(only, registry.risks)
    given = {"threshold": threshold, "fraction": fraction}
    parameters = {key: value for key, value in given.items() if value is not None}
    before, after = _exposures(target, data or [], policy_file, files)
    found = risk_summary(parameters, before, after, names).as_dict()
    name = redacted(target)
    answer: Mapping[str, Any] = {"target": name, "before_only": after is None, "risks": found}
    deliver(answer, as_json, lambda to: print_risks(to, name, found))


def _exposures(
    target: str, data: Sequence[str], policy_file: Path | None, files: Path | None
) -> tuple[Exposure, Exposure | None]:
    """Return the classes before and, for a release, after."""
    from hushtable.io.sources import read_tables
    from hushtable.policy.files import load_policy
    from hushtable.release.exposure import Exposure
    from hushtable.table.encode import encode

    if Path(target).is_dir():
        if not data:
            raise UsageError("Assessing a release needs its original.", hint="Add --data FILE.")
        if policy_file is not None:
            raise UsageError("A release has its own policy.", hint="Leave --policy out.")
        with opened(Path(target), data, files) as (release, _):
            return release.exposures()
    if policy_file is None:
        raise UsageError(
            f"{redacted(target)!r} is not the folder of a release, and a table needs a policy that says which columns "
            "are quasi-identifiers.",
            hint="Add --policy POLICY, or give the folder that 'hushtable run' wrote.",
        )
    policy = load_policy(policy_file)
    if files is not None:
        policy = policy.based_in(files)
    with waiting("reading the table"):
        table = read_tables([target, *data])
        plan = policy.for_columns(table.column_names).plan()
        return Exposure.raw(encode(table, plan.table, plan.side_tables)), None


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
