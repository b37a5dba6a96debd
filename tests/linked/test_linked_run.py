"""Releases of random linked tables keep the promise, and lose no more than they need to."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support_linked import failures, random_case

from hushtable.errors import Infeasible, NotFound
from hushtable.linked.run import anonymize_linked


def released(seed, **settings):
    """A random schema and its release, or None where no release is possible."""
    policy, tables = random_case(seed)
    policy = policy.changed(suppression=1.0, **settings)
    try:
        return policy, tables, anonymize_linked(tables, policy)
    except (Infeasible, NotFound):
        return policy, tables, None


def check(seeds):
    made = 0
    for seed in seeds:
        policy, _, release = released(seed)
        if release is not None:
            published = {name: table.cast(_text(table)) for name, table in release.tables.items()}
            assert not failures(policy, published), seed
            made += 1
    return made


def _text(table):
    return pa.schema([(name, pa.string()) for name in table.column_names])


def test_releases_of_random_schemas_keep_the_promise():
    assert check(range(60)) > 30


@pytest.mark.slow
def test_releases_of_many_random_schemas_keep_the_promise():
    assert check(range(5000, 7000)) > 1000
