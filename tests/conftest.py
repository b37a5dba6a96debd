"""Fixtures and hypothesis profiles that every test may use."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings

from hushtable.attacks import known_algorithm
from hushtable.datasets import adult_hierarchies, load_adult, load_census
from hushtable.datasets import patients as generate_patients
from hushtable.errors import DataError
from hushtable.io.secret import SECRET

# doctest would import every conftest.py under the same name
collect_ignore_glob = ["**/conftest.py", "conftest.py"]

# compiling a kernel or a busy machine makes single examples slow, which says nothing about the code
settings.register_profile("default", deadline=None, max_examples=50)
# the same examples on every run, so that a red build means a changed program
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


# reports run all attacks, and this one takes most of the time; its own tests set the number of worlds
known_algorithm._MOST = 24

# garbage collection makes collecting the tests a quarter slower
gc.disable()

# no test pulls the plug, and waiting for disks takes minutes
os.fsync = lambda handle: None

SLOW_TO_START = ("spark", "browser")
"""Marks: Java takes half a minute of processor time for each session, Chromium and the studio ten seconds."""

_FOLDER = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Let all tests share one known secret instead of the user's own, so that guards toss the same coins."""
    folder = config.stash[_FOLDER] = tempfile.mkdtemp(prefix="hushtable-tests-")
    path = Path(folder) / "secret"
    path.touch(mode=0o600)
    path.write_bytes(bytes(range(32)))
    os.environ[SECRET] = str(path)
    # every Java of Spark lives for a minute: too short for the second compiler and several collectors of garbage
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    defaults = f"spark.driver.extraJavaOptions {java}\nspark.executor.extraJavaOptions {java}\n"
    (Path(folder) / "spark-defaults.conf").write_text(defaults)
    os.environ["SPARK_CONF_DIR"] = folder


def pytest_collection_finish() -> None:
    """Turn garbage collection on again, except for what was imported and collected, and less often than usual.

    Tests make many small objects that live as long as they do: collecting them all the time costs 5% of the time.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that share something slow to start at the beginning of one worker's share, where none are stolen."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    together = [[item for item in items if item.get_closest_marker(mark)] for mark in SLOW_TO_START]
    share, moved = len(items) // workers, {id(item) for alike in together for item in alike}
    ordered = [item for item in items if id(item) not in moved]
    for worker, alike in enumerate(together):
        ordered[share * worker : share * worker] = alike
    items[:] = ordered


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind."""
    shutil.rmtree(config.stash[_FOLDER], ignore_errors=True)
    for name in (SECRET, "SPARK_CONF_DIR"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session")
def adult() -> pa.Table:
    """The 30,162-record, 9-column subset of Adult."""
    return _or_skip(lambda: load_adult("30162"))


@pytest.fixture(scope="session")
def adult_full() -> pa.Table:
    """All 48,842 records of Adult, null where unknown."""
    return _or_skip(lambda: load_adult("full"))


@pytest.fixture(scope="session")
def adult_hierarchy_files() -> dict[str, Path]:
    """The published hierarchy file of each Adult column."""
    return _or_skip(adult_hierarchies)


@pytest.fixture(scope="session")
def census() -> pa.Table:
    """The CASC project's Census reference file."""
    return _or_skip(load_census)


@pytest.fixture(scope="session")
def patients() -> pa.Table:
    """A thousand generated patients."""
    return generate_patients(1000)


def _or_skip(load):
    try:
        return load()
    except DataError as error:
        if error.code != "data-not-found":
            raise
        pytest.skip(str(error))
