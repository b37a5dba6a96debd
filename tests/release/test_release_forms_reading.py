"""Cells are read back from their text as the slow reader of the tests reads them."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.errors import DataError, IncompatibleError
from hushtable.hierarchy.dates import Dates
from hushtable.hierarchy.frequency import Frequency
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.io.text import to_labels
from hushtable.kernels.grouping import group_rows
from hushtable.release.forms.base import of_groups
from hushtable.release.forms.counts import Counts
from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.pattern import Pattern
from hushtable.release.forms.reading import read_cells, split_counts, split_sets
from hushtable.release.forms.regions import Regions
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind, Role
from hushtable.table.coded_columns import known_numbers
from hushtable.table.encode import encode
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.testing.covers import counted, covered

LABELS = ["a", "b", "c", "a, b", "{a, b}", "{", "}", "*", "\\*", "null", "\\null", "\\", "[1, 2]", "["]
LABELS += [",", " a", "a: 1", "< 20", ">= x", ":", "\\\\", "a..b"]
TREE = {"first": LABELS[:6], "second": {"inner": LABELS[6:12], "other": LABELS[12:]}}
DAYS = [datetime.date(1999, 12, 30) + datetime.timedelta(days=d) for d in (0, 1, 2, 31, 90, 400, 9000)]
NUMBERS = st.one_of(st.integers(-50, 2000), st.floats(-5, 5).map(lambda x: round(x, 3)))


def codes_of(reading, i, coded):
    """The codes of a column that a cell stands for, one by one."""
    out = set()
    for atom in reading.atoms[reading.offsets[i] : reading.offsets[i + 1]].tolist():
        first = int(coded.missing)
        if atom == 0:
            out.add(0)
        elif reading.numbers:
            values = known_numbers(coded).tolist()
            low, high = reading.low[atom], reading.high[atom]
            inside = [low <= v and (v < high or (reading.closed[atom] and v <= high)) for v in values]
            out |= {first + c for c, fits in enumerate(inside) if fits}
        else:
            names = coded.labels[0]
            out |= {c for c, name in enumerate(names) if name == reading.labels[atom].as_py()}
    return out


def check(values, groups, form, kind, **more):
    plan = ColumnPlan("x", Role.QUASI, kind, **more)
    column = encode(pa.table({"x": pa.array(values)}), TablePlan((plan,), cells=form)).quasi[0]
    rows, offsets = group_rows(np.array(groups), max(groups) + 1)
    cells = to_labels(of_groups(column, rows, offsets).labels()).cast(pa.string())
    reading = read_cells(form, cells, plan)
    assert reading.kind is kind
    for i, cell in enumerate(cells.to_pylist()):
        slow = covered(cell, column)
        if cell == "*":
            assert reading.everything[i]
            continue
        assert not reading.everything[i]
        assert codes_of(reading, i, column.coded) == slow
        weights = reading.weights[reading.offsets[i] : reading.offsets[i + 1]]
        if reading.counted:
            assert weights.tolist() == [n for _, n in counted(cell)]
        else:
            assert weights.sum() == pytest.approx(1.0)


@st.composite
def grouped(draw, values):
    lists = st.lists(st.one_of(st.none(), values), min_size=1, max_size=14)
    chosen = draw(lists.filter(lambda v: any(x is not None for x in v)))
    n = draw(st.integers(1, 4))
    return chosen, [i if i < n else draw(st.integers(0, n - 1)) for i in range(len(chosen))]


def typed(values):
    return [None if v is None else float(v) for v in values]


@pytest.mark.parametrize("form", [Counts(), Counts(digits=1), Counts(digits=0), Regions(), Ranges(), Sets()], ids=repr)
@given(case=grouped(NUMBERS))
def test_numbers(form, case):
    check(typed(case[0]), case[1], form, Kind.NUMERIC)


def test_a_bin_of_numbers_with_fractions_is_not_called_by_its_first():
    check([7.3, 2.5, 2.0], [0, 0, 0], Counts(digits=1), Kind.NUMERIC)


CALENDAR = [Counts(), Counts(dates="day"), Counts(dates="year")]


@pytest.mark.parametrize("form", [*CALENDAR, Regions(), Ranges(), Sets()], ids=repr)
@given(case=grouped(st.sampled_from(DAYS)))
def test_dates(form, case):
    check(pa.array(case[0], pa.date32()), case[1], form, Kind.DATE)


@pytest.mark.parametrize("form", [Counts(), Regions(), Ranges(), Sets()], ids=repr)
@given(case=grouped(st.sampled_from(LABELS)))
def test_labels(form, case):
    check(case[0], case[1], form, Kind.NOMINAL)


@pytest.mark.parametrize("form", [Counts(), Regions(), Ranges(), Sets()], ids=repr)
@given(case=grouped(st.sampled_from(LABELS)))
def test_ordered_labels(form, case):
    # only what occurs has a code
    check(case[0], case[1], form, Kind.ORDINAL, order=tuple(LABELS))


@given(grouped(st.sampled_from(LABELS)))
def test_nodes_of_a_tree(case):
    check(case[0], case[1], Nodes(), Kind.NOMINAL, hierarchy=Taxonomy(tree=TREE))


@given(grouped(st.integers(0, 130)))
def test_nodes_of_intervals(case):
    check(case[0], case[1], Nodes(), Kind.NUMERIC, hierarchy=Intervals(widths=(5, 10, 50)))


@given(grouped(st.sampled_from(DAYS)))
def test_nodes_of_dates(case):
    levels = ("month", "quarter", "year", "decade", "century")
    check(pa.array(case[0], pa.date32()), case[1], Nodes(), Kind.DATE, hierarchy=Dates(levels=levels))


def test_nodes_that_are_made_from_the_data():
    plan = ColumnPlan("x", Role.QUASI, Kind.NOMINAL, Frequency())
    found = read_cells(Nodes(), pa.array(["a..c", "b", '"..d"..e', "*"]), plan)
    names = [{found.labels[a].as_py() for a in found.atoms[b:e]} for b, e in itertools.pairwise(found.offsets)]
    assert names[:2] == [{"a", "b", "c"}, {"b"}] and names[3] == {"a", "b", "c", "..d", "e"}
    plan = ColumnPlan("x", Role.QUASI, Kind.NOMINAL, Prefix())
    found = read_cells(Nodes(), pa.array(["12*", "121", "3**"]), plan)
    names = [[found.labels[a].as_py() for a in found.atoms[b:e]] for b, e in itertools.pairwise(found.offsets)]
    assert names == [["121"], ["121"], ["321"]]


CELLS = st.lists(st.tuples(st.sampled_from(LABELS), st.integers(1, 10**12)), min_size=1, max_size=5)


@given(st.lists(CELLS, max_size=6))
def test_many_counts_are_split_as_one(cells):
    from hushtable.release.forms.counts import escape_counted

    text = ["{" + ", ".join(f"{escape_counted(v)}: {n}" for v, n in cell) + "}" for cell in cells]
    parts = split_counts(pa.array(text, pa.string()), "x")
    assert parts.weights.tolist() == [n for cell in cells for _, n in cell]
    assert [parts.names[c] for c in parts.codes] == ["{" + escape_counted(v) for cell in cells for v, _ in cell]
    assert np.diff(parts.offsets).tolist() == [len(cell) for cell in cells]


def test_sets_and_values_are_split_in_their_order():
    parts = split_sets(pa.array(["x", "{a, b}", None, r"{c\, d\\, \{}"]))
    assert parts.offsets.tolist() == [0, 1, 3, 4, 6]
    assert [None if c < 0 else parts.names[c] for c in parts.codes] == ["x", "{a", "{b", None, r"{c\, d\\", r"{\{"]


def test_splitting_works_piece_by_piece(monkeypatch):
    from hushtable.release.forms import reading

    cells = pa.array([f"{{v{i % 7}: {i + 1}, null: 2}}" for i in range(50)])
    whole = split_counts(cells, "x")
    monkeypatch.setattr(reading, "_PIECE", 8)
    pieces = split_counts(cells, "x")
    assert [pieces.names[c] for c in pieces.codes] == [whole.names[c] for c in whole.codes]
    assert np.array_equal(pieces.weights, whole.weights) and np.array_equal(pieces.offsets, whole.offsets)


@pytest.mark.parametrize("cell", ["clerk", "{clerk}", "{clerk: x}", "{clerk: 0}", "{clerk: 3", "{}", "{a: 1, b}"])
def test_what_is_no_count_is_refused(cell):
    if cell == "{a: 1, b}":
        # one part: the name of the second would have to be counted; sums tell
        assert split_counts(pa.array([cell]), "x").weights.sum() in (0.0, 1.0)
        return
    with pytest.raises(DataError, match="some of its cells are not counts"):
        split_counts(pa.array([cell]), "x")


def test_open_ends_get_one():
    plan = ColumnPlan("x", Role.QUASI)

    def ends(*cells):
        found = read_cells(Regions(), pa.array(cells), plan)
        return [(found.low[a], found.high[a]) for a in found.atoms.tolist()]

    assert ends("< 20", "[20, 50)", ">= 50") == [(0, 20), (20, 50), (50, 80)]
    assert ends("< 100", "[100, 110)", "[110, 150)", ">= 150") == [(90, 100), (100, 110), (110, 150), (150, 190)]
    assert ends("< 30", ">= 30") == [(0, 30), (30, 60)]
    assert ends("< -5", ">= -5") == [(-10, -5), (-5, 0)]
    assert ends("< 0", ">= 0", "*") == [(-1, 0), (0, 1), (-1, 1)]
    assert ends("< 0.5", ">= 0.5") == [(0.0, 0.5), (0.5, 1.0)]


def test_a_blank_tells_nothing():
    with pytest.raises(IncompatibleError, match="nothing shows what a blank hides"):
        read_cells(Pattern(), pa.array(["a", "*"]), ColumnPlan("x", Role.QUASI))


def test_ends_that_the_order_does_not_list_are_refused():
    with pytest.raises(DataError, match="do not fit"):
        read_cells(Ranges(), pa.array(["[a, z]"]), ColumnPlan("x", Role.QUASI, order=("a", "b")))
    with pytest.raises(DataError, match="do not fit"):
        read_cells(Ranges(), pa.array(["[9, 3]"]), ColumnPlan("x", Role.QUASI, Kind.NUMERIC))
    with pytest.raises(DataError, match="do not fit"):
        read_cells(Ranges(), pa.array(["[a, 3]"]), ColumnPlan("x", Role.QUASI, Kind.NUMERIC))


def test_whole_numbers_beyond_floats_are_exact():
    found = read_cells(Ranges(), pa.array([f"[{2**60}, {2**60 + 1}]", "7"]), ColumnPlan("x", Role.QUASI))
    assert found.whole and sorted(found.high.tolist()) == [0, 7, 2**60 + 1]
