"""Counts: true to the class, verified from the cells, and refused where they would tell too much."""

from __future__ import annotations

import datetime
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hushtable as ht
from hushtable.errors import IncompatibleError
from hushtable.release.forms.rounding import significant_bins, whole_bins
from hushtable.testing.cases import random_case
from hushtable.testing.covers import counted

TABLE = pa.table(
    {
        "age": [21, 22, 22, 47, 48, 49],
        "job": ["clerk", "clerk", "a, b: c", None, "teacher", "teacher"],
        "ill": ["flu", "cold", "flu", "flu", "cold", "HIV"],
    }
)


def policy(**more):
    settings = {"quasi": ["age", "job"], "sensitive": ["ill"], "models": [ht.KAnonymity(k=3)], "cells": "counts"}
    return ht.Policy(**{**settings, **more})


def test_what_is_published():
    rows = set(map(tuple, ht.anonymize(TABLE, policy()).table.select(["age", "job"]).to_pandas().to_numpy().tolist()))
    assert rows == {
        ("{21: 1, 22: 2}", r"{a\, b\: c: 1, clerk: 2}"),
        ("{47: 1, 48: 1, 49: 1}", "{null: 1, teacher: 2}"),
    }


def test_as_fine_as_the_policy_says():
    shown = ht.anonymize(TABLE, policy(cells={"counts": {"digits": 1}})).table.column("age").to_pylist()
    assert set(shown) == {"{[20, 30): 3}", "{[40, 50): 3}"}
    days = pa.array([datetime.date(2024, 5, 3), datetime.date(2024, 5, 9), datetime.date(2025, 1, 1)])
    for unit, text in {
        "day": "{2024-05-03: 1, 2024-05-09: 1, 2025-01-01: 1}",
        "month": "{[2024-05-01, 2024-06-01): 2, [2025-01-01, 2025-02-01): 1}",
        "year": "{[2024-01-01, 2025-01-01): 2, [2025-01-01, 2026-01-01): 1}",
    }.items():
        chosen = ht.Policy(quasi=["x"], models=[ht.KAnonymity(k=3)], cells={"counts": {"dates": unit}})
        assert set(ht.anonymize(pa.table({"x": days}), chosen).table.column("x").to_pylist()) == {text}


LARGE = 9_099_999_999_999_999_999
LAST = datetime.date(9999, 12, 31)


@pytest.mark.parametrize(
    ("values", "settings", "text"),
    [
        ([LARGE, LARGE - 1], {"digits": 2}, "{[9000000000000000000, 9100000000000000000): 2}"),
        ([LARGE, LARGE - 1], {"digits": 19}, f"{{{LARGE - 1}: 1, {LARGE}: 1}}"),
        ([31.12378947913405, 30.089727264485326], {"digits": 18}, "{30.089727264485326: 1, 31.12378947913405: 1}"),
        ([1.5e308, 1.7e308], {"digits": 1}, "{[1e+308, 1.7976931348623157e+308]: 2}"),
        ([-1.5e308, -1.7e308], {"digits": 1}, "{[-1.7976931348623157e+308, -1e+308): 2}"),
        ([LAST, LAST], {"dates": "month"}, "{[9999-12-01, 9999-12-31]: 2}"),
        ([LAST, LAST], {"dates": "year"}, "{[9999-01-01, 9999-12-31]: 2}"),
    ],
)
def test_bins_hold_extreme_values_and_can_be_read(values, settings, text):
    chosen = ht.Policy(quasi=["x"], models=[ht.KAnonymity(k=2)], cells={"counts": settings})
    release = ht.anonymize(pa.table({"x": values}), chosen)
    assert set(release.table.column("x").to_pylist()) == {text}
    drawn = release.sample(seed=1).column("x").to_pylist()
    assert {type(v) for v in drawn} == {type(values[0])}


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.integers(1, 20))
def test_bins_of_whole_numbers_hold_them(numbers, digits):
    low, high = whole_bins(np.array(numbers), digits)
    assert all(a <= n < b for a, n, b in zip(low, numbers, high, strict=True))
    small = [n % 10**15 - 10**14 for n in numbers]
    found = zip(
        whole_bins(np.array(small), digits), significant_bins(np.array(small, float), digits, whole=True), strict=True
    )
    assert all(exact.tolist() == plain.tolist() for exact, plain in found)


