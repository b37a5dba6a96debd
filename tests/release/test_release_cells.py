"""Cells in all styles against an obvious twin, and the promise that equal cells are one class."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.algorithms.base import Partition
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.kernels.grouping import group_rows
from hushtable.release.forms.base import Cells, Form, escape_member, escape_value, of_groups
from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.midpoint import Midpoint
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.sets import Sets
from hushtable.release.recode import class_numbers, recode
from hushtable.schema.columns import Kind
from hushtable.table.encode import encode
from hushtable.table.plan import TablePlan
from hushtable.testing.cases import chosen_forms
from support_core import COUNTRIES, PLACES, WORLD, quasi

TRICKY = ["a", "b", "c", "a, b", "b, c", "{a, b}", "{", "}", "*", "\\*", "null", "\\null", "\\"]
TRICKY += ["[1, 2]", "[", ",", " a", "a ", "=1"]
ORDER = tuple(sorted(TRICKY))


def cells_of(values, groups, style: Form, kind: Kind, **more) -> Cells:
    table = pa.table({"x": pa.array(values)})
    column = encode(table, TablePlan((quasi("x", kind, **more),), cells=style)).quasi[0]
    rows, offsets = group_rows(np.array(groups), max(groups) + 1)
    return of_groups(column, rows, offsets)


@st.composite
def grouped(draw, values):
    chosen = draw(st.lists(st.one_of(st.none(), values), min_size=1, max_size=14).filter(lambda v: any(v)))
    n = draw(st.integers(1, 3))
    groups = [draw(st.integers(0, n - 1)) if i >= n else i for i in range(len(chosen))]
    return chosen, groups


def members(values, groups):
    """The distinct values of each group, None first."""
    found = [{v for v, g in zip(values, groups, strict=True) if g == i} for i in range(max(groups) + 1)]
    return [sorted(s, key=lambda v: (v is not None, v if v is not None else 0)) for s in found]


def text_of_set(group) -> str | None:
    if len(group) == 1:
        return escape_value(None if group[0] is None else str(group[0]))
    return "{" + ", ".join(escape_member(None if v is None else str(v)) for v in group) + "}"


@given(grouped(st.integers(1, 6)))
def test_ranges_of_numbers(case):
    values, groups = case
    cells = cells_of(values, groups, Ranges(), Kind.NUMERIC)
    domain = sorted({v for v in values if v is not None})
    everything = len(domain) + (None in values)
    for group, label, leaves in zip(members(values, groups), cells.labels().to_pylist(), cells.leaves, strict=True):
        if group == [None]:
            assert (label, leaves) == (None, 1)
        elif group[0] is None:
            assert (label, leaves) == ("*", everything)
        elif len(group) == 1:
            assert (label, leaves) == (str(group[0]), 1)
        else:
            assert label == f"[{group[0]}, {group[-1]}]"
            assert leaves == sum(group[0] <= v <= group[-1] for v in domain)


@given(grouped(st.sampled_from(TRICKY)))
def test_sets_of_labels(case):
    values, groups = case
    cells = cells_of(values, groups, Sets(), Kind.NOMINAL)
    expected = [sorted(g, key=lambda v: (v is not None, (v or "").encode())) for g in members(values, groups)]
    assert cells.labels().to_pylist() == [text_of_set(g) for g in expected]
    assert cells.leaves.tolist() == [len(g) for g in expected]


def unescape_set(text: str | None) -> frozenset[str | None]:
    """Read a published set back, as a recipient would."""
    if text is None:
        return frozenset({None})
    if not text.startswith("{"):
        return frozenset({text[1:] if text.startswith("\\") else text})
    parts, current, escaped = [], "", False
    for letter in text[1:-1]:
        if not escaped and letter == ",":
            parts.append(current)
            current = ""
            continue
        current += letter
        escaped = letter == "\\" and not escaped
    parts.append(current)
    found: set[str | None] = set()
    for i, part in enumerate(parts):
        part = part[1:] if i else part
        if part == "null":
            found.add(None)
            continue
        plain, j = "", 0
        while j < len(part):
            j += part[j] == "\\"
            plain += part[j]
            j += 1
        found.add(plain)
    return frozenset(found)


LABELS = st.one_of(st.none(), st.text("ab{}[],\\* null", min_size=1, max_size=5), st.sampled_from(TRICKY))


@given(st.sets(LABELS, min_size=1, max_size=4))
def test_a_published_set_can_be_read_back(values):
    values = sorted(values, key=lambda v: (v is not None, v or ""))
    text = text_of_set(values)
    assert unescape_set(text) == frozenset(values)


@given(grouped(st.sampled_from(COUNTRIES)))
def test_nodes_are_the_lowest_that_cover(case):
    values, groups = case
    cells = cells_of(values, groups, Nodes(), Kind.NOMINAL, hierarchy=WORLD)
    continent = {country: name for name, countries in PLACES.items() for country in countries}
    for i, group in enumerate(members(values, groups)):
        known = {continent.get(v) for v in group}
        if len(group) == 1:
            expected = (group[0], 0, 1)
        elif len(known) == 1:
            name = known.pop()
            expected = (name, 1, len(PLACES[name]))
        else:
            expected = ("*", 2, len(COUNTRIES) + (None in values))
        assert (cells.labels().to_pylist()[i], cells.height[i], cells.leaves[i]) == expected


@given(grouped(st.sampled_from([-3.5, 1.0, 2.0, 2.5, 1e300])))
def test_midpoints(case):
    values, groups = case
    labels = cells_of(values, groups, Midpoint(), Kind.NUMERIC).labels()
    assert pa.types.is_floating(labels.type) or pa.types.is_integer(labels.type)
    for group, label in zip(members(values, groups), labels.to_pylist(), strict=True):
        if None in group:
            assert label is None
        else:
            assert label == pytest.approx(group[0] / 2 + group[-1] / 2)


def test_whole_numbers_stay_whole_where_nothing_is_generalised():
    assert cells_of([3, 5, 5], [0, 1, 1], Midpoint(), Kind.NUMERIC).labels().to_pylist() == [3, 5]
    assert cells_of([3, 5, 6], [0, 1, 1], Midpoint(), Kind.NUMERIC).labels().to_pylist() == [3.0, 5.5]


def test_styles_fit_the_kind():
    sets = cells_of(["a", "b"], [0, 0], Midpoint(), Kind.NOMINAL)
    assert sets.labels().to_pylist() == ["{a, b}"]
    ordered = cells_of(["low", "high"], [0, 0], Midpoint(), Kind.ORDINAL, order=("low", "mid", "high"))
    assert ordered.labels().to_pylist() == ["[low, high]"]
    dates = cells_of(["2020-01-02", "1999-12-31"], [0, 0], Ranges(), Kind.DATE)
    assert dates.labels().to_pylist() == ["[1999-12-31, 2020-01-02]"]


@pytest.mark.parametrize("style", [Ranges(), Sets(), Nodes()])
@pytest.mark.parametrize("kind", [Kind.NOMINAL, Kind.ORDINAL])
def test_different_groups_never_look_alike(style, kind):
    """Every two contiguous runs of the tricky labels publish different cells (nodes: unless both are the root)."""
    more = {"order": ORDER} if kind is Kind.ORDINAL else {}
    runs = [(a, b) for a in range(len(ORDER)) for b in range(a, len(ORDER))]
    values = [ORDER[i] for a, b in runs for i in range(a, b + 1)]
    groups = [g for g, (a, b) in enumerate(runs) for _ in range(a, b + 1)]
    cells = cells_of(values, groups, style, kind, **more)
    labels = cells.labels().to_pylist()
    if style == Nodes():
        labels = [label for label, (a, b) in zip(labels, runs, strict=True) if a == b] + ["*"]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("style", chosen_forms())
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(0, 4)), st.one_of(st.none(), st.sampled_from(["a", "b", "{a, b}", "*"]))
        ),
        min_size=1,
        max_size=16,
    ),
    st.data(),
)
def test_equal_cells_are_one_class_and_suppressed_rows_are_none(style, rows, data):
    numbers, labels = zip(*rows, strict=True)
    table = pa.table({"x": pa.array(numbers, pa.int64()), "y": pa.array(labels, pa.string())})
    plan = TablePlan((quasi("x", Kind.NUMERIC), quasi("y", Kind.NOMINAL)), cells=style)
    encoded = encode(table, plan)
    labels = np.array(data.draw(st.lists(st.integers(-1, 5), min_size=len(rows), max_size=len(rows))))
    if (labels < 0).all():
        labels[0] = 0
    recoded = recode(encoded, Partition(labels, 6))
    assert np.array_equal(recoded.labels < 0, labels < 0)
    shown = list(zip(*(p.to_pylist() for p in recoded.published), strict=True))
    assert len(set(shown)) == len(shown) == recoded.n_groups
    for g in set(labels[labels >= 0].tolist()):
        assert len(set(recoded.labels[labels == g].tolist())) == 1, "a group is never divided"
    kept = np.flatnonzero(labels >= 0)
    by_row = list(zip(*(recoded.column(j, kept).to_pylist() for j in range(2)), strict=True))
    assert by_row == [shown[g] for g in recoded.labels[kept]]
    # cells cover their rows: recompute them from the classes alone
    for j, cells in enumerate(recoded.cells):
        codes = encoded.quasi[j].codes
        for g in range(recoded.n_groups):
            mine = sorted(set(codes[recoded.labels == g].tolist()))
            assert cells.members[cells.offsets[g] : cells.offsets[g + 1]].tolist() == mine


def test_global_levels():
    table = pa.table({"x": ["France", "Spain", "Japan", None]})
    column = encode(table, TablePlan((quasi("x", Kind.NOMINAL, hierarchy=WORLD),), cells=Sets())).quasi[0]
    rows, offsets = group_rows(np.array([0, 0, 1, 2]), 3)
    cells = of_groups(column, rows, offsets, level=1)
    assert cells.labels().to_pylist() == ["Europe", "Asia", None]
    assert cells.height.tolist() == [1, 1, 1]
    assert cells.leaves.tolist() == [3, 2, 1]


def test_class_numbers_are_exact():
    plain = pa.array(["a", None, "", "a"])
    twice = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 2]), pa.array(["a", "", "a"]))
    chunked = pa.chunked_array([plain.slice(0, 2).dictionary_encode(), plain.slice(2).dictionary_encode()])
    for column in (plain, twice, chunked):
        labels, n = class_numbers([column])
        assert n == 3 and labels[0] == labels[3] and len({*labels[:3].tolist()}) == 3
    hole = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 2]), pa.array(["a", "", None]))
    labels, n = class_numbers([hole])
    assert n == 3 and labels[1] == labels[3]


PARITY = Taxonomy(rows=tuple((str(i), "odd" if i % 2 else "even", "any") for i in range(6)))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(1, 3))
def test_nodes_whose_leaves_are_not_neighbours(values, n):
    groups = [min(i, n - 1) for i in range(len(values))]
    cells = cells_of(values, groups, Nodes(), Kind.NUMERIC, hierarchy=PARITY)
    assert not cells.column.coded.contiguous
    expected = []
    for group in members(values, groups):
        if len(group) == 1:
            expected.append((str(group[0]), 0, 1))
        elif len({v % 2 for v in group}) == 1:
            expected.append(("odd" if group[0] % 2 else "even", 1, 3))
        else:
            expected.append(("any", 2, 6))
    labels = cells.labels().to_pylist()
    assert list(zip(labels, cells.height.tolist(), cells.leaves.tolist(), strict=True)) == expected
