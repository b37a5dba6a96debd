"""What a Spark release tells, writes and is asked: as one of the local engine."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from support_spark import NOTE, WHO, held, plain

import hushtable as ht
from hushtable.api import run_plan
from hushtable.engines.spark.engine import PublishedByDriver
from hushtable.engines.spark.published import PublishedBySpark
from hushtable.errors import DataError, HushtableError, IncompatibleError, VerificationError
from hushtable.io.frames import is_spark_frame
from hushtable.models.k_anonymity import KAnonymity
from support_core import PEOPLE, plan_of, random_people

pytestmark = pytest.mark.spark


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


def test_a_frame_is_run_into_a_folder(spark, tmp_path):
    rows = [(30, "flu"), (31, "HIV"), (52, "flu"), (53, "cold")]
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[KAnonymity(k=2)])
    frame = spark.createDataFrame(rows, ["age", "disease"])
    release = ht.run(frame, policy, tmp_path / "out")
    opened = ht.open_release(tmp_path / "out")
    assert opened.table.num_rows == release.records == len(rows)
    assert opened.verification.ok


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


@pytest.mark.parametrize("writer", [PublishedByDriver, PublishedBySpark])
def test_what_is_written_is_counted_again(writer, on_spark, tmp_path, monkeypatch):
    """One row gets lost, whoever writes."""
    release = on_spark(random_people(40, 6), plan_of([KAnonymity(k=4)], document={"seed": 0}))
    listed = release.published.outcome.shown
    assert isinstance(listed, PublishedByDriver)
    if writer is PublishedBySpark:
        shown = PublishedBySpark(listed._content, listed._rows, listed.book)
        shown.frame = shown.frame.limit(39)
        object.__setattr__(release.published.outcome, "shown", shown)
    else:
        rows = listed._rows
        monkeypatch.setattr(listed, "_rows", replace(rows, times=rows.times - (np.arange(len(rows.times)) == 0)))
    with pytest.raises(VerificationError, match="differs from what was verified"):
        release.save(tmp_path / "out", format="parquet")
    assert list(tmp_path.iterdir()) == []


def test_groups_and_verify(on_spark):
    table, plan = random_people(50, 6), plan_of([KAnonymity(k=4)])
    release = on_spark(table, plan)
    want = run_plan(table, plan).groups
    assert sorted(map(str, release.groups.to_pylist())) == sorted(map(str, plain(want).to_pylist()))
    assert release.verify().as_dict() == release.verification.as_dict()


def test_once_there_is_a_frame_its_rows_are_verified(on_spark):
    release = on_spark(random_people(50, 6), plan_of([KAnonymity(k=4)]))
    listed = release.published.outcome.shown
    assert release.frame.count() == 50
    assert release.verify().as_dict() == release.verification.as_dict()
    listed._published_rows._rows = listed._published_rows._rows.limit(1)
    with pytest.raises(DataError, match="changed while it was read"):
        release.verify()


def test_a_spark_frame_is_known_without_importing_pyspark(spark):
    assert is_spark_frame(spark.range(1))
    assert not is_spark_frame(random_people(1, 1))
    code = "import sys, hushtable as ht, pyarrow as pa; ht.anonymize; assert 'pyspark' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_needs_all_rows_on_the_driver_refuses_a_spark_frame(spark):
    frame = spark.createDataFrame([(31, "flu"), (35, "gout")], ["age", "disease"])
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[KAnonymity(k=2)])
    calls = [
        lambda: ht.profile(frame),
        lambda: ht.draft_policy(frame),
        lambda: ht.verify(frame, policy),
        lambda: ht.compare(frame, policy, {"models": [{"k-anonymity": {"k": [2]}}]}),
        lambda: ht.Anonymizer(policy).fit(frame),
    ]
    for call in calls:
        with pytest.raises(DataError, match="Spark DataFrame, all of whose rows would have to be sent to the driver"):
            call()


def test_a_spark_release_shows_itself_and_is_reported_once_it_is_opened(spark, tmp_path):
    frame = spark.createDataFrame([(31, "flu"), (35, "gout")] * 4, ["age", "disease"])
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[KAnonymity(k=2)], rest="drop")
    release = ht.anonymize(frame, policy)
    assert repr(release).startswith("Release: 8 of 8 records in 2 classes")
    with pytest.raises(IncompatibleError, match=r"Save the release and open it with its original: hushtable\.open_"):
        release.report(tmp_path / "evidence.html", attacks=False)
    release.save(tmp_path / "release", format="parquet", parts=False)
    opened = ht.open_release(tmp_path / "release", pa.table({"age": [31, 35] * 4, "disease": ["flu", "gout"] * 4}))
    assert opened.report(tmp_path / "evidence.html", attacks=False).summary.ok


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
    before = held(spark)
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
    assert held(spark) == before


def test_a_release_is_held_against_the_ledger(on_spark, spark, tmp_path):
    people = pa.table({"who": [f"p{i}" for i in range(60)], "age": [i % 31 for i in range(60)]})
    people = people.append_column("ill", pa.array([["flu", "gout", "cold"][i % 3] for i in range(60)]))
    book = ht.Ledger(tmp_path / "earlier.ledger")
    rules = ht.Policy(identifiers=["who"], quasi=["age"], sensitive=["ill"], models=[ht.KAnonymity(k=4)])

    def run(table, **more):
        return on_spark(table, rules.changed(ledger={"file": str(book.path), **more}).plan())

    with pytest.raises(HushtableError, match="There is no ledger"):
        run(people)
    first = run(people, new=True)
    first.save(tmp_path / "first")
    pyarrow.csv.write_csv(people, tmp_path / "people.csv")
    book.add(ht.open_release(tmp_path / "first", tmp_path / "people.csv"))
    assert run(people).plan.account.result() == {"held_against": 1, "of_these_people": 60}
    with pytest.raises(VerificationError, match="1 earlier release"):
        run(people.slice(1))
    spark.conf.set("spark.hushtable.driverRows", "20")
    try:
        with pytest.raises(HushtableError, match="who is in which class"):
            on_spark(people, rules.changed(cells="intervals", ledger=str(book.path)).plan())
    finally:
        spark.conf.unset("spark.hushtable.driverRows")
