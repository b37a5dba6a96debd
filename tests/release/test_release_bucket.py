"""People and sensitive values in two tables, put together again."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hushtable.errors import DataError, PolicyError
from hushtable.release.bucket import join_tables
from hushtable.release.reading_back import check_published_columns
from hushtable.table.plan import TablePlan
from support_core import quasi, sensitive

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


@pytest.mark.parametrize("odd", ["01", "+1", " 1", "1 "])
def test_a_group_that_is_written_in_two_ways_is_refused(odd):
    people = pa.table({"age": ["1", "2", "3", "4"], "group": ["1", "1", "1", "1"]})
    values = pa.table({"group": ["1", "1", odd, odd], "pay": ["a", "a", "b", "b"]})
    with pytest.raises(DataError, match="not whole numbers"):
        join_tables(people, values, TablePlan(()))


@pytest.mark.parametrize(("extra", "where"), [("age", "values"), ("pay", "people")])
def test_columns_in_the_table_of_the_others_are_refused(extra, where):
    plan = TablePlan((quasi("age"), sensitive("pay")))
    tables = {
        "people": pa.table({"age": ["1", "2"], "group": ["1", "1"]}),
        "values": pa.table({"group": ["1", "1"], "pay": ["a", "b"]}),
    }
    join_tables(**tables, plan=plan)
    tables[where] = tables[where].append_column(extra, pa.array(["1", "2"]))
    with pytest.raises(DataError, match=f"not separate: '{extra}'"):
        join_tables(**tables, plan=plan)


def test_several_columns_of_one_name_are_refused():
    plan = TablePlan((quasi("age"), sensitive("pay")))
    table = pa.Table.from_arrays([pa.array(["1"])] * 3, names=["age", "pay", "age"])
    with pytest.raises(PolicyError, match="several columns with the same name"):
        check_published_columns(table, plan)
