from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
import pytest

from hushtable.errors import HierarchyError
from hushtable.hierarchy.build import Draft, Level, assemble, broken_nodes, sorted_leaves
from hushtable.hierarchy.flat import Flat
from hushtable.hierarchy.frequency import Frequency
from hushtable.hierarchy.prefix import Prefix
from hushtable.schema.columns import Kind


def levels(*columns):
    return [Level.of_labels(pa.array(c)) for c in columns]


def test_a_level_that_does_not_nest_is_named_without_its_labels():
    draft = Draft.over(pa.array(["a", "b", "c"]), levels(["x", "x", "y"], ["p", "q", "q"]))
    with pytest.raises(HierarchyError, match="column 'town' does not nest: 1 of the labels at level 1") as caught:
        assemble(draft, Kind.NOMINAL, missing=False, column="town")
    assert caught.value.code == "not-nested"
    assert "level 2" in str(caught.value)


def test_broken_nodes_lists_every_broken_level():
    assert broken_nodes(levels("aab", "xyx", "pqq", "111")) == {0: 1, 1: 1}


def test_depth_first_order_is_by_utf8_bytes_at_every_level():
    # in UTF-8 the fullwidth letter stands before the emoji; in UTF-16 it would stand behind it
    draft = Draft.over(pa.array(["d", "c", "b", "a"]), levels(["\U0001f600", "\uff5e", "Z", "\uff5e"]))
    coded = assemble(draft, Kind.NOMINAL, missing=False, column="x")
    assert coded.labels[1] == ("Z", "\uff5e", "\U0001f600")
    assert coded.values.to_pylist() == ["b", "a", "c", "d"]


def test_ordered_kinds_keep_their_order_even_where_a_node_is_not_contiguous():
    draft = Draft.over(pa.array([1, 2, 3]), levels(["odd", "even", "odd"]))
    coded = assemble(draft, Kind.NUMERIC, missing=False, column="x")
    assert coded.levels[1].tolist() == [0, 1, 0]
    assert not coded.contiguous


def test_equal_labels_of_a_level_become_one_node():
    level = Level.of(np.array([0, 1, 2]), ["x", "y", "x"])
    assert level.nodes.tolist() == [0, 1, 0]


def test_nan_is_refused():
    with pytest.raises(HierarchyError, match="'x' has values that are not numbers") as caught:
        sorted_leaves(pa.array([1.0, float("nan")]), Kind.NUMERIC, np.array([1, 1]), "x")
    assert caught.value.hint == "Read them as missing values."


@pytest.mark.parametrize("recipe", [Flat(), Frequency(), Prefix()], ids=lambda r: r.name)
def test_a_million_values_in_a_few_seconds(recipe):
    numbers = np.random.default_rng(1).permutation(10**6)
    values = pa.array([f"v{n:07d}" for n in numbers.tolist()])
    counts = np.ones(10**6, dtype=np.int64)
    start = time.perf_counter()
    coded = recipe.code(values, Kind.NOMINAL, missing=True, column="x", counts=counts)
    assert time.perf_counter() - start < 20
    assert coded.size == 10**6 + 1
    assert coded.contiguous
