"""``hushtable check``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.cli.linked import check_linked, refuse_given
from hushtable.cli.options import AsJson, PolicyFile, Query, Schema, SqlTable, no_schema
from hushtable.cli.output import Console, bullet, deliver, grid, put
from hushtable.cli.progress import waiting
from hushtable.errors import HushtableError, IncompatibleError

if TYPE_CHECKING:
    from hushtable.policy.preflight import PolicyProblem, Preflight


def check(
    policy_file: PolicyFile,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", "-d", metavar="FILE|URL", help="The table. Without it, only the policy is checked."),
    ] = None,
    table: SqlTable = None,
    query: Query = None,
    schema: Schema = None,
    as_json: AsJson = False,
) -> None:
    """Find every problem before a run: policy, columns, hierarchies, feasibility. Warn about what is not protected.

    Exits with 2 if something must be fixed, and with 3 if only the models are infeasible. Warnings do not change the
    exit code.
    """
    from hushtable.policy.files import is_linked

    if is_linked(policy_file):
        refuse_given({"table": table, "query": query})
        check_linked(policy_file, data or [], schema, as_json=as_json)
        return
    if schema is not None:
        raise no_schema()
    preflight, problems = _look(policy_file, data or [], table, query)
    alone = {"ok": not problems, "problems": [asdict(p) for p in problems]}
    result = alone if preflight is None else preflight.as_dict()
    deliver(result, as_json, lambda to: _text(to, preflight, problems, policy_file))
    if problems:
        raise typer.Exit(3 if all(p.infeasible for p in problems) else 2)


def _look(
    policy_file: Path, data: Sequence[str], table: str | None, query: str | None
) -> tuple[Preflight | None, Sequence[PolicyProblem]]:
    from hushtable.io.sources import read_tables
    from hushtable.policy.faults import InvalidPolicy
    from hushtable.policy.files import load_policy
    from hushtable.policy.preflight import PolicyProblem, check_table, missing_files

    try:
        policy = load_policy(policy_file)
    except InvalidPolicy as error:
        return None, [
            PolicyProblem(
                f"line {f.line}" if f.line else policy_file.name,
                ": ".join(filter(None, (f.where(), f.sentence))),
                f.hint,
                f.code,
            )
            for f in error.faults
        ]
    except IncompatibleError as error:
        return None, [PolicyProblem.of(policy_file.name, error)]
    try:
        plan = policy.plan()
    except HushtableError as error:
        return None, [PolicyProblem.of(policy_file.name, error)]
    if not data:
        return None, list(missing_files(plan.table))
    with waiting("reading and checking the table"):
        preflight = check_table(read_tables(data, table=table, query=query), policy)
    return preflight, preflight.problems


def _text(to: Console, preflight: Preflight | None, problems: Sequence[PolicyProblem], policy_file: Path) -> None:
    from hushtable.cli.verdict import print_cautions

    if preflight is not None:
        _columns(to, preflight)
        _models(to, preflight)
        print_cautions(to, preflight.cautions)
    if problems:
        put(to, f"{len(problems)} problem{'s' if len(problems) > 1 else ''} found:", style="bold red")
        for problem in problems:
            bullet(to, f"{problem.where}: {problem.message} {problem.hint}".rstrip())
    elif preflight is None:
        put(to, f"{policy_file} is a valid policy. Add --data FILE to check it against a table.", style="green")
    else:
        put(to, "No problems found.", style="green")


def _columns(to: Console, preflight: Preflight) -> None:
    rows = [
        (
            c.name,
            c.role,
            c.kind or "?",
            f"{c.distinct:,}",
            f"{c.missing:,}",
            # a level with as many labels as the one before it joins no values of this table
            " > ".join(f"{n:,}" for n in dict.fromkeys(c.levels)) if c.role == "quasi" else "",
        )
        for c in preflight.columns
    ]
    names = ["column", "role", "kind", "distinct", "missing", "labels from fine to coarse"]
    to.print(grid(names, rows, right=["distinct", "missing"], fold=["column", "labels from fine to coarse"]))
    to.print()
    if preflight.lattice is not None:
        put(to, f"Number of combinations of hierarchy levels: {preflight.lattice:,}.")
        to.print()


def _models(to: Console, preflight: Preflight) -> None:
    words = {True: "yes, as far as can be checked", False: "no", None: "not known yet"}
    rows = [
        (f"{m.model} ({', '.join(f'{k}={v}' for k, v in m.parameters.items())})", words[m.feasible])
        for m in preflight.models
    ]
    to.print(grid(["privacy model", "can it hold?"], rows, fold=["privacy model"]))
    to.print()
