"""``hushtable init``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.cli.linked import init_linked, refuse_given
from hushtable.cli.options import AsJson, Query, Schema, SqlTable
from hushtable.cli.output import Console, bullet, deliver, grid, put
from hushtable.cli.progress import waiting
from hushtable.errors import OutputError
from hushtable.io.figures import number, share
from hushtable.io.urls import redacted, source_of
from hushtable.schema.columns import Role

if TYPE_CHECKING:
    from hushtable.release.cautions import Caution
    from hushtable.schema.profile import Profile

_SHOWN = 3
_NAMED = 6


def init(
    data: Annotated[str, typer.Argument(metavar="DATA", help="The table to profile: a file, folder or address.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File for the policy.")] = Path(
        "policy.yaml"
    ),
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace an existing policy.")] = False,
    table: SqlTable = None,
    query: Query = None,
    schema: Schema = None,
    people: Annotated[
        str | None,
        typer.Option(
            "--people",
            metavar="TABLE",
            help="With --schema: the table of people. Defaults to the one that most tables lead to.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Profile a table and write a commented starter policy to edit.

    Counts distinct, unique and missing values, finds how many records are unique on small sets of columns, and
    suggests roles with reasons. Shows no value of the table. With --schema, drafts a policy of linked tables from all
    tables of a database and their foreign keys.
    """
    from hushtable.io.atomic import atomic_write_text
    from hushtable.io.sources import read_tables
    from hushtable.policy.policy import Policy
    from hushtable.policy.starter import starter_policy
    from hushtable.release.companion import check_outside
    from hushtable.release.targets import check_apart
    from hushtable.schema.profile import profile

    if output.exists() and not force:
        raise OutputError(
            f"{str(output)!r} exists.", code="exists", hint="Choose another file with --output, or add --force."
        )
    check_outside(output, "a starter policy")
    if schema is not None or people is not None:
        refuse_given({"table": table, "query": query})
        init_linked(data, output, schema, people, as_json=as_json)
        return
    source = source_of(data, table=table, query=query)
    check_apart(output, [source])
    with waiting("reading and profiling the table"):
        read = read_tables([source])
        found = profile(read)
    name = redacted(source)
    text = starter_policy(found, name)
    warned = Policy.from_yaml(text).cautions(read)
    atomic_write_text(output, text)
    result = {"data": name, "policy": output, **found.as_dict(), "like_values": list(found.like_values)}
    result["warnings"] = [asdict(caution) for caution in warned]
    deliver(result, as_json, lambda to: _text(to, found, warned, name, output))


def _text(to: Console, found: Profile, warned: Sequence[Caution], data: str, output: Path) -> None:
    from hushtable.cli.verdict import print_cautions
    from hushtable.schema.formats import MIXED_DATES

    put(to, f"{data}: {found.sizes()}.")
    rows = [
        (c.name, c.kind or "?", number(c.distinct), number(c.unique), number(c.missing), f"{c.role}: {c.role_reason}")
        for c in found.columns
    ]
    names = ["column", "kind", "distinct", "unique", "missing", "likely role"]
    to.print()
    to.print(grid(names, rows, right=["distinct", "unique", "missing"], fold=["column", "likely role"]))
    to.print()
    unclear = [c for c in found.columns if len(c.formats) > 1 or c.kind_reason == MIXED_DATES]
    for column in found.columns:
        if column.problem:
            bullet(to, f"{column.name}: {column.problem}", style="yellow")
        if column in unclear:
            bullet(to, f"{column.name}: {column.kind_reason}.", style="yellow")
    for column in found.columns:
        if column.hierarchy_reason and column.role is Role.QUASI:
            bullet(to, f"{column.name}: {column.hierarchy_reason}; see its hierarchy.")
    for having, words in _tokens(found).items():
        listed = ", ".join(repr(word) for word in words)
        bullet(to, f"{_some(having)}: {listed} may represent a missing value; see missing_values.", style="yellow")
    if found.entity:
        bullet(to, f"{found.entity} repeats: a person seems to have several rows, so people are counted, not rows.")
    like = found.like_values
    if like:
        bullet(
            to,
            f"{_some(like)}: this name could be a value of its column. If the first line of the file is a record, "
            "add a header line before it, because column names are published.",
            style="yellow",
        )
    doubtful = any(c.problem or c.tokens or c.hierarchy_reason for c in found.columns)
    if like or found.entity or unclear or doubtful:
        to.print()
    _subsets(to, found)
    print_cautions(to, warned)
    put(to, f"Starter policy written to {output}. Read it, correct the roles, then:")
    for command in ("check", "run"):
        put(to, f"  hushtable {command} {quote(str(output))} --data {quote(data)}", wrap=False)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _tokens(found: Profile) -> dict[tuple[str, ...], list[str]]:
    """Group suspicious texts by the columns that contain them; each text appears once."""
    columns: dict[str, list[str]] = {}
    for column in found.columns:
        for token in column.tokens:
            columns.setdefault(token.text, []).append(column.name)
    words: dict[tuple[str, ...], list[str]] = {}
    for word, names in columns.items():
        words.setdefault(tuple(names), []).append(word)
    return words


def _subsets(to: Console, found: Profile) -> None:
    """Return the most revealing sets of columns of each size."""
    rows = []
    for size in sorted({len(s.columns) for s in found.subsets}):
        of_size = [s for s in found.subsets if len(s.columns) == size and s.unique_share > 0]
        rows += [(" + ".join(s.columns), share(s.unique_share)) for s in of_size[:_SHOWN]]
    if rows:
        put(to, "Share of people that these columns alone single out:")
        to.print()
        to.print(grid(["columns", "unique records"], rows, right=["unique records"], fold=["columns"]))
        to.print()
    if found.subset_rows < found.rows:
        put(to, f"Counted on {found.subset_rows:,} evenly spaced rows. In a sample, more records look unique.")
