"""Read a published table back, for the verifier."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import AnyArray
from hushtable.errors import DataError, PolicyError, counted, listed
from hushtable.io.dictionaries import counts, encode, from_codes, look_up, null_last, to_codes, value_type
from hushtable.io.text import is_text, to_labels
from hushtable.schema.columns import Kind, Role
from hushtable.schema.prepare import Prepared, prepare
from hushtable.table.coded_columns import smallest
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.table.reference import Attribute, Reference


def check_published_columns(table: pa.Table, plan: TablePlan, *more: str) -> None:
    """Require that the published table has exactly the published columns of the policy and those named here."""
    wanted = [*(c.name for c in plan.columns if c.published), *more]
    leaked = [n for n in table.column_names if n not in wanted]
    if leaked:
        raise PolicyError(
            f"The published table has columns that the policy does not publish: {listed(leaked)}.",
            code="leaked-columns",
            hint="Remove them, or give them a role in the policy.",
        )
    if len(set(table.column_names)) < table.num_columns:
        raise PolicyError("The published table has several columns with the same name.", code="leaked-columns")
    absent = [n for n in wanted if n not in table.column_names]
    if absent:
        raise PolicyError(f"The published table lacks columns of the policy: {listed(absent)}.", code="absent-columns")


def published_cells(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.DictionaryArray:
    """Return a published quasi-identifier with its empty cells as nulls: in CSV, they are empty text.

    Empty text is always read as missing. But a file that has both would distinguish them.

    Raises
    ------
    DataError
        If some empty cells are nulls and others the empty text.

    Examples
    --------
    >>> published_cells(pa.chunked_array([["a", ""]])).null_count
    1
    """
    if not is_text(value_type(column.type)):
        return column
    if pa.types.is_dictionary(column.type) and all(pc.index(c.dictionary, "").as_py() < 0 for c in column.chunks):
        return column
    cells = encode(column)
    empty = pc.index(cells.dictionary, "").as_py()
    if empty < 0:
        return column
    codes = to_codes(cells)
    if np.any(codes < 0):
        raise DataError(
            "A published quasi-identifier has null cells as well as empty texts: readers of "
            "the file can distinguish them.",
            code="two-empties",
            hint="Write all of them as null.",
        )
    return from_codes(np.where(codes == empty, -1, codes), cells.dictionary)


def prepare_as(
    column: pa.ChunkedArray, plan: ColumnPlan, kind: Kind | None, missing_values: tuple[str, ...]
) -> Prepared:
    """Prepare a published column with that kind, or the policy's, or the kind inferred from its values."""
    return prepare(
        column,
        name=plan.name,
        kind=kind or plan.kind,
        missing_values=missing_values,
        order=plan.order,
        format=plan.format,
    )


def sensitive_labels(
    column: pa.ChunkedArray, plan: ColumnPlan, kind: Kind | None, missing_values: tuple[str, ...]
) -> pa.DictionaryArray:
    """Return the canonical text of a published sensitive column; missing values are the empty text."""
    data = prepare_as(column, plan, kind, missing_values).data
    labels = pa.concat_arrays([to_labels(data.dictionary).cast(pa.string()), pa.array([""], pa.string())])
    return pa.DictionaryArray.from_arrays(null_last(data), labels)


def sensitive_codes(
    table: pa.Table, plan: TablePlan, reference: Reference, kinds: Mapping[str, Kind]
) -> dict[str, AnyArray]:
    """Return the codes of the published sensitive columns in the reference's attributes."""
    codes = {}
    for column in (c for c in plan.columns if c.role is Role.SENSITIVE):
        attribute: Attribute = reference.attribute((column.name,))
        labels = sensitive_labels(table.column(column.name), column, kinds.get(column.name), plan.missing_values)
        place = pc.index_in(labels.dictionary, value_set=pa.array(list(attribute.labels), pa.string()))
        known = place.fill_null(-1).to_numpy(zero_copy_only=False)
        unknown = int(counts(labels)[known < 0].sum())
        if unknown:
            raise DataError(
                f"Column {column.name!r} has {counted(unknown, 'value', 'values')} that its input did not have.",
                code="unknown-values",
                hint="The published file does not belong to this release.json.",
            )
        codes[column.name] = look_up(np.append(known, 0).astype(smallest(attribute.n_values)), labels)
    return codes
