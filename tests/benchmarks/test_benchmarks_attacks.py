"""The benchmark of attacks and risks, on tables small enough for every run of the tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from hushtable import registry

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "attacks.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("benchmark_attacks", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_risk_is_timed_beside_pandas(benchmark):
    found = benchmark.risk_seconds(3000)
    # there are no households and no survey weights
    assert set(registry.risks) - set(found["single"]) <= {"household", "individual"}
    assert found["ratio"] == found["seconds"] / found["pandas"] > 0


def test_what_is_printed(benchmark, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["attacks.py", "--rows", "2000"])
    monkeypatch.setattr(benchmark, "attack_seconds", lambda: {"some policy": {"linkage": 0.25, "negation": 0.5}})
    benchmark.main()
    shown = capsys.readouterr().out
    assert "0.75 s (budget 60 s)" in shown and "times as long" in shown and "2,000 rows" in shown


@pytest.mark.bench
def test_the_budgets_hold(benchmark, adult):
    attacks = benchmark.attack_seconds()
    assert set(attacks["k-anonymity, nodes"]) == set(registry.attacks)
    assert all(sum(seconds.values()) < benchmark.ATTACKS_BUDGET for seconds in attacks.values())
    assert benchmark.risk_seconds(1_000_000)["seconds"] < benchmark.RISKS_BUDGET
