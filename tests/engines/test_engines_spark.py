"""The Spark engine against the local one: the same groups, the same cells, the same evidence."""

from __future__ import annotations

import datetime
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hushtable as ht
from hushtable import registry
from hushtable.api import run_plan
from hushtable.engines.spark import is_spark_frame
from hushtable.errors import (
    Cancelled,
    DataError,
    HushtableError,
    IncompatibleError,
    ParameterError,
    PolicyError,
    VerificationError,
)
from hushtable.io.dictionaries import decode
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.t_closeness import TCloseness
from hushtable.schema.columns import CellStyle, Kind, Missing, Role
from hushtable.table.plan import ColumnPlan
from hushtable.testing import model_examples, random_case
from support_core import PEOPLE, plan_of, quasi, random_people, sensitive

pytestmark = pytest.mark.spark

WHO = ColumnPlan("who", Role.IDENTIFIER)
NOTE = ColumnPlan("note", Role.INSENSITIVE)
CANARY = "xq-canary"


@pytest.fixture
def on_spark(spark):
    """Run a plan on Spark and let go of the rows afterwards."""
    from hushtable.engines.spark.release import SparkRelease

    releases = []

    def run(table, plan, partitions=2, **more):
        frame = spark.createDataFrame(table) if isinstance(table, pa.Table) else table
        releases.append(SparkRelease.of_plan(frame.repartition(partitions), plan, **more))
        return releases[-1]

    yield run
    for release in releases:
        release.unpersist()


def plain(table: pa.Table) -> pa.Table:
    return pa.table([decode(c) for c in table.columns], names=table.column_names)


def same(got, want) -> None:
    """Rows in the same order, the same evidence and the same costs."""
    assert got.frame.toArrow().to_pydict() == plain(want.table).to_pydict()
    # NaN is not equal to itself
    assert json.dumps(got.summary()) == json.dumps(want.summary())


# (algorithm, parameters, model, settings of the case, suppression, partitions)
PAIRS = [
    ("mondrian", {}, "entropy-l", {}, 0.0, 1),
    ("mondrian", {"mode": "relaxed"}, "t-closeness", {"entity": True}, 0.2, 7),
    ("mondrian", {"nominal": "children"}, "k-map", {"cells": CellStyle.NODES}, 0.1, 3),
    ("localpk", {}, "p-sensitive", {"cells": CellStyle.SETS, "entity": True}, 0.1, 7),
    ("optimal", {}, "delta-disclosure", {}, 0.3, 3),
    ("lattice-sweep", {}, "k-anonymity", {"missing": Missing.WILDCARD}, 0.0, 1),
    ("datafly", {}, "distinct-l", {"entity": True}, 0.3, 3),
    ("greedy-loss", {}, "alp-dif", {}, 0.1, 7),
    ("k-member", {}, "bayes-optimal", {}, 0.2, 3),
    ("mdav", {"quality": "fast"}, "alpha-k", {"cells": CellStyle.MIDPOINT}, 0.1, 1),
    ("anti-unification", {}, "recursive-cl", {"entity": True}, 0.3, 3),
]


@pytest.mark.parametrize(("name", "parameters", "model", "settings", "suppression", "partitions"), PAIRS)
def test_same_as_one_machine(on_spark, name, parameters, model, settings, suppression, partitions):
    algorithm = registry.algorithms.build(name, parameters)
    case = random_case(partitions, 60, **settings).suited(algorithm)
    models = list(model_examples(registry.models[model], case))[:1]
    plan = case.plan(models, algorithm, suppression=suppression, seed=5)
    same(on_spark(case.table, plan, partitions), run_plan(case.table, plan))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(registry.algorithms))
@pytest.mark.parametrize("model", list(registry.models))
def test_every_pair_is_the_same(on_spark, name, model):
    fast = {"quality": "fast"} if "quality" in {p.name for p in registry.algorithms[name].params()} else {}
    algorithm = registry.algorithms.build(name, fast)
    case = random_case(3, 50).suited(algorithm)
    models = list(model_examples(registry.models[model], case))[:1]
    try:
        plan = case.plan(models or [KAnonymity(k=2)], algorithm, suppression=0.1)
        want = run_plan(case.table, plan)
        got = on_spark(case.table, plan, 3)
    except HushtableError:
        return
    same(got, want)


