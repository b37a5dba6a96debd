"""Buckets: exact quasi-identifiers and sensitive values, linked only by the number of a group.

In memory, a release is one table: in every group, the rows are sorted by their other cells, and next to them the
group's sensitive values, sorted separately. A value in a person's row only means that both belong to the group. On disk
they are two tables. Groups are numbered by their contents, so numbers reveal nothing either.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.errors import DataError
from hushtable.io.dictionaries import compact
from hushtable.io.inferred import settle
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.release.publish import published_order
from hushtable.schema.columns import Role
from hushtable.table.plan import TablePlan
from hushtable.table.ranks import dense_ranks


def bucket_column(plan: TablePlan) -> str:
    """Return the name of the column with the group's number: one that no column of the policy has.

    Examples
    --------
    >>> bucket_column(TablePlan(()))
    'group'
    """
    name = "group"
    while name in {c.name for c in plan.columns}:
        name += "_"
    return name


def publish_buckets(
    source: pa.Table, buckets: IntArray, plan: TablePlan, rows: IntArray
) -> tuple[pa.Table, IntArray, IntArray]:
    """Return the published table, and the source rows of its people and of its sensitive values.

    Parameters
    ----------
    source : pyarrow.Table
    buckets : int64 array
        The group of every source row.
    plan : TablePlan
    rows : int64 array
        The source rows that are published.
    """
    shown = settle(source.take(pa.array(rows)), source.schema)
    person = _ranks(shown.select([c.name for c in plan.columns if _with_people(c.role)]))
    value = _ranks(shown.select(plan.named(Role.SENSITIVE)))
    number = _numbers(buckets[rows], person, value)
    people, values = np.lexsort((person, number)), np.lexsort((value, number))
    columns = {
        c.name: shown.column(c.name).take(pa.array(values if c.role is Role.SENSITIVE else people))
        for c in plan.columns
        if c.role.published
    }
    columns[bucket_column(plan)] = pa.chunked_array([pa.array(number[people])])
    table = compact(pa.table(columns))
    order = published_order(table)
    return table.take(pa.array(order)), rows[people[order]], rows[values[order]]


def _with_people(role: Role) -> bool:
    return role in (Role.QUASI, Role.INSENSITIVE)


def _ranks(table: pa.Table) -> IntArray:
    """Rank rows by all their cells."""
    if not table.num_columns:
        return np.zeros(table.num_rows, dtype=np.int64)
    ranks = [dense_ranks(column) for column in table.columns]
    return number_rows([r for r, _ in ranks], [n for _, n in ranks])[0]


def _numbers(buckets: IntArray, person: IntArray, value: IntArray) -> IntArray:
    """Number the groups from 1 in the order of their sorted contents; return every row's number."""
    _, label = np.unique(buckets, return_inverse=True)
    n = int(label.max()) + 1
    rows, offsets = group_rows(label.astype(np.int64), n)
    # the first person decides, and the whole contents only between groups that begin alike
    first = np.minimum.reduceat(person[rows], offsets[:-1])
    alike = np.bincount(first)[first] > 1
    contents: list[tuple[int, ...]] = [()] * n
    for g in np.flatnonzero(alike).tolist():
        own = rows[offsets[g] : offsets[g + 1]]
        contents[g] = (*np.sort(person[own]).tolist(), -1, *np.sort(value[own]).tolist())
    lead = first.tolist()
    rank = np.empty(n, dtype=np.int64)
    rank[sorted(range(n), key=lambda g: (lead[g], contents[g]))] = np.arange(1, n + 1)
    return rank[label]


def split_table(table: pa.Table, plan: TablePlan) -> tuple[pa.Table, pa.Table]:
    """Return the two tables: people, and sensitive values, each with the number of their group."""
    first, second = (compact(t.take(pa.array(published_order(t)))) for t in _apart(table, plan))
    return first, second


def _apart(table: pa.Table, plan: TablePlan) -> tuple[pa.Table, pa.Table]:
    name = bucket_column(plan)
    people = table.select([*(c.name for c in plan.columns if _with_people(c.role)), name])
    return people, table.select([name, *plan.named(Role.SENSITIVE)])


def joined_orders(table: pa.Table, plan: TablePlan) -> tuple[IntArray, IntArray]:
    """Return the rows of people and of values, in the order in which the two tables are joined.

    Examples
    --------
    >>> table = pa.table({"group": [2, 1, 1]})
    >>> [order.tolist() for order in joined_orders(table, TablePlan(()))]
    [[1, 2, 0], [1, 2, 0]]
    """
    number = table.column(bucket_column(plan)).to_numpy()
    first, second = map(published_order, _apart(table, plan))
    return first[np.argsort(number[first], kind="stable")], second[np.argsort(number[second], kind="stable")]


def join_tables(people: pa.Table, values: pa.Table, plan: TablePlan) -> pa.Table:
    """Join the two tables again, group by group.

    Raises
    ------
    DataError
        If they do not have the same groups of the same sizes, or one has columns that belong to the other.
    """
    name = bucket_column(plan)
    with_people = {c.name for c in plan.columns if _with_people(c.role)}
    theirs = set(plan.named(Role.SENSITIVE))
    wrong = [*with_people.intersection(values.column_names), *theirs.intersection(people.column_names)]
    if wrong:
        names = ", ".join(map(repr, sorted(wrong)))
        raise DataError(
            f"The tables of people and of sensitive values are not separate: {names} is in the wrong one.",
            code="not-apart",
            hint="Do not publish them: such a column links the rows of the two tables.",
        )
    for table, what in ((people, "people"), (values, "sensitive values")):
        if name not in table.column_names:
            raise DataError(f"The table of {what} has no column {name!r} with the groups.", code="no-groups")
    first, second = (_whole(t.column(name)) for t in (people, values))
    if not np.array_equal(np.sort(first), np.sort(second)):
        raise DataError(
            "The tables of people and of sensitive values do not have the same groups of the same sizes.",
            code="mismatch",
            hint="They do not belong together.",
        )
    one = people.take(pa.array(np.argsort(first, kind="stable")))
    other = values.take(pa.array(np.argsort(second, kind="stable")))
    for column in (n for n in other.column_names if n != name):
        one = one.append_column(column, other.column(column))
    return one


def _whole(column: pa.ChunkedArray) -> IntArray:
    """Return the numbers of groups, whatever their type in the file."""
    try:
        text = column.cast(pa.string())
        plain = text.cast(pa.int64())
        if plain.null_count:
            raise ValueError("a row without a group")
        if not plain.cast(pa.string()).equals(text):
            # readers would take 01 and 1 for two groups
            raise ValueError("a number that is written in a different way")
        numbers: IntArray = plain.to_numpy().astype(np.int64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError, ValueError):
        raise DataError("The numbers of the groups are not whole numbers.", code="bad-groups") from None
    return numbers
