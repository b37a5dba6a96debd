"""Streaming on counted combinations: the local engine's bytes, in the release and in its companion, on any cores."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as pa_csv
from pyarrow import feather
from pyarrow import parquet as pq
from support_files import contents

import hushtable as ht
from hushtable.engines import combined, solved, stream
from hushtable.engines.combined import Combined
from hushtable.engines.stream import run_files
from hushtable.errors import DataError
from hushtable.io.files import read_table
from hushtable.io.sources import read_tables

pytestmark = pytest.mark.usefixtures("small_runs")

ROWS = 600


def people() -> pa.Table:
    """A table with gaps, repeated rows, and numbers that are spelt in two ways."""
    draw = np.random.default_rng(5)
    ages = [f"0{a}" if a % 7 == 0 else str(a) for a in draw.integers(20, 45, ROWS).tolist()]
    return pa.table(
        {
            "age": pa.array(ages, mask=draw.random(ROWS) < 0.04),
            "ill": pa.array(draw.choice(["flu", "=HIV", "cold", "none"], ROWS), mask=draw.random(ROWS) < 0.05),
            "town": pa.array(draw.choice(["aa", "ab", "ba", "bb", "cé"], ROWS)),
            "pay": pa.array(draw.choice([0.5, 1.0, 2.25, 1e20, -0.0, 0.0], ROWS)),
        }
    )


def policy_of(**changes: Any) -> ht.Policy:
    settings: dict[str, Any] = {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": [5, 10, 20]}},
            "ill": {"role": "sensitive"},
            "town": {"role": "quasi", "hierarchy": {"prefix": "*"}},
            "pay": {"role": "quasi", "kind": "numeric"},
        },
        "models": [{"k-anonymity": {"k": 4}}],
        "seed": 7,
    }
    return ht.Policy(**{**settings, **changes})


CASES: dict[str, dict[str, Any]] = {
    "mondrian": {},
    "diversity": {"models": [{"k-anonymity": {"k": 4}}, {"distinct-l": {"l": 2, "on": "ill"}}]},
    "closeness": {"models": [{"k-anonymity": {"k": 4}}, {"t-closeness": {"t": 0.5, "on": "ill"}}]},
    "midpoint": {"cells": "midpoint"},
    "sets": {"cells": "sets"},
    "wildcard": {"missing": "wildcard"},
    "suppression": {"suppression": 0.1, "models": [{"k-anonymity": {"k": 9}}]},
    "optimal": {"algorithm": {"optimal": {}}, "suppression": 0.1},
    "discernibility": {"algorithm": {"optimal": {"objective": "discernibility"}}, "suppression": 0.1},
    **{
        name: {"algorithm": {name: {}}, "suppression": 0.2}
        for name in ("incognito", "samarati", "datafly", "greedy-loss", "bottom-up-generalization",
                     "top-down-specialization", "lattice-sweep", "localpk")
    },
}  # fmt: skip


def companion(folder: Path) -> dict[str, bytes]:
    return contents(folder.with_name(f"{folder.name}.private"))


def counting(monkeypatch: pytest.MonkeyPatch) -> list[Combined]:
    """Note which tables were counted."""
    seen: list[Combined] = []

    def noted(stored: Any, found: Combined, *more: Any) -> Any:
        seen.append(found)
        return solved.solved_counts(stored, found, *more)

    monkeypatch.setattr(stream, "solved_counts", noted)
    return seen


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("case", CASES)
def test_same_bytes_as_the_local_engine(case: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(people(), tmp_path / "t.parquet", row_group_size=90)
    policy, seen = policy_of(**CASES[case]), counting(monkeypatch)
    ht.anonymize(read_tables([tmp_path / "t.parquet"]), policy).save(tmp_path / "local", format=kind)
    release = run_files([tmp_path / "t.parquet"], policy.plan(), tmp_path / "stream", format=kind)
    assert contents(tmp_path / "local") == contents(tmp_path / "stream")
    assert companion(tmp_path / "local") == companion(tmp_path / "stream")
    assert bool(seen) == (policy.plan().algorithm.name not in ("lattice-sweep", "localpk"))
    assert release.verification.rows == release.n_released


@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize("case", ["diversity", "optimal", "localpk", "suppression"])
def test_same_bytes_on_any_number_of_cores(
    case: str, threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(people(), tmp_path / "t.parquet", row_group_size=90)
    policy = policy_of(**CASES[case])
    ht.anonymize(read_tables([tmp_path / "t.parquet"]), policy).save(tmp_path / "local", format="parquet")
    monkeypatch.setenv("HUSHTABLE_THREADS", threads)
    run_files([tmp_path / "t.parquet"], policy.plan(), tmp_path / "stream", format="parquet")
    assert contents(tmp_path / "local") == contents(tmp_path / "stream")
    assert companion(tmp_path / "local") == companion(tmp_path / "stream")


def test_parts_and_files_of_text(tmp_path: Path) -> None:
    table = people()
    for number, (start, end) in enumerate([(0, 250), (250, 251), (251, ROWS)]):
        pa_csv.write_csv(table.slice(start, end - start), tmp_path / f"{number}.csv")
    files = [tmp_path / f"{n}.csv" for n in range(3)]
    ht.anonymize(read_tables(files), policy_of()).save(tmp_path / "local", format="parquet")
    run_files(files, policy_of().plan(), tmp_path / "stream", format="parquet", part_rows=120)
    parts = sorted((tmp_path / "stream" / "release.parquet").iterdir())
    assert [pq.read_table(part).num_rows for part in parts] == [120] * 5
    whole = pa.concat_tables([pq.read_table(part) for part in parts])
    assert whole.to_pylist() == pq.read_table(tmp_path / "local" / "release.parquet").to_pylist()


def test_the_release_answers_like_the_local_one(tmp_path: Path) -> None:
    pq.write_table(people(), tmp_path / "t.parquet")
    policy = policy_of(**CASES["diversity"])
    own = ht.anonymize(read_tables([tmp_path / "t.parquet"]), policy)
    found = run_files([tmp_path / "t.parquet"], policy.plan(), tmp_path / "stream", format="parquet")
    for release in (found, pickle.loads(pickle.dumps(found))):
        assert release.verify().as_dict() == own.verify().as_dict() == release.verification.as_dict()
        assert release.groups.to_pylist() == own.groups.to_pylist()
        assert release.risk("prosecutor").after == own.risk("prosecutor").after
        assert np.array_equal(release.source_rows, own.source_rows)
        assert release.summary() == own.summary()
        assert release.attack("homogeneity").rate == own.attack("homogeneity").rate


def test_more_combinations_than_one_number_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    names = [f"q{j}" for j in range(12)]
    wide = pa.table({name: draw.integers(0, 90, 100) for name in names})
    pq.write_table(wide, tmp_path / "t.parquet")
    policy, seen = ht.Policy(quasi=names, models=[ht.KAnonymity(k=3)]), counting(monkeypatch)
    ht.anonymize(wide, policy).save(tmp_path / "local")
    run_files([tmp_path / "t.parquet"], policy.plan(), tmp_path / "stream")
    assert contents(tmp_path / "local") == contents(tmp_path / "stream")
    assert not seen


@pytest.mark.parametrize("span", [10, 2**61])
def test_merging_counts_every_row_once(span: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    rows = [draw.integers(0, 10, n) * (span // 10) for n in (40, 1, 70)]
    parts = [combined._counted(key, span) for key in rows]
    for key, (own, count, local) in zip(rows, parts, strict=True):
        assert np.array_equal(own[local], key) and np.array_equal(np.bincount(local), count)
    np.concatenate([own for own, _, _ in parts]).tofile(tmp_path / "keys")
    np.concatenate([count for _, count, _ in parts]).tofile(tmp_path / "counts")
    keys, records = combined._merged(tmp_path, [len(own) for own, _, _ in parts], span)
    every, times = np.unique(np.concatenate(rows), return_counts=True)
    assert np.array_equal(keys, every) and np.array_equal(records, times)


# Reading a table onto the disk: what cannot be used is refused in the words of the local engine.


@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive"])
@pytest.mark.parametrize(
    "column",
    [
        pa.array([["CANARY"], ["b"]]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([["CANARY"], ["b"]])),
        pa.array([bytes(16), b"CANARY".ljust(16)], pa.binary(16)).cast(pa.uuid()),
        pa.array([(1, 2, 3), (4, 5, 6)], pa.month_day_nano_interval()),
        pa.array([0, 7731], pa.timestamp("s", "Nowhere/Land")),
    ],
    ids=lambda column: str(column.type)[:12],
)
def test_types_are_refused_as_by_the_local_engine(tmp_path: Path, column: pa.Array, role: str) -> None:
    feather.write_feather(pa.table({"age": [30, 31], "x": column}), str(tmp_path / "t.arrow"))
    roles = {"quasi": ["age"]}
    roles[role] = [*roles.get(role, []), "x"]
    policy = ht.Policy(**roles, models=[ht.KAnonymity(k=2)])
    with pytest.raises(DataError, match="Column 'x' contains") as local:
        ht.anonymize(read_table(tmp_path / "t.arrow"), policy)
    with pytest.raises(DataError) as streamed:
        run_files([tmp_path / "t.arrow"], policy.plan(), tmp_path / "out")
    assert str(streamed.value) == str(local.value)
    assert "CANARY" not in str(local.value)
    assert [path.name for path in tmp_path.iterdir()] == ["t.arrow"]
