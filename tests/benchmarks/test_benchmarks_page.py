"""The benchmark page: what it says of figures that are met, missed or not measured, and that it is up to date."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page() -> Any:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        loaded = importlib.import_module("_page")
    finally:
        sys.path.pop(0)
    # nothing is measured here, however busy the machine is
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loaded, "PATIENCE", 0)
        yield loaded


def test_every_benchmark_has_figures_and_every_figure_a_benchmark(page):
    scripts = {p.name for p in (ROOT / "benchmarks").glob("[!_]*.py")}
    assert {figure.command.split()[0] for figure in page.FIGURES} == scripts
    assert {figure.section for figure in page.FIGURES} == set(page.SECTIONS)
    assert len({figure.name for figure in page.FIGURES}) == len(page.FIGURES)


def test_the_page_is_written_from_what_is_stored(page):
    stored = json.loads(page.STORE.read_text(encoding="utf-8"))
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == page.page(stored)
    assert set(stored) <= {figure.name for figure in page.FIGURES}


def test_met_missed_and_not_measured(page):
    first, second = (f for f in page.FIGURES if f.command == "mondrian.py" and f.unit == "s")
    text = page.page(
        {
            first.name: {"value": 0.2, "day": "2026-01-01", "load": 0.1},
            second.name: {"value": 3.0, "day": "2026-01-01", "load": 7.0},
        }
    )
    assert f"| {first.what} | 0.2 s | at most 0.6 s |" in text
    assert f"| {second.what} | **3 s*** | at most 1.5 s |" in text
    assert f"- {second.name}: 3 s instead of 1.5 s (100% off). The machine's load was 7." in text
    assert f"- {first.name}" not in text
    assert "not measured" in text


def test_a_benchmark_that_cannot_run_leaves_its_figures(page, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(page, "STORE", tmp_path / "benchmarks.json")
    needs_a_file = [f for f in page.FIGURES if "CENSUS" in f.command]
    stored = {needs_a_file[0].name: {"value": 17.0, "day": "2026-01-01", "load": 0.0}}
    page.update(stored, needs_a_file, {"CENSUS": tmp_path / "missing.csv"})
    assert stored[needs_a_file[0].name]["value"] == 17.0
    assert "stay as they were" in capsys.readouterr().err


def test_the_longest_benchmarks_run_only_if_they_are_named(page, monkeypatch, tmp_path):
    (long,) = {figure.command for figure in page.FIGURES if figure.long}
    monkeypatch.setattr(page, "DOCS", tmp_path)
    chosen = []
    monkeypatch.setattr(page, "update", lambda stored, figures, *_, **more: chosen.append({f.command for f in figures}))
    for words in ([], ["--only", "spark_cluster"]):
        monkeypatch.setattr("sys.argv", ["_page.py", *words])
        page.main()
    everything, named = chosen
    assert long not in everything and everything | named == {figure.command for figure in page.FIGURES}
    assert long in named


def test_the_load_of_the_benchmark_before_is_waited_for_but_not_forever(page, monkeypatch):
    loads, slept = iter([2.0, 1.6, 1.2]), []
    monkeypatch.setattr(page, "PATIENCE", 60)
    monkeypatch.setattr(page.os, "getloadavg", lambda: (next(loads), 0.0, 0.0))
    monkeypatch.setattr(page.time, "sleep", slept.append)
    assert page._calm() == 1.2 and len(slept) == 2
    monkeypatch.setattr(page, "PATIENCE", 0)
    monkeypatch.setattr(page.os, "getloadavg", lambda: (9.0, 0.0, 0.0))
    assert page._calm() == 9.0 and len(slept) == 2


def test_a_benchmark_that_fails_is_not_passed_over(page):
    with pytest.raises(SystemExit, match="failed"):
        page.measured("mondrian.py --no-such-option", {})


def test_figures_are_picked_from_what_a_benchmark_prints(page, monkeypatch, tmp_path):
    monkeypatch.setattr(page, "PATIENCE", 0)
    monkeypatch.setattr(page, "STORE", tmp_path / "benchmarks.json")
    printed = [{"k": k, "mdav": 10.0, "ours": 8.0, "cpu_s": float(k)} for k in (3, 5, 10)]
    monkeypatch.setattr(page, "measured", lambda command, files: printed)
    stored: dict[str, Any] = {}
    page.update(stored, [f for f in page.FIGURES if "CENSUS" in f.command], {})
    assert sorted(v["value"] for v in stored.values()) == pytest.approx([10.0, 20.0, 20.0, 20.0])
    assert json.loads(page.STORE.read_text()) == stored


@pytest.mark.parametrize(
    ("unit", "more", "before", "value", "load", "worse"),
    [
        ("s", False, 0.2, 0.29, 0.1, False),  # noise
        ("s", False, 0.2, 0.31, 0.1, True),
        ("s", False, 0.2, 0.59, 9.0, False),  # other work was running
        ("s", False, 0.59, 0.61, 9.0, True),  # the target was met
        ("s", False, 0.7, 0.8, 0.1, False),  # it was missed before
        ("x", True, 5.0, 3.9, 0.1, True),
        ("x", True, 5.0, 4.1, 0.1, False),
        ("MiB", False, 0.4, 0.51, 0.1, True),
        ("s", False, None, 9.0, 0.1, False),
    ],
)
def test_what_is_worse(page, unit, more, before, value, load, worse):
    figure = page.Figure("The core", "x", "mondrian.py", float, unit, 0.6, more=more)
    stored = None if before is None else {"value": before, "day": "2026-01-01", "load": 0.1}
    assert page.is_worse(figure, value, load, stored) is worse


@pytest.mark.parametrize("accept", [False, True])
def test_a_figure_that_got_worse_fails_the_run_and_is_not_stored(page, monkeypatch, tmp_path, capsys, accept):
    figures = [f for f in page.FIGURES if f.command == "mondrian.py" and f.unit == "s"]
    stored = {figure.name: {"value": 0.1, "day": "2026-01-01", "load": 0.0} for figure in figures}
    (tmp_path / "benchmarks.json").write_text(json.dumps(stored))
    monkeypatch.setattr(page, "STORE", tmp_path / "benchmarks.json")
    monkeypatch.setattr(page, "DOCS", tmp_path)
    monkeypatch.setattr(page, "FIGURES", figures)
    monkeypatch.setattr(page, "_calm", lambda: 0.0)
    printed = {
        "ours": [{"models": "k-anonymity", "seconds": 0.11}, {"models": "k + entropy-l + t-closeness", "seconds": 7.0}]
    }
    monkeypatch.setattr(page, "measured", lambda command, files: printed)
    monkeypatch.setattr("sys.argv", ["_page.py", *["--accept"] * accept])
    if accept:
        page.main()
    else:
        with pytest.raises(SystemExit, match="got worse"):
            page.main()
    kept = json.loads(page.STORE.read_text())
    assert [kept[figure.name]["value"] for figure in figures] == [0.11, 7.0 if accept else 0.1]
    said = capsys.readouterr().out.splitlines()
    assert [line.startswith("WORSE") for line in said] == [False, True]
    assert said[1] == f"WORSE {figures[1].name}: 7 s; at most 1.5 s; 0.1 s on 2026-01-01"
