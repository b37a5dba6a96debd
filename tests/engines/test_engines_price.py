"""Utility and attacks with and without guards."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import UsageError

BOTH = ["minimality", "downcoding"]
PEOPLE = pa.table({"age": [3 * i % 251 for i in range(400)], "sex": ["f", "m"] * 200, "ill": [*"abcdefgh"] * 50})


def release(guard, **more) -> ht.Release:
    models = [ht.KAnonymity(k=4), ht.ProbabilisticL(l=2)]
    return ht.anonymize(
        PEOPLE,
        ht.Policy(
            quasi=["age", "sex"], sensitive=["ill"], models=models, guard=guard, **{"cells": "intervals", **more}
        ),
    )


def test_every_guard_alone_and_all_together():
    made = release([{"minimality": {"extra": 0.5}}, "downcoding"])
    found = made.price()
    assert [v.guards for v in found.variants] == [(), ("minimality",), ("downcoding",), ("minimality", "downcoding")]
    assert found.without.measures["ncp"] == release([]).measure("ncp")
    assert found.guarded.measures["ncp"] == made.measure("ncp") > found.without.measures["ncp"]
    assert found.without.attacks["downcoding"].rate > found.guarded.attacks["downcoding"].rate
    assert set(found.guarded.attacks) == {"minimality", "downcoding"} and not found.refused
    assert json.loads(json.dumps(found.as_dict()))["variants"][1]["guards"] == ["minimality"]


def test_one_guard_has_two_variants():
    found = release(["downcoding"]).price(["average-class-size"])
    assert [v.guards for v in found.variants] == [(), ("downcoding",)]
    assert list(found.without.measures) == ["average-class-size"]


def test_an_attack_that_cannot_be_run_is_named():
    policy = ht.Policy(
        quasi=["age", "sex"], models=[ht.KAnonymity(k=4)], guard=["minimality"], insensitive=["ill"], cells="intervals"
    )
    found = ht.anonymize(PEOPLE, policy).price()
    assert "needs a sensitive column" in found.refused["minimality"] and not found.guarded.attacks


def test_a_release_with_fewer_guards_says_so():
    made = release(["minimality", {"downcoding": {"spread": 1.0}}])
    fewer = made.with_guards(["downcoding"])
    assert made.guards == ("minimality", "downcoding") and fewer.guards == ("downcoding",)
    assert fewer.policy["guard"] == [{"downcoding": {"spread": 1.0}}] and fewer.verify().ok
    assert "guard" not in made.with_guards([]).policy and made.with_guards([]).guards == ()


def test_regions_beside_tight_ranges():
    found = release([], cells="regions").price()
    assert [(v.guards, v.tight) for v in found.variants] == [((), True), ((), False)]
    assert found.tightest.measures["ncp"] == release([]).measure("ncp") < found.guarded.measures["ncp"]
    assert found.tightest.attacks["downcoding"].rate > found.guarded.attacks["downcoding"].rate
    both = release(BOTH, cells="regions").price(["ncp"])
    assert [v.tight for v in both.variants] == [True, False, False, False, False]


def test_what_is_not_there():
    with pytest.raises(UsageError, match="has no guards"):
        release([]).price()
    with pytest.raises(UsageError, match=r"no guard 'downcodin'. Did you mean 'downcoding'\?"):
        release(["downcoding"]).with_guards(["downcodin"])


def test_an_explanation_names_the_guards():
    assert "The guards minimality and downcoding make some cells coarser" in str(release(BOTH).explain(0))
    assert "The guard downcoding makes some cells coarser" in str(release(["downcoding"]).explain(0))
    assert "guard" not in str(release([]).explain(0))
