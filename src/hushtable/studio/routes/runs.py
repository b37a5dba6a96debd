"""Endpoints for runs, their results, and exports."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Response
from fastapi.responses import FileResponse, PlainTextResponse, StreamingResponse

from hushtable.studio import exports, views
from hushtable.studio.progress import note_export
from hushtable.studio.rest_models import (
    AttackRequest,
    GridRequest,
    JobView,
    LevelsRequest,
    ReportRequest,
    RiskRequest,
    RunView,
    TablePage,
)
from hushtable.studio.routes.route_types import Limit, Number, Offset, ProjectId, Seen, job_view, new_router, run_view
from hushtable.studio.runs import Run, run_of, runs_of
from hushtable.studio.service import Studio


def runs_routes(studio: Studio) -> APIRouter:
    """Return the endpoints for runs."""
    router = new_router("runs")
    _add_runs(router, studio)
    _add_pages(router, studio)
    _add_evidence(router, studio)
    _add_exports(router, studio)
    return router


def _finder(studio: Studio) -> Callable[[str, int], Run]:
    return lambda project, number: run_of(studio.projects[project], number)


def _add_runs(router: APIRouter, studio: Studio) -> None:
    """Add the endpoints that start, show and delete runs."""
    find = _finder(studio)

    @router.get("/projects/{project}/runs")
    def list_runs(project: ProjectId) -> list[RunView]:
        """List the runs, oldest first."""
        return [run_view(run) for run in runs_of(studio.projects[project])]

    @router.post("/projects/{project}/runs", status_code=202)
    def start_run(project: ProjectId) -> JobView:
        """Run the current policy."""
        return job_view(studio.run(studio.projects[project]))

    @router.get("/projects/{project}/runs/{number}")
    def show_run(project: ProjectId, number: Number) -> RunView:
        """Show one run: what every model achieved and what it cost."""
        return run_view(find(project, number))

    @router.delete("/projects/{project}/runs/{number}", status_code=204)
    def delete_run(project: ProjectId, number: Number) -> None:
        """Delete one run."""
        find(project, number).delete()

    @router.post("/projects/{project}/runs/{number}/apply", status_code=202)
    def apply_levels(project: ProjectId, number: Number, body: LevelsRequest) -> JobView:
        """Turn another solution into a run."""
        return job_view(studio.apply(studio.projects[project], number, body.levels))


def _add_pages(router: APIRouter, studio: Studio) -> None:
    """Add the endpoints that show a run's solutions, classes and rows."""
    find = _finder(studio)

    @router.get("/projects/{project}/runs/{number}/space")
    def read_space(
        project: ProjectId, number: Number, offset: Offset = 0, limit: Limit = 50, fits: bool = False
    ) -> TablePage:
        """Return the solutions that the search examined, best first."""
        return TablePage(**views.space_page(find(project, number), offset, limit, fits=fits))

    @router.get("/projects/{project}/runs/{number}/classes")
    def read_classes(project: ProjectId, number: Number, offset: Offset = 0, limit: Limit = 50) -> dict[str, Any]:
        """Return classes: cells, people, and the score under every model."""
        return views.classes_page(find(project, number), offset, limit)

    @router.get("/projects/{project}/runs/{number}/rows")
    def read_rows(
        project: ProjectId, number: Number, offset: Offset = 0, limit: Limit = 50, original: bool = False
    ) -> dict[str, Any]:
        """Return published rows, on request with the original of each."""
        return views.rows_page(find(project, number), offset, limit, original=original)


