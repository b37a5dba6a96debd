"""A studio in a folder of its own, and a client that talks to its REST API in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from support_studio import BASE, TOKEN, TestClient, finished

from hushtable.studio.service import Studio
from hushtable.studio.web.rest import api
from hushtable.studio.web.safety import Access, RequestGuard
from support_postgres import postgres as postgres


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="session")
def studio(shared_home: Path) -> Iterator[Studio]:
    """One for all tests: its workers take a second to start."""
    made = Studio(shared_home, largest=30 * 2**20)
    yield made
    made.stop()


@pytest.fixture
def client(studio: Studio) -> Iterator[Any]:
    guarded = RequestGuard(api(studio), Access("127.0.0.1", 8080, TOKEN), studio.largest)
    with TestClient(guarded, base_url=BASE, raise_server_exceptions=False) as made:
        made.headers["authorization"] = f"Bearer {TOKEN}"
        yield made


@pytest.fixture(scope="session")
def patients(studio: Studio) -> Any:
    """A project with generated patients."""
    project = studio.create("Patients")
    finished(studio, studio.example(project, rows=600))
    return project


@pytest.fixture(scope="session")
def ran(studio: Studio, patients: Any) -> Any:
    """The same after a run."""
    finished(studio, studio.run(patients))
    return patients
