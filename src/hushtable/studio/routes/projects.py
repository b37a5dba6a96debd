"""Endpoints for projects and their data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request

from hushtable.errors import UsageError
from hushtable.studio import views
from hushtable.studio.projects import Project
from hushtable.studio.rest_models import (
    JobView,
    NewExample,
    NewProject,
    NewQuery,
    ProjectChange,
    ProjectView,
    TablePage,
)
from hushtable.studio.routes.route_types import Limit, Offset, ProjectId, Seen, job_view, new_router, project_view
from hushtable.studio.service import Studio

_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def projects_routes(studio: Studio) -> APIRouter:
    """Return the endpoints for projects and their data."""
    router = new_router("projects and data")
    _add_projects(router, studio)
    _add_data(router, studio)
    return router


def _add_projects(router: APIRouter, studio: Studio) -> None:
    """Add the endpoints that create, show and delete projects."""
    find: Callable[[str], Project] = studio.projects.__getitem__

    @router.get("/projects")
    def list_projects() -> list[ProjectView]:
        """List all projects, newest first."""
        return [project_view(project) for project in studio.projects.all()]

    @router.post("/projects", status_code=201)
    def create_project(body: NewProject) -> ProjectView:
        """Create an empty project."""
        return project_view(studio.create(body.name))

    @router.get("/projects/{project}")
    def show_project(project: ProjectId) -> ProjectView:
        """Show one project."""
        return project_view(find(project))

    @router.patch("/projects/{project}")
    def change_project(project: ProjectId, body: ProjectChange) -> ProjectView:
        """Change a project's name, or its limit on the unpacked size of an upload."""
        if "unpacked" in body.model_fields_set:
            studio.limit_unpacked(find(project), body.unpacked)
        if body.name is not None:
            studio.rename(find(project), body.name)
        return project_view(find(project))

    @router.delete("/projects/{project}", status_code=204)
    def delete_project(project: ProjectId) -> None:
        """Delete a project with its uploads and runs."""
        studio.delete(find(project))


def _add_data(router: APIRouter, studio: Studio) -> None:
    """Add the endpoints that fill a project and show its data."""
    find: Callable[[str], Project] = studio.projects.__getitem__

    @router.put("/projects/{project}/data", status_code=202, openapi_extra=_FILE)
    async def upload_data(
        request: Request,
        project: ProjectId,
        name: Annotated[str, Query(description="the file's name, with its ending", max_length=200)],
        sheet: Annotated[str | None, Query(description="the sheet of an Excel file", max_length=200)] = None,
        seen: Seen = None,
    ) -> JobView:
        """Upload the table: the request's body is the file."""
        found = find(project)
        found.check_seen(seen)
        path = studio.new_upload(found, name)
        try:
            with path.open("xb") as out:
                async for chunk in request.stream():
                    out.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return job_view(studio.opened(found, path, name, sheet=sheet))

    @router.post("/projects/{project}/example", status_code=202)
    def open_example(project: ProjectId, body: Annotated[NewExample | None, Body()] = None) -> JobView:
        """Fill the project with generated patients."""
        wanted = body or NewExample()
        return job_view(studio.example(find(project), wanted.rows, wanted.seed))

    @router.post("/projects/{project}/query", status_code=202)
    def open_query(project: ProjectId, body: NewQuery) -> JobView:
        """Fill the project with the result of a database query."""
        return job_view(studio.query(find(project), body.source, body.query))

    @router.get("/projects/{project}/data")
    def read_data(project: ProjectId, offset: Offset = 0, limit: Limit = 50) -> TablePage:
        """Return rows of the table."""
        return TablePage(**views.data_page(find(project), offset, limit))

    @router.get("/projects/{project}/profile")
    def read_profile(project: ProjectId) -> dict[str, Any]:
        """Return the findings about the table: counts, likely roles with reasons, uniqueness."""
        found = find(project).profile
        if found is None:
            raise UsageError("The project has no data yet.", code="no-data", hint="Upload a table first.")
        return found

    @router.get("/projects/{project}/files")
    def list_files(project: ProjectId) -> list[str]:
        """List the project's other files: hierarchies, population and background tables."""
        return studio.files(find(project))

    @router.put("/projects/{project}/files/{name}", status_code=201, openapi_extra=_FILE)
    async def upload_file(request: Request, project: ProjectId, name: str) -> dict[str, str]:
        """Upload another file of the project: the request's body is the file."""
        return {"file": studio.add_file(find(project), name, await request.body())}
