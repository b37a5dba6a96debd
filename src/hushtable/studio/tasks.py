"""The kinds of jobs: their lanes and functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hushtable.studio.projects import Project

Report = Callable[[float, str], None]
"""Called with the share that is done and a description; raises ``Cancelled`` to stop."""


@dataclass(frozen=True)
class JobKind:
    """A kind of job.

    Attributes
    ----------
    lane : str
    function : str
        As ``module:name`` below ``hushtable.studio.work``: only a worker that runs it imports it.
    """

    lane: str
    function: str

    def run(self, project: Project, arguments: dict[str, Any], report: Report) -> Any:
        """Run the task; the result is JSON-ready."""
        module, name = self.function.split(":")
        work = getattr(importlib.import_module(f"hushtable.studio.work.{module}"), name)
        return work(project, report, **arguments)


TASKS = {
    "open": JobKind("quick", "opening:open_upload"),
    "example": JobKind("quick", "opening:open_example"),
    "query": JobKind("quick", "opening:open_query"),
    "column": JobKind("quick", "opening:look_at_column"),
    "hierarchies": JobKind("quick", "opening:look_at_hierarchies"),
    "check": JobKind("quick", "checking:check"),
    "run": JobKind("heavy", "running:run"),
    "compare": JobKind("heavy", "running:compare"),
    "risk": JobKind("heavy", "running:risk"),
    "attack": JobKind("heavy", "running:attack"),
    "verify": JobKind("heavy", "running:verify_again"),
    "report": JobKind("heavy", "running:report"),
}
"""Name -> task."""
