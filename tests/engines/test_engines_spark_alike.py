"""Equal rows counted by tasks, against counting them one by one."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support_spark import same

from hushtable.api import run_plan
from hushtable.engines.spark import alike, content
from hushtable.engines.spark.jobs import SparkJobs
from hushtable.engines.spark.session import parquet_files, read_frame
from hushtable.errors import DataError
from hushtable.models.k_anonymity import KAnonymity
from support_core import plan_of, random_people

pytestmark = pytest.mark.spark

CELLS = {
    "text": st.sampled_from(["a", "b", "", None]),
    "number": st.sampled_from([0.0, -0.0, 1.5, float("nan"), None]),
    "whole": st.sampled_from([-1, 0, 7, None]),
    "day": st.sampled_from([dt.date(2020, 1, 1), dt.date(1950, 2, 3), None]),
}
TYPES = {"text": pa.string(), "number": pa.float64(), "whole": pa.int32(), "day": pa.date32()}


def counted(rows) -> Counter:
    """Count rows; -0.0 is 0.0, and all NaN are one."""
    return Counter(tuple("nan" if cell != cell else cell for cell in row) for row in rows)


def told(found) -> Counter:
    columns = [d.values.take(pa.array(p)).to_pylist() for d, p in zip(found.dictionaries, found.places, strict=True)]
    rows = list(zip(*columns, strict=True))
    assert len(counted(rows)) == len(rows), "no row is there twice"
    return Counter({row: int(n) for row, n in zip(counted(rows), found.counts, strict=True)})


@settings(max_examples=40)
@given(data=st.data(), piece=st.integers(1, 6), batch=st.integers(1, 4))
def test_pieces_are_counted_and_merged(data, piece, batch):
    names = data.draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=3, unique=True))
    rows = data.draw(st.lists(st.tuples(*(CELLS[name] for name in names)), min_size=1, max_size=15))
    table = pa.table({n: pa.array([r[j] for r in rows], TYPES[n]) for j, n in enumerate(names)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alike, "_PIECE", piece)
        sent = list(alike._count_pieces(iter(table.to_batches(batch))))
    tables = [pa.ipc.open_stream(s.column("counted")[0].as_buffer()).read_all() for s in sent]
    assert [t.num_rows for t in tables] == [s.column("alike")[0].as_py() for s in sent]
    found = alike._merged(range(len(names)), tables)
    assert told(found) == counted(rows)
    for j, dictionary in enumerate(found.dictionaries):
        once = Counter({value[0]: n for value, n in counted((row[j],) for row in rows).items()})
        values = [cell for (cell,) in counted((v,) for v in dictionary.values.to_pylist())]
        assert dict(zip(values, dictionary.counts.tolist(), strict=True)) == once


def test_more_values_than_fit_into_a_number():
    draw = np.random.default_rng(1)
    columns = [pa.array(draw.integers(0, 2**40, 3000)).take(pa.array(np.arange(6000) % 3000)) for _ in range(8)]
    (batch,) = pa.table(columns, names=list("abcdefgh")).to_batches()
    (sent,) = alike._count_pieces(iter([batch]))
    table = pa.ipc.open_stream(sent.column("counted")[0].as_buffer()).read_all()
    for tables, times in (([table], 2), ([table, table], 4)):
        assert alike._merged(range(8), tables).counts.tolist() == [times] * 3000


def test_pieces_are_brought_in_batches(monkeypatch):
    monkeypatch.setattr(alike, "_SENT", 10)
    assert list(alike._batches([4, 6, 1, 30])) == [(0, 1), (2, 2), (3, 3)]
    assert list(alike._batches([])) == []


def test_rows_that_change_between_two_looks_are_refused():
    (before,) = alike._count_pieces(iter(pa.table({"a": [1, 2]}).to_batches()))
    (after,) = alike._count_pieces(iter(pa.table({"a": [1, 1]}).to_batches()))
    blobs = [piece.column("counted")[0].as_buffer() for piece in (before, after)]
    released = []

    def pieces(*sent):
        sizes = [(2, 10), (1, 10)]
        return SimpleNamespace(
            sizes=lambda: sizes, collect=lambda first, last: list(sent), release=lambda: released.append(1)
        )

    assert alike.alike_rows(pieces([blobs[0]], [blobs[1]]), [0], 3).counts.tolist() == [3, 1]
    # as many rows in all, but not in each piece
    with pytest.raises(DataError, match="changed while it was read"):
        alike.alike_rows(pieces([blobs[1]], [blobs[0]]), [0], 3)
    assert len(released) == 2


def _lacks(batches):
    raise ImportError("No module named 'hushtable'")


def test_executors_without_hushtable_are_noticed(spark, on_spark, monkeypatch):
    cluster = SimpleNamespace(conf=SimpleNamespace(get=lambda *name: "spark://host:7077"), range=spark.range)
    assert alike.tasks_can_count(spark) and alike.tasks_can_count(cluster)
    monkeypatch.setattr(alike, "_same_rows", _lacks)
    assert alike.tasks_can_count(spark) and not alike.tasks_can_count(cluster)
    table, plan = random_people(60, 2), plan_of([KAnonymity(k=3)])
    monkeypatch.setattr(content, "tasks_can_count", lambda session: False)
    same(on_spark(table, plan), run_plan(table, plan))


def test_on_spark_types_are_kept_and_too_many_are_refused(spark, monkeypatch):
    monkeypatch.setattr(alike, "_SENT", 1)
    moment = dt.datetime(2021, 5, 6, 7, 8, 9, 10, tzinfo=dt.UTC)
    table = pa.table(
        {
            "c0": pa.array([moment, None, moment], pa.timestamp("us", "UTC")),
            "c1": pa.array([Decimal("1.50"), Decimal("2.00"), Decimal("1.50")]),
            "c2": pa.array([True, None, True]),
        }
    )
    frame = spark.createDataFrame(table).repartition(3)
    with SparkJobs(spark, lambda share, what: None).run() as jobs:
        found = alike.alike_rows(alike.FramePieces(jobs, frame), [0, 1, 2], 3)
        assert alike.alike_rows(alike.FramePieces(jobs, frame), [0, 1, 2], 1) is None
        nothing = alike.alike_rows(alike.FramePieces(jobs, frame.limit(0)), [0, 1, 2], 1)
        assert not jobs.held
    assert sorted(found.counts.tolist()) == [1, 2]
    collected = frame.toArrow()
    assert [d.values.type for d in found.dictionaries] == [collected.column(name).type for name in table.column_names]
    assert [len(d) for d in nothing.dictionaries] == [0, 0, 0]


class TestFiles:
    @pytest.mark.parametrize("sent", [1, 1 << 28])
    def test_tasks_read_and_count_what_spark_would(self, sent, spark, tmp_path, monkeypatch):
        monkeypatch.setattr(alike, "_PIECE", 7)
        monkeypatch.setattr(alike, "_SENT", sent)
        draw = np.random.default_rng(3)
        table = pa.table(
            {
                "text": pa.array([None if n == 4 else f"é{n}" for n in draw.integers(0, 5, 60)]),
                "number": pa.array(draw.choice([0.0, -0.0, float("nan"), 1.5], 60)),
                "whole": pa.array(draw.integers(0, 3, 60), pa.int32()),
                "flag": pa.array(draw.random(60) < 0.5),
            }
        )
        coded = table.set_column(0, "text", table.column("text").dictionary_encode()).select([2, 0, 1, 3])
        large = table.set_column(0, "text", table.column("text").cast(pa.large_string()))
        pq.write_table(table.slice(0, 25), tmp_path / "a.parquet", row_group_size=10)
        pq.write_table(coded.slice(25, 20), tmp_path / "b.parquet", row_group_size=4)
        pq.write_table(large.slice(45), tmp_path / "c.parquet", row_group_size=4, use_dictionary=False)
        files = parquet_files([str(tmp_path)])
        assert [Path(file).name for file in files] == ["a.parquet", "b.parquet", "c.parquet"]
        frame = read_frame(spark, [str(tmp_path)])
        wanted = [frame.limit(0).toArrow().schema.field(name) for name in ("whole", "text", "number", "flag")]
        before = dict(spark.sparkContext._jsc.getPersistentRDDs())
        with SparkJobs(spark, lambda share, what: None).run() as jobs:
            pieces = alike.file_pieces(jobs, files, wanted)
            found = alike.alike_rows(pieces, range(4), 60)
            plain = alike.FramePieces(jobs, frame.select(*(field.name for field in wanted)))
            expected = alike.alike_rows(plain, range(4), 60)
            assert alike.alike_rows(alike.file_pieces(jobs, files, wanted), range(4), 1) is None
        assert dict(spark.sparkContext._jsc.getPersistentRDDs()) == before
        assert told(found) == told(expected)
        assert [d.values.type for d in found.dictionaries] == [d.values.type for d in expected.dictionaries]

    @pytest.mark.parametrize("broken", ["a day", "another type", "no column", "damaged"])
    def test_other_files_are_left_to_spark(self, broken, tmp_path):
        other = {
            "a day": pa.table({"x": pa.array([dt.date(2020, 1, 1)])}),
            "another type": pa.table({"x": pa.array([1], pa.int16())}),
            "no column": pa.table({"y": pa.array([1])}),
        }
        pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
        if broken == "damaged":
            (tmp_path / "b.parquet").write_bytes(b"PAR1")
        else:
            pq.write_table(other[broken], tmp_path / "b.parquet")
        type_ = pa.date32() if broken == "a day" else pa.int64()
        files = [str(tmp_path / ("b.parquet" if broken == "a day" else name)) for name in ("a.parquet", "b.parquet")]
        # it never gets as far as Spark
        assert alike.file_pieces(None, files, [pa.field("x", type_)]) is None

    def test_only_plain_parquet_files_are_read_by_tasks(self, tmp_path):
        folder = tmp_path / "days" / "day=1"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"x": [1]}), folder / "a.parquet")
        (tmp_path / "b.csv").write_text("x\n1\n")
        assert parquet_files([str(tmp_path / "days")]) == []
        assert parquet_files([str(tmp_path / "b.csv")]) == []
        assert parquet_files(["s3a://bucket/table.parquet"]) == []