def test_people_with_more_rows_than_divide_evenly(on_spark):
    table = random_people(120, 8, missing=0.1)
    # 53 rows of one person: what does not divide evenly goes to the first in canonical order
    who = pa.array(["p"] * 53 + [f"q{i % 30}" for i in range(67)])
    table = table.append_column("who", who).append_column("note", pa.array(["ab"[i % 2] for i in range(120)]))
    plan = plan_of([KAnonymity(k=3)], (WHO, *PEOPLE, NOTE), entity="who")
    same(on_spark(table, plan, 3), run_plan(table, plan))


def test_text_that_is_numbers_dates_and_listed_missing_values(on_spark):
    rows = 80
    generator = np.random.default_rng(4)
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(d)) for d in generator.integers(0, 90, rows)]
    table = pa.table(
        {
            "age": [str(a) if a % 7 else " ?" for a in generator.integers(20, 60, rows)],
            "day": pa.array(days),
            "weight": pa.array(generator.normal(70, 9, rows).round(1)),
            "big": pa.array(generator.integers(2**60, 2**60 + 50, rows)),
            "flag": pa.array(generator.random(rows) < 0.5),
            "sick": generator.choice(["ü", "z", "", "é, x"], rows),
        }
    )
    names = ("age", "day", "weight", "big", "flag")
    columns = (*map(quasi, names), sensitive("sick"))
    plan = plan_of([KAnonymity(k=3), EntropyL(l=1.5)], columns, missing_values=("?",), suppression=0.1)
    same(on_spark(table, plan, 3), run_plan(table, plan))


def test_awkward_names_collations_and_columns_of_nothing(on_spark, spark):
    from pyspark.sql import functions

    table = random_people(60, 2).append_column("v", pa.nulls(60))
    capitals = [c.upper() if i % 2 else c for i, c in enumerate(table["country"].to_pylist())]
    table = table.set_column(1, "country", pa.array(capitals)).rename_columns(["a.b`c", "A.B`C", " s", "v"])
    plan = plan_of([KAnonymity(k=3)], (quasi("a.b`c"), quasi("A.B`C"), sensitive(" s"), quasi("v")))
    frame = spark.createDataFrame(table.rename_columns(list("abcd")))
    # to this column 'fiji' and 'FIJI' are the same; to a policy they are not
    frame = frame.withColumn("b", functions.collate("b", "UTF8_LCASE")).toDF(*table.column_names)
    same(on_spark(frame, plan), run_plan(table, plan))


@pytest.mark.parametrize("guard", list(registry.guards))
def test_guards_act_alike(on_spark, guard):
    plan = replace(plan_of([KAnonymity(k=3)]), guards=(registry.guards.build(guard, {}),))
    table = random_people(80, 2)
    same(on_spark(table, plan), run_plan(table, plan))


def test_rows_that_differ_in_nothing_but_what_is_kept_are_divided_alike(on_spark):
    table = pa.table(
        {
            "age": [30] * 12,
            "illness": ["flu"] * 12,
            "country": ["Fiji"] * 12,
            "note": [f"n{11 - i}" if i % 5 else None for i in range(12)],
        }
    )
    plan = plan_of([KAnonymity(k=3)], (*PEOPLE, NOTE), ht.Mondrian(mode="relaxed"), suppression=0.1)
    same(on_spark(table, plan, 3), run_plan(table, plan))


def test_risks_are_those_of_the_local_engine(on_spark):
    table = random_people(150, 3, missing=0.1)
    plan = plan_of([KAnonymity(k=4)], suppression=0.05)
    got, want = on_spark(table, plan).risk().as_dict(), run_plan(table, plan).risk().as_dict()

    def close(one, other):
        if isinstance(one, dict):
            assert one.keys() == other.keys()
            for key in one:
                close(one[key], other[key])
        else:
            assert one == pytest.approx(other) if isinstance(one, float) else one == other

    close(got, want)


def test_attacks_state_the_error_of_their_sample(on_spark):
    table = random_people(400, 5)
    release = on_spark(table, plan_of([KAnonymity(k=4)], suppression=0.05))
    everything = release.attack("homogeneity")
    assert everything.sampled == everything.records == release.verification.rows
    assert everything.as_dict()["targets"] == everything.targets
    some = release.attack("homogeneity", sample=80)
    assert some.sampled <= 80 < some.records
    assert 1 / 10 < some.weight <= 1 / 4  # a class of four or more counts as one observation
    assert some.error > everything.error
    low, high = some.interval
    assert low <= everything.rate <= high
    assert release.attack("homogeneity", sample=80) == some


