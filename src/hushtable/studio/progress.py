"""Which steps of a project are done: what was looked at, what was found, and whether anything is wrong there."""

from __future__ import annotations

from typing import Any, Protocol

from hushtable.studio.projects import Project
from hushtable.studio.runs import runs_of

__all__ = ["done_steps", "note_export", "note_visit"]

_POLICY = ("columns", "hierarchies", "protect")


class _Studio(Protocol):
    def faults(self, project: Project) -> list[dict[str, str]]: ...


def note_visit(project: Project, step: str) -> bool:
    """Note that the user has seen a step, once there was something to see; return whether that is new."""
    facts = project.facts
    visited = facts.get("visited", [])
    if step in visited or "data" not in facts:
        return False
    if step not in _POLICY and not (step in ("explore", "compare") and runs_of(project)):
        return False
    project.note(visited=[*visited, step])
    return True


def note_export(project: Project) -> None:
    """Note that something was downloaded."""
    if not project.facts.get("exported"):
        project.note(exported=True)


def done_steps(studio: _Studio, project: Project) -> set[str]:
    """Return the steps that get a tick.

    A step of the policy is done once it was looked at and nothing in it keeps a run from starting; Explore and Compare
    once there was a release to look at; Attack & risk once one of both was asked for; Export once a file was taken.
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
    return done - _at_fault(studio.faults(project))


def _at_fault(faults: list[dict[str, Any]]) -> set[str]:
    wrong = set()
    for fault in faults:
        if not fault["where"].startswith("columns"):
            wrong.add("columns" if fault["code"] == "no-quasi" else "protect")
        else:
            wrong.add("hierarchies" if "hierarchy" in fault["where"] else "columns")
    return wrong
