"""Projects: each has a folder with the data, the policy and the runs, in the folder of the studio.

The policy file holds all of the user's choices.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import sqlite3
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hushtable.errors import PolicyError, UsageError
from hushtable.io.atomic import atomic_write_text
from hushtable.linked.policy import LinkedPolicy
from hushtable.policy.policy import Policy
from hushtable.policy.text import read_yaml, write_yaml

HOME = "HUSHTABLE_STUDIO"
"""Environment variable that names another folder."""

_PLAIN = frozenset("._ -(),+")
"""What a file name may have besides letters and digits: nothing that a shell, a path or a pattern reads."""

_LONGEST = 160
"""Bytes of a file name; the studio's own names add some."""


def default_home() -> Path:
    """Return the studio's folder: ``$HUSHTABLE_STUDIO``, or the user's data folder."""
    given = os.environ.get(HOME)
    if given:
        return Path(given).expanduser()
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "hushtable" / "studio"


def safe_name(name: str) -> str:
    r"""Return a file name that came from outside, if it names a file in the project and nothing else.

    Examples
    --------
    >>> safe_name("Ärzte 2026 (1).csv")
    'Ärzte 2026 (1).csv'
    >>> safe_name("../secret.csv")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The studio does not accept this file name. Rename the file: letters, digits, spaces ...
    """
    plain = all(c.isalnum() or c in _PLAIN or unicodedata.category(c) in ("Mn", "Mc") for c in name)
    if not plain or not name[:1].isalnum() or ".." in name or name[-1] in " ." or len(name.encode("utf-8")) > _LONGEST:
        raise UsageError(
            "The studio does not accept this file name.",
            code="file-name",
            hint="Rename the file: letters, digits, spaces and . _ - ( ) , + are accepted, beginning with a letter or "
            f"digit, up to {_LONGEST} bytes.",
        )
    return name


def inside(folder: Path, name: str | os.PathLike[str]) -> Path:
    """Return the path of a file below a folder, with links resolved; refuse every other location.

    Examples
    --------
    >>> inside(Path("/studio/p1"), "../p2/data.csv")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The file is outside the project's folder. Upload it to the project first.
    """
    base = folder.resolve()
    try:
        path = (base / name).resolve()
    except (OSError, ValueError):
        path = base.parent
    if path != base and base not in path.parents:
        raise UsageError(
            "The file is outside the project's folder.",
            code="outside",
            hint="Upload it to the project first.",
        )
    return path


class Claim:
    """One studio per folder: a lock that ends with the process that holds it.

    Parameters
    ----------
    home : Path
        Created if it does not exist, readable by its owner only.

    Raises
    ------
    UsageError
        If another studio has the folder open.
    """

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o700)
        self._lock = sqlite3.connect(home / "lock.sqlite", timeout=0.5, isolation_level=None, check_same_thread=False)
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            self._lock.close()
            raise UsageError(
                f"Another studio has {str(home)!r} open.",
                code="claimed",
                hint=f"Use that one, stop it, or set {HOME} to another folder.",
            ) from None

    def release(self) -> None:
        """Release the folder."""
        self._lock.close()


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


# A project's policy as an object, with every file that it names among those uploaded to the project.


def policy_of(project: Project, document: Mapping[str, Any] | None = None) -> Policy | Any:
    """Return the project's policy, or another one for its data; for linked tables, a ``LinkedPolicy``.

    Raises
    ------
    PolicyError
        With every fault, or if it names a file that was not uploaded to the project.
    """
    given = project.document() if document is None else document
    if project.linked:
        return confined_linked(project, LinkedPolicy(**given))
    return confined(project, Policy(**given))


def confined_linked(project: Project, policy: LinkedPolicy, base: Path | None = None) -> LinkedPolicy:
    """Return a policy of linked tables that looks for its files only among the project's own, or in a folder."""
    base = base or project.folder / "files"
    policy = policy.based_in(base)
    _check_files(inside(base, file) for file in linked_files(policy))
    return policy


