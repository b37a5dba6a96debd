"""An adversary's beliefs: the mass that a background table gives to each of its rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import DataError, counted
from hushtable.io.dictionaries import null_last
from hushtable.kernels.grouping import number_rows
from hushtable.schema.columns import Role
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.plan import Extra, TablePlan

__all__ = ["background_mass"]


def background_mass(
    table: pa.Table, extra: Extra, sensitive: tuple[SensitiveColumn, ...], plan: TablePlan
) -> tuple[IntArray, int, IntArray]:
    """Return the prior mass of each background row, the units of the total mass, and what each row is about."""
    unit = 2**52
    if extra.mass is not None and extra.codes is not None:
        # whatever is believed possible stays possible
        return np.maximum(np.rint(extra.mass * unit), 1).astype(np.int64), unit, extra.codes
    column = next((c for c in sensitive if c.name == extra.background_on), None)
    names = table.column_names
    if column is None or extra.background_on not in names or extra.probability not in names:
        raise DataError(
            f"The background table needs the sensitive column and a column {extra.probability!r}.",
            code="background-columns",
        )
    try:
        raw = np.asarray(table.column(extra.probability).cast(pa.float64()).to_numpy())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            "The background table's probabilities must be numbers.", code="background-probabilities"
        ) from None
    if not np.all(np.isfinite(raw)) or raw.min(initial=0.0) < 0 or abs(raw.sum() - 1) > 1e-6:
        raise DataError(
            "The background table's probabilities must be finite, not negative, and sum to 1.",
            code="background-probabilities",
            hint=f"They sum to {raw.sum():.6g}.",
        )
    labels = pa.array([label or "" for label in column.coded.labels[0]])
    text = table.column(extra.background_on).cast(pa.string()).fill_null("")
    place = pc.index_in(text, value_set=labels)
    if place.null_count:
        raise DataError(
            f"The background table has {counted(place.null_count, 'row', 'rows')} whose {extra.background_on!r} does "
            "not occur in "
            "the table.",
            code="background-values",
        )
    codes = place.to_numpy().astype(np.int64)
    q = _tuple_numbers(table, plan)
    return np.rint(raw * unit).astype(np.int64), unit, q * column.coded.size + codes


def _tuple_numbers(table: pa.Table, plan: TablePlan) -> IntArray:
    codes, sizes = [], []
    for name in plan.named(Role.QUASI):
        encoded = table.column(name).combine_chunks().dictionary_encode()
        codes.append(null_last(encoded).to_numpy(zero_copy_only=False))
        sizes.append(len(encoded.dictionary) + 1)
    return number_rows(codes, sizes)[0]
