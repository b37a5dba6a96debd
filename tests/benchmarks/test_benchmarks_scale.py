"""benchmarks/scale.py at tiny sizes: what it prints, what it draws, and how it ends without Spark."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet as pq

from hushtable.datasets.adult_like import adult_like

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "scale.py"


@pytest.fixture(scope="module")
def scale() -> Any:
    spec = importlib.util.spec_from_file_location("benchmark_scale", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_runs_slopes_and_plot(
    scale: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # stands for a machine without Spark
    monkeypatch.setattr(scale.importlib.util, "find_spec", lambda name: None)
    words = ["--rows", "1500,300", "--algorithm", "mondrian", "--plot", str(tmp_path / "s.png"), "--json"]
    scale.main([*words, "--folder", str(tmp_path)])
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert printed.err == "pyspark is not installed; only the local engine is measured.\n"
    assert list(result) == ["runs", "slopes", "speed_ups", "limits"]
    assert set(result["limits"]) == {"disk_write", "disk_read", "memory_copy"}
    assert min(result["limits"].values()) > 0
    assert [(r["engine"], r["algorithm"], r["rows"]) for r in result["runs"]] == [
        ("local", "mondrian", 300),
        ("local", "mondrian", 1500),
    ]
    for run in result["runs"]:
        assert run["satisfied"] is True
        assert run["cpu_s"] > 0
        assert run["seconds"] > 0
        assert 50 < run["peak_mib"] < 4000
        assert 1 < run["classes"] <= run["rows"] / 5
    (slope,) = result["slopes"]
    assert (slope["engine"], slope["algorithm"], slope["from_rows"], slope["to_rows"]) == (
        "local",
        "mondrian",
        300,
        1500,
    )
    first, last = (run["cpu_s"] for run in result["runs"])
    assert slope["slope"] == pytest.approx(math.log(last / first) / math.log(5), abs=1e-3)
    assert (tmp_path / "s.png").read_bytes()[:4] == b"\x89PNG"
    assert [p.name for p in tmp_path.iterdir()] == ["s.png"]


def test_cores_stages_and_speed_ups(scale: Any, tmp_path: Path) -> None:
    scale.generate(400, tmp_path / "400.parquet")
    assert scale.cores_of("1,all") == sorted({1, len(os.sched_getaffinity(0))})
    run = scale.measure("local", 400, tmp_path, scale.policy_text("mondrian"), ["--stream"], cores=1)
    assert run["cores"] == 1
    assert list(run["stages"]) == ["read", "encode", "cut", "write", "verify", "measure", "keep"]
    assert all(wall > 0 for wall, _ in run["stages"].values())
    assert "read " in scale.sentence({"algorithm": "mondrian", **run})
    facts = {"engine": "local", "algorithm": "a", "rows": 9}
    runs = [{**facts, "cores": 1, "seconds": 3.0}, {**facts, "cores": 2, "seconds": 2.0}]
    assert scale.speed_ups(runs) == [{"algorithm": "a", "rows": 9, "cores": 2, "times": 1.5}]


def test_the_slope_is_that_of_the_largest_decade(scale: Any) -> None:
    runs = [
        {"engine": "local", "algorithm": "a", "rows": 10**e, "cpu_s": 1 + 10**e * math.log(10**e)} for e in (3, 9, 8)
    ] + [{"engine": "spark", "algorithm": "a", "rows": 10, "cpu_s": 1.0}]
    local, spark = scale.slopes(runs)
    assert local == {"engine": "local", "algorithm": "a", "slope": 1.051, "from_rows": 10**8, "to_rows": 10**9}
    assert spark["slope"] is None


def test_batches_do_not_show_in_the_generated_table(
    scale: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "BATCH", 64)
    scale.generate(150, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == adult_like(150).to_pydict()


def test_a_column_that_is_kept(scale: Any, tmp_path: Path) -> None:
    scale.generate(300, tmp_path / "300.parquet", insensitive=True)
    run = scale.measure("local", 300, tmp_path, scale.policy_text("mondrian", insensitive=True))
    assert run["satisfied"] is True
    given, written = (pq.read_table(tmp_path / name)["ward"] for name in ("300.parquet", "release/release.parquet"))
    assert sorted(written.to_pylist()) == sorted(given.to_pylist())
    assert len(set(given.to_pylist())) == 300


@pytest.mark.parametrize("words", [["--engine", "flink"], ["--rows", "10"]])
def test_wrong_calls(scale: Any, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        scale.main(words)
    assert stopped.value.code == 2
    assert "no such engine: flink" in (err := capsys.readouterr().err) or "at least 100 rows" in err


def test_a_run_that_fails_stops_the_benchmark(scale: Any, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no-such"):
        scale.measure("local", 100, tmp_path, "", ["--no-such"])
