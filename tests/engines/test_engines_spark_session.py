"""A session of the command line's own, in a process of its own."""

from __future__ import annotations

import datetime as dt
import importlib.util
import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushtable.engines.spark import session
from hushtable.engines.spark.session import read_frame, spark_session
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


DECLARED = {
    "tiny": pa.array([1, None], pa.int8()),
    "short": pa.array([1, 2], pa.int16()),
    "whole": pa.array([1, 2], pa.int32()),
    "long": pa.array([1, None]),
    "single": pa.array([1.5, 2], pa.float32()),
    "double": pa.array([1.5, None]),
    "text": pa.array(["a", None]),
    "coded": pa.array(["a", None]).dictionary_encode(),
    "pandas": pa.array(["a", None], pa.large_string()),
    "flag": pa.array([True, None]),
}


def test_a_declared_schema_is_what_spark_infers(spark, tmp_path):
    fields = [pa.field(name, values.type, nullable=name != "whole") for name, values in DECLARED.items()]
    table = pa.table(list(DECLARED.values()), schema=pa.schema(fields, metadata={"a": "b"}))
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table, tmp_path / "b.parquet", store_schema=False)
    files = [str(tmp_path / name) for name in ("a.parquet", "b.parquet")]
    assert session._declared(files) == spark.read.parquet(*files).schema == read_frame(spark, files).schema
    assert read_frame(spark, files).count() == 4


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1], pa.uint8()),
        pa.array([b"a"]),
        pa.array([dt.date(2020, 1, 1)]),
        pa.array([dt.datetime(2020, 1, 1)]),
        pa.array([1.5], pa.float16()),
        pa.array([[1]]),
    ],
    ids=lambda values: str(values.type),
)
def test_other_types_are_left_to_spark(values, tmp_path):
    pq.write_table(pa.table({"x": [1], "y": values}), tmp_path / "a.parquet")
    assert session._declared([str(tmp_path / "a.parquet")]) is None


def test_other_files_are_left_to_spark(spark, tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [1.5]}), tmp_path / "b.parquet")
    (tmp_path / "c.parquet").write_bytes(b"PAR1")
    spark.sql("SELECT 'a' COLLATE UNICODE_CI AS x").write.parquet(str(tmp_path / "spark"))
    (written,) = (tmp_path / "spark").glob("*.parquet")
    for files in ([], ["a", "b"], ["c"]):
        assert session._declared([str(tmp_path / f"{name}.parquet") for name in files]) is None
    assert session._declared([str(written)]) is None
