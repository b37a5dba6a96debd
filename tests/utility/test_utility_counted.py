"""Counts that were taken elsewhere say the same as rows on hand, whatever is asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_utility import comparisons

from hushtable.registry import measures
from hushtable.release.comparison import RowComparison, Values
from hushtable.release.counted import CountedComparison
from hushtable.release.forms.base import cells_of
from hushtable.release.forms.midpoint import MidpointCells

NAMES = sorted(name for name in measures if not name.startswith("accuracy"))


def same(got, want):
    for name in NAMES:
        measure = measures.build(name)
        assert measure.compute(got) == pytest.approx(measure.compute(want), rel=1e-9, abs=1e-9, nan_ok=True), name


def spread(comparison, records):
    """The comparison with every row as often as it counts."""
    of_row = np.repeat(np.arange(comparison.n), records)
    table = comparison.table
    quasi = tuple(replace(c, codes=c.codes[of_row]) for c in table.quasi)
    sensitive = tuple(replace(c, codes=c.codes[of_row]) for c in table.sensitive)
    table = replace(table, quasi=quasi, sensitive=sensitive, n_sample=len(of_row), n_rows=len(of_row))
    return replace(comparison, table=table, labels=comparison.labels[of_row])


@given(comparisons(surveyed=False), st.data())
def test_rows_that_stand_for_several(comparison, data):
    records = np.array(data.draw(st.lists(st.integers(1, 4), min_size=comparison.n, max_size=comparison.n)))
    same(CountedComparison.of_rows(comparison, records, comparison), spread(comparison, records))


def remade(cells, offsets, members):
    return cells_of(cells.column, offsets, members, getattr(cells, "level", None))


def text_of(cells, group):
    """What a class publishes; an empty one nothing that another one would."""
    members = cells.members[cells.offsets[group] : cells.offsets[group + 1]]
    alone = remade(cells, np.array([0, len(members)]), members)
    if isinstance(cells, MidpointCells):
        # the middles of several ranges may be one number
        return group
    return alone.labels()[0].as_py() if len(members) else group


def shared_cells(comparison: RowComparison) -> CountedComparison:
    """Count by published cell instead of by class, and hand tuples out one by one."""
    counted, shared, of_class = [], [], []
    for j, cells in enumerate(comparison.cells):
        texts = [text_of(cells, group) for group in range(len(cells))]
        number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        place = np.array([number[text] for text in texts], dtype=np.int64)
        pairs: dict[tuple[int, int], int] = {}
        for label, code in zip(comparison.labels.tolist(), comparison.table.quasi[j].codes.tolist(), strict=True):
            pair = (place[label] if label >= 0 else -1, code)
            pairs[pair] = pairs.get(pair, 0) + 1
        held = [sorted(code for cell, code in pairs if cell == i) for i in range(len(number))]
        offsets = np.concatenate([[0], np.cumsum([len(codes) for codes in held])]).astype(np.int64)
        members = np.array([code for codes in held for code in codes], dtype=np.int64)
        shared.append(remade(cells, offsets, members))
        of_class.append(place)
        cell, code = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
        counted.append(Values(cell, code, np.array(list(pairs.values()))))

    def one_by_one(sums):
        columns, records = comparison._tuples
        return sum(sums([c[i : i + 1] for c in columns], records[i : i + 1]) for i in range(len(records)))

    return CountedComparison(
        tuple(shared), tuple(of_class), comparison.sizes, tuple(counted), one_by_one, comparison,
        comparison.k, comparison.seed, comparison.linked,
    )  # fmt: skip


@given(comparisons(surveyed=False))
def test_classes_that_share_cells(comparison):
    same(shared_cells(comparison), comparison)