@pytest.mark.parametrize(
    ("name", "parameters", "reason"),
    [
        ("anatomy", {}, "numbers its groups"),
        ("mdav", {}, "Set 'quality: fast' for mdav"),
        ("cbfs", {"quality": "best"}, "does not distribute"),
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
    with pytest.raises(DataError, match="'age' holds values of type list or struct"):
        on_spark(spark.createDataFrame([([1], "a", "b")], "age array<int>, country string, illness string"), plan)
    twice = spark.createDataFrame(random_people(5, 1)).select("age", "age", "country", "illness")
    with pytest.raises(DataError, match="more than one column named 'age'"):
        on_spark(twice, plan)
    table = random_people(5, 1).append_column("who", pa.array(["a", "?", "b ? c", None, "a"]))
    with pytest.raises(DataError, match="'who' has 2 missing values"):
        on_spark(table, plan_of([KAnonymity(k=2)], (WHO, *PEOPLE), entity="who", missing_values=("?",)))


def test_a_table_that_changes_while_it_is_read_is_refused(on_spark, spark):
    def another(batches):
        for batch in batches:
            yield batch.set_column(0, "age", pa.array(np.random.default_rng().integers(0, 10**9, batch.num_rows)))

    frame = spark.createDataFrame(random_people(200, 1))
    frame = frame.mapInArrow(another, frame.schema)
    with pytest.raises(DataError, match="changed while it was read") as raised:
        on_spark(frame, plan_of([KAnonymity(k=2)]))
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


def held(spark) -> int:
    """How many tables Spark keeps."""
    return spark.sparkContext._jsc.getPersistentRDDs().size()


def test_a_cancelled_run_leaves_nothing(on_spark, spark):
    before = held(spark)

    def stop(share, what):
        if what == "verifying":
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        on_spark(random_people(60, 2), plan_of([KAnonymity(k=3)]), progress=stop)
    assert held(spark) == before
    assert not spark.getTags()


def test_saved_files_are_those_of_the_local_engine(on_spark, tmp_path):
    table = random_people(80, 6, missing=0.1).append_column("note", pa.array([f"=n{i % 7}" for i in range(80)]))
    table = table.append_column("who", pa.array([f"p{i % 50}" for i in range(80)]))
    plan = plan_of([KAnonymity(k=4)], (NOTE, WHO, *PEOPLE), suppression=0.05, entity="who", document={"seed": 0})
    got, want = on_spark(table, plan), run_plan(table, plan)
    got.save(tmp_path / "spark")
    want.save(tmp_path / "local")
    assert [p.name for p in sorted((tmp_path / "spark").iterdir())] == ["policy.yaml", "release.csv", "release.json"]
    for file in (tmp_path / "local").iterdir():
        assert (tmp_path / "spark" / file.name).read_bytes() == file.read_bytes()
    got.save(tmp_path / "parts", format="parquet", parts=True)
    files = sorted((tmp_path / "parts" / "release.parquet").iterdir())
    assert [f.name for f in files] == [f"part-{i:05d}.parquet" for i in range(len(files))]
    assert pa.concat_tables(map(pq.read_table, files)).to_pydict() == plain(want.table).to_pydict()
    with pytest.raises(HushtableError, match="not empty"):
        got.save(tmp_path / "parts", format="parquet")


def test_what_is_written_is_counted_again(on_spark, tmp_path, monkeypatch):
    release = on_spark(random_people(40, 6), plan_of([KAnonymity(k=4)], document={"seed": 0}))
    frame = release.frame
    object.__setattr__(release, "frame", frame.limit(39))
    with pytest.raises(VerificationError, match="not what was verified"):
        release.save(tmp_path / "out", format="parquet")
    assert list(tmp_path.iterdir()) == []


def test_groups_and_verify(on_spark):
    table, plan = random_people(50, 6), plan_of([KAnonymity(k=4)])
    release = on_spark(table, plan)
    want = run_plan(table, plan).groups
    assert sorted(map(str, release.groups.to_pylist())) == sorted(map(str, plain(want).to_pylist()))
    assert release.verify().as_dict() == release.verification.as_dict()


@pytest.fixture
def far_away(spark):
    """A driver that takes no rows, and tasks that take few."""

    def limit(group_rows):
        spark.conf.set("spark.hushtable.driverRows", "1")
        spark.conf.set("spark.hushtable.groupRows", str(group_rows))

    yield limit
    spark.conf.unset("spark.hushtable.driverRows")
    spark.conf.unset("spark.hushtable.groupRows")


@pytest.mark.parametrize(
    ("models", "settings", "group_rows"),
    [
        ([KAnonymity(k=3), EntropyL(l=1.5)], {"cells": CellStyle.SETS, "entity": "who"}, 20),
        ([TCloseness(t=0.001)], {}, 5),  # cannot be cut at all: published from its counts
    ],
)
def test_rows_that_do_not_fit_on_the_driver(on_spark, far_away, models, settings, group_rows, tmp_path):
    table = random_people(150, 7, missing=0.1)
    table = table.append_column("who", pa.array([f"p{i % 100}" for i in range(150)]))
    plan = plan_of(models, (WHO, *PEOPLE), document={"seed": 0}, **settings)
    want = run_plan(table, plan)
    far_away(group_rows)
    got = on_spark(table, plan, 3)
    assert not got.outcome.on_driver
    assert got.frame.toArrow().to_pydict() == plain(want.table).to_pydict()
    assert got.verification.as_dict() == want.verification.as_dict()
    assert got.measures() == pytest.approx(want.measures())  # the sample is the whole of so small a table
    assert got.summary()["notes"] == {"measured_records": 150}
    with pytest.raises(IncompatibleError, match="driverRows"):
        got.risk()
    got.save(tmp_path / "out")
    want.save(tmp_path / "local")
    for name in ("release.csv", "policy.yaml"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()


def test_a_table_without_sensitive_columns(on_spark, far_away):
    table = random_people(90, 4).drop_columns(["illness"])
    plan = plan_of([KAnonymity(k=3)], PEOPLE[:2])
    want = run_plan(table, plan)
    same(on_spark(table, plan), want)
    far_away(20)
    assert on_spark(table, plan).frame.toArrow().to_pydict() == plain(want.table).to_pydict()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"algorithm": ht.Mondrian(mode="relaxed")}, "does not decide from counts alone"),
        ({"algorithm": ht.Datafly()}, "does not decide from counts alone"),
        ({"suppression": 0.1}, "suppression weighs all groups"),
        ({"cells": CellStyle.MIDPOINT}, "midpoints"),
    ],
)
def test_what_needs_all_rows_in_one_place_is_refused(change, reason):
    from hushtable.engines.spark.refuse import check_levels

    with pytest.raises(IncompatibleError, match=reason):
        check_levels(plan_of([KAnonymity(k=3)], **change), 10**9, "limit")


