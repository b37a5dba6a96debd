"""Centroids and patterns against plain Python on lists."""

from __future__ import annotations

import datetime
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.algorithms.base import Partition, Recoding
from hushtable.engines import local
from hushtable.kernels.grouping import group_rows
from hushtable.models.k_anonymity import KAnonymity
from hushtable.release.forms.centroid import Centroid, CentroidCells
from hushtable.release.forms.pattern import Pattern
from hushtable.release.recode import recode
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.encode import encode
from hushtable.table.plan import TablePlan
from support_core import PLACES, plan_of, quasi

ORDER = ("low", "middle", "high")


def column_of(values: list, kind: Kind, type_: pa.DataType) -> QuasiColumn:
    order = {"order": ORDER} if kind is Kind.ORDINAL else {}
    plan = TablePlan((quasi("x", kind, **order),))
    return encode(pa.table({"x": pa.array(values, type_)}), plan).quasi[0]


def cells_of(values: list, groups: list[int], kind: Kind, type_: pa.DataType, **more: bool) -> CentroidCells:
    rows, offsets = group_rows(np.array(groups), max(groups) + 1)
    partition = Partition(np.array(groups), max(groups) + 1, **more)
    return Centroid().from_records(column_of(values, kind, type_), rows, offsets, partition)


def by_group(values: list, groups: list[int]) -> list[list]:
    found = [[] for _ in range(max(groups) + 1)]
    for value, group in zip(values, groups, strict=True):
        if value is not None:
            found[group].append(value)
    return found


def grouped(value: st.SearchStrategy) -> st.SearchStrategy:
    rows = st.lists(st.tuples(st.one_of(st.none(), value), st.integers(0, 3)), min_size=1, max_size=25)
    return rows.filter(lambda r: {g for _, g in r} == set(range(max(g for _, g in r) + 1)))


@given(grouped(st.integers(-(2**63), 2**63 - 1)))
def test_means_of_integers_are_exact(rows):
    values, groups = [list(side) for side in zip(*rows, strict=True)]
    shown = cells_of(values, groups, Kind.NUMERIC, pa.int64()).labels()
    rounded = cells_of(values, groups, Kind.NUMERIC, pa.int64(), whole_numbers=True).labels()
    exact = [Fraction(sum(v), len(v)) if v else None for v in by_group(values, groups)]
    assert rounded.type == pa.int64()
    assert rounded.to_pylist() == [None if e is None else round(e) for e in exact]
    whole = all(e is None or e.denominator == 1 for e in exact)
    assert shown.type == (pa.int64() if whole else pa.float64())
    for cell, e in zip(shown.to_pylist(), exact, strict=True):
        assert (cell is None) == (e is None)
        assert e is None or cell == pytest.approx(float(e), rel=1e-15, abs=1e-12)


@given(grouped(st.floats(allow_nan=False, allow_infinity=False, width=64)), st.randoms(use_true_random=False))
def test_means_of_floats_stay_in_range_and_do_not_depend_on_order(rows, random):
    values, groups = [list(side) for side in zip(*rows, strict=True)]
    shown = cells_of(values, groups, Kind.NUMERIC, pa.float64()).labels().to_pylist()
    random.shuffle(rows)
    again = cells_of(*[list(side) for side in zip(*rows, strict=True)], Kind.NUMERIC, pa.float64()).labels()
    assert shown == again.to_pylist()
    for cell, v in zip(shown, by_group(values, groups), strict=True):
        assert (cell is None) == (not v)
        if v:
            exact = float(sum(map(Fraction, v)) / len(v))
            assert min(v) <= cell <= max(v)
            assert cell == pytest.approx(exact, rel=1e-9, abs=1e-12 * max(map(abs, v)))


@given(grouped(st.dates()))
def test_dates_are_mean_days_rounded_down(rows):
    values, groups = [list(side) for side in zip(*rows, strict=True)]
    shown = cells_of(values, groups, Kind.DATE, pa.date32()).labels()
    assert shown.type == pa.date32()
    for cell, v in zip(shown.to_pylist(), by_group(values, groups), strict=True):
        days = [d.toordinal() for d in v]
        assert cell == (datetime.date.fromordinal(sum(days) // len(days)) if v else None)


@given(grouped(st.sampled_from(ORDER)))
def test_ordinal_labels_are_lower_medians(rows):
    values, groups = [list(side) for side in zip(*rows, strict=True)]
    shown = cells_of(values, groups, Kind.ORDINAL, pa.string()).labels().to_pylist()
    for cell, v in zip(shown, by_group(values, groups), strict=True):
        assert cell == (sorted(v, key=ORDER.index)[(len(v) - 1) // 2] if v else None)


@given(grouped(st.sampled_from([*PLACES["Europe"], "*"])))
def test_nominal_labels_are_modes(rows):
    values, groups = [list(side) for side in zip(*rows, strict=True)]
    shown = cells_of(values, groups, Kind.NOMINAL, pa.string()).labels().to_pylist()
    for cell, v in zip(shown, by_group(values, groups), strict=True):
        best = max(Counter(v).values(), default=0)
        first = min((x for x, n in Counter(v).items() if n == best), default=None)
        assert cell == ("\\*" if first == "*" else first)


def test_groups_that_coincide_after_rounding_are_one_class():
    plan = plan_of([KAnonymity(k=2)], (quasi("x", Kind.NUMERIC),))
    table = local.problem_of(pa.table({"x": [0, 3, 1, 1, 9, 9]}), plan).table
    groups = Partition(np.array([0, 0, 1, 1, 2, 2]), 3)
    plain = recode(table, groups, Recoding.CENTROID)
    assert (plain.n_groups, plain.published[0].to_pylist()) == (3, [1.5, 1.0, 9.0])
    near = Partition(np.array([0, 0, 1, 1, 2, 2]), 3, whole_numbers=True)
    assert recode(table, near, Recoding.CENTROID).published[0].to_pylist() == [2, 1, 9]
    table = local.problem_of(pa.table({"x": [0, 1, 0, 0, 9, 9]}), plan).table
    merged = recode(table, near, Recoding.CENTROID)
    assert merged.published[0].to_pylist() == [0, 9]
    assert merged.labels.tolist() == [0, 0, 0, 0, 1, 1]


@given(grouped(st.sampled_from(["a", "b", "*"])))
def test_patterns_keep_what_all_records_share(rows):
    values, groups = [list(side) for side in zip(*rows, strict=True)]
    order, offsets = group_rows(np.array(groups), max(groups) + 1)
    column = column_of(values, Kind.NOMINAL, pa.string())
    cells = Pattern().from_records(column, order, offsets)
    for g, cell in enumerate(cells.labels().to_pylist()):
        members = {v for v, group in zip(values, groups, strict=True) if group == g}
        common = next(iter(members)) if len(members) == 1 else "*"
        assert cell == ("\\*" if members == {"*"} else common)
        assert cells.leaves[g] == (1 if len(members) == 1 else column.coded.size)
        assert cells.height[g] == (0 if len(members) == 1 else column.coded.height)
