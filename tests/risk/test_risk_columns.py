from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_risk import class_sizes, tables

from hushtable.release.exposure import Exposure
from hushtable.risk.attribute_contribution import AttributeContribution
from hushtable.risk.minimal_uniques import MinimalUniques
from hushtable.risk.projection import coarser_units, unique_on


def share_unique(table, names):
    sizes = class_sizes(table, names) if names else [len(next(iter(table.values())))] * len(next(iter(table.values())))
    return sum(s == 1 for s in sizes) / len(sizes), sum(1 / s for s in sizes) / len(sizes)


@given(tables())
def test_contributions_record_by_record(table):
    found = AttributeContribution().compute(Exposure.of(table))
    unique, risk = share_unique(table, list(table))
    assert (found.unique, found.risk) == pytest.approx((unique, risk))
    assert {c.column for c in found.columns} == set(table)
    for column in found.columns:
        without = share_unique(table, [name for name in table if name != column.column])
        assert (column.unique_alone, column.risk_alone) == pytest.approx(share_unique(table, [column.column]))
        assert (column.unique_without, column.risk_without) == pytest.approx(without)
        assert column.adds_unique == pytest.approx(unique - without[0])
        assert column.adds_risk == pytest.approx(risk - without[1])
        assert column.distinct == len(set(table[column.column]))
    assert [c.adds_unique for c in found.columns] == sorted((c.adds_unique for c in found.columns), reverse=True)


def minimal_uniques(table, size):
    """Every record's minimal unique sets, from the definition."""
    names = list(table)
    out = []
    for row in range(len(table[names[0]])):
        unique = [
            set(subset)
            for s in range(1, size + 1)
            for subset in combinations(names, s)
            if class_sizes(table, subset)[row] == 1
        ]
        out.append([u for u in unique if not any(other < u for other in unique)])
    return out


@given(tables(columns=(1, 5), rows=(1, 10)), st.integers(1, 5))
def test_minimal_uniques_record_by_record(table, size):
    names = list(table)
    d = len(names)
    slow = minimal_uniques(table, min(size, d))
    found = MinimalUniques(size=size, top=1000).compute(Exposure.of(table))
    assert found.complete
    assert found.searched == min(size, d)
    assert found.people == sum(bool(sets) for sets in slow)
    smallest = [min(map(len, sets)) for sets in slow if sets]
    assert list(found.by_size) == [smallest.count(s) for s in range(1, min(size, d) + 1)]
    people = {}
    for sets in slow:
        for unique in sets:
            key = tuple(name for name in names if name in unique)
            people[key] = people.get(key, 0) + 1
    assert {s.columns: s.people for s in found.subsets} == people
    assert [s.people for s in found.subsets] == sorted(people.values(), reverse=True)
    most = min(found.searched, d - 1)
    score = {key: n * math.prod(d - i for i in range(len(key), most + 1)) for key, n in people.items()}
    for column in found.columns:
        part = sum(x for key, x in score.items() if column.column in key)
        assert column.contribution == pytest.approx(part / sum(score.values()) if score else 0)


def test_the_work_is_bounded_and_what_was_done_is_said():
    table = Exposure.of({f"q{j}": [(7 * i + j * i * i) % 5 for i in range(50)] for j in range(6)})
    n = len(table)
    whole = MinimalUniques(size=3, top=1000).compute(table)
    assert whole.complete
    short = MinimalUniques(size=3, top=1000, budget=(6 + 15 + 20) * n - 1).compute(table)
    assert (short.searched, short.complete) == (2, False)
    assert short.subsets == tuple(s for s in whole.subsets if len(s.columns) <= 2)
    assert short.by_size == whole.by_size[:2]
    assert MinimalUniques(size=3, budget=1).compute(table).searched == 1


def test_only_the_riskiest_sets_are_reported():
    table = Exposure.of({"a": [1, 2, 3, 3], "b": [1, 1, 1, 2]})
    assert [s.columns for s in MinimalUniques(top=1).compute(table).subsets] == [("a",)]


def test_nobody_unique():
    found = MinimalUniques().compute(Exposure.of({"a": [1, 1], "b": [2, 2]}))
    assert (found.people, found.subsets, found.complete) == (0, (), True)
    assert [c.contribution for c in found.columns] == [0, 0]


@given(tables(values=5), st.integers(1, 4))
def test_dense_and_sparse_projections_agree(table, unit):
    codes = [np.array(column) for column in table.values()]
    units = np.array([1 + (7 * i) % 4 for i in range(len(codes[0]))])
    rows = list(zip(*(c.tolist() for c in codes), strict=True))
    totals = {row: sum(u for r, u in zip(rows, units.tolist(), strict=True) if r == row) for row in rows}
    slow = [totals[row] <= unit for row in rows]
    for size in (5, 10**6):  # counted in place, or numbered first
        assert unique_on(codes, [size] * len(codes), units.astype(float), unit).tolist() == slow
        assert sorted(coarser_units(codes, [size] * len(codes), units).tolist()) == sorted(totals.values())
