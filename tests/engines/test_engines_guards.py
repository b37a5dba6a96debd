"""Guards act on every engine alike: the same coins give the same cells."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as pa_csv

import hushtable as ht
from hushtable.engines.stream import run_files
from hushtable.io.dictionaries import decode

GENERATOR = np.random.default_rng(2)
PEOPLE = pa.table(
    {
        "age": GENERATOR.integers(18, 90, 300),
        "town": GENERATOR.choice(["aa", "ab", "ba", "bb"], 300),
        "ill": GENERATOR.choice(list("abcdef"), 300),
    }
)


def policy(guard=("minimality", "downcoding")) -> ht.Policy:
    models = [ht.KAnonymity(k=3), ht.ProbabilisticL(l=2)]
    return ht.Policy(quasi=["age", "town"], sensitive=["ill"], models=models, guard=list(guard), seed=4)


def test_a_streamed_release_is_guarded(tmp_path):
    pa_csv.write_csv(PEOPLE, tmp_path / "people.csv")
    ht.anonymize(PEOPLE, policy()).save(tmp_path / "local")
    run_files([tmp_path / "people.csv"], policy().plan(), tmp_path / "stream")
    local, stream = ((tmp_path / engine / "release.csv").read_bytes() for engine in ("local", "stream"))
    assert local == stream
    ht.anonymize(PEOPLE, policy(())).save(tmp_path / "plain")
    assert (tmp_path / "plain" / "release.csv").read_bytes() != local


@pytest.mark.spark
def test_a_release_on_spark_is_guarded(spark):
    local = ht.anonymize(PEOPLE, policy())
    release = ht.anonymize(spark.createDataFrame(PEOPLE), policy())
    plain = pa.table([decode(c) for c in local.table.columns], names=local.table.column_names)
    assert release.frame.toArrow().to_pydict() == plain.to_pydict()
    assert release.summary()["notes"] == local.summary()["notes"]
    release.unpersist()
