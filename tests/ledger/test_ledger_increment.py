"""A batch beside an earlier release, held against the ledger as the adversary sees it: both tables, and their union."""

from __future__ import annotations

import hypothesis.strategies as st
import pyarrow as pa
from hypothesis import event, given, settings
from support_ledger import Plain, described

import hushtable as ht
from hushtable.errors import Infeasible, NotFound
from hushtable.io.text import to_labels
from hushtable.ledger.judge import judge
from hushtable.ledger.promise import Promise
from hushtable.models.compose import AllOf

VALUES = "abc"


def table(people, start):
    return pa.table(
        {
            "name": [str(start + i) for i in range(len(people))],
            "age": [p[0] for p in people],
            "disease": [p[1] for p in people],
        }
    )


def plain(*releases):
    """Who is in which class, by name; classes are told by their cells."""
    found = {}
    for release in releases:
        names = release.source.column("name").to_pylist()
        cells = to_labels(release.table.column("age").combine_chunks()).to_pylist()
        values = release.table.column("disease").to_pylist()
        for row, cell, value in zip(release.source_rows.tolist(), cells, values, strict=True):
            found[int(names[row])] = (cell, value)
    return Plain(found)


people = st.lists(st.tuples(st.integers(20, 35), st.sampled_from(VALUES)), min_size=4, max_size=25)


@settings(max_examples=60, deadline=None)
@given(people, people, st.integers(2, 3))
def test_old_and_new_together_tell_nothing_that_they_do_not_tell_alone(old, new, k):
    models = [ht.KAnonymity(k=k), ht.DistinctL(l=2, on="disease")]
    rules = ht.Policy(identifiers=["name"], quasi=["age"], sensitive=["disease"], models=models)
    try:
        first = ht.anonymize(table(old, 0), rules)
        second = ht.increment(table(new, 1000), rules, first)
    except (Infeasible, NotFound):
        event("refused")
        return
    event("joined" if second.partition.notes["joined"] else "new classes only")
    union = plain(first, second)
    earlier = [described(plain(r)).entry for r in (first, second)]
    now = described(union)
    verdict = judge(now, earlier, [Promise(2, "", AllOf(tuple(models)), now.promise.reference)])
    assert verdict.known == len(old) + len(new)
    assert verdict.ok, verdict.findings
