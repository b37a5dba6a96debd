"""benchmarks/microaggregation.py: its rows, and what it says to wrong input."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hushtable.algorithms.cluster import microaggregation as improving

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "microaggregation.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("benchmark_microaggregation", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def file(tmp_path):
    generator = np.random.default_rng(4)
    lines = ["a,b,word,same"]
    lines += [f"{generator.normal():.3f},{y},w{y % 3},7" for y in generator.integers(0, 9, 60)]
    path = tmp_path / "tiny.csv"
    path.write_text("\n".join([*lines, ",3,gap,7"]) + "\n")
    return path


def test_rows_as_json(benchmark, file, capsys, monkeypatch):
    monkeypatch.setattr(improving, "STEPS_EACH", 2000)
    assert benchmark.main([str(file), "--k", "3,5", "--quality", "best", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["k"] for row in rows] == [3, 5]
    for row in rows:
        assert list(row) == ["k", "mdav", "ours", "cpu_s", "smallest_group"]
        assert 0 < row["ours"] < row["mdav"] < 100
        assert row["k"] <= row["smallest_group"] < 2 * row["k"]
        assert row["cpu_s"] > 0


def test_the_loss_is_of_standardised_columns_and_complete_records(benchmark, file, capsys):
    assert benchmark.main([str(file), "--k", "3", "--quality", "balanced", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["ours"] == row["mdav"]
    table = benchmark.numeric_columns(str(file))
    assert table.column_names == ["a", "b"]
    assert table.num_rows == 60
    release = benchmark.release_of(table, 3, "mdav", "balanced")
    x = np.column_stack([table[c].to_numpy() for c in table.column_names]).astype(float)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    groups = np.asarray(release.partition.labels)
    within = sum(((x[groups == g] - x[groups == g].mean(axis=0)) ** 2).sum() for g in np.unique(groups))
    assert row["ours"] == pytest.approx(100 * within / (x**2).sum(), abs=1e-4)


def test_a_table_for_people(benchmark, file, capsys):
    assert benchmark.main([str(file), "--k", "4", "--quality", "fast", "--algorithm", "cbfs"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["k", "mdav", "ours", "saved", "cpu", "s", "smallest"]
    assert row.split()[0] == "4"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\nx,y\n", "no numeric column"),
        ("a\n1\n1\n", "No numeric column of .* varies"),
        ("a,b\n1,2\n3\n", "not a CSV file"),
        ("a\n1\n2\n", "k=3 but the table has 2 people"),
    ],
)
def test_files_that_cannot_be_used(benchmark, tmp_path, content, words):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(SystemExit, match=words):
        benchmark.main([str(path), "--k", "3"])


def test_arguments_that_cannot_be_used(benchmark, file, capsys):
    wrongs = {"--k=3,x": "commas", "--k=1": "at least 2", "--quality=good": "choice", "--algorithm=mondrian": "choice"}
    for wrong, words in wrongs.items():
        with pytest.raises(SystemExit) as stop:
            benchmark.main([str(file), wrong])
        assert stop.value.code == 2
        assert words in capsys.readouterr().err
    with pytest.raises(SystemExit, match="does not exist"):
        benchmark.main([str(file) + ".no"])


def test_as_a_program_it_fails_without_a_traceback(tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, tmp_path / "no.csv"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == f"{tmp_path / 'no.csv'} does not exist."
