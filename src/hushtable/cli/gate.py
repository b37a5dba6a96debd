"""``hushtable gate``: what the pre-commit hook and the CI jobs call."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.options import AsJson
from hushtable.cli.output import Console, deliver, put
from hushtable.cli.progress import waiting
from hushtable.errors import DataError, HushtableError, VerificationError
from hushtable.schema.columns import Role

if TYPE_CHECKING:
    from hushtable.linked.policy import LinkedPolicy
    from hushtable.linked.verify import LinkedVerification
    from hushtable.policy.policy import Policy
    from hushtable.release.verify import Verification

# what the error codes of a verification mean here: the table shows what the policy withholds
_WITHHELD = frozenset({"leaked-columns"})
_POLICY = (re.compile(r"^(columns|tables):", re.MULTILINE), re.compile(r"^models:", re.MULTILINE))


@dataclass(frozen=True)
class _FoundPolicy:
    """A policy found in the tree."""

    file: Path
    policy: Policy | LinkedPolicy
    folders: dict[Path, LinkedVerification] = field(default_factory=dict)

    def is_about(self, table: Path, columns: frozenset[str]) -> bool:
        """Whether a table has all quasi-identifiers, or an identifier and any other column of the policy.

        For a policy of linked tables: whether it has the name and a column of one of them.
        """
        from hushtable.policy.policy import Policy

        if not isinstance(self.policy, Policy):
            own = self.policy.tables.get(_table_name(table))
            return own is not None and bool(set(own.columns) & columns)
        quasi, names = set(self.policy.named(Role.QUASI)), set(self.policy.named(Role.IDENTIFIER))
        others = set(self.policy.columns) - names
        return bool(quasi and quasi <= columns) or bool(names & columns and others & columns)

    def verified(self, table: Path) -> Verification | LinkedVerification:
        """Verify a table, or a linked table with the others of its folder."""
        from hushtable.policy.policy import Policy

        if isinstance(self.policy, Policy):
            from hushtable.api import verify

            return verify(table, self.policy)
        if table.parent not in self.folders:
            from hushtable.io.files import is_table_file
            from hushtable.linked.sources import read_linked
            from hushtable.linked.verify import verify_linked

            here = [f for f in table.parent.iterdir() if is_table_file(f) and _table_name(f) in self.policy.tables]
            self.folders[table.parent] = verify_linked(read_linked(sorted(here), self.policy), self.policy)
        return self.folders[table.parent]


def gate(
    tables: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE|DIR]...", help="Tables, and folders that contain tables. Defaults to the current folder."
        ),
    ] = None,
    root: Annotated[
        Path, typer.Option("--policies", metavar="DIR", help="Folder to search for policies, including its subfolders.")
    ] = Path(),
    as_json: AsJson = False,
) -> None:
    """Check every table against the policies in the tree. Exits with 1 if a table violates a policy.

    A policy applies to a table that has all its quasi-identifiers, or an identifier and another column; a policy of
    linked tables, to the files that have the names of its tables, which are verified together. The nearest policies
    apply: those in the table's folder, otherwise those in the folder above it, and so on. If there are none, any policy
    in the tree applies. Tables that no policy applies to pass. Hidden folders and private companions (*.private) are
    not searched; naming a file of a companion is an error.
    """
    for given in (*(tables or ()), root):
        if not given.exists():
            raise DataError(f"There is no file {str(given)!r}.", code="no-file", hint="Check the path.")
    known = [_FoundPolicy(file, policy) for file, policy in _policies(root)]
    with waiting("verifying"):
        judged = [verdict for file in _tables(tables or [Path()]) for verdict in _judged(file, known)]
    found = {"policies": [one.file for one in known], "tables": judged}
    deliver(found, as_json, lambda to: _print(to, found))
    states = {one["verdict"] for one in judged}
    if "violated" in states:
        raise typer.Exit(1)
    if "unverified" in states:
        raise typer.Exit(2)


def _walk(folder: Path) -> Iterator[Path]:
    """Return the files below a folder, in order, without those of hidden folders, environments and companions."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not name.endswith(".private") and name not in ("node_modules", "venv")
        )
        yield from (Path(place, name) for name in sorted(files))


def _policies(root: Path) -> Iterator[tuple[Path, Policy | LinkedPolicy]]:
    from hushtable.linked.policy import read_policy

    for file in _walk(root):
        if file.suffix in (".yaml", ".yml"):
            text = file.read_text(encoding="utf-8", errors="replace")
            if all(pattern.search(text) for pattern in _POLICY):
                yield file, read_policy(file)


def _tables(given: Sequence[Path]) -> Iterator[Path]:
    from hushtable.io.files import is_table_file

    for one in given:
        # of a private companion, every file that is named is refused
        files = _walk(one) if one.is_dir() else [one]
        yield from (file for file in files if is_table_file(file) or _is_private(file))


def _nearest(table: Path, known: Sequence[_FoundPolicy], columns: frozenset[str]) -> list[_FoundPolicy]:
    """Return the policies that apply to a table."""
    about = [one for one in known if one.is_about(table, columns)]
    for folder in table.resolve().parents:
        if own := [one for one in about if one.file.resolve().parent == folder]:
            return own
    return about


def _judged(table: Path, known: Sequence[_FoundPolicy]) -> Iterator[dict[str, Any]]:
    """Yield the verdict on a table under each policy that applies to it."""
    from hushtable.io.files import column_names

    found: dict[str, Any] = {"table": table, "policy": None}
    if _is_private(table):
        yield {
            **found,
            "verdict": "violated",
            "reason": "The private companion of a release reveals what the release hides.",
        }
        return
    try:
        columns = frozenset(column_names(table, unescape_formulas=True))
    except HushtableError as error:
        # notes and other text may be no table at all
        if table.suffix.lower() != ".txt":
            yield {**found, "verdict": "unverified", "reason": error.message}
        return
    for one in _nearest(table, known, columns):
        state, reason = "holds", ""
        try:
            one.verified(table).raise_if_violated()
        except HushtableError as error:
            broken = isinstance(error, VerificationError) or error.code in _WITHHELD
            state, reason = "violated" if broken else "unverified", error.message
        yield {"table": table, "policy": one.file, "verdict": state, "reason": reason}


def _table_name(file: Path) -> str:
    """The linked table that a file holds."""
    return file.name.split(".")[0]


def _is_private(file: Path) -> bool:
    return any(part.endswith(".private") for part in file.parts[:-1])


def _print(to: Console, found: Mapping[str, Any]) -> None:
    for one in found["tables"]:
        under = f" under {one['policy']}" if one["policy"] is not None else ""
        style = {"holds": "green", "violated": "bold red", "unverified": "yellow"}[one["verdict"]]
        put(to, f"{one['table']}{under}: {one['verdict']}. {one['reason']}".rstrip(), style=style)
    if not found["tables"]:
        tables = "no table that a policy applies to" if found["policies"] else "no policy"
        put(to, f"Found {tables}: nothing to check.")
