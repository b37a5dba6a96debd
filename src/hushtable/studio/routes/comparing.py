"""Endpoints for comparing settings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from hushtable.studio.rest_models import GridRequest, JobView
from hushtable.studio.routes.route_types import ProjectId, Seen, job_view, new_router
from hushtable.studio.service import Studio

__all__ = ["comparing_routes"]

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