def _add_evidence(router: APIRouter, studio: Studio) -> None:
    """Add the endpoints that examine a run: risks, attacks, verification, the report."""
    find = _finder(studio)

    @router.post("/projects/{project}/runs/{number}/risk", status_code=202)
    def assess_risk(project: ProjectId, number: Number, body: Annotated[RiskRequest | None, Body()] = None) -> JobView:
        """Assess risks before and after."""
        return job_view(studio.assess(studio.projects[project], number, body.fraction if body else None))

    @router.get("/projects/{project}/runs/{number}/risk")
    def read_risk(project: ProjectId, number: Number) -> dict[str, Any]:
        """Return the assessed risks; empty if there are none."""
        found: dict[str, Any] = find(project, number).json("risk") or {}
        return found

    @router.post("/projects/{project}/runs/{number}/attack", status_code=202)
    def attack(project: ProjectId, number: Number, body: Annotated[AttackRequest | None, Body()] = None) -> JobView:
        """Run published attacks."""
        return job_view(studio.attack(studio.projects[project], number, body.names if body else ()))

    @router.get("/projects/{project}/runs/{number}/attack")
    def read_attacks(project: ProjectId, number: Number) -> dict[str, Any]:
        """Return the results of attacks; empty if none was run."""
        found: dict[str, Any] = find(project, number).json("attacks") or {}
        return found

    @router.post("/projects/{project}/runs/{number}/verify", status_code=202)
    def verify(project: ProjectId, number: Number) -> JobView:
        """Verify the published file again, from its cells alone."""
        return job_view(studio.verify(studio.projects[project], number))

    @router.post("/projects/{project}/runs/{number}/report", status_code=202)
    def write_report(
        project: ProjectId, number: Number, body: Annotated[ReportRequest | None, Body()] = None
    ) -> JobView:
        """Write the evidence report."""
        return job_view(studio.report(studio.projects[project], number, (body or ReportRequest()).template))


def _add_exports(router: APIRouter, studio: Studio) -> None:
    """Add the export endpoints."""
    find = _finder(studio)

    @router.get("/projects/{project}/runs/{number}/export")
    def list_exports(project: ProjectId, number: Number) -> dict[str, str]:
        """List the files that can be exported, with a description of each."""
        return exports.export_files(find(project, number))

    @router.get("/projects/{project}/runs/{number}/export/{name}", response_class=Response)
    def export(project: ProjectId, number: Number, name: str) -> Response:
        """Download one file, or all that may be published as ``bundle.zip``."""
        run = find(project, number)
        note_export(run.project)
        attachment = {"content-disposition": f'attachment; filename="{name}"'}
        if name == "bundle.zip":
            packed = exports.bundle(run)
            attachment["content-length"] = str(os.fstat(packed.fileno()).st_size)
            return StreamingResponse(exports.pieces(packed), media_type="application/zip", headers=attachment)
        path = exports.export_path(run, name)
        if path is None:
            if name.endswith(".zip"):
                return Response(exports.export_file(run, name), media_type="application/zip", headers=attachment)
            return PlainTextResponse(exports.export_file(run, name), headers=attachment)
        return FileResponse(path, media_type="application/octet-stream", filename=name)


Place = Annotated[int, Path(description="position of the setting", ge=0, le=999_999)]


def comparing_routes(studio: Studio) -> APIRouter:
    """Return the endpoints for comparing settings."""
    router = new_router("comparison")

    @router.post("/projects/{project}/comparison", status_code=202)
    def compare(project: ProjectId, body: GridRequest) -> JobView:
        """Run several settings on the table and measure each; no release is kept."""
        return job_view(studio.compare(studio.projects[project], body.model_dump()))

    @router.get("/projects/{project}/comparison")
    def read_comparison(project: ProjectId) -> dict[str, Any]:
        """Return the results of the last comparison; empty if there was none."""
        found = studio.compared(studio.projects[project])
        return {} if found is None else found.as_dict()

    @router.post("/projects/{project}/comparison/{place}/use")
    def use_setting(project: ProjectId, place: Place, seen: Seen = None) -> dict[str, Any]:
        """Use a compared setting as the policy."""
        studio.use_setting(studio.projects[project], place, seen=seen)
        return studio.projects[project].document()

    return router


def jobs_routes(studio: Studio) -> APIRouter:
    """Return the endpoints for jobs."""
    router = new_router("jobs")

    @router.get("/jobs")
    def list_jobs(project: Annotated[str | None, Query(max_length=40)] = None) -> list[JobView]:
        """List the latest jobs, newest first."""
        return [job_view(job) for job in studio.jobs.store.jobs(project)]

    @router.get("/jobs/{job}")
    def show_job(job: str) -> JobView:
        """Show the progress of a job, and its result once it has ended."""
        return job_view(studio.jobs.store.job(job))

    @router.post("/jobs/{job}/cancel", status_code=202)
    def cancel_job(job: str) -> JobView:
        """Cancel a job; nothing of it is kept."""
        return job_view(studio.cancel(job))

    return router
