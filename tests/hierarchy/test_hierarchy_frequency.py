from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.errors import ParameterError
from hushtable.hierarchy.frequency import Frequency
from hushtable.schema.columns import Kind


def code(recipe, values, counts, kind=Kind.NOMINAL, arrow=None):
    return recipe.code(
        pa.array(values, arrow), kind, missing=False, column="x", counts=np.array(counts, dtype=np.int64)
    )


def test_groups_balance_records():
    values = [f"{i:02d}" for i in range(16)]
    coded = code(Frequency(fanout=4), values, [100, *[1] * 15])
    records = np.bincount(coded.levels[1], weights=[100, *[1] * 15]).tolist()
    assert records[0] == 100
    assert coded.labels[1][0] == "00"
    assert len(records) < 16 / 2


def test_height_grows_with_the_logarithm():
    coded = code(Frequency(fanout=10), [f"{i:04d}" for i in range(1000)], [1] * 1000)
    assert [len(labels) for labels in coded.labels] == [1000, 100, 10, 1]
    assert coded.labels[1][:2] == ("0000..0009", "0010..0019")


def test_few_values_need_no_groups():
    assert code(Frequency(fanout=4), ["a", "b", "c"], [1, 2, 3]).labels == (("a", "b", "c"), ("*",))


def test_numbers_and_ordinal_values_keep_their_order():
    assert code(Frequency(fanout=2), [10, 9, 100], [1, 1, 1], Kind.NUMERIC).labels[1] == ("9", "10..100")
    assert code(Frequency(fanout=2), ["low", "mid", "high"], [5, 1, 1], Kind.ORDINAL).labels[1] == ("low", "mid..high")


def test_values_that_look_like_labels_do_not_make_two_groups_read_alike():
    coded = code(Frequency(fanout=2), ["a", "a..b", "a..b..c", "b..c", "c", '"a"'], [1] * 6)
    assert all(len(set(labels)) == len(labels) for labels in coded.labels)
    assert '"' in "".join(coded.labels[1])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.text('a."', max_size=5), st.integers(1, 50)), unique_by=lambda p: p[0], max_size=30))
def test_every_group_is_a_run_of_neighbours_named_after_its_ends(pairs):
    coded = code(Frequency(fanout=2), [p[0] for p in pairs], [p[1] for p in pairs], arrow=pa.string())
    sorted_values = sorted(coded.values.to_pylist(), key=lambda s: s.encode())
    place = {v: i for i, v in enumerate(sorted_values)}
    for level in coded.levels:
        for node in range(int(level.max(initial=-1)) + 1):
            members = sorted(
                place[v] for v, n in zip(coded.values.to_pylist(), level.tolist(), strict=True) if n == node
            )
            assert members == list(range(members[0], members[-1] + 1))


def test_counts_too_large_for_int64_products():
    coded = code(Frequency(fanout=2), [f"{i:02d}" for i in range(16)], [2**57] * 16)
    assert [len(labels) for labels in coded.labels] == [16, 8, 4, 2, 1]


def test_fanout_of_one_is_refused():
    with pytest.raises(ParameterError, match="int >= 2"):
        Frequency(fanout=1)
