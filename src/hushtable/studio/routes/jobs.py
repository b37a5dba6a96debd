"""Endpoints for jobs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from hushtable.studio.rest_models import JobView
from hushtable.studio.routes.route_types import job_view, new_router
from hushtable.studio.service import Studio

__all__ = ["jobs_routes"]


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
