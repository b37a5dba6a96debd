"""One small Spark, and one PostgreSQL server, for all tests of the engines."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys

import pyarrow as pa
import pytest

from hushtable.engines import combined, emit
from hushtable.io import layout, runs
from hushtable.release import kept
from support_postgres import address as address
from support_postgres import postgres as postgres

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # compiling plans takes longer than running them on a few rows
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    # every sort and every aggregation takes a page, of 16 MiB by default
    "spark.buffer.pageSize": "1m",
    # the history of jobs is kept even though the user interface that shows it is off
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.retainedExecutions": "20",
}


@pytest.fixture(scope="session")
def spark():
    """A session with two cores that tries a failed task twice more."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("needs pyspark and Java")
    from pyspark.sql import SparkSession

    # workers need what the tests need
    os.environ["PYSPARK_PYTHON"] = sys.executable

    session = SparkSession.builder.master("local[2,3]").appName("tests").config(map=SETTINGS).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def on_spark(spark):
    """Run a plan on Spark and let go of the rows afterwards."""
    from hushtable.engines.spark.release import run_frame

    releases = []

    def run(table, plan, partitions=2, **more):
        frame = spark.createDataFrame(table) if isinstance(table, pa.Table) else table
        releases.append(run_frame(frame.repartition(partitions), plan, **more))
        return releases[-1]

    yield run
    for release in releases:
        release.unpersist()


@pytest.fixture
def far_away(spark):
    """A driver that takes few rows, and tasks that do."""

    def limit(group_rows, driver_rows=1):
        spark.conf.set("spark.hushtable.driverRows", str(driver_rows))
        spark.conf.set("spark.hushtable.groupRows", str(group_rows))

    yield limit
    spark.conf.unset("spark.hushtable.driverRows")
    spark.conf.unset("spark.hushtable.groupRows")


@pytest.fixture
def small_runs(monkeypatch):
    """Runs, ranges, buckets and row groups of streaming so small that every table has many."""
    monkeypatch.setattr(combined, "RUN_ROWS", 64)
    monkeypatch.setattr(runs, "RANGE_BYTES", 256)
    monkeypatch.setattr(emit, "MOST_BUCKETS", 5)
    monkeypatch.setattr(layout, "GROUP_ROWS", 50)
    monkeypatch.setattr(combined, "RANGE_ROWS", 32)
    monkeypatch.setattr(kept, "BATCH_ROWS", 70)
