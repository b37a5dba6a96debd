"""Endpoints for policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from fastapi.responses import FileResponse

from hushtable.errors import UsageError
from hushtable.studio import views
from hushtable.studio.projects import Project
from hushtable.studio.rest_models import ColumnChange, ColumnLook, JobView, PolicyBody
from hushtable.studio.routes.route_types import ProjectId, Seen, job_view, new_router
from hushtable.studio.service import CATALOGUES, Studio


def policies_routes(studio: Studio) -> APIRouter:
    """Return the endpoints for policies."""
    router = new_router("policy")
    _add_settings(router, studio)
    _add_looks(router, studio)
    return router


def _add_settings(router: APIRouter, studio: Studio) -> None:
    """Add the endpoints that read and change a policy."""
    find: Callable[[str], Project] = studio.projects.__getitem__

    def state(project: Project) -> dict[str, Any]:
        text = project.policy_file.read_text(encoding="utf-8") if project.policy_file.is_file() else ""
        return {
            "document": project.document(),
            "yaml": text,
            "faults": studio.faults(project),
            "revision": project.revision(),
        }

    @router.get("/catalogue/{kind}")
    def show_catalogue(kind: Annotated[str, Path(description=", ".join(CATALOGUES))]) -> list[dict[str, Any]]:
        """List everything of a kind that can be chosen, with its parameters."""
        return studio.catalogue(kind)

    @router.get("/projects/{project}/policy")
    def read_policy(project: ProjectId) -> dict[str, Any]:
        """Return the policy as data and as YAML, and its remaining problems."""
        return state(find(project))

    @router.put("/projects/{project}/policy")
    def replace_policy(project: ProjectId, body: PolicyBody, seen: Seen = None) -> dict[str, Any]:
        """Replace the whole policy."""
        studio.set_policy(find(project), body.yaml, seen=seen)
        return state(find(project))

    @router.patch("/projects/{project}/columns/{column:path}")
    def change_column(project: ProjectId, column: str, body: ColumnChange, seen: Seen = None) -> dict[str, Any]:
        """Change a column's role, kind, hierarchy or other settings."""
        studio.set_column(
            find(project), column, {name: getattr(body, name) for name in body.model_fields_set}, seen=seen
        )
        return state(find(project))

    @router.put("/projects/{project}/models")
    def choose_models(project: ProjectId, body: list[dict[str, dict[str, Any]]], seen: Seen = None) -> dict[str, Any]:
        """Choose the privacy models, each as one name with its parameters."""
        studio.set_models(find(project), body, seen=seen)
        return state(find(project))

    @router.put("/projects/{project}/algorithm")
    def choose_algorithm(project: ProjectId, body: dict[str, dict[str, Any]], seen: Seen = None) -> dict[str, Any]:
        """Choose the algorithm, as one name with its parameters."""
        studio.set_algorithm(find(project), body, seen=seen)
        return state(find(project))

    @router.patch("/projects/{project}/settings")
    def change_settings(project: ProjectId, body: dict[str, Any], seen: Seen = None) -> dict[str, Any]:
        """Change other settings: suppression, missing, cells, seed, ...; null removes one."""
        studio.set_settings(find(project), body, seen=seen)
        return state(find(project))

    @router.post("/projects/{project}/undo")
    def undo(project: ProjectId, seen: Seen = None) -> dict[str, Any]:
        """Undo the last change to the policy."""
        studio.undo(find(project), seen=seen)
        return state(find(project))


def _add_looks(router: APIRouter, studio: Studio) -> None:
    """Add the endpoints that check a policy against the data."""
    find: Callable[[str], Project] = studio.projects.__getitem__

    @router.get("/projects/{project}/hierarchies/{column:path}", response_class=FileResponse)
    def export_hierarchy(project: ProjectId, column: str) -> FileResponse:
        """Download the hierarchy of a column as CSV; describe the column first."""
        path = views.hierarchy_file(find(project), column)
        if not path.is_file():
            raise UsageError(
                "This hierarchy is not available yet.", code="not-there", hint="Describe the column first."
            )
        return FileResponse(path, media_type="text/csv", filename="hierarchy.csv")

    @router.post("/projects/{project}/check", status_code=202)
    def check(project: ProjectId) -> JobView:
        """Find every problem that prevents a run, including infeasible models."""
        return job_view(studio.check(find(project)))

    @router.post("/projects/{project}/columns/{column:path}/look", status_code=202)
    def look_at_column(project: ProjectId, column: str, body: Annotated[ColumnLook | None, Body()] = None) -> JobView:
        """Describe a column's values, and try a hierarchy on them."""
        given = body is not None and "hierarchy" in body.model_fields_set
        return job_view(studio.look_at(find(project), column, body.hierarchy if body else None, given=given))
