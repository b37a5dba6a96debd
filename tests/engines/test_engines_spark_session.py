"""A session of the command line's own, in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

from hushtable.engines.spark.session import spark_session
from hushtable.errors import UsageError

pytestmark = pytest.mark.spark

CANARY = "xq-canary"


def test_no_row_of_a_damaged_file_is_logged(tmp_path):
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("needs pyspark and Java")
    rows = [f"{CANARY},{20 + i % 9}" for i in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(["ill,age", *rows[:30], f"{rows[30]},{CANARY}", *rows[31:], ""]))
    (tmp_path / "policy.yaml").write_text(
        "columns: {ill: {role: sensitive}, age: {role: quasi}}\nmodels: [{k-anonymity: {k: 2}}]\n"
    )
    arguments = ["run", "policy.yaml", "--data", "people.csv", "--engine", "spark", "--master", "local[1]"]
    done = subprocess.run(
        [sys.executable, "-m", "hushtable", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=600, env={k: v for k, v in os.environ.items() if k != "HUSHTABLE_SPARK_LOG"},
    )  # fmt: skip
    assert done.returncode == 2 and "Spark could not finish" in done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert not (tmp_path / "release").exists()


def test_a_level_that_spark_does_not_know(monkeypatch):
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setenv("HUSHTABLE_SPARK_LOG", "loud")
    with pytest.raises(UsageError, match="HUSHTABLE_SPARK_LOG must be one of OFF"), spark_session("local[1]"):
        pass
