"""GroupStats and Histogram against dictionaries of counters."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.table.stats import GroupStats, Histogram

KEY = ("illness",)


@st.composite
def counters(draw, n_values: int = 5):
    """Some groups as counters, empty ones among them, and the number of units that make a person."""
    unit = draw(st.sampled_from([1, 6]))
    group = st.dictionaries(st.integers(0, n_values - 1), st.integers(1, 9), max_size=n_values).map(Counter)
    return draw(st.lists(group, min_size=1, max_size=6)), unit


def histogram_of(groups: list[Counter], unit: int = 1) -> Histogram:
    """Entries in scrambled order, some split in two and some with 0 units."""
    triples = []
    for g, counter in enumerate(groups):
        for value, units in counter.items():
            triples += [(g, value, units - 1), (g, value, 1), (g, (value + 1) % 5, 0)]
    triples.sort(key=lambda t: (t[2], -t[1]))
    columns = np.array(triples, dtype=np.int64).reshape(-1, 3)
    return Histogram.from_pairs(columns[:, 0], columns[:, 1], columns[:, 2], len(groups), unit)


def stats_of(groups: list[Counter], unit: int) -> GroupStats:
    units = np.array([sum(g.values()) for g in groups], dtype=np.int64)
    population = np.arange(len(groups), dtype=np.int64) + 1
    background = histogram_of([Counter({g: 3}) for g in range(len(groups))], 16)
    return GroupStats(units, unit, {KEY: histogram_of(groups, unit)}, population, background)


def read(histogram: Histogram) -> list[Counter]:
    out = []
    for g in range(len(histogram)):
        part = slice(histogram.offsets[g], histogram.offsets[g + 1])
        values = histogram.values[part].tolist()
        assert values == sorted(set(values)), "values ascend within a group"
        units = histogram.units[part].tolist()
        assert all(u > 0 for u in units)
        out.append(Counter(dict(zip(values, units, strict=True))))
    return out


@given(counters())
def test_reductions_of_groups(case):
    groups, unit = case
    h = histogram_of(groups, unit)
    assert read(h) == groups
    assert h.distinct().tolist() == [len(g) for g in groups]
    assert h.totals() == pytest.approx([sum(g.values()) / unit for g in groups])
    assert h.max(h.counts, empty=-1.0) == pytest.approx([max(g.values(), default=-unit) / unit for g in groups])
    assert h.min(h.values, empty=99.0).tolist() == [min(g, default=99) for g in groups]
    assert h.sum(h.units > 2).tolist() == [sum(u > 2 for u in g.values()) for g in groups]
    assert h.groups.tolist() == [i for i, g in enumerate(groups) for _ in g]
    assert h.ranks().tolist() == [r for g in groups for r in range(len(g))]
    assert h.as_matrix(5) == pytest.approx(np.array([[g[v] / unit for v in range(5)] for g in groups]))
    expected = [(i, v) for i, g in enumerate(groups) for v in sorted(g, key=lambda v, g=g: (-g[v], v))]
    order = h.descending()
    assert list(zip(h.groups[order].tolist(), h.values[order].tolist(), strict=True)) == expected


@given(counters())
def test_shares_sum_to_one(case):
    groups, unit = case
    h = histogram_of(groups, unit)
    assert h.sum(h.shares()) == pytest.approx([1.0 if g else 0.0 for g in groups])


@given(counters(), st.data())
def test_take_repeats_reorders_and_drops(case, data):
    groups, unit = case
    stats = stats_of(groups, unit)
    index = data.draw(st.lists(st.integers(0, len(groups) - 1), max_size=8))
    taken = stats.take(index)
    assert read(taken.histogram(KEY)) == [groups[i] for i in index]
    assert taken.sizes == pytest.approx([sum(groups[i].values()) / unit for i in index])
    assert taken.population.tolist() == [i + 1 for i in index]
    assert read(taken.background) == [Counter({i: 3}) for i in index]
    mask = np.array([i % 2 == 0 for i in range(len(groups))])
    assert read(stats.take(mask).histogram(KEY)) == groups[::2]


@given(counters(), st.data())
def test_merge_adds_and_drops(case, data):
    groups, unit = case
    stats = stats_of(groups, unit)
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=len(groups), max_size=len(groups)))
    merged = stats.merge(labels, 4)
    expected = [Counter() for _ in range(4)]
    for label, group in zip(labels, groups, strict=True):
        if label >= 0:
            expected[label] += group
    assert read(merged.histogram(KEY)) == expected
    assert merged.units.tolist() == [sum(g.values()) for g in expected]
    assert merged.population.tolist() == [sum(i + 1 for i, x in enumerate(labels) if x == g) for g in range(4)]
    assert [sum(g.values()) for g in read(merged.background)] == [3 * labels.count(g) for g in range(4)]
    assert (merged.unit, merged.histogram(KEY).unit, merged.background.unit) == (unit, unit, 16)
    whole = stats.whole()
    assert read(whole.histogram(KEY)) == [sum(groups, Counter())]
    assert len(whole) == 1


@given(counters(), counters())
def test_concat_then_take_gives_the_parts_back(one, two):
    first, second = stats_of(one[0], 1), stats_of(two[0], 1)
    both = GroupStats.concat([first, second])
    assert read(both.histogram(KEY)) == one[0] + two[0]
    assert both.population.tolist() == [*first.population, *second.population]
    back = both.take(np.arange(len(first), len(both)))
    assert read(back.histogram(KEY)) == two[0]
    assert read(back.background) == read(second.background)


@given(counters(), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_relabel_adds_up_categories(case, codes):
    groups, unit = case
    expected = []
    for group in groups:
        counter: Counter = Counter()
        for value, units in group.items():
            counter[codes[value]] += units
        expected.append(counter)
    assert read(histogram_of(groups, unit).relabel(np.array(codes))) == expected


@given(counters(), st.data())
def test_with_one_more_person(case, data):
    groups, unit = case
    values = data.draw(st.lists(st.integers(0, 4), min_size=len(groups), max_size=len(groups)))
    grown = stats_of(groups, unit).with_one_more(KEY, np.array(values))
    assert read(grown.histogram(KEY)) == [g + Counter({v: unit}) for g, v in zip(groups, values, strict=True)]
    assert grown.sizes == pytest.approx([sum(g.values()) / unit + 1 for g in groups])


def test_tables_tell_candidates_apart_and_do_not_survive_selection():
    stats = GroupStats(np.array([1, 2, 3]), tables=np.array([0, 1, 3]))
    assert stats.table_offsets().tolist() == [0, 1, 3]
    assert stats.take([0, 2]).table_offsets().tolist() == [0, 2]
    assert stats.merge([0, 0, 0], 1).table_offsets().tolist() == [0, 1]


def test_dense_is_the_matrix():
    matrix = [[0, 2, 0], [0, 0, 0], [1, 0, 4]]
    assert read(Histogram.dense(matrix)) == [Counter({1: 2}), Counter(), Counter({0: 1, 2: 4})]
