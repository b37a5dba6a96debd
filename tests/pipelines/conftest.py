"""A table and a policy for schedulers; they are run as programs, in environments of their own (make pipelines)."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hushtable.datasets import patients, patients_policy
from hushtable.io.files import write_table
from hushtable.policy.policy import Policy


@pytest.fixture
def place(tmp_path) -> Path:
    """A folder with ``patients.csv`` and ``policy.yaml``."""
    write_table(patients(400, seed=3), tmp_path / "patients.csv")
    (tmp_path / "policy.yaml").write_text(Policy(**patients_policy()).to_yaml(), encoding="utf-8")
    return tmp_path


@pytest.fixture
def program(place):
    """Call a program of this environment in that folder; skips where its package is not installed."""

    def call(package: str, *words: str, code: int = 0, **env: str) -> str:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed here: make pipelines")
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            list(words), cwd=place, env={**os.environ, "PATH": path, **env}, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout + done.stderr

    return call
