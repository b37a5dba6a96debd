"""The studio's actions as a REST API; ``/api/openapi.json`` describes it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, FastAPI, Header, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, StreamingResponse

from hushtable._version import __version__
from hushtable.errors import HushtableError, UsageError
from hushtable.failures import failure
from hushtable.studio import exports, views
from hushtable.studio.jobs import Job
from hushtable.studio.projects import Project, Run, run_of, runs_of
from hushtable.studio.rest_models import (
    AttackRequest,
    ColumnChange,
    ColumnLook,
    Failure,
    GridRequest,
    JobView,
    LevelsRequest,
    NewExample,
    NewProject,
    NewQuery,
    PolicyBody,
    ProjectChange,
    ProjectView,
    ReportRequest,
    RiskRequest,
    RunView,
    TablePage,
)
from hushtable.studio.service import CATALOGUES, Studio, note_export

_STATUS = {"not-there": 404, "no-data": 409, "conflict": 409, "stale": 412, "too-large": 413, "file-type": 415}


def api(studio: Studio) -> FastAPI:
    """Return the app with the REST API of a studio.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as home:
    ...     studio = Studio(pathlib.Path(home))
    ...     paths = api(studio).openapi()["paths"]
    ...     studio.stop()
    >>> sorted(paths["/api/jobs/{job}"])
    ['get']
    """
    # the usual documentation pages load scripts from elsewhere; ours is a page of the studio
    app = FastAPI(
        title="hushtable studio",
        version=__version__,
        description="The functions of the studio's pages, for programs. Send the session's token as a bearer token. "
        "Heavy work returns a job; poll it until it has ended.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    for tag, parts in _ROUTES.items():
        router = APIRouter(prefix="/api", tags=[tag], responses=_FAILURES)
        for add in parts:
            add(router, studio)
        app.include_router(router)
    app.add_exception_handler(HushtableError, _failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UnicodeError, _not_text)
    app.add_exception_handler(Exception, _failed)
    return app


def _failed(request: Request, error: Exception) -> Response:
    if isinstance(error, HushtableError):
        return JSONResponse(error.as_dict(), _STATUS.get(error.code, 422))
    return JSONResponse(failure(error)[0], 500)


def _not_text(request: Request, error: Exception) -> Response:
    said = UsageError(
        "The request contains characters that a file cannot contain.", code="encoding", hint="Send valid UTF-8."
    )
    return JSONResponse(said.as_dict(), 422)


def _invalid(request: Request, error: Exception) -> Response:
    """Report which field is wrong, without repeating its contents."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    words = "; ".join(f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in found[:5])
    said = {"error": "UsageError", "code": "request", "message": f"The request is not valid. {words}", "hint": ""}
    return JSONResponse(said, 422, headers={"content-type": "application/json"})


# Shared parts of all routes: the types of their parameters, and the form of their responses.


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


# Endpoints for policies.


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


# Endpoints for projects and their data.


_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


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


# Endpoints for runs, their results, and exports.


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


def _add_comparison(router: APIRouter, studio: Studio) -> None:
    """Add the endpoints that compare settings."""

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


def _add_jobs(router: APIRouter, studio: Studio) -> None:
    """Add the endpoints for jobs."""

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


_ROUTES: dict[str, tuple[Callable[[APIRouter, Studio], None], ...]] = {
    "projects and data": (_add_projects, _add_data),
    "policy": (_add_settings, _add_looks),
    "comparison": (_add_comparison,),
    "runs": (_add_runs, _add_pages, _add_evidence, _add_exports),
    "jobs": (_add_jobs,),
}
"""The endpoints by the heading under which OpenAPI lists them."""
