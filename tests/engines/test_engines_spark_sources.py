"""What Spark reads and writes beside plain files, as the local engine: databases, column=value folders, patterns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as pa_csv
from pyarrow import parquet as pq
from support_files import contents

import hushtable as ht
from hushtable.engines.spark.files import run_on_spark, staged
from hushtable.errors import DataError, OutputError
from hushtable.io.files import column_names, read_table
from hushtable.io.sources import read_tables
from hushtable.io.sql import read_sql, write_sql
from hushtable.release.addresses import writing_release

POLICY = ht.Policy(
    identifiers=["name"],
    quasi={"age": {}, "town": {"hierarchy": {"prefix": "*"}}, "year": {}},
    sensitive=["ill"],
    insensitive=["day", "pay"],
    models=[ht.KAnonymity(k=5), ht.DistinctL(l=2)],
)


def people(rows: int = 160) -> pa.Table:
    draw = np.random.default_rng(3)
    return pa.table(
        {
            "name": [f"secret {x}" for x in range(rows)],
            "age": pa.array(draw.integers(18, 80, rows), mask=draw.random(rows) < 0.05),
            "town": pa.array(draw.choice(["aa", "ab", "ba", "bb", "cé"], rows)),
            "year": pa.array(draw.choice(["2023", "2024"], rows)),
            "ill": pa.array(draw.choice(["flu", "=HIV", "cold", "none"], rows)),
            "day": pa.array(draw.integers(0, 20000, rows).astype("datetime64[D]"), mask=draw.random(rows) < 0.1),
            "pay": pa.array(draw.choice([0.5, 1.0, 2.25], rows)),
        }
    )


def quiet(share: float, what: str) -> None:
    """Nobody looks."""


@pytest.fixture
def database(address):
    """A database with the people in it."""
    write_sql(people(), address, table="people")
    return address


def test_from_a_database_to_a_database(spark, database, tmp_path):
    source = f"{database}?query=SELECT * FROM people WHERE age > 20"
    local = ht.anonymize(read_tables([source]), POLICY)
    with writing_release(local, f"{database}?table=local"):
        local.save(tmp_path / "local")
    run_on_spark([source], POLICY.plan(), tmp_path / "spark", to=f"{database}?table=spark", progress=quiet)
    assert contents(tmp_path / "local") == contents(tmp_path / "spark")
    one, two = read_sql(database, table="local"), read_sql(database, table="spark")
    assert [str(t) for t in one.schema.types] == [str(t) for t in two.schema.types]
    assert one.to_pydict() == two.to_pydict()
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    with pytest.raises(OutputError, match="exists"):
        run_on_spark([source], POLICY.plan(), tmp_path / "again", to=f"{database}?table=spark", progress=quiet)
    assert not [p for p in tmp_path.iterdir() if p.name.startswith((".", "again"))]
    assert read_sql(database, table="spark") == two


def test_identifiers_stay_in_the_database(tmp_path):
    write_sql(people(), f"sqlite:///{tmp_path / 'clinic.db'}", table="people")
    sources = [f"sqlite:///{tmp_path / 'clinic.db'}?table=people", "s3a://elsewhere/x.parquet", tmp_path / "y.csv"]
    with staged(sources, ["name"], tmp_path / "out", quiet) as files:
        assert files[1:] == ["s3a://elsewhere/x.parquet", str(tmp_path / "y.csv")]
        copied = Path(files[0])
        assert copied.parent.stat().st_mode & 0o777 == 0o700
        assert read_table(copied).drop(["name"]).to_pydict() == people().drop(["name"]).to_pydict()
        assert b"secret" not in copied.read_bytes()
        assert column_names(copied) == people().column_names
    assert not copied.parent.exists()
    with (
        pytest.raises(DataError, match="no such table"),
        staged([f"sqlite:///{tmp_path / 'clinic.db'}?table=nobody"], [], tmp_path / "out", quiet),
    ):
        pytest.fail("there is nothing to read")
    assert [p.name for p in tmp_path.iterdir()] == ["clinic.db"]


def test_row_names_of_r_and_pandas_get_a_name(spark, tmp_path):
    file = tmp_path / "people.csv"
    pa_csv.write_csv(people().append_column("", pa.array(map(str, range(people().num_rows)))), file)
    rows = file.read_text().splitlines()
    file.write_text("\n".join(",".join(reversed(row.split(","))) for row in rows) + "\n")
    assert file.read_text().startswith('"",')
    ht.anonymize(read_tables([file]).drop(["row"]), POLICY).save(tmp_path / "local")
    policy = POLICY.changed(columns={**POLICY.document()["columns"], "row": {"role": "identifier"}})
    run_on_spark([file], policy.plan(), tmp_path / "spark", progress=quiet)
    table = "release.csv"
    assert (tmp_path / "local" / table).read_bytes() == (tmp_path / "spark" / table).read_bytes()


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_folders_that_are_columns(spark, tmp_path, kind):
    if kind == "parquet":
        pq.write_to_dataset(people(), tmp_path / "visits", partition_cols=["year", "town"])
    else:
        for year in ("2023", "2024"):
            (tmp_path / "visits" / f"year={year}").mkdir(parents=True)
            rows = people().filter(pa.compute.equal(people()["year"], year)).drop(["year"])
            pa_csv.write_csv(rows, tmp_path / "visits" / f"year={year}" / "a.csv")
    ht.anonymize(read_tables([tmp_path / "visits"]), POLICY).save(tmp_path / "local")
    run_on_spark([tmp_path / "visits"], POLICY.plan(), tmp_path / "spark", progress=quiet)
    assert contents(tmp_path / "local") == contents(tmp_path / "spark")


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_patterns_are_written(spark, tmp_path, format):
    settings = {"algorithm": {"anti-unification": {}}, "models": [{"k-anonymity": {"k": 3}}], "suppression": 0.5}
    policy = POLICY.changed(**settings, output={"format": format})
    # Spark decodes no address, and takes brackets for patterns
    place = tmp_path / "my dät[a]%20{x}"
    place.mkdir()
    pq.write_table(people(), place / "people.parquet")
    ht.anonymize(read_tables([place / "people.parquet"]), policy).save(place / "local", format=format)
    run_on_spark([place / "people.parquet"], policy.plan(), place / "spark", progress=quiet)
    assert contents(place / "local")["patterns.csv"] == contents(place / "spark")["patterns.csv"]
    assert [p.name for p in tmp_path.iterdir()] == [place.name]
