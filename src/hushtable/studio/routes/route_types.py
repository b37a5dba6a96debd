"""Shared parts of all routes: the types of their parameters, and the form of their responses."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query

from hushtable.studio import views
from hushtable.studio.projects import Project
from hushtable.studio.rest_models import Failure, JobView, ProjectView, RunView
from hushtable.studio.runs import Run, runs_of
from hushtable.studio.store import Job

_FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure} for status in (400, 401, 403, 404, 409, 412, 413, 415, 421, 422)
}
_MOST = 2**53

ProjectId = Annotated[str, Path(description="a project's id", max_length=40)]
Number = Annotated[int, Path(description="a run's number", ge=1, le=999_999)]
Offset = Annotated[int, Query(description="the first row", ge=0, le=_MOST)]
Seen = Annotated[
    str | None,
    Header(
        alias="if-match",
        description="the project's revision that the change was made for; refused if there is a later one",
        max_length=40,
    ),
]
Limit = Annotated[int, Query(description="number of rows", ge=1, le=views.MOST)]


def new_router(tag: str) -> APIRouter:
    """Return a router for one kind of endpoints."""
    return APIRouter(prefix="/api", tags=[tag], responses=_FAILURES)


def project_view(project: Project) -> ProjectView:
    """Return a project as response."""
    facts = project.facts
    known = {name: value for name, value in facts.items() if name in ProjectView.model_fields}
    return ProjectView(id=project.id, runs=len(runs_of(project)), revision=project.revision(), **known)


def job_view(job: Job) -> JobView:
    """Return a job as response."""
    return JobView(**job.as_dict())


def run_view(run: Run) -> RunView:
    """Return a run as response."""
    facts = run.facts
    return RunView(**{name: facts[name] for name in RunView.model_fields})
