"""``hushtable ledger``."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.linked import is_linked_release, opened_linked
from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, ExpectNewPeople, Files, Original
from hushtable.cli.output import Console, bullet, deliver, grid, put
from hushtable.cli.signals import nearly_done
from hushtable.errors import DataError, UsageError, counted

if TYPE_CHECKING:
    from hushtable.ledger.ledger import Ledger
    from hushtable.ledger.verdict import LedgerVerdict


class LedgerAction(StrEnum):
    """Actions on a ledger."""

    ADD = "add"
    CHECK = "check"
    LIST = "list"
    SHOW = "show"


_LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger", "-l", metavar="FILE", help="The ledger. Defaults to the one that the release's policy names."
    ),
]
_Person = Annotated[
    str | None,
    typer.Option(
        "--person",
        metavar="COLUMN",
        help="Column that identifies each row's person. Defaults to the policy's entity, or its only identifier.",
    ),
]
_Key = Annotated[
    Path | None,
    typer.Option("--key", metavar="FILE", help="The ledger's key. Defaults to the ledger's name followed by .key."),
]


def ledger(
    action: Annotated[LedgerAction, typer.Argument(metavar="add|check|list|show", help="Action.")],
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="RELEASE_DIR", help="Folder that 'run' wrote (add, check).")
    ] = None,
    path: _LedgerFile = None,
    data: Original = None,
    person: _Person = None,
    name: Annotated[str, typer.Option("--name", help="Name for the release.")] = "",
    key: _Key = None,
    files: Files = None,
    expect_new_people: ExpectNewPeople = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Record releases of the same people, and refuse one that breaks a promise in combination with earlier ones.

    The ledger holds keyed hashes of people and values and the counts of classes: no names, no cells, no values. 'check'
    exits with 1 if a model is violated; 'add' refuses such a release and changes nothing. 'list' lists the releases,
    'show' draws the number of people that they have in common.
    """
    from hushtable.ledger.ledger import Ledger

    if action in (LedgerAction.LIST, LedgerAction.SHOW):
        if path is None:
            raise UsageError(f"There is no ledger to {action}.", code="no-ledger", hint="Name it with --ledger FILE.")
        (_list if action is LedgerAction.LIST else _show)(Ledger(path, key=key), as_json)
        return
    if folder is None or not data:
        raise UsageError(
            f"There is no release to {action}." if folder is None else "The original is missing.", code="no-release",
            hint="Give the folder that 'hushtable run' wrote and the original with --data.",
        )  # fmt: skip
    linked = is_linked_release(folder)
    if linked and path is None:
        raise UsageError("A policy of linked tables names no ledger.", code="no-ledger", hint="Add --ledger FILE.")
    opening: Any = opened_linked if linked else opened
    with opening(folder, data, files) as (release, progress):
        progress(1.0, "comparing with earlier releases")
        base = files or folder
        book = (
            Ledger(path, key=key, person=person, folder=base)
            if path
            else _named(release.policy, folder, files, key, person)
        )
        _check_place(book, folder)
        new = not book.exists()
        called = name or folder.resolve().name
        asked = {"expect_new_people": expect_new_people}
        verdict = (
            book.add(release, name=called, **asked) if action is LedgerAction.ADD else book.check(release, **asked)
        )
    if action is LedgerAction.ADD:
        nearly_done()
    found = {"ledger": book.path, "release": folder, "added": action is LedgerAction.ADD, "new_ledger": new}
    _print({**found, **verdict.as_dict()}, verdict, book, as_json)
    if not verdict.ok:
        raise typer.Exit(1)


def _check_place(book: Ledger, folder: Path) -> None:
    """Refuse a ledger in the folder of a release: its key would be published."""
    for path in (book.path, book.key_path):
        if folder.resolve() in path.resolve().parents:
            raise UsageError(
                f"{str(path)!r} is in the folder of the release, which will be published.", code="ledger-place",
                hint="Name a ledger elsewhere with --ledger FILE, or the folder of the policy that was run with "
                "--files DIR.",
            )  # fmt: skip


