from __future__ import annotations

import subprocess
import sys
from math import log2

import pytest

from hushtable.errors import UsageError
from hushtable.registry import measures
from hushtable.utility.example import example
from hushtable.utility.summary import measure_all, summary_measures

SLOW = {"accuracy", "accuracy-majority", "accuracy-original", "kl-divergence", "query-error"}
NAMES = SLOW | {
    "average-class-size",
    "cavg",
    "discernibility",
    "distortion",
    "loss",
    "ncp",
    "non-uniform-entropy",
    "prec",
    "sse",
    "wang-loss",
}


def test_registry_finds_every_measure():
    assert set(measures) >= NAMES
    assert {name for name in NAMES if measures[name].better == "higher"} == {
        "accuracy", "accuracy-majority", "accuracy-original", "prec",
    }  # fmt: skip


def test_a_summary_has_the_measures_that_say_so():
    assert set(summary_measures()) >= NAMES - SLOW
    assert not SLOW & set(summary_measures())


def test_a_plug_in_s_measure_is_part_of_a_summary_if_it_says_so(monkeypatch):
    class Ours(measures["ncp"]):
        name = "a-plug-in"

    before = summary_measures()
    monkeypatch.setattr(measures, "_added", {Ours.name: Ours})
    assert list(measure_all(example())) == ["a-plug-in", *before]


def test_the_example_by_hand():
    got = measure_all(example())
    assert set(got) >= NAMES - SLOW
    assert not SLOW & set(got)
    want = {
        "average-class-size": 5 / 3,
        "cavg": 1.0,
        "discernibility": 13,
        "distortion": 0.6,
        "loss": 0.4,
        "ncp": 0.4,
        "non-uniform-entropy": (6 + log2(5) + log2(5 / 3)) / (7 * log2(5) + 3 * log2(5 / 3)),
        "prec": 0.3,
        "sse": 100 * 1506.44 / 2366.8,
        "wang-loss": (1.6 / 5 + 4 / 3 / 5) / 2,
    }
    assert {name: got[name] for name in want} == pytest.approx(want)


def test_only_what_is_asked_for_in_that_order():
    assert list(measure_all(example(), ["prec", "kl-divergence"])) == ["prec", "kl-divergence"]
    assert measure_all(example(), []) == {}


def test_unknown_names_are_refused():
    with pytest.raises(UsageError, match=r"There is no measure 'npc'\. Did you mean 'ncp'"):
        measure_all(example(), ["npc"])


def test_summary_does_not_load_heavy_libraries():
    code = """
import sys
from hushtable.utility.example import example
from hushtable.utility.summary import measure_all
measure_all(example())
assert not {"sklearn", "scipy", "numba", "polars"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
