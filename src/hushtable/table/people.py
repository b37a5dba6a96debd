"""People with several rows: the weight of each row, so that a person's rows sum to one person."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import DataError
from hushtable.io.text import to_labels
from hushtable.schema.columns import Kind
from hushtable.schema.prepare import prepare
from hushtable.table.encoded import EncodedTable

PERSON_UNITS = 232_792_560
"""lcm(1, ..., 22): up to 22 rows of a person share it equally; more rows, to within one unit."""


def person_units(
    table: pa.Table, entity: str, missing_values: tuple[str, ...], n_rows: int
) -> tuple[int, IntArray, IntArray]:
    """Units per person, the rows' shares, and the person of each row if some shares leave a remainder."""
    nothing = np.empty(0, dtype=np.int64)
    prepared = prepare(table.column(entity), name=entity, kind=Kind.NOMINAL, missing_values=missing_values)
    indices = prepared.data.indices
    if indices.null_count:
        raise missing_names(entity, indices.null_count)
    if len(same_name(prepared.data.dictionary).unique()) < len(prepared.data.dictionary):
        raise ambiguous_names(entity)
    person = indices.to_numpy(zero_copy_only=False)
    rows = np.bincount(person)
    if rows.max() == 1:
        return 1, nothing, nothing
    weights = np.zeros(n_rows, dtype=np.int64)
    weights[: len(person)] = PERSON_UNITS // rows[person]
    return PERSON_UNITS, weights, person.astype(np.int64) if np.any(PERSON_UNITS % rows[rows > 0]) else nothing


def missing_names(entity: str, rows: int) -> DataError:
    """Return the error for rows without a person."""
    return DataError(
        f"The entity column {entity!r} has {rows} missing values.",
        code="missing-entity",
        hint="Every row must name its person: fill the column, or remove 'entity' from the policy.",
    )


def ambiguous_names(entity: str) -> DataError:
    """Return the error for a column in which one person may have several names."""
    return DataError(
        f"The entity column {entity!r} has names that differ only in spaces around them, or in how their letters are "
        "stored.",
        code="ambiguous-entity",
        hint="Write a person's name in one way in all rows: one person would count as several.",
    )


def same_name(values: pa.Array) -> pa.Array:
    """Return names as normalized text: without surrounding spaces, with composed letters (NFC).

    Examples
    --------
    >>> same_name(pa.array([" Zoe\u0308", "Zo\u00eb"])).unique().to_pylist()
    ['Zoë']
    """
    return pc.utf8_normalize(pc.utf8_trim_whitespace(to_labels(values).cast(pa.string())), form="NFC")


def share_rest(table: EncodedTable, person: IntArray) -> EncodedTable:
    """Give the remainder to each person's first rows in canonical order, so that shares sum to one person."""
    order = table.canonical_order[: table.n_sample]
    order = order[np.argsort(person[order], kind="stable")]
    rows = np.bincount(person)
    owner = person[order]
    place = np.arange(len(order)) - (np.cumsum(rows) - rows)[owner]
    units = table.row_units.copy()
    units[order] += place < PERSON_UNITS % np.maximum(rows, 1)[owner]
    return replace(table, row_units=units)
