"""Treating a table: the columns that the policy treats get new values, in memory, before anything else is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import DataError
from hushtable.io.dictionaries import encode, value_type
from hushtable.io.inferred import mark
from hushtable.io.text import is_text, to_labels
from hushtable.kernels.grouping import number_rows
from hushtable.schema.columns import Kind, Role
from hushtable.schema.prepare import Prepared, prepare
from hushtable.table.coins import Coins
from hushtable.table.plan import ColumnPlan, TablePlan, check_columns
from hushtable.table.ranks import dense_ranks
from hushtable.treatments.base import Given, Treatment


def treatments_of(plan: TablePlan) -> Iterator[tuple[ColumnPlan, Treatment]]:
    """Yield every treatment of a plan with its column."""
    return ((column, treatment) for column in plan.columns for treatment in column.treatments)


def ready(plan: TablePlan) -> None:
    """Refuse treatments that lack an input, before any work is done.

    Raises
    ------
    UsageError
        If a key is missing.
    """
    for _, treatment in treatments_of(plan):
        treatment.ready()


def treated(table: pa.Table, plan: TablePlan, document: Mapping[str, Any]) -> pa.Table:
    """Return the table with treated values: same rows, same order, same columns.

    The same table (in any row order), treatments and local secret give the same values, regardless of the rest of the
    policy: publishing a table twice with different models or columns publishes the same noise, not two draws of it.
    So the coins belong to the whole table, whatever the policy publishes of it, and to the values that a treatment
    reads: the same noise on other values could be subtracted. Treatments that are fresh for each release depend on the
    whole policy too.

    Parameters
    ----------
    table : pyarrow.Table
    plan : TablePlan
    document : mapping
        The policy as data.

    Raises
    ------
    DataError, IncompatibleError
        If a column is of a kind that its treatment does not accept.
    """
    if not plan.treated:
        return table
    check_columns(table.column_names, plan)
    ready(plan)
    wanted = {name for c, treatment in treatments_of(plan) for name in (c.name, *treatment.reads(plan.entity))}
    read = {column.name: prepared(table, column, plan) for column in plan.columns if column.name in wanted}
    order, digest = _contents(table)
    coins = fresh = Coins.of_release(digest, b"treatments")
    if any(treatment.per_release for _, treatment in treatments_of(plan)):
        fresh = Coins.of_release(digest, _release_digest(document, plan))
    for column in plan.columns:
        now = read[column.name] if column.treatments else None
        for turn, treatment in enumerate(column.treatments):
            assert now is not None
            treatment.check_kind(column.name, now.kind)
            others = {name: read[name] for name in treatment.reads(plan.entity)}
            purpose = _purpose(column, treatment, turn)
            if treatment.per_release:
                drawn = fresh.purse(purpose)
            else:
                drawn = coins.purse(purpose + _digest_read(treatment, now, others, order, plan))
            given = Given(now, others, order, drawn, plan.entity)
            values = _as_given(treatment.treat(given), table.column(column.name), now.kind)
            # a fraction of a suppressed record would make fractions of all whole numbers
            field = mark(pa.field(column.name, values.type))
            table = table.set_column(table.column_names.index(column.name), field, values)
            now = _same_kind(now, table, column, plan)
    return table


def prepared(table: pa.Table, column: ColumnPlan, plan: TablePlan) -> Prepared:
    """Return a column of a table as the plan reads it."""
    # names of people are text: 007 is not 7
    kind = column.kind or (Kind.NOMINAL if column.role is Role.IDENTIFIER else None)
    return prepare(
        table.column(column.name), name=column.name, kind=kind, missing_values=plan.missing_values,
        order=column.order, format=column.format,
    )  # fmt: skip


def looked_up(before: Prepared, after: Prepared, order: Sequence[str] = ()) -> pa.Array:
    """Return the values that an adversary who knows the true values looks for in a treated column, row by row.

    It is the true value or, if no treated record has it, the nearest one that some record has. Labels without an
    order have no nearest one: the treated value itself is used, which overstates what is known.

    Examples
    --------
    >>> ages, rounded = (prepare(pa.array(values), name="age") for values in ([23, 38, 90], [20, 40, 80]))
    >>> looked_up(ages, rounded).to_pylist()
    [20, 40, 80]
    """
    if not len(after.values) or not len(before.values):
        return after.data
    if before.kind is Kind.NOMINAL:
        there = pc.index_in(before.values, after.values).is_valid().to_numpy(zero_copy_only=False)
        own = np.append(there, True)[before.codes()]
        return pc.if_else(pa.array(own), before.data.cast(before.values.type), after.data.cast(after.values.type))
    true, left = (_value_positions(column, order) for column in (before, after))
    above = np.clip(np.searchsorted(left, true), 1, max(len(left) - 1, 1))
    below = above - 1
    above = np.minimum(above, len(left) - 1)
    nearest = np.where(np.abs(true - left[below]) <= np.abs(left[above] - true), below, above)
    codes = np.append(nearest, -1)[before.codes()]
    return after.values.take(pa.array(codes, mask=codes < 0))


def _value_positions(column: Prepared, order: Sequence[str]) -> FloatArray:
    """Return the positions of the values of an ordered column."""
    if column.kind is Kind.ORDINAL:
        return np.array([order.index(value) for value in column.values.to_pylist()], dtype=np.float64)
    values = column.values.cast(pa.int32()) if column.kind is Kind.DATE else column.values
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _as_given(values: pa.Array, source: pa.ChunkedArray, kind: Kind) -> pa.Array:
    """Return treated numbers as text if they were text: their type would reveal whether a hidden one has a fraction."""
    text = kind is Kind.NUMERIC and is_text(value_type(source.type))
    return to_labels(values).cast(pa.string()) if text else values


def _same_kind(before: Prepared, table: pa.Table, column: ColumnPlan, plan: TablePlan) -> Prepared:
    """Read a treated column again; refuse one whose kind would now be read differently."""
    now = prepared(table, column, plan)
    if now.kind is not before.kind and len(now.values):
        raise DataError(
            f"Column {column.name!r} is read as {before.kind}, but as {now.kind} after its treatment.",
            code="other-kind",
            hint=f"Write 'kind: {before.kind}' for it in the policy.",
        )
    return now


def _contents(table: pa.Table) -> tuple[IntArray, bytes]:
    """Return the order of the rows by all their cells, and a digest of these; the order of the input does not matter.

    Cells are compared as text, so files of any format give the same.
    """
    found, ranks, sizes = hashlib.sha256(), [], []
    for name in sorted(table.column_names):
        if pa.types.is_nested(table.schema.field(name).type):
            continue  # cannot be published
        column = encode(table.column(name))
        with suppress(DataError):  # durations have no text
            column = to_labels(column)
        rank, size = dense_ranks(column)
        ranks.append(rank)
        sizes.append(size)
        found.update(json.dumps([name, *sorted(map(str, column.dictionary.to_pylist()))], ensure_ascii=True).encode())
    order = np.argsort(number_rows(ranks, sizes)[0], kind="stable").astype(np.int64)
    for rank in ranks:
        found.update(rank[order].astype("<i8").tobytes())
    return order, found.digest()


def _release_digest(document: Mapping[str, Any], plan: TablePlan) -> bytes:
    """Return a digest of everything in a policy and its hierarchy files that the published rows may depend on."""
    relevant: dict[str, Any] = {name: value for name, value in document.items() if name not in ("engine", "output")}
    relevant["files"] = plan.files()
    return hashlib.sha256(json.dumps(relevant, sort_keys=True, ensure_ascii=True, default=str).encode()).digest()


def _digest_read(
    treatment: Treatment, column: Prepared, others: Mapping[str, Prepared], order: IntArray, plan: TablePlan
) -> str:
    """Return a digest of all values that a treatment reads, however the policy says to read them.

    Columns that are treated together need the same coins. The others that they read are untreated, so what was done to
    the columns before counts too.
    """
    found = hashlib.sha256()
    for read in (*others.values(), *(() if treatment.joint else (column,))):
        found.update(json.dumps([read.name, read.kind, *map(str, read.values.to_pylist())], ensure_ascii=True).encode())
        found.update(read.codes()[order].astype("<i8").tobytes())
    if treatment.joint:
        alike = {c.name: c.treatments for c in plan.columns if c.name in others and treatment in c.treatments}
        before = {name: [(t.name, t.values()) for t in all_[: all_.index(treatment)]] for name, all_ in alike.items()}
        found.update(json.dumps(before, sort_keys=True, ensure_ascii=True, default=str).encode())
    return found.hexdigest()


def _purpose(column: ColumnPlan, treatment: Treatment, turn: int) -> str:
    """Return the purpose of the coins: other settings need other coins, or two releases would reveal the draws.

    Columns that are treated together have the same purpose, wherever the treatment stands in their chains.
    """
    settings = {name: value for name, value in treatment.values().items() if name != "key"}
    where = "" if treatment.joint else column.name
    if treatment.joint:
        turn = column.treatments[:turn].count(treatment)
    return json.dumps([treatment.name, settings, where, turn], sort_keys=True, ensure_ascii=True)
