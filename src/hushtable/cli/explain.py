"""``hushtable explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Data, Files, ReleaseFolder
from hushtable.cli.output import Console, bullet, deliver, put

if TYPE_CHECKING:
    from hushtable.release.explain.explanation import Explanation


def explain(
    folder: ReleaseFolder,
    rows: Annotated[
        list[int],
        typer.Argument(metavar="ROW...", help="Records of the original, numbered from 0.")
    ],
    data: Data,
    files: Files = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Explain why records were generalized or suppressed, in words and without anyone's values.

    Row 0 is the first record below the header. The output links a record to its class: do not publish it.
    """
    with opened(folder, data, files) as (release, progress):
        progress(1.0, "measuring")
        found = [release.explain(row) for row in rows]
    answer = {"release": folder, "records": [one.as_dict() for one in found]}
    deliver(answer, as_json, lambda to: _print(to, found))


def _print(to: Console, found: list[Explanation]) -> None:
    for i, one in enumerate(found):
        if i:
            to.print()
        for sentence in one.sentences:
            put(to, sentence)
        for line in one.changes:
            bullet(to, line)
