"""Bins hold enough records, end at round numbers, and tell no value."""

from __future__ import annotations

import re
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.hierarchy.base import Coded
from hushtable.hierarchy.flat import Flat
from hushtable.hierarchy.prefix import Prefix
from hushtable.report.gather.columns import FEW, MOST, Bins, bins_of
from hushtable.schema.columns import Kind


def coded_of(values: list, kind: Kind, *, missing: bool = False) -> tuple[Coded, np.ndarray]:
    """A column's domain and how often each code occurs, as encoding would give them."""
    known = sorted({v for v in values if v is not None})
    kinds = {Kind.DATE: pa.date32(), Kind.NUMERIC: None}
    array = pa.array(known, kinds.get(kind, pa.string()))
    counts = np.array([values.count(v) for v in known], dtype=np.int64)
    coded = Flat().code(array, kind, missing=missing, column="c", counts=counts)
    shift = int(missing)
    order = {v: i for i, v in enumerate(coded.values.to_pylist())}
    ordered = np.zeros(coded.size, dtype=np.int64)
    for v in values:
        ordered[0 if v is None else order[v] + shift] += 1
    return coded, ordered


def totals(bins: Bins, counts: np.ndarray) -> list[int]:
    return [int(counts[bins.of_code == b].sum()) for b in range(len(bins))]


numbers = st.one_of(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=150),
    st.lists(st.integers(0, 60), min_size=1, max_size=150),
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=150),
    st.lists(st.integers(10**9, 10**9 + 200), min_size=1, max_size=150),
)


@given(numbers, st.integers(1, 20))
def test_every_bin_of_numbers_holds_enough(values: list, least: int) -> None:
    values = [float(v) for v in values] if any(isinstance(v, float) for v in values) else values
    coded, counts = coded_of(values, Kind.NUMERIC)
    bins = bins_of(coded, counts, least)
    held = totals(bins, counts)
    if len(values) >= least:
        assert all(n >= least for n in held)
        assert np.count_nonzero(counts) <= FEW or sum(held) == len(values)
    assert len(set(bins.labels)) == len(bins)


@given(numbers)
def test_edges_are_coarse_and_never_the_extremes(values: list) -> None:
    values = [float(v) for v in values] if any(isinstance(v, float) for v in values) else values
    coded, counts = coded_of(values, Kind.NUMERIC)
    edges = bins_of(coded, counts, 3).edges
    for edge in edges.tolist():
        digits = f"{abs(edge):.15g}".replace(".", "").split("e")[0].strip("0")
        assert len(digits) <= 4, "an edge has no more digits than a coarse grid"
    if len(edges):
        assert min(values) < edges[0]
        assert edges[-1] <= max(values)


@given(st.lists(st.sampled_from("abcdefghijklmnopqrstuvw"), min_size=1, max_size=300), st.integers(1, 20))
def test_every_bin_of_labels_holds_enough_and_names_nothing(values: list[str], least: int) -> None:
    coded, counts = coded_of(values, Kind.NOMINAL)
    bins = bins_of(coded, counts, least)
    held = totals(bins, counts)
    assert all(n >= least for n in held)
    left = len(values) - sum(held)
    assert left == 0 or left < least or not held or left + 0 < least
    assert len(bins) <= MOST + 1
    assert all(re.fullmatch(r"(value|group) \d+|all other values", label) for label in bins.labels)


def test_names_are_those_of_many_when_asked_for() -> None:
    coded, counts = coded_of(["flu"] * 20 + ["cold"] * 15 + ["rare"] * 2 + ["other"] * 11, Kind.NOMINAL)
    assert bins_of(coded, counts, 10, named=True).labels == ("flu", "cold", "all other values")
    assert bins_of(coded, counts, 10).labels == ("value 1", "value 2", "all other values")


def test_a_rest_that_a_difference_would_tell_is_joined() -> None:
    coded, counts = coded_of(["a"] * 30 + ["b"] * 30 + ["c"] * 3, Kind.NOMINAL)
    bins = bins_of(coded, counts, 10)
    assert totals(bins, counts) == [30, 33]


