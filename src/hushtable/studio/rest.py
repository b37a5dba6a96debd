"""The studio's actions as a REST API; ``/api/openapi.json`` describes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse

from hushtable._version import __version__
from hushtable.cli.failures import failure
from hushtable.errors import HushtableError, UsageError
from hushtable.studio import exports, views
from hushtable.studio.projects import Project
from hushtable.studio.rest_models import (
    AttackRequest,
    ColumnChange,
    ColumnLook,
    Failure,
    JobView,
    LevelsRequest,
    NewExample,
    NewProject,
    NewQuery,
    PolicyText,
    ProjectView,
    ReportRequest,
    RiskRequest,
    RunView,
    TablePage,
)
from hushtable.studio.runs import Run, run_of, runs_of
from hushtable.studio.service import CATALOGUES, Studio
from hushtable.studio.store import Job

__all__ = ["api"]

_STATUS = {"not-there": 404, "no-data": 409, "conflict": 409, "too-large": 413, "file-type": 415}
_FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure} for status in (400, 401, 403, 404, 409, 413, 415, 421, 422)
}
_MOST = 2**53

ProjectId = Annotated[str, Path(description="a project's id", max_length=40)]
Number = Annotated[int, Path(description="a run's number", ge=1, le=999_999)]
Offset = Annotated[int, Query(description="the first row", ge=0, le=_MOST)]
Limit = Annotated[int, Query(description="how many rows", ge=1, le=views.MOST)]


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
        description="What the studio's pages do, for programs. Send the session's token as a bearer token. Heavy work "
        "answers with a job; ask for it until it is over.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(_projects(studio))
    app.include_router(_policies(studio))
    app.include_router(_runs(studio))
    app.include_router(_jobs(studio))
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
    said = UsageError("The request holds characters that no file can.", code="encoding", hint="Send valid UTF-8.")
    return JSONResponse(said.as_dict(), 422)


def _invalid(request: Request, error: Exception) -> Response:
    """Say which field is wrong, without repeating what was sent."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    words = "; ".join(f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in found[:5])
    said = {"error": "UsageError", "code": "request", "message": f"The request is not valid. {words}", "hint": ""}
    return JSONResponse(said, 422, headers={"content-type": "application/json"})


def _router(tag: str) -> APIRouter:
    return APIRouter(prefix="/api", tags=[tag], responses=_FAILURES)


def _view(project: Project) -> ProjectView:
    facts = project.facts
    known = {name: value for name, value in facts.items() if name in ProjectView.model_fields}
    return ProjectView(id=project.id, runs=len(runs_of(project)), revision=project.revision(), **known)


def _job(job: Job) -> JobView:
    return JobView(**job.as_dict())


def _run(run: Run) -> RunView:
    facts = run.facts
    return RunView(**{name: facts[name] for name in RunView.model_fields})


def _projects(studio: Studio) -> APIRouter:
    router = _router("projects and data")
    find: Callable[[str], Project] = studio.projects.__getitem__

    @router.get("/projects")
    def list_projects() -> list[ProjectView]:
        """All projects, the newest first."""
        return [_view(project) for project in studio.projects.all()]

    @router.post("/projects", status_code=201)
    def create_project(body: NewProject) -> ProjectView:
        """Make an empty project."""
        return _view(studio.create(body.name))

    @router.get("/projects/{project}")
    def show_project(project: ProjectId) -> ProjectView:
        """Show one project."""
        return _view(find(project))

    @router.patch("/projects/{project}")
    def rename_project(project: ProjectId, body: NewProject) -> ProjectView:
        """Give a project another name."""
        studio.rename(find(project), body.name)
        return _view(find(project))

    @router.delete("/projects/{project}", status_code=204)
    def delete_project(project: ProjectId) -> None:
        """Delete a project with its uploads and runs."""
        studio.delete(find(project))

    @router.put(
        "/projects/{project}/data",
        status_code=202,
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            }
        },
    )
    async def upload_data(
        request: Request,
        project: ProjectId,
        name: Annotated[str, Query(description="the file's name, with its ending", max_length=200)],
    ) -> JobView:
        """Upload the table: the request's body is the file."""
        found = find(project)
        path = studio.new_upload(found, name)
        try:
            with path.open("xb") as out:
                async for chunk in request.stream():
                    out.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return _job(studio.opened(found, path, name))

    @router.post("/projects/{project}/example", status_code=202)
    def open_example(project: ProjectId, body: Annotated[NewExample | None, Body()] = None) -> JobView:
        """Fill the project with generated patients."""
        wanted = body or NewExample()
        return _job(studio.example(find(project), wanted.rows, wanted.seed))

    @router.post("/projects/{project}/query", status_code=202)
    def open_query(project: ProjectId, body: NewQuery) -> JobView:
        """Fill the project with the result of a database query."""
        return _job(studio.query(find(project), body.source, body.query))

    @router.get("/projects/{project}/data")
    def read_data(project: ProjectId, offset: Offset = 0, limit: Limit = 50) -> TablePage:
        """Read some rows of the table."""
        return TablePage(**views.data_page(find(project), offset, limit))

    @router.get("/projects/{project}/profile")
    def read_profile(project: ProjectId) -> dict[str, Any]:
        """Read what was found in the table: counts, likely roles with reasons, how many are unique."""
        found = find(project).profile
        if found is None:
            raise UsageError("The project has no data yet.", code="no-data", hint="Upload a table first.")
        return found

    @router.get("/projects/{project}/files")
    def list_files(project: ProjectId) -> list[str]:
        """Names of the files beside the data: hierarchies, population and background tables."""
        return studio.files(find(project))

    @router.put(
        "/projects/{project}/files/{name}",
        status_code=201,
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            }
        },
    )
    async def upload_file(request: Request, project: ProjectId, name: str) -> dict[str, str]:
        """Upload a file beside the data: the request's body is the file."""
        return {"file": studio.add_file(find(project), name, await request.body())}

    return router


