"""Runs: each has a folder in the project, with the release and the data that the pages show."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushtable.errors import UsageError
from hushtable.io.atomic import atomic_write_text
from hushtable.linked.policy import LinkedPolicy
from hushtable.policy.policy import Policy
from hushtable.studio.policies import confined, confined_linked
from hushtable.studio.projects import Project


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
