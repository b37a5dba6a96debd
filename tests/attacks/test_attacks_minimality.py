"""Wong et al.: what a missing cut tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_attacks import people, policy

import hushtable as ht
from hushtable import registry
from hushtable.api import run_plan
from hushtable.attacks.minimality import median_sides
from hushtable.errors import UsageError
from hushtable.table.plan import SideTables
from support_core import Given


def wong(n: int) -> ht.Release:
    """Classes of two people who both have HIV and five who do not: together 2-diverse, apart not."""
    illness = ["HIV", "HIV", "flu", "gout", "cold", "ulcer", "cough"]
    table = pa.table(
        {
            "block": [b for b in range(n) for _ in range(7)],
            "age": [20, 20, 60, 60, 60, 60, 60] * n,
            "disease": illness * n,
        }
    )
    plain = ht.Policy(quasi=["block", "age"], sensitive=["disease"], models=[ht.ProbabilisticL(l=2)]).plan()
    labels = tuple(b for b in range(n) for _ in range(7))
    return run_plan(table, replace(plain, algorithm=Given(labels=labels)))


def test_the_papers_two_are_found_out():
    result = wong(30).attack("minimality", worlds=400)
    assert result.baseline == pytest.approx(2 / 7)
    # both with HIV are certain; the other five values remain a lottery
    assert result.counts["classes that tell more than their shares"] == 30
    assert result.counts["records believed more than published, by 0.1"] >= 60
    assert result.rate >= 2 / 7 + 0.05


def test_size_alone_tells_nothing():
    result = ht.anonymize(people(400), policy([ht.KAnonymity(k=5)])).attack("minimality")
    assert result.rate == result.baseline
    assert result.counts["classes that tell more than their shares"] == 0


def test_m_confidentiality_is_the_remedy():
    """Two with HIV are no more than the allowed share of any part of eight, so no cut was missed because of them."""
    table = pa.table({"age": [20] * 8 + [60] * 8, "disease": ["HIV", "HIV", *"abcdefghijklmn"]})
    models = [registry.models.build("m-confidentiality", {"m": 2, "k": 8})]
    plain = ht.Policy(quasi=["age"], sensitive=["disease"], models=models).plan()
    result = run_plan(table, replace(plain, algorithm=Given(labels=(0,) * 16))).attack("minimality")
    assert result.rate == result.baseline == 0.125
    assert result.counts["classes that tell more than their shares"] == 0


def test_it_is_seeded():
    release = wong(3)
    assert release.attack("minimality", worlds=20) == release.attack("minimality", worlds=20)


def test_models_with_a_population_are_refused():
    release = ht.anonymize(people(30), policy([ht.KAnonymity(k=2)]))
    models = (registry.models.build("k-map", {"k": 2}),)
    plan = replace(release.plan, models=models, side_tables=SideTables(population=people(30)))
    with pytest.raises(UsageError, match="population"):
        replace(release, plan=plan).attack("minimality")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=20))
def test_median_sides_cut_in_two(rows):
    groups, codes = (np.array(c) for c in zip(*rows, strict=True))
    side = median_sides(codes, groups, 4)
    for g in set(groups.tolist()):
        mine, s = codes[groups == g], side[groups == g]
        if len(set(mine.tolist())) == 1:
            assert set(s.tolist()) == {-1}
        else:
            assert set(s.tolist()) == {0, 1} and mine[s == 0].max() < mine[s == 1].min()