def test_a_setting_that_is_no_number(on_spark, spark):
    spark.conf.set("spark.hushtable.driverRows", "many")
    try:
        with pytest.raises(ParameterError, match="must be a whole number"):
            on_spark(random_people(5, 1), plan_of([KAnonymity(k=2)]))
    finally:
        spark.conf.unset("spark.hushtable.driverRows")


def test_a_spark_frame_is_known_without_importing_pyspark(spark):
    assert is_spark_frame(spark.range(1))
    assert not is_spark_frame(random_people(1, 1))
    code = "import sys, hushtable as ht, pyarrow as pa; ht.anonymize; assert 'pyspark' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_anonymize_and_the_command_line(spark, tmp_path, capsys):
    from hushtable.cli.main import main

    table = random_people(60, 9, missing=0.1)
    policy = ht.Policy(quasi=["age", "country"], sensitive=["illness"], models=[KAnonymity(k=3)])
    release = ht.anonymize(spark.createDataFrame(table), policy)
    assert release.frame.columns == ["age", "country", "illness"]
    release.unpersist()
    (tmp_path / "in").mkdir()
    pyarrow.csv.write_csv(table.slice(0, 20), tmp_path / "in" / "a.csv")
    pyarrow.csv.write_csv(table.slice(20).select(["illness", "age", "country"]), tmp_path / "in" / "b.csv")
    (tmp_path / "policy.yaml").write_text(policy.to_yaml())
    call = ["run", str(tmp_path / "policy.yaml"), "--data", str(tmp_path / "in"), "--json", "-o"]
    for engine in ("local", "spark"):
        with pytest.raises(SystemExit) as ended:
            main([*call, str(tmp_path / engine), "--engine", engine])
        assert ended.value.code == 0, capsys.readouterr()
    for name in ("release.csv", "release.json"):
        assert (tmp_path / "local" / name).read_bytes() == (tmp_path / "spark" / name).read_bytes()
    capsys.readouterr()
    for wrong in (["--master", "local[2]"], ["--engine", "spark", "--to", "sqlite:///x.db"]):
        with pytest.raises(SystemExit) as ended:
            main([*call, str(tmp_path / "no"), *wrong])
        assert ended.value.code == 2
    assert not (tmp_path / "no").exists()


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
    with pytest.raises(DataError, match="neither by its ending"):
        read_frame(spark, ["hdfs://host/table.xlsx"])