def _named(policy: Any, folder: Path, files: Path | None, key: Path | None, person: str | None) -> Ledger:
    """Return the ledger that a release's policy names."""
    from hushtable.ledger.account import Account
    from hushtable.ledger.ledger import Ledger

    account = Account.of(policy, files or folder)
    if account is None:
        raise UsageError("The release's policy names no ledger.", code="no-ledger", hint="Name it with --ledger FILE.")
    return Ledger(account.file, key=key or account.key, person=person or account.person, folder=files or folder)


def _print(found: dict[str, Any], verdict: LedgerVerdict, book: Ledger, as_json: bool) -> None:
    def text(to: Console) -> None:
        if found["new_ledger"] and found["added"]:
            put(to, f"New ledger: {book.path}. Keep its key, {book.key_path}, safe and do not share it.")
        earlier = counted(found["earlier"], "earlier release", "earlier releases")
        people = counted(found["people"], "person", "people")
        known = f"{found['known']:,} of whom are in {earlier}" if found["earlier"] else "and no earlier release"
        put(to, f"{people}, {known}.")
        if found["already"]:
            put(to, f"It is already in the ledger, as {found['already']}, and was compared with those before it.")
        for finding in verdict.findings:
            bullet(to, f"{finding.sentence()}.")
        for line in (*verdict.asked, *verdict.advice):
            bullet(to, line)
        if any(finding.how == "linked" for finding in verdict.findings):
            put(to, "REFUSED: it cannot be checked in combination with earlier releases.", style="bold red")
        elif verdict.findings:
            put(to, "REFUSED: in combination with earlier releases, it breaks a promise.", style="bold red")
        elif verdict.asked:
            put(to, "NOT ACCEPTED: answer the question first.", style="bold red")
        else:
            put(to, "Added." if found["added"] else "Accepted: every model holds for all releases combined.",
                style="green")  # fmt: skip

    deliver(found, as_json, text)


def _entries(book: Ledger) -> Sequence[dict[str, Any]]:
    if not book.exists():
        raise DataError(
            f"There is no ledger {str(book.path)!r}.", code="no-ledger",
            hint="'hushtable ledger add' makes one with the first release.",
        )  # fmt: skip
    return [entry.summary() for entry in book.entries()]


def _show(book: Ledger, as_json: bool) -> None:
    """Draw the releases: a bar for each one's people, and the number shared with each earlier one."""
    entries, shared = _entries(book), book.overlap().tolist()
    longest = max((e["people"] for e in entries), default=1) or 1

    def bar(i: int) -> str:
        people, again = entries[i]["people"], max(shared[i][:i], default=0)
        width, seen = (round(20 * n / longest) for n in (people, again))
        return "█" * seen + "░" * (width - seen)

    def text(to: Console) -> None:
        put(to, f"{book.path}: people in each release. The dark part is also in an earlier release.")
        names = [str(i) for i in range(1, len(entries))]
        rows = [
            (str(i + 1), e["name"], bar(i), f"{e['people']:,}", *(f"{n:,}" for n in shared[i][:i]),
             *[""] * (len(names) - i)) for i, e in enumerate(entries)
        ]  # fmt: skip
        headers = ["", "release", "", "people", *(f"in {n}" for n in names)]
        to.print(grid(headers, rows, right=["people", *headers[4:]], fold=["release"]))

    deliver({"ledger": book.path, "releases": entries, "in_common": shared}, as_json, text)


def _list(book: Ledger, as_json: bool) -> None:
    entries = _entries(book)

    def text(to: Console) -> None:
        releases = counted(len(entries), "release", "releases")
        put(to, f"{book.path}: {releases}, unchanged since {'it was' if len(entries) == 1 else 'they were'} added.")
        rows = [
            (str(i), e["name"], e["added"], f"{e['people']:,}", f"{e['classes']:,}", f"{e['counterfeits']:,}")
            for i, e in enumerate(entries, start=1)
        ]
        to.print(grid(["", "release", "added", "people", "classes", "counterfeits"], rows,
                      right=["", "people", "classes", "counterfeits"], fold=["release"]))  # fmt: skip

    deliver({"ledger": book.path, "releases": entries}, as_json, text)
