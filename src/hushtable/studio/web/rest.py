"""The studio's actions as a REST API; ``/api/openapi.json`` describes it."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from hushtable._version import __version__
from hushtable.errors import HushtableError, UsageError
from hushtable.failures import failure
from hushtable.studio.routes.policies import policies_routes
from hushtable.studio.routes.projects import projects_routes
from hushtable.studio.routes.runs import comparing_routes, jobs_routes, runs_routes
from hushtable.studio.service import Studio

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
    app.include_router(projects_routes(studio))
    app.include_router(policies_routes(studio))
    app.include_router(comparing_routes(studio))
    app.include_router(runs_routes(studio))
    app.include_router(jobs_routes(studio))
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
