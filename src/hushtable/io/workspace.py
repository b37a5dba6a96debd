"""A work folder: private temporary files that a killed run leaves for the next one.

Success, an error or Ctrl-C removes the folder. After a kill, the same run (same input files, policy and version)
resumes from its finished stages; any other run starts over.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hushtable.errors import OutputError
from hushtable.io.atomic import atomic_write_text, named, reported
from hushtable.io.temporary import hidden_sibling, sweep

_MANIFEST = "manifest.json"
_LOCK = "lock"


class Workspace:
    """A folder with finished and unfinished stages.

    Attributes
    ----------
    folder : path
    """

    def __init__(self, folder: Path, key: Mapping[str, Any]) -> None:
        self.folder = folder
        self._key = json.loads(json.dumps(key))
        self._stages: dict[str, Any] = {}
        found = self._manifest()
        if found.get("key") == self._key:
            self._stages = found["stages"]
        else:
            self._clear()

    def _manifest(self) -> dict[str, Any]:
        try:
            found = json.loads((self.folder / _MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) and isinstance(found.get("stages"), dict) else {}

    def _clear(self) -> None:
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != _LOCK:
                path.unlink()

    def finished(self, stage: str) -> Any:
        """Return the notes of a finished stage; None if it is unfinished or its files are incomplete."""
        noted = self._stages.get(stage)
        return noted["facts"] if noted is not None and noted["sizes"] == self._sizes(stage) else None

    def _sizes(self, stage: str) -> dict[str, int]:
        """The sizes of a stage's files: after a crash of the machine, written data may be lost."""
        folder = self.folder / stage
        return {path.name: path.stat().st_size for path in sorted(folder.iterdir())} if folder.is_dir() else {}

    def finish(self, stage: str, facts: Mapping[str, Any]) -> None:
        """Record that a stage is finished, for a run after a kill."""
        self._stages[stage] = {"facts": dict(facts), "sizes": self._sizes(stage)}
        self._note()

    def _note(self) -> None:
        text = json.dumps({"key": self._key, "stages": self._stages})
        atomic_write_text(self.folder / _MANIFEST, text)

    def begin(self, stage: str) -> Path:
        """Return an empty folder for the files of a stage."""
        place = self.folder / stage
        if place.exists():
            shutil.rmtree(place)
        place.mkdir()
        return place


@contextmanager
def workspace(path: str | os.PathLike[str], key: Mapping[str, Any]) -> Iterator[Workspace]:
    """Open the work folder of an output, hidden next to it and readable only by its owner.

    Parameters
    ----------
    path : path
        The output of the run.
    key : mapping
        JSON data that decides whether an earlier run's files can be used.

    Raises
    ------
    OutputError
        If the folder cannot be created, or another run is using it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     with workspace(Path(base, "release"), {"policy": 1}) as work:
    ...         work.finish("read", {"rows": 3})
    ...         found = work.finished("read"), work.folder.exists()
    ...     found, work.folder.exists()
    (({'rows': 3}, True), False)
    """
    target = Path(os.path.realpath(path))
    folder = hidden_sibling(target, "work")
    with reported(path), named(folder, path), contextlib.ExitStack() as stack:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = stack.enter_context((folder / _LOCK).open("a"))
        if not _locked(lock):
            raise OutputError(
                f"Another run is writing {os.fspath(path)!r}.",
                code="busy",
                hint="Wait for it, or choose another folder.",
            )
        try:
            sweep(target)  # the temporaries of a killed run may be large
            yield Workspace(folder, key)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _locked(file: IO[str]) -> bool:
    """Acquire the lock, which the system releases however a run ends; on systems without locks, there is none."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
