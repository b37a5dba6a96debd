"""Random releases, and what they publish worked out row by row in plain Python."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from hushtable.hierarchy.base import Coded
from hushtable.kernels.grouping import group_rows
from hushtable.release.comparison import RowComparison
from hushtable.release.forms.base import of_groups
from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.midpoint import Midpoint
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.encoded import EncodedTable
from hushtable.table.survey import Survey
from hushtable.testing.cases import chosen_forms
from hushtable.testing.covers import covered as covered_by


def renumber(nodes):
    """Number nodes from 0 in order of their first leaf."""
    seen = {}
    return [seen.setdefault(node, len(seen)) for node in nodes]


def make_coded(kind, n_values, missing, parents=(), numbers=None):
    """A domain of ``n_values`` values; ``parents`` gives, level by level, the node above each value."""
    size = n_values + missing
    values = {
        Kind.NUMERIC: pa.array(numbers if numbers is not None else list(range(n_values)), pa.float64()),
        Kind.DATE: pa.array([datetime.date(2020, 1, 1) + datetime.timedelta(9 * i) for i in range(n_values)]),
    }.get(kind, pa.array([f"v{i}" for i in range(n_values)]))
    levels = [list(range(size))]
    for above in parents:
        levels.append(renumber(([-1] if missing else []) + list(above)))
    levels.append([0] * size)
    labels = [tuple(([None] if missing else []) + [str(v) for v in values.to_pylist()])]
    labels += [tuple(f"L{h}.{i}" for i in range(max(level) + 1)) for h, level in enumerate(levels[1:], 1)]
    return Coded(kind, values, bool(missing), tuple(np.array(x, dtype=np.int64) for x in levels), tuple(labels))


def make_comparison(columns, labels, *, sensitive=(), levels=None, k=1, seed=0, weights=()):
    """A release from columns of ``(codes, coded, style, weight)`` and the class of every row."""
    quasi = tuple(
        QuasiColumn(f"q{j}", np.array(codes, dtype=np.uint8), coded, weight, style)
        for j, (codes, coded, style, weight) in enumerate(columns)
    )
    hidden = tuple(SensitiveColumn(f"s{j}", np.array(codes), coded) for j, (codes, coded) in enumerate(sensitive))
    labels = np.array(labels, dtype=np.int64)
    rows, offsets = group_rows(labels, int(labels.max(initial=-1)) + 1)
    chosen = levels or (None,) * len(quasi)
    cells = tuple(of_groups(c, rows, offsets, h) for c, h in zip(quasi, chosen, strict=True))
    survey = Survey(np.array(weights, dtype=np.float64)) if len(weights) else None
    table = EncodedTable(quasi, hidden, len(labels), len(labels), survey=survey)
    return RowComparison(table, labels, cells, k=k, seed=seed)


def weights_of(comparison):
    """What each record counts as."""
    return comparison.table.survey.weights.tolist() if comparison.weighted else [1] * comparison.n


@st.composite
def coded_domains(draw):
    kind = draw(st.sampled_from(list(Kind)))
    missing = draw(st.booleans())
    n_values = draw(st.integers(0 if missing else 1, 6))
    parents, nodes = [], list(range(n_values))
    for _ in range(draw(st.integers(0, 2))):
        # random parents, so nodes need not be neighbors in code order
        above = draw(st.lists(st.integers(0, 2), min_size=6, max_size=6))
        nodes = [above[node] for node in nodes]
        parents.append(nodes)
    numbers = draw(st.lists(st.integers(-50, 50), min_size=n_values, max_size=n_values, unique=True).map(sorted))
    return make_coded(kind, n_values, missing, parents, numbers)


# counts tell more than what they cover; their tests are their own
SPREAD_EVENLY = [form for form in chosen_forms() if not form.counts_records]


@st.composite
def comparisons(draw, max_rows=12, surveyed=True):
    """Releases with all kinds of columns, styles, levels, missing values, suppressed rows and survey weights."""
    n = draw(st.integers(1, max_rows))
    columns = []
    for _ in range(draw(st.integers(1, 3))):
        coded = draw(coded_domains())
        codes = draw(st.lists(st.integers(0, coded.size - 1), min_size=n, max_size=n))
        weight = draw(st.sampled_from([0.5, 1.0, 3.0]))
        columns.append((codes, coded, draw(st.sampled_from(SPREAD_EVENLY)), weight))
    levels = None
    if draw(st.booleans()):
        levels = [draw(st.integers(0, coded.height)) for _, coded, _, _ in columns]
        lifted = [coded.levels[h][codes] for (codes, coded, _, _), h in zip(columns, levels, strict=True)]
        keys = list(zip(*(level.tolist() for level in lifted), strict=True))
        hidden = {key for key in set(keys) if draw(st.integers(0, 4)) == 0}
        order = sorted(set(keys) - hidden)
        labels = [order.index(key) if key in order else -1 for key in keys]
    else:
        labels = draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n))
    target = make_coded(Kind.NOMINAL, 3, draw(st.booleans()))
    sensitive = draw(st.lists(st.integers(0, target.size - 1), min_size=n, max_size=n))
    weights = ()
    if surveyed and draw(st.booleans()):
        weights = draw(st.lists(st.sampled_from([0.5, 1.0, 7.25]), min_size=n, max_size=n))
    return make_comparison(
        columns, labels, sensitive=[(sensitive, target)], levels=levels, k=draw(st.integers(1, 4)),
        seed=draw(st.integers(0, 5)), weights=weights,
    )  # fmt: skip


@dataclass
class Cell:
    """What one record publishes in one column."""

    code: int
    domain: int
    covered: set[int]
    height: int
    top: int
    suppressed: bool


def _cell(cells, group, codes):
    """Covered leaves and height of a class with these codes, from the definition of the form."""
    column, level, coded = cells.column, getattr(cells, "level", None), cells.column.coded
    maps = [list(map(int, m)) for m in coded.levels]

    def lowest(covered):
        return next(h for h, m in enumerate(maps) if len({m[c] for c in covered}) == 1)

    if level is not None or column.form == Nodes():
        height = lowest(codes) if level is None else level
        node = maps[height][min(codes)]
        return {c for c in range(coded.size) if maps[height][c] == node}, height
    form = column.form.for_kind(coded.kind)
    if form == Sets():
        covered = set(codes)
    elif form not in (Ranges(), Midpoint()):
        covered = covered_by(cells.labels()[group].as_py(), column)
    elif coded.missing and 0 in codes and len(codes) > 1:
        covered = set(range(coded.size))
    else:
        covered = set(range(min(codes), max(codes) + 1))
    return covered, lowest(covered)


def rows_of(comparison):
    """Every record as a list of cells, one per column."""
    labels = comparison.labels.tolist()
    out = []
    for i, label in enumerate(labels):
        row = []
        for cells in comparison.cells:
            column, coded = cells.column, cells.column.coded
            code = int(column.codes[i])
            if label < 0:
                covered, height = set(range(coded.size)), coded.height
            else:
                mates = {int(column.codes[r]) for r, other in enumerate(labels) if other == label}
                covered, height = _cell(cells, label, mates)
            row.append(Cell(code, coded.size, covered, height, coded.height, label < 0))
        out.append(row)
    return out


def classes(labels, k=1):
    """A release of which only the class sizes matter."""
    column = ([0] * len(labels), make_coded(Kind.NOMINAL, 1, False), Sets(), 1.0)
    return make_comparison([column], labels, k=k)


def two_columns(labels):
    """Records (0, 0), (1, 1), (2, 1), (2, 1): four leaves under two inner nodes, and two leaves under a root."""
    zips, sex = make_coded(Kind.NOMINAL, 4, False, [[0, 0, 1, 1]]), make_coded(Kind.NOMINAL, 2, False)
    columns = [([0, 1, 2, 2], zips, Nodes(), 3.0), ([0, 1, 1, 1], sex, Nodes(), 1.0)]
    return make_comparison(columns, labels)


def without_steps(labels):
    """One value whose hierarchy has no level above it."""
    one = make_coded(Kind.NOMINAL, 1, False)
    flat = Coded(one.kind, one.values, False, one.levels[:1], one.labels[:1])
    return make_comparison([([0] * len(labels), flat, Nodes(), 1.0)], labels)


def suppress_all(comparison):
    """The same table with every record suppressed."""
    columns = [(c.codes, c.coded, c.form, c.weight) for c in comparison.table.quasi]
    return make_comparison(columns, np.full(comparison.n, -1), k=comparison.k)


def slow_ncp(comparison):
    """NCP of each column, cell by cell."""

    def of_cell(cell):
        if cell.suppressed:
            return 1.0
        return 0.0 if cell.domain == 1 else (len(cell.covered) - 1) / (cell.domain - 1)

    rows = rows_of(comparison)
    return [sum(map(of_cell, column)) / len(rows) for column in zip(*rows, strict=True)]
