from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable import registry
from hushtable.errors import ParameterError, UsageError
from hushtable.io.files import write_table
from support_core import classes, random_people

QUASI = ["age", "country"]


def policy(**more):
    return ht.Policy(quasi=QUASI, sensitive=["illness"], models=[ht.KAnonymity(k=3)], **more)


def sizes(exposure):
    return sorted(exposure.counts.tolist())


def test_classes_before_and_after_are_those_of_the_cells():
    people = random_people(200, seed=1, missing=0.1)
    release = ht.anonymize(people, policy(suppression=0.1))
    before, after = release.exposures()
    assert sizes(before) == sorted(len(rows) for rows in classes(people, QUASI).values())
    published = classes(release.table, QUASI)
    assert sizes(after) == sorted(len(rows) for rows in published.values())
    for j, name in enumerate(QUASI):
        assert len(np.unique(after.codes[j])) == len(set(release.table.column(name).to_pylist()))
    assert len(set(zip(*(c.tolist() for c in after.codes), strict=True))) == len(after)


def test_a_summary_has_every_default_risk_and_no_value():
    people = random_people(120, seed=2)
    found = ht.anonymize(people, policy()).risk(threshold=0.5, fraction=0.2)
    assert list(found.risks) == [n for n, risk in registry.risks.items() if risk.default and n != "household"]
    assert found.before["prosecutor"].threshold == found.after["prosecutor"].threshold == 0.5
    assert found.after["prosecutor"].highest <= 1 / 3 < found.before["prosecutor"].highest
    assert found["dankar"].before.fraction == pytest.approx(0.2)
    text = json.dumps(found.as_dict(), allow_nan=False)
    assert not any(country in text for country in set(people.column("country").to_pylist()))


def test_one_risk_with_its_parameters():
    found = ht.anonymize(random_people(60, seed=3), policy()).risk("prosecutor", threshold=0.2)
    assert found.parameters == {"threshold": 0.2}
    assert set(found.as_dict()) == {"risk", "parameters", "before", "after"}


def test_bad_names_and_parameters():
    release = ht.anonymize(random_people(30, seed=4), policy())
    with pytest.raises(UsageError, match="Did you mean 'prosecutor'"):
        release.risk("prosecuter")
    with pytest.raises(ParameterError, match="Did you mean 'threshold'"):
        release.risk("prosecutor", treshold=0.1)
    with pytest.raises(ParameterError, match="No risk has a parameter"):
        release.risk(thresh=0.1)


def test_row_order_does_not_matter():
    people = random_people(80, seed=5, missing=0.1)
    shuffled = people.take(pa.array(np.random.default_rng(0).permutation(80)))
    assert ht.anonymize(people, policy()).risk().as_dict() == ht.anonymize(shuffled, policy()).risk().as_dict()


def test_people_with_several_rows_count_once():
    # one person twice in the same class, another in two classes: three people, none beside another
    people = pa.table(
        {
            "who": ["a", "a", "b", "b", "c", "d"],
            "age": [30, 30, 40, 41, 50, 50],
            "country": ["Fiji"] * 6,
            "illness": ["flu"] * 6,
        }
    )
    plan = ht.Policy(identifiers=["who"], entity="who", quasi=QUASI, sensitive=["illness"], models=[ht.KAnonymity(k=2)])
    release = ht.anonymize(people, plan)
    before = release.risk("sample-uniqueness").before
    assert (before.people, before.uniques, before.smallest) == (4.0, 2.0, 0.5)
    prosecutor = release.risk("prosecutor").before
    assert prosecutor.highest == 1.0
    # a and both halves of b are known for certain; c and d by one half
    assert prosecutor.average == pytest.approx((1 + 0.5 + 0.5 + 1) / 4)
    assert release.risk("prosecutor").after.highest <= 0.5


def test_the_population_table_is_counted(tmp_path):
    people = random_people(40, seed=6)
    population = pa.concat_tables([people, random_people(160, seed=7)]).select(QUASI)
    write_table(population, tmp_path / "population.csv")
    plan = policy(population=str(tmp_path / "population.csv"))
    release = ht.anonymize(people, plan)
    found = release.risk("journalist")
    held, mine = classes(population, QUASI), classes(people, QUASI)
    assert found.before.basis == "population table"
    assert found.before.highest == max(1 / len(held[key]) for key in mine)
    assert found.after.highest <= 1 / 3
    presence = release.risk("delta-presence")
    assert presence.before.known_absent == sum(len(rows) for key, rows in held.items() if key not in mine)
    assert presence.before.fraction == pytest.approx(0.2)


def test_linked_tables_publish_the_exact_quasi_identifiers():
    people = random_people(60, seed=8)
    plan = ht.Policy(quasi=QUASI, sensitive=["illness"], models=[ht.DistinctL(l=2)], algorithm=ht.Anatomy())
    release = ht.anonymize(people, plan)
    kept = people.filter(pa.array(release.kept))
    found = release.risk("sample-uniqueness")
    assert found.after.uniques == sum(len(rows) == 1 for rows in classes(kept, QUASI).values())