def _policies(studio: Studio) -> APIRouter:
    router = _router("policy")
    find: Callable[[str], Project] = studio.projects.__getitem__

    def state(project: Project) -> dict[str, Any]:
        text = project.policy_file.read_text(encoding="utf-8") if project.policy_file.is_file() else ""
        return {"document": project.document(), "yaml": text, "faults": studio.faults(project)}

    @router.get("/catalogue/{kind}")
    def show_catalogue(kind: Annotated[str, Path(description=", ".join(CATALOGUES))]) -> list[dict[str, Any]]:
        """Everything of a kind that can be chosen, with its parameters."""
        return studio.catalogue(kind)

    @router.get("/projects/{project}/policy")
    def read_policy(project: ProjectId) -> dict[str, Any]:
        """Read the policy, as data and as YAML, and what is still wrong with it."""
        return state(find(project))

    @router.put("/projects/{project}/policy")
    def replace_policy(project: ProjectId, body: PolicyText) -> dict[str, Any]:
        """Take over a whole policy."""
        studio.set_policy(find(project), body.yaml)
        return state(find(project))

    @router.patch("/projects/{project}/columns/{column:path}")
    def change_column(project: ProjectId, column: str, body: ColumnChange) -> dict[str, Any]:
        """Change a column's role, kind, hierarchy or other settings."""
        studio.set_column(find(project), column, {name: getattr(body, name) for name in body.model_fields_set})
        return state(find(project))

    @router.put("/projects/{project}/models")
    def choose_models(project: ProjectId, body: list[dict[str, dict[str, Any]]]) -> dict[str, Any]:
        """Choose the privacy models, each as one name with its parameters."""
        studio.set_models(find(project), body)
        return state(find(project))

    @router.put("/projects/{project}/algorithm")
    def choose_algorithm(project: ProjectId, body: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Choose the algorithm, as one name with its parameters."""
        studio.set_algorithm(find(project), body)
        return state(find(project))

    @router.patch("/projects/{project}/settings")
    def change_settings(project: ProjectId, body: dict[str, Any]) -> dict[str, Any]:
        """Change other settings: suppression, missing, cells, seed, ...; null removes one."""
        studio.set_settings(find(project), body)
        return state(find(project))

    @router.get("/projects/{project}/hierarchies/{column:path}", response_class=FileResponse)
    def export_hierarchy(project: ProjectId, column: str) -> FileResponse:
        """Download the hierarchy of a column as CSV; look at the column first."""
        path = views.hierarchy_file(find(project), column)
        if not path.is_file():
            raise UsageError(
                "This hierarchy was not looked at yet.", code="not-there", hint="Look at the column first."
            )
        return FileResponse(path, media_type="text/csv", filename="hierarchy.csv")

    @router.post("/projects/{project}/check", status_code=202)
    def check(project: ProjectId) -> JobView:
        """Look for everything that stands in the way of a run, feasibility included."""
        return _job(studio.check(find(project)))

    @router.post("/projects/{project}/columns/{column:path}/look", status_code=202)
    def look_at_column(project: ProjectId, column: str, body: Annotated[ColumnLook | None, Body()] = None) -> JobView:
        """Describe a column's values, and try a hierarchy on them."""
        given = body is not None and "hierarchy" in body.model_fields_set
        return _job(studio.look_at(find(project), column, body.hierarchy if body else None, given=given))

    return router


def _runs(studio: Studio) -> APIRouter:
    router = _router("runs")

    def find(project: str, number: int) -> Run:
        return run_of(studio.projects[project], number)

    @router.get("/projects/{project}/runs")
    def list_runs(project: ProjectId) -> list[RunView]:
        """The runs that are kept, the first one first."""
        return [_run(run) for run in runs_of(studio.projects[project])]

    @router.post("/projects/{project}/runs", status_code=202)
    def start_run(project: ProjectId) -> JobView:
        """Run the policy as it is now."""
        return _job(studio.run(studio.projects[project]))

    @router.get("/projects/{project}/runs/{number}")
    def show_run(project: ProjectId, number: Number) -> RunView:
        """Show one run: what every model achieved and what it cost."""
        return _run(find(project, number))

    @router.delete("/projects/{project}/runs/{number}", status_code=204)
    def delete_run(project: ProjectId, number: Number) -> None:
        """Delete one run."""
        find(project, number).delete()

    @router.get("/projects/{project}/runs/{number}/space")
    def read_space(
        project: ProjectId, number: Number, offset: Offset = 0, limit: Limit = 50, fits: bool = False
    ) -> TablePage:
        """Read the solutions that the search looked at, the best first."""
        return TablePage(**views.space_page(find(project, number), offset, limit, fits=fits))

    @router.post("/projects/{project}/runs/{number}/apply", status_code=202)
    def apply_levels(project: ProjectId, number: Number, body: LevelsRequest) -> JobView:
        """Make another solution a run of its own."""
        return _job(studio.apply(studio.projects[project], number, body.levels))

    @router.get("/projects/{project}/runs/{number}/classes")
    def read_classes(project: ProjectId, number: Number, offset: Offset = 0, limit: Limit = 50) -> dict[str, Any]:
        """Read classes: cells, people, and the score under every model."""
        return views.classes_page(find(project, number), offset, limit)

    @router.get("/projects/{project}/runs/{number}/rows")
    def read_rows(
        project: ProjectId, number: Number, offset: Offset = 0, limit: Limit = 50, original: bool = False
    ) -> dict[str, Any]:
        """Read published rows, and on request the original beside each."""
        return views.rows_page(find(project, number), offset, limit, original=original)

    @router.post("/projects/{project}/runs/{number}/risk", status_code=202)
    def assess_risk(project: ProjectId, number: Number, body: Annotated[RiskRequest | None, Body()] = None) -> JobView:
        """Assess risks before and after."""
        return _job(studio.assess(studio.projects[project], number, body.fraction if body else None))

    @router.get("/projects/{project}/runs/{number}/risk")
    def read_risk(project: ProjectId, number: Number) -> dict[str, Any]:
        """Read the risks that were assessed; empty where none was."""
        found: dict[str, Any] = find(project, number).json("risk") or {}
        return found

    @router.post("/projects/{project}/runs/{number}/attack", status_code=202)
    def attack(project: ProjectId, number: Number, body: Annotated[AttackRequest | None, Body()] = None) -> JobView:
        """Play attacks of the literature."""
        return _job(studio.attack(studio.projects[project], number, body.names if body else ()))

    @router.get("/projects/{project}/runs/{number}/attack")
    def read_attacks(project: ProjectId, number: Number) -> dict[str, Any]:
        """Read how attacks went; empty where none was played."""
        found: dict[str, Any] = find(project, number).json("attacks") or {}
        return found

    @router.post("/projects/{project}/runs/{number}/verify", status_code=202)
    def verify(project: ProjectId, number: Number) -> JobView:
        """Verify the published file again, from its cells alone."""
        return _job(studio.verify(studio.projects[project], number))

    @router.post("/projects/{project}/runs/{number}/report", status_code=202)
    def write_report(
        project: ProjectId, number: Number, body: Annotated[ReportRequest | None, Body()] = None
    ) -> JobView:
        """Write the evidence report."""
        return _job(studio.report(studio.projects[project], number, (body or ReportRequest()).template))

    @router.get("/projects/{project}/runs/{number}/export")
    def list_exports(project: ProjectId, number: Number) -> dict[str, str]:
        """The files that can be exported, with what each is."""
        return exports.export_files(find(project, number))

    @router.get("/projects/{project}/runs/{number}/export/{name}", response_class=Response)
    def export(project: ProjectId, number: Number, name: str) -> Response:
        """Download one file, or everything as ``bundle.zip``."""
        run = find(project, number)
        attachment = {"content-disposition": f'attachment; filename="{name}"'}
        if name == "bundle.zip":
            return Response(exports.bundle(run), media_type="application/zip", headers=attachment)
        path = exports.export_path(run, name)
        if path is None:
            return PlainTextResponse(exports.export_file(run, name), headers=attachment)
        return FileResponse(path, media_type="application/octet-stream", filename=name)

    return router


def _jobs(studio: Studio) -> APIRouter:
    router = _router("jobs")

    @router.get("/jobs")
    def list_jobs(project: Annotated[str | None, Query(max_length=40)] = None) -> list[JobView]:
        """The latest jobs, the newest first."""
        return [_job(job) for job in studio.jobs.store.jobs(project)]

    @router.get("/jobs/{job}")
    def show_job(job: str) -> JobView:
        """Show how far a job is, and its result once it is over."""
        return _job(studio.jobs.store.job(job))

    @router.post("/jobs/{job}/cancel", status_code=202)
    def cancel_job(job: str) -> JobView:
        """Ask a job to stop; nothing of it is kept."""
        return _job(studio.jobs.store.cancel(job))

    return router
