"""A saved release beside its original: the saved policy run again, and held against the published file.

Releases are deterministic, so what measures, risks and attacks need beyond the published cells is taken from that run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hushtable.errors import DataError, UsageError
from hushtable.io.secret import SECRET
from hushtable.io.urls import Source

if TYPE_CHECKING:
    from hushtable.algorithms.base import Progress
    from hushtable.policy.policy import Policy
    from hushtable.release.release import Release
    from hushtable.release.verify import Verification

__all__ = ["check_same", "reproduced", "run_again"]


@contextmanager
def reproduced(folder: Path, data: Sequence[Source], files: Path | None) -> Iterator[tuple[Release, Progress]]:
    """Run the policy of a saved release again on its original, and show progress until the work on it is done.

    Parameters
    ----------
    folder : Path
        What ``hushtable run`` wrote.
    data : sequence of path or address
        The original, in one source or in several.
    files : Path, optional
        Where the files are that the policy names; the release's folder where left out.

    Yields
    ------
    release, progress

    Raises
    ------
    DataError
        If the folder holds no release, or the result is not the published table byte for byte.
    """
    from hushtable.api import run_plan
    from hushtable.cli.progress import announce_compiling, progress_bar
    from hushtable.io.sources import read_tables
    from hushtable.policy.files import load_policy
    from hushtable.release.companion import load_evidence, stored_coins

    if not folder.is_dir():
        raise DataError(
            f"{str(folder)!r} is not a folder.", code="no-release", hint="Give the folder that 'hushtable run' wrote."
        )
    evidence = load_evidence(folder / "release.json")
    policy = load_policy(folder / "policy.yaml").based_in(files or folder)
    if dict(evidence.get("notes") or {}).get("increment"):
        raise DataError(
            f"{str(folder)!r} holds a batch that was published beside an earlier release.",
            code="increment",
            hint="Work on it in Python: hushtable.increment gives it again. 'ledger' takes --beside and --earlier.",
        )
    announce_compiling()
    with progress_bar() as progress:
        release = run_plan(read_tables(data), replace(policy.plan(), coins=stored_coins(folder)), progress)
        progress(1.0, "comparing")
        check_same(release, folder / str(evidence.get("file", "release.csv")))
        yield release, progress


def run_again(published: Source, policy: Policy, data: Sequence[Source]) -> Verification:
    """Run a policy again on an original, hold the result against the published file, and return how it was verified.

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

    if is_address(published):
        raise UsageError(
            "With --data, what is verified is a file.",
            code="not-a-file",
            hint="Verify the table in the folder that 'run' wrote.",
        )
    with progress_bar() as progress:
        plan = replace(policy.plan(), coins=stored_coins(Path(published).parent))
        release = run_plan(read_tables(data), plan, progress)
        progress(1.0, "comparing")
        check_same(release, Path(published))
    found: Verification = release.verification
    return found


def check_same(release: Release, published: Path) -> None:
    """Refuse originals, or a published file, that do not belong together."""
    import filecmp

    from hushtable.io.files import read_table, write_table
    from hushtable.io.sources import table_files
    from hushtable.io.temporary import private_folder
    from hushtable.release.companion import stored_coins

    if not published.exists():
        raise DataError(
            f"The published table {str(published)!r} is not there.",
            code="no-release",
            hint="Give the folder that 'hushtable run' wrote.",
        )
    # where sensitive values are apart from their people, the published file has the people alone
    table = release.table if release.linked is None else release.linked(release)[0]
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
                "lost, the release cannot be made again; what its rows tell can still be verified.",
            )
        raise DataError(
            f"The original and the saved policy do not give {str(published)!r} again.",
            code="not-reproduced",
            hint="Give the very data that were released; a release that was edited, stopped by a time limit, or made "
            "by another version of hushtable, cannot be measured.",
        )
