"""The verifier agrees with a checker that tries all subsets."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support_linked import cloned, failures, planted, random_case

from hushtable.errors import VerificationError
from hushtable.linked import promise
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.verify import verify_linked


def judged(policy, tables):
    """The verifier's failing combinations, which have to be the brute-force checker's."""
    found = verify_linked(tables, policy)
    failing = {one.tables: one.failing for one in found.found if one.failing}
    assert failing == dict(failures(policy, tables))
    return failing


def campaign(seeds):
    holds = plants = 0
    for seed in seeds:
        policy, tables = random_case(seed, people=6, most_events=3)
        judged(policy, tables)
        many = cloned(policy.changed(models=[{"k-anonymity": {"k": 3}}]), tables, 3)
        policy = policy.changed(models=[{"k-anonymity": {"k": 3}}])
        assert judged(policy, many) == {}
        holds += 1
        if bad := planted(policy, many, seed):
            assert judged(policy, bad)
            plants += 1
    return holds, plants


def test_random_schemas_are_judged_as_by_brute_force():
    holds, plants = campaign(range(80))
    assert plants > 40


def test_classes_with_too_many_items_are_sorted_instead(monkeypatch):
    """The other way of counting, for classes whose combinations do not fit into memory."""
    monkeypatch.setattr(promise, "MOST_CELLS", -1)
    campaign(range(40))
    monkeypatch.setattr(promise, "MOST_CELLS", 9)
    campaign(range(40, 60))


@pytest.mark.slow
def test_ten_thousand_random_schemas():
    campaign(range(1000, 11000))


def one_table(**settings):
    tables = {
        "people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
        "drugs": {"of": "people", "columns": {"name": {"role": "quasi"}, "dose": {"role": "sensitive"}}},
    }
    return LinkedPolicy(**{"tables": tables, "knows": 2, "models": [{"k-anonymity": {"k": 2}}], **settings})


def of(events):
    ids = sorted({i for i, *_ in events})
    people = pa.table({"id": ids, "age": ["30"] * len(ids)})
    columns = {"id": [e[0] for e in events], "name": [e[1] for e in events], "dose": [e[2] for e in events]}
    return {"people": people, "drugs": pa.table(columns)}


def test_two_equal_events_are_two_events():
    events = [(1, "a", "x"), (1, "a", "x"), (2, "a", "x")]
    assert verify_linked(of(events), one_table(knows=1)).ok
    found = verify_linked(of(events), one_table())
    assert [(c.tables, c.failing) for c in found.found if c.failing] == [(("drugs", "drugs"), 1)]
    with pytest.raises(VerificationError, match=r"drugs \+ drugs: 1 of 1 combination fails; smallest crowd 1"):
        found.raise_if_violated()


def test_the_value_of_a_known_event_counts_on_its_own():
    """Both people have doses x and y, but drug a was x for both."""
    events = [(1, "a", "x"), (2, "a", "x"), (1, "b", "y"), (2, "b", "x"), (1, "c", "z"), (2, "c", "y")]
    models = [{"k-anonymity": {"k": 2}}, {"distinct-l": {"l": 2, "on": "drugs.dose"}}]
    found = verify_linked(of(events), one_table(knows=1, models=models))
    assert not found.ok


def test_a_value_that_everybody_has_counts_for_everybody():
    events = [(i, "a", "x") for i in (1, 2, 3)] + [(i, "a", str(i)) for i in (1, 2, 3)]
    models = [{"k-anonymity": {"k": 2}}, {"distinct-l": {"l": 2, "on": "drugs.dose"}}]
    found = verify_linked(of(events), one_table(knows=1, models=models))
    assert found.found[0].failing == 1


def test_values_of_events_that_belong_to_the_same_event_are_judged():
    """Who knows a diagnosis can look up the laboratory values of that stay, in a join."""
    tables = {
        "people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
        "stays": {"of": "people", "key": "stay", "columns": {}},
        "diagnoses": {"of": "stays", "columns": {"code": {"role": "quasi"}}},
        "labs": {"of": "stays", "columns": {"result": {"role": "sensitive"}}},
    }
    models = [{"k-anonymity": {"k": 5}}, {"distinct-l": {"l": 3, "on": "labs.result"}}]
    policy = LinkedPolicy(tables=tables, knows=1, models=models)
    # with the diagnosis: only x and y; each person's other stay makes it look like three values
    same, other = ["x", "x", "y", "y", "y"], [["a"], [], ["a"], ["a"], []]
    labs = [(f"s{i}", value) for i, value in enumerate(same)]
    labs += [(f"o{i}", value) for i, values in enumerate(other) for value in values]
    stays = [(f"{kind}{i}", i) for kind in "so" for i in range(5)]
    data = {
        "people": pa.table({"id": list(range(5)), "age": ["a"] * 5}),
        "stays": pa.table({"stay": [s for s, _ in stays], "id": [i for _, i in stays]}),
        "diagnoses": pa.table({"stay": [f"s{i}" for i in range(5)], "code": ["E11"] * 5}),
        "labs": pa.table({"stay": [s for s, _ in labs], "result": [v for _, v in labs]}),
    }
    found = {one.tables: one.failing for one in verify_linked(data, policy).found}
    assert found == {(): 0, ("diagnoses",): 1}
    assert failures(policy, {n: t.cast(pa.schema([(c, pa.string()) for c in t.column_names])) for n, t in data.items()})
