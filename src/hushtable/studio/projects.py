"""Projects: each has a folder with the data, the policy and the runs.

The policy file holds all of the user's choices.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hushtable.errors import UsageError
from hushtable.io.atomic import atomic_write_text
from hushtable.policy.text import read_yaml, write_yaml
from hushtable.studio.home import inside

_ID = re.compile(r"[0-9a-f]{12}")
_LONGEST = 80
_EDITING = threading.Lock()
_REMEMBERED = 100


class _Step(NamedTuple):
    """A change to a policy: the revision that it created, the text before it, and a description."""

    after: str
    before: str
    what: str


_HISTORY: dict[Path, list[_Step]] = {}


@dataclass(frozen=True)
class Project:
    """A project's folder.

    Attributes
    ----------
    folder : Path
    """

    folder: Path

    @property
    def id(self) -> str:
        """Random id of the project."""
        return self.folder.name

    @property
    def facts(self) -> dict[str, Any]:
        """Name, time of creation, the data's file and source."""
        found: dict[str, Any] = json.loads((self.folder / "project.json").read_text(encoding="utf-8"))
        return found

    def note(self, **facts: Any) -> None:
        """Change some of the facts."""
        with _EDITING:
            atomic_write_text(self.folder / "project.json", json.dumps({**self.facts, **facts}))

    @property
    def data(self) -> Path | None:
        """The table's file as uploaded, or None if there is none yet."""
        name = self.facts.get("data")
        path = inside(self.folder, f"data/{name}") if name else None
        return path if path is not None and path.is_file() else None

    @property
    def linked(self) -> bool:
        """Whether its data are linked tables."""
        return bool(self.facts.get("linked"))

    @property
    def tables(self) -> Path:
        """Where its linked tables are."""
        return self.folder / "data" / "tables"

    def one_table(self) -> None:
        """Refuse what is for one table if the project has linked tables."""
        if self.linked:
            raise UsageError(
                "This is for one table, and the project has linked tables.",
                code="linked",
                hint="Change the policy on the Data page; run, attack and export as usual.",
            )

    @property
    def profile(self) -> dict[str, Any] | None:
        """The findings about the table, or None until they exist."""
        found: dict[str, Any] | None = self.json("profile.json")
        return found

    def file(self, name: str) -> Path:
        """Return the path of a file that a policy names: one that was uploaded to the project, never its data or runs.

        Hierarchies are published, in cells and in the exported bundle.
        """
        return inside(self.folder / "files", self.folder.resolve() / name)

    def json(self, name: str) -> Any:
        """Return a JSON file of the project, or None if it does not exist."""
        path = inside(self.folder, name)
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    @property
    def policy_file(self) -> Path:
        """Path of the policy."""
        return self.folder / "policy.yaml"

    def document(self) -> dict[str, Any]:
        """The policy as data; it may be unfinished."""
        if not self.policy_file.is_file():
            raise UsageError("The project has no data yet.", code="no-data", hint="Upload a table first.")
        return read_yaml(self.policy_file.read_text(encoding="utf-8")).data

    def revision(self) -> str:
        """Revision string that changes with the policy or the data: one tab notices changes made in another."""
        parts = [p.read_bytes() for p in (self.policy_file, self.folder / "profile.json") if p.is_file()]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]

    def edit(
        self, change: Callable[[dict[str, Any]], Mapping[str, Any]], *, seen: str | None = None, what: str = ""
    ) -> str:
        """Change the policy file: read, change, write, one change at a time.

        Parameters
        ----------
        change : callable
        seen : str, optional
            Revision that the change was made for; refused if there is a later one.
        what : str
            Description of the change, for undo.

        Returns
        -------
        str
            The new revision.
        """
        return self.rewrite(lambda: write_yaml(dict(change(self.document()))), seen=seen, what=what)

    def rewrite(self, make: Callable[[], str], *, seen: str | None = None, what: str = "") -> str:
        """Replace the whole policy file, as ``edit`` does."""
        with _EDITING:
            self.check_seen(seen)
            before = self.policy_file.read_text(encoding="utf-8") if self.policy_file.is_file() else None
            text = make()
            atomic_write_text(self.policy_file, text)
            after = self.revision()
            if before is not None and before != text:
                kept = _HISTORY.setdefault(self.folder, [])
                kept.append(_Step(after, before, what))
                del kept[:-_REMEMBERED]
            return after

    def check_seen(self, seen: str | None) -> None:
        """Refuse a change based on a revision that is no longer the latest: it would undo another tab's change."""
        if seen is not None and seen != self.revision():
            raise UsageError(
                "Not saved: this project was changed in another tab.",
                code="stale",
                hint="Show the changes, then make yours again.",
            )

    def undoable(self) -> str | None:
        """Return a description of the last change if it can be undone; None if there is none or data were replaced."""
        kept = _HISTORY.get(self.folder)
        return kept[-1].what if kept and kept[-1].after == self.revision() else None

    def undo(self, *, seen: str | None = None) -> str:
        """Undo the last change to the policy; return the revision that is the latest again."""
        with _EDITING:
            self.check_seen(seen)
            kept = _HISTORY.get(self.folder)
            if not kept or kept[-1].after != self.revision():
                raise UsageError("There is no change to undo.", code="conflict")
            atomic_write_text(self.policy_file, kept.pop().before)
            return self.revision()


class Projects:
    """All projects of a studio's folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "projects"
        self.folder.mkdir(parents=True, exist_ok=True)

    def create(self, name: str) -> Project:
        """Create an empty project.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as home:
        ...     project = Projects(Path(home)).create("Patients 2026")
        ...     project.facts["name"], project.data
        ('Patients 2026', None)
        """
        folder = self.folder / secrets.token_hex(6)
        (folder / "data").mkdir(parents=True)
        (folder / "files").mkdir()
        (folder / "runs").mkdir()
        facts = {"name": check_title(name), "created": time.time()}
        atomic_write_text(folder / "project.json", json.dumps(facts))
        return Project(folder)

    def __getitem__(self, name: str) -> Project:
        folder = self.folder / name if _ID.fullmatch(name) else None
        if folder is None or not (folder / "project.json").is_file():
            raise UsageError("There is no such project.", code="not-there", hint="It may have been deleted.")
        return Project(folder)

    def all(self) -> list[Project]:
        """Return every project, newest first."""
        found = [Project(p.parent) for p in self.folder.glob("*/project.json") if _ID.fullmatch(p.parent.name)]
        return sorted(found, key=lambda p: (-p.facts["created"], p.id))

    def delete(self, name: str) -> None:
        """Delete a project with its data, files and runs."""
        folder = self[name].folder
        _HISTORY.pop(folder, None)
        # first out of sight, so that a half-deleted project is never shown
        gone = folder.with_name(f".{folder.name}.deleted")
        folder.rename(gone)
        shutil.rmtree(gone)

    def tidy(self) -> None:
        """Remove unfinished files: uploads, and those that a killed studio or worker left behind."""
        for left in [*self.folder.rglob(".*")]:
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink(missing_ok=True)  # its folder may have gone before it


def check_title(name: str) -> str:
    """Return a project's title in one printable line."""
    title = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    if not 1 <= len(title) <= _LONGEST:
        raise UsageError(f"A project's name has 1 to {_LONGEST} characters.", code="name", hint="Choose another name.")
    return title
