"""People and sensitive values in two tables, put together again."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hushtable.errors import DataError
from hushtable.release.bucket import join_tables
from hushtable.table.plan import TablePlan

PLAN = TablePlan(())


@pytest.mark.parametrize("groups", [[1, 2], [1.0, 2.0], ["1", "2"]])
def test_groups_are_recognised_however_they_were_read(groups):
    people, values = pa.table({"age": [1, 2], "group": groups}), pa.table({"group": groups[::-1], "d": ["x", "y"]})
    assert join_tables(people, values, PLAN).column("d").to_pylist() == ["y", "x"]


@pytest.mark.parametrize("groups", [[1, None], ["1", ""], ["1", "1.5"], ["1", "x"], ["1", "9" * 20]])
def test_a_row_without_a_whole_number_of_its_group_is_refused(groups):
    people, values = pa.table({"age": [1, 2], "group": groups}), pa.table({"group": groups, "d": ["x", "y"]})
    with pytest.raises(DataError, match="not whole numbers"):
        join_tables(people, values, PLAN)


def test_groups_of_other_sizes_do_not_belong_together():
    people, values = pa.table({"age": [1, 2], "group": [1, 1]}), pa.table({"group": [1, 2], "d": ["x", "y"]})
    with pytest.raises(DataError, match="same groups of the same sizes"):
        join_tables(people, values, PLAN)
