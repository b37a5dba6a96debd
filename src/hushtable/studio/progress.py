"""Progress of a project: which steps were seen, which have results, and which have problems."""

from __future__ import annotations

from typing import Any, Protocol

from hushtable.studio.projects import Project
from hushtable.studio.runs import runs_of
from hushtable.studio.store import Job

_POLICY = ("columns", "hierarchies", "protect")


class _Studio(Protocol):
    def faults(self, project: Project) -> list[dict[str, str]]: ...
    def job_of(self, project: Project, *kinds: str) -> Job | None: ...


def note_visit(project: Project, step: str) -> bool:
    """Record that the user has seen a step once there was something to see; return whether that is new."""
    facts = project.facts
    visited = facts.get("visited", [])
    if step in visited or "data" not in facts:
        return False
    if step not in _POLICY and not (step in ("explore", "compare") and runs_of(project)):
        return False
    project.note(visited=[*visited, step])
    return True


def note_export(project: Project) -> None:
    """Record that something was downloaded."""
    if not project.facts.get("exported"):
        project.note(exported=True)


def done_steps(studio: _Studio, project: Project) -> set[str]:
    """Return the steps that get a check mark.

    A step of the policy is done once it was seen and nothing in it prevents a run; Explore and Compare once there was a
    release to see; Attack & risk once either was run; Export once a file was downloaded.
    """
    facts = project.facts
    if project.profile is None and not project.linked:
        return set()
    done = {"data", *facts.get("visited", [])}
    runs = runs_of(project)
    if runs:
        done |= {"run"}
        done |= {"attack"} if any(r.json("risk") or r.json("attacks") for r in runs) else set()
        done |= {"export"} if facts.get("exported") else set()
    return done - _at_fault(studio.faults(project)) - _infeasible(studio, project)


def _infeasible(studio: _Studio, project: Project) -> set[str]:
    """The step Protect, if the last check of this policy found a model that cannot hold."""
    last = studio.job_of(project, "check")
    found = last.result if last is not None and last.state == "done" else None
    if found is None or found["revision"] != project.revision():
        return set()
    return {"protect"} if any(model["feasible"] is False for model in found["models"]) else set()


def _at_fault(faults: list[dict[str, Any]]) -> set[str]:
    wrong = set()
    for fault in faults:
        if not fault["where"].startswith("columns"):
            wrong.add("columns" if fault["code"] == "no-quasi" else "protect")
        else:
            wrong.add("hierarchies" if "hierarchy" in fault["where"] else "columns")
    return wrong
