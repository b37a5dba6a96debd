"""What the Spark engine refuses, and what happens when something fails: the right release, or an error and nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support_spark import NOTE, WHO, held, same

import hushtable as ht
from hushtable import registry
from hushtable.api import run_plan
from hushtable.errors import Cancelled, DataError, IncompatibleError, ParameterError, PolicyError
from hushtable.io.files import write_table
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.schema.columns import Kind
from support_core import PEOPLE, plan_of, quasi, random_people, sensitive

pytestmark = pytest.mark.spark

CANARY = "xq-canary"


@pytest.mark.parametrize(
    ("name", "parameters", "reason"),
    [
        ("anatomy", {}, "numbers its groups"),
        ("mdav", {}, "Set 'quality: fast' for mdav"),
        ("cbfs", {"quality": "best"}, "cannot be distributed"),
    ],
)
def test_what_cannot_be_the_same_is_refused_before_reading(on_spark, spark, name, parameters, reason):
    algorithm = registry.algorithms.build(name, parameters)
    plan = plan_of([EntropyL(l=2)], (quasi("age", Kind.NUMERIC), sensitive("illness")), algorithm)
    with pytest.raises(IncompatibleError, match=reason):
        on_spark(spark.createDataFrame([], "other int"), plan)


def test_bad_tables(on_spark, spark):
    plan = plan_of([KAnonymity(k=2)])
    with pytest.raises(PolicyError, match="does not have: 'illness'"):
        on_spark(random_people(5, 1).drop_columns(["illness"]), plan)
    with pytest.raises(PolicyError, match="no role in the policy: 'x'"):
        on_spark(random_people(5, 1).append_column("x", pa.array([1] * 5)), plan)
    with pytest.raises(DataError, match="no rows"):
        on_spark(random_people(5, 1).slice(0, 0), plan)
    with pytest.raises(DataError, match="'age' contains values of type list or struct"):
        on_spark(spark.createDataFrame([([1], "a", "b")], "age array<int>, country string, illness string"), plan)
    twice = spark.createDataFrame(random_people(5, 1)).select("age", "age", "country", "illness")
    with pytest.raises(DataError, match="more than one column named 'age'"):
        on_spark(twice, plan)
    table = random_people(5, 1).append_column("who", pa.array(["a", "?", "b ? c", None, "a"]))
    with pytest.raises(DataError, match="'who' has 2 missing values"):
        on_spark(table, plan_of([KAnonymity(k=2)], (WHO, *PEOPLE), entity="who", missing_values=("?",)))


def test_a_table_that_changes_while_it_is_read_is_refused(on_spark, spark):
    from pyspark.sql import functions

    def another(batches):
        for batch in batches:
            yield batch.set_column(0, "age", pa.array(np.random.default_rng().integers(0, 10**9, batch.num_rows)))

    frame = spark.createDataFrame(random_people(200, 1)).withColumn("note", functions.lit("x"))
    frame = frame.mapInArrow(another, frame.schema)
    with pytest.raises(DataError, match="changed while it was read") as raised:
        on_spark(frame, plan_of([KAnonymity(k=2)], (*PEOPLE, NOTE)))
    assert raised.value.code == "changed"


def test_errors_of_spark_do_not_quote_cells(on_spark, spark):
    from pyspark.sql import functions

    frame = spark.createDataFrame(random_people(20, 1))
    frame = frame.withColumn("age", functions.lit(CANARY).cast("int"))
    with pytest.raises(DataError, match="Spark could not finish") as raised:
        on_spark(frame, plan_of([KAnonymity(k=2)]))
    assert CANARY not in str(raised.value) and raised.value.__cause__ is None


def _dies(times: int, mark: str):
    """Rows from a worker that is killed on its first attempts."""

    def kill(batches):
        from pyspark import TaskContext

        if TaskContext.get().attemptNumber() < times:
            with open(mark, "a") as trace:
                trace.write("x")
            os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    return kill


def test_a_worker_killed_in_mid_job_does_not_change_the_release(on_spark, spark, tmp_path):
    table, plan = random_people(60, 2), plan_of([KAnonymity(k=3)])
    frame = spark.createDataFrame(table).repartition(2)
    mark = tmp_path / "killed"
    killed = frame.mapInArrow(_dies(1, str(mark)), frame.schema)
    same(on_spark(killed, plan), run_plan(table, plan))
    assert mark.read_text()


def test_a_worker_that_always_dies_is_a_clear_error_and_no_output(on_spark, spark, tmp_path):
    frame = spark.createDataFrame(random_people(60, 2)).repartition(2)
    with pytest.raises(DataError, match=r"Spark could not finish reading the columns .*nothing was published"):
        on_spark(frame.mapInArrow(_dies(99, str(tmp_path / "killed")), frame.schema), plan_of([KAnonymity(k=3)]))
    assert held(spark) == 0


def test_a_cancelled_run_leaves_nothing(on_spark, spark):
    before = held(spark)

    def stop(share, what):
        if what == "verifying":
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        on_spark(random_people(60, 2), plan_of([KAnonymity(k=3)]), progress=stop)
    assert held(spark) == before
    assert not spark.getTags()


def test_a_setting_that_is_no_number(on_spark, spark):
    spark.conf.set("spark.hushtable.driverRows", "many")
    try:
        with pytest.raises(ParameterError, match="must be a whole number"):
            on_spark(random_people(5, 1), plan_of([KAnonymity(k=2)]))
    finally:
        spark.conf.unset("spark.hushtable.driverRows")


def test_a_broken_file_among_good_ones(spark, tmp_path):
    from hushtable.engines.spark.session import read_frame

    pq.write_table(random_people(30, 1), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-40])
    policy = ht.Policy(quasi=["age", "country"], sensitive=["illness"], models=[KAnonymity(k=3)])
    with pytest.raises(DataError, match="Spark could not finish"):
        ht.anonymize(read_frame(spark, [str(tmp_path)]), policy)
    (tmp_path / "c.csv").write_text("age,country,illness\n1,Fiji,flu\n2,Fiji\n")
    with pytest.raises(DataError, match="Spark could not finish"):
        ht.anonymize(read_frame(spark, [str(tmp_path / "c.csv")]), policy)
    with pytest.raises(DataError, match="has another suffix"):
        read_frame(spark, ["hdfs://host/table.xlsx"])


KILLED = """
import os, signal, sys
from hushtable.engines.spark.alike import FilePieces, FramePieces
def killing(sizes):
    def killed(pieces):
        os.kill(pieces._jobs.spark._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
        return sizes(pieces)
    return killed
for kind in (FilePieces, FramePieces):
    kind.sizes = killing(kind.sizes)
from hushtable.cli.main import main
main()
"""


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_java_process_that_dies_is_said(format, tmp_path):
    """Not an internal error: the machine was out of memory, say."""
    write_table(random_people(40, 1), tmp_path / f"people.{format}")
    policy = ht.Policy(quasi=["age", "country"], sensitive=["illness"], models=[KAnonymity(k=2)])
    (tmp_path / "policy.yaml").write_text(policy.to_yaml())
    words = ["run", "policy.yaml", "--data", f"people.{format}", "--engine", "spark", "--output", "out"]
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    said = "Spark ended before it finished reading the columns; nothing was published."
    assert said in " ".join(ended.stderr.split())
    assert ended.returncode == 2, ended.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"people.{format}", "policy.yaml"]
