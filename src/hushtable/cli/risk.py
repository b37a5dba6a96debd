"""``hushtable risk``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.options import AsJson, Files, registered
from hushtable.errors import UsageError
from hushtable.io.urls import shown

if TYPE_CHECKING:
    from hushtable.release.exposure import Exposure

__all__ = ["risk"]


def risk(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE_DIR|DATA",
            help="Folder that 'run' wrote, or a table that is not anonymized yet.",
            show_default=False,
        ),
    ],
    data: Annotated[
        list[str] | None,
        typer.Option("--data", "-d", metavar="FILE|URL", help="The original of a release.", show_default=False),
    ] = None,
    policy_file: Annotated[
        Path | None,
        typer.Option("--policy", "-p", metavar="POLICY", help="The roles of a table's columns.", show_default=False),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="NAMES", help="Risks to assess, separated by commas.", show_default=False),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Risk above which a person is at risk. Defaults to 0.09.", show_default=False),
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option("--fraction", help="Fraction of the population that is in the table.", show_default=False),
    ] = None,
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """Assess how exposed people are, before and after anonymization, or in a table that is not anonymized yet.

    Only the quasi-identifiers of the original are read. 'hushtable risks' lists the measures. For linked tables, the
    adversary knows as many events of a person as the policy says.
    """
    from hushtable import registry
    from hushtable.cli.linked import is_linked_release, no_options, risk_linked
    from hushtable.cli.output import deliver
    from hushtable.cli.risk_words import print_risks
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
    name = shown(target)
    answer: Mapping[str, Any] = {"target": name, "before_only": after is None, "risks": found}
    deliver(answer, as_json, lambda to: print_risks(to, name, found))


def _exposures(
    target: str, data: Sequence[str], policy_file: Path | None, files: Path | None
) -> tuple[Exposure, Exposure | None]:
    """Return the classes before and, for a release, after."""
    from hushtable.cli.opening import opened
    from hushtable.cli.progress import waiting
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
            f"{shown(target)!r} is not the folder of a release, and a table needs a policy that says which columns "
            "are quasi-identifiers.",
            hint="Add --policy POLICY, or give the folder that 'hushtable run' wrote.",
        )
    policy = load_policy(policy_file)
    if files is not None:
        policy = policy.based_in(files)
    with waiting("reading the table"):
        table = read_tables([target, *data])
        plan = policy.for_columns(table.column_names).plan()
        return Exposure.raw(encode(table, plan.table, plan.extra)), None