def linked_files(policy: LinkedPolicy) -> list[str]:
    """Return the files that a policy of linked tables names."""
    plans = map(policy.table_plan, policy.tables)
    return _named(column.hierarchy for plan in plans for column in plan.columns)


def _named(hierarchies: Iterable[Any]) -> list[str]:
    return [str(file) for hierarchy in hierarchies if (file := getattr(hierarchy, "file", None))]


def _check_files(paths: Iterable[Path]) -> None:
    for path in paths:
        if not path.is_file():
            raise PolicyError(
                f"The policy names the file {path.name!r}, which the project does not have.",
                code="no-file",
                hint="Upload it on the Hierarchies page; for linked tables, put it into the ZIP file.",
            )


def confined(project: Project, policy: Policy) -> Policy:
    """Return the policy, which looks for its files only among those uploaded to the project.

    A ledger is refused: no project has one, and a missing ledger counts as empty, so that the release would not be
    compared with earlier ones.
    """
    if policy.ledger is not None:
        raise PolicyError(
            "The policy names a ledger, which the studio does not support.",
            code="ledger",
            hint="Use 'hushtable run' with the ledger, or remove it from the policy.",
        )
    policy = policy.based_in(project.folder)
    columns = policy.table_plan().columns
    named = [policy.population] if policy.population else []
    named += [policy.background.file] if policy.background else []
    named += [key for c in columns for t in c.treatments if (key := getattr(t, "key", None))]
    named += _named(c.hierarchy for c in columns)
    _check_files(map(project.file, named))
    return policy


# Runs: each has a folder in the project, with the release and the data that the pages show.


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes
    ----------
    project : Project
    number : int
    """

    project: Project
    number: int

    @property
    def folder(self) -> Path:
        """Folder of the run."""
        return self.project.folder / "runs" / f"{self.number:04d}"

    @property
    def release(self) -> Path:
        """Folder with the published table, its policy and ``release.json``; its companion is next to it."""
        return self.folder / "release"

    @property
    def facts(self) -> dict[str, Any]:
        """Settings and results of the run."""
        found: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return found

    @property
    def policy(self) -> Policy | Any:
        """The policy of the run; for linked tables, a ``LinkedPolicy``."""
        text = (self.folder / "policy.yaml").read_text(encoding="utf-8")
        if self.project.linked:
            return confined_linked(self.project, LinkedPolicy.from_yaml(text))
        return confined(self.project, Policy.from_yaml(text))

    def json(self, name: str) -> Any:
        """Return findings about the run, or None if there are none."""
        path = self.folder / f"{name}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def keep(self, name: str, found: Any) -> None:
        """Store findings about the run."""
        atomic_write_text(self.folder / f"{name}.json", json.dumps(found, allow_nan=False))

    def delete(self) -> None:
        """Delete the run."""
        gone = self.folder.with_name(f".{self.folder.name}.deleted")
        self.folder.rename(gone)
        shutil.rmtree(gone)


def runs_of(project: Project) -> list[Run]:
    """Return the runs of a project, oldest first."""
    numbers = (int(p.parent.name) for p in (project.folder / "runs").glob("[0-9]*/run.json"))
    return [Run(project, number) for number in sorted(numbers)]


def run_of(project: Project, number: int) -> Run:
    """Return one run."""
    run = Run(project, number)
    if not 0 < number < 10**6 or not (run.folder / "run.json").is_file():
        raise UsageError("There is no such run.", code="not-there", hint="It may have been deleted.")
    return run


def next_number(project: Project) -> int:
    """Return the number of the next run."""
    kept = max((run.number for run in runs_of(project)), default=0)
    # a number is not used again, even where its run was deleted: a tab may still show that one
    return max(kept, int(project.facts.get("last_run", 0))) + 1
