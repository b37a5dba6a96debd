"""What every attack promises: its paper and baseline in its own file, the same result twice, and plain errors."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pyarrow as pa
import pytest
from support_attacks import CATEGORIES, people

import hushtable as ht
from hushtable import registry
from hushtable.errors import UsageError

EVERYBODY = people(260, seed=8)


def release(table: pa.Table) -> ht.Release:
    quasi = {"age": {"hierarchy": {"intervals": [5, 10, 40]}}, "zip": {"hierarchy": {"intervals": [9000, 45000]}}}
    policy = ht.Policy(
        quasi=quasi, sensitive={"disease": {"categories": CATEGORIES}}, cells="nodes", suppression=0.1, seed=3,
        models=[ht.KAnonymity(k=3), ht.DistinctL(l=2)], algorithm=registry.algorithms.build("lattice-sweep"),
    )  # fmt: skip
    return ht.anonymize(table, policy)


@pytest.fixture(scope="module")
def made() -> ht.Release:
    return release(EVERYBODY.slice(0, 200))


def run(name: str, attacked: ht.Release) -> object:
    given = {"others": release(EVERYBODY.slice(60, 200)), "control": EVERYBODY.slice(200)}
    takes = {param.name for param in registry.attacks[name].params()}
    return attacked.attack(name, **{key: table for key, table in given.items() if key in takes})


@pytest.mark.parametrize("name", registry.attacks)
def test_one_file_with_the_paper_and_the_baseline(name):
    module = importlib.import_module(registry.attacks[name].__module__)
    assert module.__name__ == f"hushtable.attacks.{name.replace('-', '_')}"
    assert "References\n----------\n" in module.__doc__ and "baseline" in module.__doc__.lower()
    attack = registry.attacks[name]
    assert attack.knowledge.startswith("The adversary") and len(attack.remedy) > 60


@pytest.mark.parametrize("name", registry.attacks)
def test_the_same_twice_and_in_any_order_of_rows(name, made):
    first = run(name, made)
    assert first == run(name, made)
    assert first.targets > 0 and 0 <= first.interval[0] <= first.rate <= first.interval[1] <= 1
    shuffled = EVERYBODY.slice(0, 200).take(pa.array(np.random.default_rng(5).permutation(200)))
    again = run(name, release(shuffled))
    assert (again.targets, again.successes) == (first.targets, first.successes)
    assert again.baseline == pytest.approx(first.baseline)


@pytest.mark.parametrize("name", registry.attacks)
def test_results_are_plain_data_without_values(name, made):
    data = run(name, made).as_dict()
    text = json.dumps(data, allow_nan=False)
    assert not any(disease in text for values in CATEGORIES.values() for disease in values)
    assert {"attack", "knowledge", "rate", "interval", "baseline", "control", "lift", "remedy"} <= set(data)


TAKING = [(name, key) for name in registry.attacks for key in ("external", "control")
          if key in {p.name for p in registry.attacks[name].params()}]  # fmt: skip


@pytest.mark.parametrize(("name", "key"), TAKING)
def test_tables_without_the_columns_are_refused(name, key, made):
    assert len(TAKING) >= 6
    with pytest.raises(UsageError, match="'zip'"):
        made.attack(name, **{key: EVERYBODY.drop_columns(["zip"])})
