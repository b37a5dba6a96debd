"""What every recipe promises, on random values."""

from __future__ import annotations

import datetime
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.hierarchy.base import Coded
from hushtable.hierarchy.dates import Dates
from hushtable.hierarchy.flat import Flat
from hushtable.hierarchy.frequency import Frequency
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.registry import hierarchies
from hushtable.schema.columns import Kind

INT64 = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
WORDS = st.text(st.sampled_from('ab."é日\U0001f600* ;'), max_size=6)
DAYS = st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31))

INT_RECIPES = [
    Flat(),
    Prefix(),
    Frequency(fanout=2),
    Intervals(widths=(5, 10, 40)),
    Intervals(widths=(0.25, 0.5), origin=-0.1, low=-3, high=2**53 + 1),
    Intervals(cuts=((-5, 0, 2.5, 2**62), (0, 2**62))),
    Intervals(quantiles=(8, 4, 2)),
    Intervals(quantiles=(6, 2), low=-10, high=10),
]
WORD_RECIPES = [
    Flat(),
    Prefix(),
    Prefix(mask="#", steps=(1, 3), from_end=False, length=6),
    Frequency(),
    Frequency(fanout=2),
]
DATE_RECIPES = [Flat(), Dates(), Dates(levels=("day", "year", "century")), Prefix(steps=(3, 6)), Frequency(fanout=3)]
CASES = [
    *((r, Kind.NUMERIC, INT64 | st.integers(-50, 50), pa.int64()) for r in INT_RECIPES),
    *((r, Kind.NUMERIC, FLOATS | st.integers(-500, 500).map(lambda n: n / 100), pa.float64()) for r in INT_RECIPES),
    *((r, Kind.NOMINAL, WORDS, pa.string()) for r in WORD_RECIPES),
    *((r, Kind.ORDINAL, WORDS, pa.string()) for r in WORD_RECIPES),
    *((r, Kind.DATE, DAYS, pa.date32()) for r in DATE_RECIPES),
]


def assert_sound(coded: Coded) -> None:
    n = coded.size
    assert n == len(coded.values) + coded.missing
    assert coded.levels[0].tolist() == list(range(n))
    assert len(coded.labels) == len(coded.levels)
    assert coded.height >= 1
    assert len(coded.labels[-1]) == 1
    for level, labels in zip(coded.levels, coded.labels, strict=True):
        assert level.dtype == np.int64
        assert list(dict.fromkeys(level.tolist())) == list(range(len(labels))) or n == 0
        assert max(Counter(labels).values(), default=1) == 1
    for low, high in zip(coded.levels, coded.levels[1:], strict=False):
        assert len(set(zip(low.tolist(), high.tolist(), strict=True))) == len(set(low.tolist()))
    for level, labels in zip(coded.levels[:-1], coded.labels[:-1], strict=True):
        missing = [node for node, label in enumerate(labels) if label is None]
        assert missing == ([0] if coded.missing else [])
        if coded.missing:
            assert np.count_nonzero(level == 0) == 1
    assert coded.labels[-1][0] is not None
    if coded.kind is Kind.NOMINAL:
        assert coded.contiguous
    elif coded.kind is not Kind.ORDINAL:
        assert coded.values.to_pylist() == sorted(coded.values.to_pylist())


@pytest.mark.parametrize(("recipe", "kind", "element", "arrow"), CASES, ids=lambda x: str(x)[:60])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_recipe_is_sound_and_ignores_the_order_of_values(recipe, kind, element, arrow, data):
    values = data.draw(st.lists(element, unique=True, max_size=40))
    counts = data.draw(st.lists(st.integers(1, 1000), min_size=len(values), max_size=len(values)))
    missing = data.draw(st.booleans())
    coded = recipe.code(
        pa.array(values, arrow), kind, missing=missing, column="x", counts=np.array(counts, dtype=np.int64)
    )
    assert_sound(coded)
    assert sorted(coded.values.to_pylist()) == sorted(values)
    if kind is Kind.ORDINAL:
        assert coded.values.to_pylist() == values
        return
    order = data.draw(st.permutations(range(len(values))))
    again = recipe.code(
        pa.array([values[i] for i in order], arrow),
        kind,
        missing=missing,
        column="x",
        counts=np.array([counts[i] for i in order], dtype=np.int64),
    )
    assert again.values.equals(coded.values)
    assert again.labels == coded.labels
    assert all(np.array_equal(a, b) for a, b in zip(again.levels, coded.levels, strict=True))


@settings(max_examples=60, deadline=None)
@given(
    parents=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    grand=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    kind=st.sampled_from([Kind.NOMINAL, Kind.NUMERIC]),
    missing=st.booleans(),
    data=st.data(),
)
def test_random_taxonomies_are_sound_and_ignore_the_order_of_rows(parents, grand, kind, missing, data):
    rows = [(str(i), f"p{p}", f"g{grand[p]}") for i, p in enumerate(parents)]
    arrow = pa.int64() if kind is Kind.NUMERIC else pa.string()
    values = pa.array([], arrow)
    args = {"missing": missing, "column": "x", "counts": np.zeros(0, dtype=np.int64)}
    coded = Taxonomy(rows=tuple(rows)).code(values, kind, **args)
    assert_sound(coded)
    for level in (1, 2):
        below = 1 if missing else 0
        got = [coded.labels[level][coded.levels[level][c + below]] for c in range(len(rows))]
        want = {row[0]: row[level] for row in rows}
        assert got == [want[str(v)] for v in coded.values.to_pylist()]
    again = Taxonomy(rows=tuple(data.draw(st.permutations(rows)))).code(values, kind, **args)
    assert again.labels == coded.labels
    assert again.values.equals(coded.values)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("recipe", [*INT_RECIPES, *WORD_RECIPES, *DATE_RECIPES], ids=str)
def test_a_column_without_any_value(recipe, missing):
    for kind, arrow in [(Kind.NUMERIC, pa.int64()), (Kind.NOMINAL, pa.string()), (Kind.DATE, pa.date32())]:
        coded = recipe.code(pa.array([], arrow), kind, missing=missing, column="x", counts=np.zeros(0, dtype=np.int64))
        assert_sound(coded)
        assert coded.size == int(missing)
        assert coded.labels[-1] == ("*",)


def test_the_registry_finds_every_recipe():
    assert set(hierarchies) >= {"flat", "taxonomy", "intervals", "prefix", "dates", "frequency"}
