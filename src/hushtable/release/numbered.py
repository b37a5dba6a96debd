"""Numbered classes: each has its own cells and a number, and may contain counterfeits.

Numbers depend on the published contents of a class, so they reveal nothing more. A counterfeit has the cells of its
class and a sensitive value that some record has or might have. Nothing in the table distinguishes it from a record, so
texts that mean the same value are written in the same way.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.algorithms.base import Partition
from hushtable.algorithms.earlier import Counterfeits
from hushtable.arrays import IntArray
from hushtable.io.dictionaries import compact, encode, value_type
from hushtable.io.inferred import settle
from hushtable.io.text import is_text
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.release.bucket import bucket_column
from hushtable.release.forms.base import of_groups
from hushtable.release.publish import publish_as_given, published_order
from hushtable.release.recode import Recoded
from hushtable.schema.columns import Role
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import TablePlan
from hushtable.table.ranks import dense_ranks


def recode_numbered(table: EncodedTable, partition: Partition) -> Recoded:
    """Give every group its cells and its number; groups with equal cells stay separate."""
    labels = np.where(np.arange(table.n_rows) < table.n_sample, partition.labels, -1).astype(np.int64)
    rows, offsets = group_rows(labels, partition.n_groups)
    cells = tuple(of_groups(column, rows, offsets) for column in table.quasi)
    published = tuple(c.labels() for c in cells)
    numbers = _numbers(table, rows, offsets, published, partition.counterfeits)
    return Recoded(labels, cells, published, numbers=numbers, counterfeits=partition.counterfeits)


def _numbers(
    table: EncodedTable,
    rows: IntArray,
    offsets: IntArray,
    published: tuple[pa.Array, ...],
    counterfeits: Counterfeits | None,
) -> IntArray:
    """Number groups by their published cells, then by the other published cells of their records."""
    ranks = [dense_ranks(pa.chunked_array([column])) for column in published]
    shown, _ = number_rows([r for r, _ in ranks], [n for _, n in ranks])
    columns = [c.codes[rows].astype(np.int64) for c in table.sensitive]
    sizes = [c.coded.size for c in table.sensitive]
    ties = table.tie_rank() if callable(table.tie_rank) else table.tie_rank
    if ties is not None:
        columns.append(ties[rows])
        sizes.append(int(ties.max()) + 1)
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if counterfeits is not None:
        owner = np.concatenate([owner, counterfeits.groups])
        more = [counterfeits.codes[c.name] for c in table.sensitive]
        more += [np.zeros(len(counterfeits), dtype=np.int64)] * (ties is not None)
        columns = [np.concatenate([a, b]) for a, b in zip(columns, more, strict=True)]
    record, _ = number_rows(columns, sizes) if columns else (np.zeros(len(owner), dtype=np.int64), None)
    order = np.lexsort((record, owner))
    bounds = np.searchsorted(owner[order], np.arange(len(offsets)))
    plain = record[order].tolist()
    contents = [tuple(plain[a:b]) for a, b in pairwise(bounds.tolist())]
    lead = shown.tolist()
    numbers = np.empty(len(contents), dtype=np.int64)
    numbers[sorted(range(len(contents)), key=lambda g: (lead[g], contents[g]))] = np.arange(1, len(contents) + 1)
    return numbers


def publish_numbered(
    source: pa.Table, table: EncodedTable, recoded: Recoded, plan: TablePlan, rows: IntArray
) -> tuple[pa.Table, IntArray]:
    """Return the published table, and the source row of each of its rows; -1, -2, ... are counterfeits 0, 1, ..."""
    assert recoded.numbers is not None
    shown = _in_one_spelling(publish_as_given(source, recoded, plan, rows), table, rows)
    number = recoded.numbers[recoded.labels[rows]]
    fakes = recoded.counterfeits
    if fakes is not None and len(fakes):
        columns = {
            name: _with_fakes(shown.column(name), source, table, recoded, name, plan) for name in shown.column_names
        }
        shown = pa.table(columns)
        number = np.concatenate([number, recoded.numbers[fakes.groups]])
        rows = np.concatenate([rows, -1 - np.arange(len(fakes))])
    shown = shown.append_column(bucket_column(plan), pa.chunked_array([pa.array(number)]))
    shown = compact(settle(shown, source.schema))
    order = published_order(shown)
    return shown.take(pa.array(order)), rows[order]


def _with_fakes(
    column: pa.ChunkedArray, source: pa.Table, table: EncodedTable, recoded: Recoded, name: str, plan: TablePlan
) -> pa.ChunkedArray:
    """Append the counterfeits' cells to a published column."""
    fakes = recoded.counterfeits
    assert fakes is not None
    role = next(c.role for c in plan.columns if c.name == name)
    if role is Role.QUASI:
        place = next(j for j, c in enumerate(table.quasi) if c.name == name)
        more = recoded.published[place].take(pa.array(fakes.groups))
    else:
        own = next(c for c in table.sensitive if c.name == name)
        more = _values(own, fakes.codes[name], value_type(source.schema.field(name).type))
    kind = value_type(column.type)
    plain = [*(c.cast(kind) for c in column.chunks), more.cast(kind)]
    return (
        pa.chunked_array([encode(pa.chunked_array(plain))])
        if pa.types.is_dictionary(column.type)
        else pa.chunked_array(plain)
    )


def _in_one_spelling(shown: pa.Table, table: EncodedTable, rows: IntArray) -> pa.Table:
    """Write sensitive values by their labels, as those of counterfeits are.

    Otherwise 20.00 next to 20, a time of day next to a bare date, or a listed missing value next to an empty cell would
    distinguish records from counterfeits.
    """
    for column in table.sensitive:
        at = shown.column_names.index(column.name)
        kind = value_type(shown.schema.field(at).type)
        cells = _values(column, column.codes[rows].astype(np.int64), kind)
        spelled = encode(pa.chunked_array([cells])) if is_text(kind) else cells
        shown = shown.set_column(at, column.name, pa.chunked_array([spelled]))
    return shown


def _values(column: SensitiveColumn, codes: IntArray, kind: pa.DataType) -> pa.Array:
    """Return the values of codes in a type; a day of a time zone begins there."""
    labels = pa.array(column.coded.labels[0], pa.string())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        days = labels.cast(pa.timestamp(kind.unit))
        values = pc.assume_timezone(days, kind.tz, ambiguous="earliest", nonexistent="latest")
    else:
        values = labels.cast(kind)
    return values.take(pa.array(codes))
