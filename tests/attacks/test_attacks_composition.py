"""Intersections of releases."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support_attacks import people, policy

import hushtable as ht
from hushtable.errors import UsageError


def hospital(table: pa.Table) -> ht.Release:
    return ht.anonymize(table, policy([ht.KAnonymity(k=4), ht.DistinctL(l=3)]))


def test_two_diverse_releases_disclose_together():
    """Two hospitals share half of their patients, as in the paper."""
    everybody = people(900, seed=3)
    result = hospital(everybody.slice(0, 600)).attack("composition", others=[hospital(everybody.slice(300, 600))])
    assert result.targets == 300 and result.baseline == 0.0
    assert result.rate > 0.05 and result.interval[0] > 0.0 and result.counts["releases"] == 2


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
