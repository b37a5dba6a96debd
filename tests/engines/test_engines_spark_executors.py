"""An executor that is killed in mid-job: a small cluster of its own, in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

TESTS = Path(__file__).resolve().parents[1]

CLUSTER = """
import os, signal, subprocess

import pyarrow as pa
from pyspark.sql import SparkSession

from hushtable.api import run_plan
from hushtable.engines.spark.release import run_frame
from hushtable.io.dictionaries import decode
from hushtable.models.k_anonymity import KAnonymity
from hushtable.schema.columns import Role
from hushtable.table.plan import ColumnPlan
from support_core import PEOPLE, plan_of, random_people

SETTINGS = {
    "spark.executor.memory": "600m", "spark.driver.memory": "600m", "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
}
spark = SparkSession.builder.master("local-cluster[2,1,600]").config(map=SETTINGS).getOrCreate()
spark.sparkContext.setLogLevel("OFF")


def below(process):
    found = subprocess.run(["ps", "--ppid", str(process), "-o", "pid="], capture_output=True, text=True).stdout.split()
    return [pid for child in map(int, found) for pid in (child, *below(child))]


def executors():
    ours = below(spark.sparkContext._gateway.proc.pid)
    return {p for p in ours if b"CoarseGrainedExecutorBackend" in open(f"/proc/{p}/cmdline", "rb").read()}


def check(phase, table, columns):
    killed = set()

    def kill_one(share, what):
        if what == phase and not killed:
            killed.add(min(executors()))
            os.kill(min(killed), signal.SIGKILL)

    plan = plan_of([KAnonymity(k=4)], columns)
    release = run_frame(spark.createDataFrame(table).repartition(4), plan, kill_one)
    want = run_plan(table, plan).table
    assert killed and not killed & executors()
    got = release.frame.toArrow().to_pydict()
    assert got == {name: decode(want.column(name)).to_pylist() for name in want.column_names}
    print("the same release after", phase, flush=True)


table = random_people(300, 1, missing=0.1)
check("reading the columns", table, PEOPLE)
# rows with a note are kept by the executors, and half of them are gone with one
table = table.append_column("note", pa.array([f"note {i}" for i in range(300)]))
check("verifying", table, (*PEOPLE, ColumnPlan("note", Role.INSENSITIVE)))
spark.stop()
"""


def test_an_executor_killed_in_mid_job_does_not_change_the_release(tmp_path):
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None or shutil.which("ps") is None:
        pytest.skip("needs pyspark, Java and ps")
    # executors log into Spark's home: one of the test's own, that leads to the installed package
    (tmp_path / "home").mkdir()
    for part in Path(importlib.util.find_spec("pyspark").origin).parent.iterdir():
        (tmp_path / "home" / part.name).symlink_to(part)
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYSPARK_PYTHON": sys.executable}
    environment["SPARK_HOME"] = str(tmp_path / "home")
    words = [sys.executable, "-c", CLUSTER]
    done = subprocess.run(
        words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=900
    )
    for phase in ("reading the columns", "verifying"):
        assert f"the same release after {phase}" in done.stdout, done.stderr[-2000:]
