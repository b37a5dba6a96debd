"""All attacks together on Adult: what one finds agrees with what the others find."""

from __future__ import annotations

import json

import hushtable as ht
from hushtable import registry


def test_all_attacks_on_adult(adult):
    quasi = {name: {} for name in adult.column_names if name != "occupation"}
    values = adult.column("occupation").unique().to_pylist()
    occupation = {"categories": {"first": values[:7], "second": values[7:]}}
    policy = ht.Policy(quasi=quasi, sensitive={"occupation": occupation}, models=[ht.KAnonymity(k=5)], cells="nodes")
    release = ht.anonymize(adult, policy)
    more = {"composition": {"others": release}, "membership": {"control": adult.slice(0, 2000)}}
    results = {name: release.attack(name, **more.get(name, {})) for name in registry.attacks}
    assert len(results) == 19 and results["homogeneity"].counts["records"] == 30162
    # a category is easier to tell than a value, which is easier to tell with a negation
    assert results["homogeneity"].successes <= results["similarity"].successes
    assert results["homogeneity"].successes <= results["negation"].successes
    # the same release twice tells what it tells once
    assert results["composition"].rate == results["composition"].baseline
    # no value of a record, in any case not of the attacked column
    text = json.dumps([r.as_dict() for r in results.values()])
    assert not any(value in text for value in values)
