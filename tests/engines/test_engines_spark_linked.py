"""Linked tables on Spark: the release of the local engine, cell by cell."""

from __future__ import annotations

import pytest

from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.errors import IncompatibleError
from hushtable.io.files import write_table
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.run import anonymize_linked
from hushtable.linked.sources import read_linked, reading_linked


@pytest.fixture(scope="module")
def policy():
    return LinkedPolicy(**{**hospital_policy(), "crowd": 100, "suppression": 1.0})


def plain(release):
    return {name: table.to_pydict() for name, table in release.tables.items()}


def test_frames_give_the_cells_of_local_tables(spark, policy):
    tables = hospital(200)
    frames = {name: spark.createDataFrame(table).repartition(3) for name, table in tables.items()}
    assert plain(anonymize_linked(frames, policy)) == plain(anonymize_linked(tables, policy))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_give_the_bytes_of_the_local_engine(spark, policy, tmp_path, ending):
    (tmp_path / "data").mkdir()
    for name, table in hospital(150).items():
        write_table(table, tmp_path / "data" / f"{name}.{ending}")
    with reading_linked([tmp_path / "data"], policy, spark=True) as frames:
        anonymize_linked(frames, policy).save(tmp_path / "spark")
    anonymize_linked(read_linked([tmp_path / "data"], policy), policy).save(tmp_path / "local")
    for name in policy.tables:
        assert (tmp_path / "spark" / f"{name}.csv").read_bytes() == (tmp_path / "local" / f"{name}.csv").read_bytes()


def test_more_rows_than_the_driver_takes_are_refused(spark, policy):
    frames = {name: spark.createDataFrame(table) for name, table in hospital(60).items()}
    spark.conf.set("spark.hushtable.driverRows", "500")
    try:
        with pytest.raises(IncompatibleError, match=r"rows, more than the driver accepts"):
            anonymize_linked(frames, policy)
    finally:
        spark.conf.unset("spark.hushtable.driverRows")
