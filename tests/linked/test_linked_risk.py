"""Risks of linked tables agree with trying all subsets of everybody's events."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import pyarrow as pa
import pytest
from support_linked import pattern, persons, random_case, tree

from hushtable.errors import UsageError
from hushtable.linked.links import link
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.release import open_linked
from hushtable.linked.risk import exposed
from hushtable.linked.run import anonymize_linked


def by_trying(policy, tables):
    """The fewest people who match what may be known of each person, and the different combinations."""
    people = persons(policy, tables)
    known = {name: policy.known_events(name) for name in policy.events}
    caps = {name: 1 if m == "all" else m for name, m in known.items()}
    total = max(caps.values()) if policy.knows == "all" else policy.knows
    whole = {name for name, m in known.items() if m == "all"}
    kinds = [(p.attributes, tree(p, whole) if whole else ()) for p in people]
    crowds = defaultdict(set)
    for i, person in enumerate(people):
        for size in range(total + 1):
            for chosen in combinations(person.events, size):
                if all(sum(e[0] == name for e in chosen) <= cap for name, cap in caps.items()):
                    crowds[kinds[i], pattern(chosen)].add(i)
    fewest = [min(len(c) for c in crowds.values() if i in c) for i in range(len(people))]
    return fewest, len(crowds), sum(len(c) == 1 for c in crowds.values())


def test_random_tables_agree_with_trying_everything():
    for seed in range(60):
        policy, tables = random_case(seed, people=6, most_events=3)
        found = exposed(link(tables, policy, published=True))
        assert (found.crowds.tolist(), found.combinations, found.unique) == by_trying(policy, tables), seed


POLICY = LinkedPolicy(
    tables={
        "people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
        "visits": {"of": "people", "columns": {"reason": {"role": "quasi"}}},
    },
    knows=2, models=[{"k-anonymity": {"k": 2}}], suppression=1.0,
)  # fmt: skip
TABLES = {
    "people": pa.table({"id": ["a", "b", "c", "d"], "age": [30, 30, 52, 52]}),
    "visits": pa.table({"id": list("aabbcd"), "reason": ["cold", "burn", "cold", "flu", "cold", "cold"]}),
}


def test_before_and_after(tmp_path):
    release = anonymize_linked(TABLES, POLICY)
    found = release.risk(threshold=0.5)
    events = found["events"]
    assert (events.before.highest, events.before.average, events.before.at_risk) == (1.0, 0.75, 2.0)
    assert (events.after.highest, events.after.at_risk) == (0.5, 0.0)
    assert (found["attributes"].before.highest, found["attributes"].before.classes) == (0.5, 2)
    # burn, flu, cold + burn, cold + flu
    assert found["combinations"].before.of_one_person == 4
    assert found["combinations"].before.people_found == 2
    assert found["combinations"].after.of_one_person == 0
    release.save(tmp_path / "out")
    opened = open_linked(tmp_path / "out", original=TABLES)
    assert opened.risk(threshold=0.5).as_dict() == found.as_dict()
    with pytest.raises(UsageError, match="opened without its original"):
        open_linked(tmp_path / "out").risk()
