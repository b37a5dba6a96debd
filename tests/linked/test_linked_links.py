"""Keys that do not match are said before the work."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hushtable.errors import HushtableError, UsageError
from hushtable.linked import promise
from hushtable.linked.links import link
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.run import anonymize_linked, check_data

POLICY = LinkedPolicy(
    tables={
        "people": {"key": ["site", "id"], "columns": {"age": {"role": "quasi"}}},
        "stays": {"of": "people", "key": "stay", "columns": {"ward": {"role": "quasi"}}},
        "codes": {"of": "stays", "columns": {"code": {"role": "quasi"}}},
    },
    models=[{"k-anonymity": {"k": 2}}],
)


def tables(**changes):
    found = {
        "people": {"site": ["a", "a", "b"], "id": [1, 2, 1], "age": [30, 31, 32]},
        "stays": {"site": ["a", "b", "b"], "id": ["1", "1", "1"], "stay": [7, 8, 9], "ward": ["x", "x", "y"]},
        "codes": {"stay": [9, 7], "code": ["q", "q"]},
    }
    return {name: pa.table(columns) for name, columns in {**found, **changes}.items() if columns is not None}


def test_composite_keys_of_different_types_match():
    links = link(tables(), POLICY)
    assert links.owner["stays"].tolist() == [0, 2, 2]
    assert links.person["codes"].tolist() == [2, 0]
    assert [level.tolist() for level in links.above("codes")] == [[2, 0], [3, 4]]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"codes": {"stay": [9, 70], "code": ["q", "q"]}}, "1 row of table 'codes' belongs to no row of 'stays'."),
        ({"codes": {"stay": [9, None], "code": ["q", "q"]}}, "1 row of table 'codes' belongs to no row of 'stays'."),
        ({"people": {"site": ["a", "a"], "id": [1, 1], "age": [3, 4]}}, "1 row of table 'people' repeats the key"),
        ({"people": {"site": ["a", "a"], "id": [1, None], "age": [3, 4]}}, "1 row of table 'people' has no key"),
        ({"people": {"site": pa.array([], "string"), "id": pa.array([], "string"), "age": pa.array([], "int64")}},
         "'people' has no rows"),
        ({"people": {"site": ["a"], "age": [3]}}, "'people' has no column 'id'"),
        ({"codes": {"stay": [9], "code": ["q"], "note": ["secret"]}}, "have no role in the policy: 'note'"),
        ({"codes": None}, "There is no table 'codes'"),
        ({"bills": {"id": [1]}}, "does not say what table 'bills' belongs to"),
    ],
)  # fmt: skip
def test_bad_keys_are_refused(changes, sentence):
    with pytest.raises(HushtableError) as caught:
        anonymize_linked(tables(**changes), POLICY)
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)


def test_what_cannot_be_counted_is_said_before_the_work(monkeypatch):
    monkeypatch.setattr(promise, "MOST_SUBSETS", 1)
    with pytest.raises(UsageError, match="too many to count"):
        check_data(tables(), POLICY)


def test_people_without_events_are_counted():
    assert check_data(tables(), POLICY) == {"people": 3, "events": 5, "people_without_events": 1}
    empty = {"codes": {"stay": pa.array([], "int64"), "code": pa.array([], "string")}}
    empty["stays"] = {name: pa.array([], "string") for name in ("site", "id", "stay", "ward")}
    assert check_data(tables(**empty), POLICY) == {"people": 3, "events": 0, "people_without_events": 3}


def busy(events, nested):
    """Three people, one of them with very many events of few kinds."""
    ids = np.append(np.zeros(events, dtype=np.int64), [1, 2])
    stays = pa.table({"id": ids, "stay": np.arange(len(ids)), "ward": [f"w{i % 9}" for i in range(len(ids))]})
    tables = {"people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
              "stays": {"of": "people", "key": "stay", "columns": {"ward": {"role": "quasi"}}}}  # fmt: skip
    data = {"people": pa.table({"id": [0, 1, 2], "age": [30, 30, 30]}), "stays": stays}
    if nested:
        tables["codes"] = {"of": "stays", "columns": {"code": {"role": "quasi"}}}
        data["codes"] = pa.table({"stay": [0], "code": ["q"]})
    return data, LinkedPolicy(tables=tables, models=[{"k-anonymity": {"k": 2}}], suppression=1.0, crowd=3)


def test_very_many_events_of_one_person():
    data, policy = busy(100_000, nested=False)
    assert check_data(data, policy)["events"] == 100_002
    # two more people have a ward each: pairs of wards are the busy person's alone
    assert anonymize_linked(data, policy).verification.ok
    with pytest.raises(UsageError, match=r"of 2 events, too many to count; one person has most of them\. Lower"):
        check_data(*busy(100_000, nested=True))
