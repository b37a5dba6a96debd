"""Intersections of releases."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from support_attacks import people, policy

import hushtable as ht
from hushtable.api import run_plan
from hushtable.errors import UsageError
from support_core import Given


def hospital(table: pa.Table) -> ht.Release:
    return ht.anonymize(table, policy([ht.KAnonymity(k=4), ht.DistinctL(l=3)]).changed(cells="intervals"))


def test_two_diverse_releases_disclose_together():
    """Two hospitals share half of their patients, as in the paper."""
    everybody = people(900, seed=3)
    result = hospital(everybody.slice(0, 600)).attack("composition", others=[hospital(everybody.slice(300, 600))])
    assert result.targets == 300 and result.baseline == 0.0
    assert result.rate > 0.05 and result.interval[0] > 0.0 and result.counts["releases"] == 2


def released(ages: list[int], diseases: list[str], labels: list[int], k: int) -> ht.Release:
    table = pa.table({"age": ages, "zip": ["13012"] * len(ages), "disease": diseases})
    plan = ht.Policy(quasi=["age", "zip"], sensitive=["disease"], models=[ht.KAnonymity(k=k)]).plan()
    return run_plan(table, replace(plan, algorithm=Given(labels=tuple(labels))))


def test_alice_of_the_paper():
    """Alice is 28 and was in both hospitals: a 4-anonymous and a 6-anonymous table leave her AIDS alone.

    The classes and their values are those of Ganta et al.; only they matter, so all live at one place here.
    """
    heart, viral, flu, tb = "heart disease", "viral infection", "flu", "tuberculosis"
    first = released(
        [28, 29, 21, 23, 50, 55, 47, 49, 31, 37, 36, 35],
        ["AIDS", heart, viral, viral, "cancer", heart, viral, viral, *["cancer"] * 4],
        [0] * 4 + [1] * 4 + [2] * 4,
        k=4,
    )
    second = released(
        [28, 22, 24, 26, 33, 34, 41, 44, 52, 58, 60, 66],
        ["AIDS", tb, flu, tb, "cancer", "cancer", "cancer", "cancer", "cancer", tb, viral, viral],
        [0] * 6 + [1] * 6,
        k=6,
    )
    alone = first.attack("homogeneity", external=pa.table({"age": [28], "zip": ["13012"]}))
    together = first.attack("composition", others=second)
    assert alone.successes == 0
    assert (together.targets, together.successes, together.baseline) == (1, 1, 0.0)


def ranges(cell: str) -> tuple[float, float]:
    ends = cell.strip("[]").split(", ")
    return float(ends[0]), float(ends[-1])


def test_the_intersection_is_that_of_a_loop():
    everybody = people(240, seed=9)
    first, second = hospital(everybody.slice(0, 160)), hospital(everybody.slice(80, 160))

    def values(release, person):
        rows = release.table.to_pylist()
        fits = [r for r in rows if all(ranges(r[c])[0] <= person[c] <= ranges(r[c])[1] for c in ("age", "zip"))]
        return {r["disease"] for r in fits}

    shared = everybody.slice(80, 80).to_pylist()
    expected = sum(len(values(first, p) & values(second, p)) == 1 for p in shared)
    result = first.attack("composition", others=second)
    assert (result.targets, result.successes) == (80, expected)


def test_the_same_release_twice_tells_nothing_new():
    release = hospital(people(300, seed=4))
    result = release.attack("composition", others=[release, release])
    assert result.targets == 300 and result.rate == result.baseline == 0.0


def test_strangers_share_nobody():
    result = hospital(people(100, seed=1)).attack("composition", others=hospital(people(100, seed=2)))
    assert result.targets == 0 and result.rate == 0.0 and result.interval == (0.0, 1.0)


def test_what_is_missing_is_named():
    release = hospital(people(60))
    with pytest.raises(UsageError, match="needs another release") as caught:
        release.attack("composition")
    assert caught.value.code == "no-other-release"
    renamed = people(60).rename_columns(["age", "postcode", "disease"])
    plain = ht.Policy(quasi=["age", "postcode"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    other = ht.anonymize(renamed, plain)
    with pytest.raises(UsageError, match="differs in the columns 'postcode', 'zip'"):
        release.attack("composition", others=other)


def test_the_baseline_knows_values_that_this_original_does_not_have():
    """The other's class has two values; that one of them is new here does not make it homogeneous."""
    first = pa.table({"age": [25, 26], "disease": ["flu", "HIV"]})
    second = pa.table({"age": [25, 26], "disease": ["flu", "gout"]})
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    result = ht.anonymize(first, policy).attack("composition", others=ht.anonymize(second, policy))
    assert (result.targets, result.successes, result.baseline) == (1, 1, 0.0)