@given(st.integers(0, 300), st.sampled_from(["mondrian", "optimal", "k-member"]))
def test_counts_add_up_to_the_class_and_to_the_records(seed, algorithm):
    case = random_case(seed, 40)
    names = [c.name for c in case.columns.columns if c.role == "quasi"]
    columns = {
        n: {"role": "quasi", "kind": str(k)} for n, k in ((c.name, c.kind) for c in case.columns.columns) if n in names
    }
    if "size" in columns:
        columns["size"]["order"] = ["small", "medium", "large", "huge"]
    fine = {"counts": {"digits": 0, "dates": "day"}}
    chosen = ht.Policy(columns=columns, models=[ht.KAnonymity(k=3)], algorithm=algorithm, cells=fine)
    release = ht.anonymize(case.table.select(names), chosen)
    rows = release.table.to_pylist()
    classes = Counter(tuple(row.values()) for row in rows)
    total = {name: Counter() for name in names}
    for cells, size in classes.items():
        for name, cell in zip(release.table.column_names, cells, strict=True):
            found = counted(cell)
            assert sum(n for _, n in found) == size
            for value, n in found:
                total[name][value] += n
    for name in names:
        assert sum(total[name].values()) == 40
        assert sorted(total[name].values()) == sorted(Counter(case.table.column(name).to_pylist()).values())


def test_groups_with_equal_counts_become_one_class_with_its_own():
    table = pa.table({"age": [1, 2, 1, 2], "town": ["a", "b", "b", "a"]})
    chosen = ht.Policy(quasi=["age", "town"], models=[ht.KAnonymity(k=2)], cells="counts")
    shown = ht.anonymize(table, chosen).table.to_pylist()
    for row in shown:
        same = shown.count(row)
        assert sum(n for _, n in counted(row["age"])) == same


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"missing": "wildcard"}, "wildcard"),
        ({"algorithm": "m-invariant", "models": [{"m-invariance": {"m": 2}}]}, "counterfeits"),
        ({"guard": ["downcoding"]}, "cannot widen"),
    ],
)
def test_refused(changed, why):
    with pytest.raises(IncompatibleError, match=why):
        policy(**changed)


def test_an_algorithm_that_recodes_globally_publishes_counts_too():
    shown = ht.anonymize(TABLE, policy(algorithm="optimal")).table.column("job").to_pylist()
    assert all(cell.startswith("{") for cell in shown)


def test_what_counts_tell_an_analyst():
    release = ht.anonymize(TABLE, policy())
    age, job = release.recoded.cells
    numbers = np.array([float(label) for label in age.column.coded.labels[0]])
    assert sorted(age.middles(numbers).round(6).tolist()) == [pytest.approx(65 / 3), 48.0]
    clerk = list(job.column.coded.labels[0]).index("clerk")
    share = job.expected((np.arange(job.column.coded.size) == clerk).astype(np.int64))
    assert sorted(share.round(6).tolist()) == [0.0, pytest.approx(2 / 3, abs=1e-6)]


def test_attacks_know_them():
    release = ht.anonymize(TABLE, policy())
    # all values of a column are known, not which belong together
    assert release.attack("downcoding").rate > 0
    assert release.attack("linkage").targets == len(TABLE)
    assert release.attack("inference").targets > 0
    others = pa.table({"age": [30, 90], "job": ["clerk", "pilot"]})
    assert release.attack("membership", control=others).targets > 0
