"""Streaming writes what the local engine writes, byte for byte, whatever the sizes of its runs and buckets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as pa_csv
from pyarrow import parquet as pq
from support_files import contents

import hushtable as ht
from hushtable.api import verify
from hushtable.engines import stream
from hushtable.engines.stream import run_files
from hushtable.errors import (
    Cancelled,
    DataError,
    HushtableError,
    IncompatibleError,
    Infeasible,
    NotFound,
    OutputError,
    ParameterError,
    PolicyError,
    UsageError,
    VerificationError,
)
from hushtable.io.sources import read_tables

pytestmark = pytest.mark.usefixtures("small_runs")

ROWS = 400


def people(rows: int = ROWS, seed: int = 3) -> pa.Table:
    """A table with gaps, several rows a person, and other columns of many and of few values."""
    draw = np.random.default_rng(seed)
    gaps = draw.random(rows) < 0.05
    return pa.table(
        {
            "note": pa.array([f"é{x % 97:03} =1" if x % 5 else "" for x in draw.integers(0, 10**6, rows)]),
            "age": pa.array(draw.integers(18, 80, rows), mask=gaps),
            "name": pa.array([f"p{x}" for x in draw.integers(0, rows // 3, rows)]),
            "pay": pa.array(draw.choice([0.5, 1.0, 2.25, 1e20, -3.0], rows), mask=draw.random(rows) < 0.1),
            "town": pa.array(draw.choice(["aa", "ab", "ba", "bb", "cé"], rows)),
            "score": pa.array(draw.normal(size=rows), mask=draw.random(rows) < 0.1),
            "ill": pa.array(draw.choice(["flu", "=HIV", "cold", "none"], rows)),
        }
    )


def policy_of(**changes: Any) -> ht.Policy:
    settings: dict[str, Any] = {
        "columns": {
            "note": {"role": "insensitive"},
            "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": [10, 20]}},
            "name": {"role": "identifier"},
            "pay": {"role": "sensitive"},
            "town": {"role": "quasi", "hierarchy": {"prefix": "*"}},
            "score": {"role": "insensitive"},
            "ill": {"role": "sensitive"},
        },
        "models": [{"k-anonymity": {"k": 5}}, {"distinct-l": {"l": 2, "on": "ill"}}],
        "seed": 7,
    }
    return ht.Policy(**{**settings, **changes})


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[Path]]:
    table = people()
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=90)
    cuts = [table.slice(0, 130), table.slice(130, 1), table.slice(131)]
    for number, part in enumerate(cuts):
        pa_csv.write_csv(part.select(table.column_names[:: 1 if number else -1]), tmp_path / f"t{number}.csv")
    return {"parquet": [tmp_path / "t.parquet"], "csv": [tmp_path / f"t{n}.csv" for n in range(3)]}


def both(files: list[Path], policy: ht.Policy, tmp_path: Path, **options: Any) -> tuple[Path, Path]:
    """Run both engines; return the two folders."""
    kind = options.get("format", "csv")
    ht.anonymize(read_tables(files), policy).save(tmp_path / "local", format=kind)
    run_files(files, policy.plan(), tmp_path / "stream", **options)
    return tmp_path / "local", tmp_path / "stream"


CASES: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "suppression": {"suppression": 0.1, "models": [{"k-anonymity": {"k": 12}}]},
    "relaxed": {"algorithm": {"mondrian": {"mode": "relaxed"}}},
    "people": {"entity": "name"},
    "relaxed people": {"entity": "name", "algorithm": {"mondrian": {"mode": "relaxed"}}},
    "midpoints": {"cells": "midpoint"},
    "sets": {"cells": "sets"},
    "wildcard": {"missing": "wildcard", "models": [{"k-anonymity": {"k": 5}}]},
    "optimal": {"algorithm": {"optimal": {}}, "suppression": 0.05},
    "clusters": {"algorithm": {"k-member": {}}, "models": [{"k-anonymity": {"k": 5}}]},
    "closeness": {"models": [{"k-anonymity": {"k": 4}}, {"t-closeness": {"t": 0.6, "on": "pay"}}]},
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("case", CASES)
def test_same_bytes_as_the_local_engine(case: str, kind: str, files: dict[str, list[Path]], tmp_path: Path) -> None:
    source = "csv" if kind == "parquet" else "parquet"
    local, stream = both(files[source], policy_of(**CASES[case]), tmp_path, format=kind)
    assert contents(local) == contents(stream)
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


@pytest.mark.parametrize("source", ["csv", "parquet"])
def test_the_order_of_rows_and_files_does_not_show(source: str, files: dict[str, list[Path]], tmp_path: Path) -> None:
    run_files(files[source], policy_of().plan(), tmp_path / "one", format="parquet")
    if source == "csv":
        again = files[source][::-1]
    else:
        table = pq.read_table(files[source][0])
        mixed = table.take(pa.array(np.random.default_rng(0).permutation(table.num_rows)))
        pq.write_table(mixed, tmp_path / "mixed.parquet")
        again = [tmp_path / "mixed.parquet"]
    run_files(again, policy_of().plan(), tmp_path / "two", format="parquet")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_population(files: dict[str, list[Path]], tmp_path: Path) -> None:
    pa_csv.write_csv(people(900, seed=4).select(["age", "town"]), tmp_path / "everyone.csv")
    for cells in ("intervals", "midpoint"):
        policy = policy_of(models=[{"k-map": {"k": 4}}], population=str(tmp_path / "everyone.csv"), cells=cells)
        local, stream = both(files["csv"], policy, tmp_path / cells)
        assert contents(local) == contents(stream)


def test_guards_act_while_streaming(files: dict[str, list[Path]], tmp_path: Path) -> None:
    policy = policy_of(guard=[{"minimality": {}}])
    local, stream = both(files["csv"], policy, tmp_path)
    assert contents(local) == contents(stream)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_parts_hold_the_same_rows_and_are_verified(kind: str, files: dict[str, list[Path]], tmp_path: Path) -> None:
    policy = policy_of()
    run_files(files["csv"], policy.plan(), tmp_path / "whole", format=kind)
    run_files(files["csv"], policy.plan(), tmp_path / "parts", format=kind, part_rows=120)
    folder = tmp_path / "parts" / f"release.{kind}"
    parts = sorted(folder.iterdir())
    assert [p.name for p in parts] == [f"part-0000{n}.{kind}" for n in (1, 2, 3, 4)]
    tables = [read_tables([part]) for part in parts]
    assert [t.num_rows for t in tables] == [120, 120, 120, 40]
    assert read_tables([folder]).to_pydict() == read_tables([tmp_path / "whole" / f"release.{kind}"]).to_pydict()
    assert verify(folder, policy).as_dict() == verify(tmp_path / "whole" / f"release.{kind}", policy).as_dict()


def test_a_partitioned_release_is_overwritten_as_a_whole(files: dict[str, list[Path]], tmp_path: Path) -> None:
    run_files(files["csv"], policy_of().plan(), tmp_path / "out", part_rows=10)
    run_files(files["csv"], policy_of().plan(), tmp_path / "out", overwrite=True)
    assert sorted(contents(tmp_path / "out")) == ["policy.yaml", "release.csv", "release.json"]


def test_columns_without_values_and_with_one_or_a_strange_name(tmp_path: Path) -> None:
    table = (
        people(60)
        .append_column("v", pa.array(range(60)))
        .append_column("void", pa.nulls(60))
        .append_column("same", pa.array([True] * 60))
    )
    pq.write_table(table, tmp_path / "t.parquet")
    policy = policy_of(
        columns={
            **policy_of().document()["columns"],
            **{name: {"role": "insensitive"} for name in ("void", "same", "v")},
        }
    )
    for kind in ("csv", "parquet"):
        local, stream = both([tmp_path / "t.parquet"], policy, tmp_path / kind, format=kind)
        assert contents(local) == contents(stream)


def test_no_other_columns_at_all(files: dict[str, list[Path]], tmp_path: Path) -> None:
    columns = policy_of().document()["columns"]
    policy = policy_of(
        columns={**columns, "note": {"role": "identifier"}, "score": {"role": "identifier"}}, suppression=0.05
    )
    local, stream = both(files["parquet"], policy, tmp_path, format="parquet")
    assert contents(local) == contents(stream)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"algorithm": {"anatomy": {}}, "models": [{"distinct-l": {"l": 2, "on": "ill"}}]}, IncompatibleError),
        ({"algorithm": {"anti-unification": {}}}, IncompatibleError),
        ({"models": [{"k-anonymity": {"k": 500}}]}, HushtableError),
        ({"models": [{"k-anonymity": {"k": 300}}], "suppression": 1.0, "algorithm": {"datafly": {}}}, None),
    ],
)
def test_what_cannot_be_is_refused(
    change: dict[str, Any], error: type[Exception] | None, files: dict[str, list[Path]], tmp_path: Path
) -> None:
    policy = policy_of(**change)
    if error is None:
        run_files(files["csv"], policy.plan(), tmp_path / "out")
        return
    with pytest.raises(error):
        run_files(files["csv"], policy.plan(), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / ".out.work").exists()


def test_a_streamed_release_is_held_against_the_ledger(tmp_path: Path) -> None:
    people = pa.table({"who": [f"p{i}" for i in range(300)], "age": [i % 97 for i in range(300)]})
    people = people.append_column("ill", pa.array([["flu", "gout", "cold"][i % 3] for i in range(300)]))
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file, part in zip(files, (people.slice(0, 200), people.slice(200)), strict=True):
        pa_csv.write_csv(part, file)
    book = ht.Ledger(tmp_path / "earlier.ledger")
    rules = ht.Policy(identifiers=["who"], quasi=["age"], sensitive=["ill"], models=[ht.KAnonymity(k=4)])

    def run(some: list[Path], out: str, **more: Any) -> ht.Release:
        policy = rules.changed(ledger={"file": str(book.path), **more})
        return run_files(some, policy.plan(), tmp_path / out)

    with pytest.raises(DataError, match="There is no ledger"):
        run(files, "out")
    book.add(run(files, "first", new=True))
    again = run(files, "again")
    assert again.plan.account is not None
    assert again.plan.account.result() == {"held_against": 1, "of_these_people": 300}
    assert book.check(ht.open_release(tmp_path / "again", files)).ok
    with pytest.raises(VerificationError, match="1 earlier release"):
        run(files[:1], "out")
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.private").exists()


def test_more_rows_than_places(files: dict[str, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MOST_ROWS", ROWS - 1)
    with pytest.raises(DataError, match=r"has 400 rows, but a release can have at most 399\. Run it on Spark"):
        run_files(files["parquet"], policy_of().plan(), tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_wrong_calls(files: dict[str, list[Path]], tmp_path: Path) -> None:
    plan = policy_of().plan()
    with pytest.raises(UsageError, match="csv or parquet"):
        run_files(files["csv"], plan, tmp_path / "out", format="xlsx")
    with pytest.raises(ParameterError, match="at least 1 row"):
        run_files(files["csv"], plan, tmp_path / "out", part_rows=0)
    with pytest.raises(DataError, match="given twice"):
        run_files([files["csv"][0], tmp_path / "t0*.csv"], plan, tmp_path / "out")
    columns = policy_of().document()["columns"]
    del columns["score"]
    with pytest.raises(PolicyError, match="'score'"):
        run_files(files["csv"], policy_of(columns=columns).plan(), tmp_path / "out")


def test_files_of_other_types_are_refused(files: dict[str, list[Path]], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="different types in some of the files: 'age', 'pay', 'score'"):
        run_files([*files["csv"], *files["parquet"]], policy_of().plan(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_release_of_nobody_is_none(tmp_path: Path) -> None:
    table = pa.table({"q": list(range(8)), "s": ["a"] * 8})
    pq.write_table(table, tmp_path / "t.parquet")
    policy = ht.Policy(quasi=["q"], sensitive=["s"], models=[{"distinct-l": {"l": 2}}], suppression=1.0)
    with pytest.raises((NotFound, Infeasible)):
        run_files([tmp_path / "t.parquet"], policy.plan(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_progress_may_cancel_at_any_stage(files: dict[str, list[Path]], tmp_path: Path) -> None:
    seen: list[str] = []
    run_files(files["csv"], policy_of().plan(), tmp_path / "full", progress=lambda share, what: seen.append(what))
    stages = list(dict.fromkeys(seen))
    assert {"reading", "ranking", "encoding", "publishing", "writing", "verifying", "measuring"} <= set(stages)

    for stage in stages:

        def stop(share: float, what: str, stage: str = stage) -> None:
            if what == stage:
                raise Cancelled("Canceled.")

        with pytest.raises(Cancelled):
            run_files(files["csv"], policy_of().plan(), tmp_path / "out", progress=stop)
        assert [p.name for p in tmp_path.iterdir() if "out" in p.name] == []


def test_another_run_at_work_is_respected(files: dict[str, list[Path]], tmp_path: Path) -> None:
    def start_another(share: float, what: str) -> None:
        if what == "encoding":
            with pytest.raises(OutputError, match="Another run"):
                run_files(files["csv"], policy_of().plan(), tmp_path / "out")

    run_files(files["csv"], policy_of().plan(), tmp_path / "out", progress=start_another)
    assert (tmp_path / "out" / "release.csv").exists()


def test_formats_dropped_columns_and_spreadsheets(tmp_path: Path) -> None:
    n = 60
    table = pa.table(
        {
            "born": [f"{1 + i % 12}/{1 + i % 28}/{1950 + i % 40}" for i in range(n)],
            "pay": [f"{1000 + 37 * i:,}.50" for i in range(n)],
            "illness": [["Flu", "flu ", "=cold", "gout"][i % 4] for i in range(n)],
            "gone": [f"secret {i}" for i in range(n)],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    policy = ht.Policy(
        quasi={"born": {"format": "month-first"}, "pay": {"format": "thousands"}},
        sensitive={"illness": {"format": "any-spelling"}},
        drop=["gone"],
        models=[{"k-anonymity": {"k": 4}}, {"distinct-l": {"l": 3}}],
        output={"reader": "spreadsheet"},
    )
    local, stream = both([tmp_path / "t.parquet"], policy, tmp_path / "out", format="csv")
    assert contents(local) == contents(stream)
    text = (stream / "release.csv").read_text()
    assert "'=cold" in text and "secret" not in text
    assert ht.open_release(stream, table).verify().ok