def test_missing_values_have_a_bin_where_there_are_enough() -> None:
    coded, counts = coded_of([None] * 12 + list(range(40)) * 3, Kind.NUMERIC, missing=True)
    assert bins_of(coded, counts, 10).labels[-1] == "missing"
    coded, counts = coded_of([None] * 2 + list(range(40)) * 3, Kind.NUMERIC, missing=True)
    bins = bins_of(coded, counts, 10)
    assert "missing" not in bins.labels
    assert bins.of_code[0] == -1


def test_a_lone_giant_does_not_stretch_the_scale() -> None:
    coded, counts = coded_of([*range(20, 80), *range(20, 80), 987654321], Kind.NUMERIC)
    bins = bins_of(coded, counts, 10)
    assert bins.labels[-1] == "75 and over" or bins.labels[-1].endswith("and over")
    assert len(bins) >= 5
    assert "987" not in "".join(bins.labels)


def test_dates_are_cut_at_months_and_years() -> None:
    days = [date(1980, 1, 1) + timedelta(days=41 * i) for i in range(300)]
    coded, counts = coded_of(days, Kind.DATE)
    bins = bins_of(coded, counts, 10)
    assert all(re.fullmatch(r"(under )?\d{4}-\d\d( to \d{4}-\d\d| and over)?", label) for label in bins.labels)
    assert all(n >= 10 for n in totals(bins, counts))
    assert all(np.datetime64(int(e), "D").astype(str).endswith("-01") for e in bins.edges)


@pytest.mark.parametrize("values", [[5] * 50, [0] * 48 + [10**6, 10**7], [1.5] * 30])
def test_constants_are_one_bin(values: list) -> None:
    coded, counts = coded_of(values, Kind.NUMERIC)
    assert len(bins_of(coded, counts, 10)) == 1


@pytest.mark.parametrize("step", [5e-324, 1e-300, 1e306, -1e306])
def test_numbers_at_the_ends_of_the_scale_have_bins(step: float) -> None:
    coded, counts = coded_of([step * i for i in range(-40, 40)], Kind.NUMERIC)
    bins = bins_of(coded, counts, 10)
    assert sum(totals(bins, counts)) == 80 and min(totals(bins, counts)) >= 10


def test_too_few_records_show_nothing() -> None:
    coded, counts = coded_of(["a", "b", "c"], Kind.NOMINAL)
    bins = bins_of(coded, counts, 10)
    assert len(bins) == 0
    assert set(bins.of_code.tolist()) == {-1}


def test_who_is_not_in_the_release_is_not_named() -> None:
    coded, counts = coded_of(["flu"] * 30 + ["gone"] * 20 + ["cold"] * 15, Kind.NOMINAL)
    released = np.array([0 if label == "gone" else int(n) for label, n in zip(coded.labels[0], counts, strict=True)])
    bins = bins_of(coded, counts, 10, named=True, released=released)
    assert bins.labels == ("flu", "cold", "all other values")
    assert totals(bins, counts) == [30, 15, 20]


def test_many_labels_are_shown_by_the_nodes_above_them() -> None:
    zips = [f"{a}{b}{c}" for a in range(3) for b in range(4) for c in range(10)]
    coded = Prefix().code(
        pa.array(zips), Kind.NOMINAL, missing=False, column="zip", counts=np.full(len(zips), 4, dtype=np.int64)
    )
    counts = np.full(coded.size, 4)
    bins = bins_of(coded, counts, 10)
    assert bins.labels == tuple(f"group {i}" for i in range(1, 13))
    assert totals(bins, counts) == [40] * 12
    assert "level 1 of the hierarchy" in bins.caption
    assert set(bins_of(coded, counts, 10, named=True).labels) == {f"{a}{b}*" for a in range(3) for b in range(4)}
    assert bins_of(coded, counts, 50).labels == ("group 1", "group 2", "group 3")
    assert bins_of(coded, counts, 200).labels == ("all other values",)
