"""Ranks of cells."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hushtable.release.recode import class_numbers
from hushtable.table.ranks import dense_ranks


@pytest.mark.parametrize("gaps", [0, 1])
def test_as_many_values_as_the_index_type_holds(gaps):
    """128 values fill int8, so that the place of null does not fit."""
    values = [f"{i:03}" for i in range(128)]
    indices = pa.array([*range(128), *[None] * gaps], pa.int8())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(values))
    ranks, bound = dense_ranks(column)
    assert ranks.tolist() == [*range(1, 129), *[0] * gaps] and bound == 129
    assert class_numbers([column])[1] == 128 + gaps
