"""Opening a saved release for a command that examines it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hushtable.cli.linked import is_linked_release
from hushtable.cli.progress import progress_bar
from hushtable.errors import UsageError

if TYPE_CHECKING:
    from hushtable.algorithms.base import Progress
    from hushtable.engines.release import Release
    from hushtable.io.urls import Source


@contextmanager
def opened(folder: Path, data: Sequence[Source], files: Path | None) -> Iterator[tuple[Release, Progress]]:
    """Open a release, with its original if given, and show progress until the work on it is done.

    Parameters
    ----------
    folder : Path
        Folder that ``hushtable run`` wrote.
    data : sequence of path or address
        The original, in one or more sources; may be empty if the command does not need it.
    files : Path, optional
        Base folder for files that the policy refers to. Defaults to the release's folder.

    Yields
    ------
    release, progress
    """
    from hushtable.api import open_release

    if is_linked_release(folder):
        raise UsageError(
            f"{str(folder)!r} holds linked tables, and this command works on one table.",
            code="linked",
            hint="verify, measure, risk, attack, report, sample and ledger work on linked tables.",
        )
    with progress_bar() as progress:
        progress(0.0, "opening")
        yield open_release(folder, list(data) or None, files=files), progress
