"""What the studio's tests share."""

from __future__ import annotations

import warnings
from typing import Any

with warnings.catch_warnings():
    # it wants a package that nothing else here needs
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

__all__ = ["BASE", "TOKEN", "TestClient", "finished"]

TOKEN = "a-token-of-the-tests-1234"
BASE = "http://127.0.0.1:8080"


def finished(studio: Any, job: Any, timeout: float = 90.0) -> Any:
    """The job once it is over; fails the test where it did not end well."""
    over = studio.jobs.wait(job if isinstance(job, str) else job.id, timeout)
    assert over.state == "done", (over.state, over.error)
    return over
