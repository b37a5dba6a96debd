"""The kinds of jobs: their lanes and functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hushtable.studio.projects import Project

__all__ = ["TASKS", "Report", "Task"]

Report = Callable[[float, str], None]
"""Called with the share that is done and a description; raises ``Cancelled`` to stop."""


@dataclass(frozen=True)
class Task:
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
    "open": Task("quick", "opening:open_upload"),
    "example": Task("quick", "opening:open_example"),
    "query": Task("quick", "opening:open_query"),
    "column": Task("quick", "columns:look_at_column"),
    "hierarchies": Task("quick", "columns:look_at_hierarchies"),
    "check": Task("quick", "checking:check"),
    "run": Task("heavy", "running:run"),
    "compare": Task("heavy", "comparing:compare"),
    "risk": Task("heavy", "running:risk"),
    "attack": Task("heavy", "running:attack"),
    "verify": Task("heavy", "running:verify_again"),
    "report": Task("heavy", "running:report"),
}
"""Name -> task."""
