"""k-concealment: under algorithms that make classes it judges their sizes."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import Infeasible
from hushtable.models.k_concealment import KConcealment
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


def test_the_size_of_a_class_is_who_may_be_whom():
    groups = GroupStats.of(sizes=[1, 4, 5])
    assert KConcealment(k=5).satisfied(groups, Reference.of(10)).tolist() == [False, False, True]
    assert KConcealment(k=5).min_group_size() == 5


def test_classes_of_any_algorithm_keep_it():
    people = pa.table({"age": [20, 21, 40, 41], "disease": ["flu", "HIV", "flu", "gout"]})
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[{"k-concealment": {"k": 2}}])
    assert ht.anonymize(people, policy).verification.classes == 2


def test_too_few_people():
    people = pa.table({"age": [20, 21], "disease": ["flu", "HIV"]})
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[{"k-concealment": {"k": 3}}])
    for algorithm in ("mondrian", "k-concealing"):
        with pytest.raises(Infeasible, match="k=3 but the table has 2 people"):
            ht.anonymize(people, policy.changed(algorithm=algorithm))
