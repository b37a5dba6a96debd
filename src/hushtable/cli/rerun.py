"""``hushtable verify --rerun``: run the policy again on the original, and compare with the published file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hushtable.errors import DataError, UsageError
from hushtable.io.secret import SECRET
from hushtable.io.urls import Source

if TYPE_CHECKING:
    from hushtable.engines.release import Release
    from hushtable.policy.policy import Policy
    from hushtable.release.verify import Verification

__all__ = ["run_again"]


def run_again(published: Source, policy: Policy, data: Sequence[Source]) -> Verification:
    """Run a policy again on an original, compare the result with the published file, and return how it was verified.

    Raises
    ------
    UsageError
        If the published table is in a database, whose bytes cannot be compared.
    DataError
        If the result is not the published table byte for byte.
    """
    from hushtable.api import run_plan
    from hushtable.cli.progress import progress_bar
    from hushtable.io.sources import is_address, read_tables
    from hushtable.release.companion import stored_coins

    if not data:
        raise UsageError("Rerunning the policy needs the original.", code="no-original", hint="Give it with --data.")
    if is_address(published):
        raise UsageError(
            "A rerun can only be compared with a file.",
            code="not-a-file",
            hint="Verify the table in the folder that 'run' wrote.",
        )
    with progress_bar() as progress:
        table = read_tables(data)
        own = policy.for_columns(table.column_names).plan()
        if own.algorithm.samples:
            raise UsageError(
                f"{own.algorithm.name} draws records with the operating system's randomness, so the release cannot be "
                "reproduced.",
                code="not-repeatable",
                hint="Leave out --rerun: the published classes are still verified.",
            )
        plan = replace(own.repeating(), coins=stored_coins(Path(published).parent))
        release = run_plan(table, plan, progress)
        progress(1.0, "comparing")
        _check_same(release, Path(published))
    found: Verification = release.verification
    return found


def _check_same(release: Release, published: Path) -> None:
    """Refuse an original and a published file that do not belong together."""
    import filecmp

    from hushtable.io.files import read_table, write_table
    from hushtable.io.formulas import guard_table
    from hushtable.io.sources import table_files
    from hushtable.io.temporary import private_folder
    from hushtable.release.companion import stored_coins
    from hushtable.release.written import is_guarded

    if not published.exists():
        raise DataError(
            f"The published table {str(published)!r} does not exist.",
            code="no-release",
            hint="Give the folder that 'hushtable run' wrote.",
        )
    # where sensitive values are apart from their people, the published file has the people alone
    table = release.halves()[0] if release.apart else release.table
    if published.suffix == ".csv" and is_guarded(published.parent):
        table = guard_table(table)
    same, at = True, 0
    with private_folder() as place:
        # a folder holds the table in parts
        for file in table_files([published]):
            rows = table.num_rows if file == published else read_table(file).num_rows
            again = Path(place) / file.name
            write_table(table.slice(at, rows), again)
            same = same and filecmp.cmp(again, file, shallow=False)
            at += rows
    if not same or at != table.num_rows:
        if release.problem.used_coins is not None and stored_coins(published.parent) is None:
            raise DataError(
                f"The release {str(published)!r} was made with secret coins. This computer's secret and these data do "
                "not reproduce it.",
                code="other-secret",
                hint=f"Name the secret's file with {SECRET}, or put the release's private folder back. If both are "
                "lost, the release cannot be reproduced, but its rows can still be verified.",
            )
        raise DataError(
            f"The original and the saved policy do not reproduce {str(published)!r}.",
            code="not-reproduced",
            hint="Give exactly the data that were released. A release cannot be reproduced if it was edited, stopped "
            "by a time limit, or made by another version of hushtable.",
        )
