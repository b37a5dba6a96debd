"""Applying a fitted partition's regions to new records, and verifying the result on its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.local import finish
from hushtable.engines.release import Release
from hushtable.errors import DataError, IncompatibleError
from hushtable.hierarchy.base import ROOT, Coded
from hushtable.kernels.grouping import group_rows
from hushtable.models.base import Monotone, Stat
from hushtable.release.forms.base import escape_member, escape_value, of_groups
from hushtable.release.plan import Plan
from hushtable.release.recode import Recoded
from hushtable.schema.columns import Kind, Role
from hushtable.schema.prepare import prepare
from hushtable.table.encode import check_columns, encode_rest, no_rows
from hushtable.table.encoded import QuasiColumn, smallest

__all__ = ["apply_regions", "region_labels"]


def apply_regions(
    table: pa.Table, plan: Plan, fitted: Problem, partition: Partition, *, source: Any = None
) -> Release:
    """Publish new records in the regions that were fitted on others.

    A region is wider than the tight cell of the records it was fitted on, so that it covers any new record that
    falls into it. The release of the new records is verified on its own, and refused if it violates a model.

    Raises
    ------
    IncompatibleError
        If the algorithm leaves no regions (relaxed partitioning divides equal records), a model counts people outside
        the table, or does not survive merging while the cells of regions overlap.
    DataError
        If a record has a label that the fitted data did not have.
    VerificationError
        If too few of the new records fall into some region.
    """
    plan.refuse_guards("Publishing new records in fitted regions")
    if partition.regions is None:
        raise IncompatibleError(
            f"{plan.algorithm.name} with these parameters leaves no regions that new records could fall into.",
            hint="Use strict partitioning, or fit_transform.",
        )
    model = plan.model()
    for member in model.members:
        if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
            raise IncompatibleError(
                f"{member.name} counts people outside the table, of whom fitted regions know nothing.",
                hint="Use fit_transform.",
            )
    check_columns(table.column_names, plan.table)
    if not table.num_rows:
        raise no_rows()
    quasi = tuple(_recode_column(table, plan, column) for column in fitted.table.quasi)
    encoded = encode_rest(table, plan.table, quasi)
    labels = partition.regions.assign([c.codes for c in quasi])
    low, high = partition.regions.boxes([c.coded.size for c in quasi], partition.n_groups)
    used, labels = np.unique(labels, return_inverse=True)
    low, high = low[used], high[used]
    if Monotone.MERGE not in model.flags:
        _check_apart(quasi, low, high)
    rows, offsets = group_rows(labels.astype(np.int64), len(used))
    cells = tuple(of_groups(c, rows, offsets) for c in quasi)
    published = tuple(region_labels(c.coded, low[:, j], high[:, j]) for j, c in enumerate(quasi))
    problem = Problem(encoded, model, encoded.reference(model.histogram_keys()), seed=plan.seed)
    recoded = Recoded(labels.astype(np.int64), cells, published, derived=False)
    made = finish(table, plan, problem, replace(partition, labels=labels, n_groups=len(used)), recoded, source=source)
    return replace(made, repeatable=False)


def _check_apart(quasi: tuple[QuasiColumn, ...], low: IntArray, high: IntArray) -> None:
    """Refuse regions that hold missing values beside some others: their cell is the root, which covers all regions."""
    for j, column in enumerate(quasi):
        mixed = (low[:, j] < int(column.coded.missing)) & (high[:, j] > 0)
        if np.any(mixed & (high[:, j] < column.coded.size - 1)):
            raise IncompatibleError(
                f"Cells of fitted regions overlap where column {column.name!r} has missing values, and a model of the "
                "policy does not survive merging.",
                hint="Fill the missing values, or use fit_transform.",
            )


def _recode_column(table: pa.Table, plan: Plan, fitted: QuasiColumn) -> QuasiColumn:
    column = next(c for c in plan.table.columns if c.name == fitted.name and c.role is Role.QUASI)
    coded = fitted.coded
    data = prepare(
        table.column(column.name),
        name=column.name,
        kind=coded.kind,
        missing_values=plan.table.missing_values,
        order=column.order,
    ).data
    place = _places(data.dictionary, coded, column.name)
    if data.indices.null_count and not coded.missing:
        raise DataError(
            f"Column {column.name!r} has missing values, and the fitted data had none.",
            code="new-missing",
            hint="Fill them, or fit on data that has missing values too.",
        )
    plain = data.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    lookup = np.append(place + int(coded.missing), 0).astype(smallest(coded.size))
    return replace(fitted, codes=lookup[plain])


def _places(values: pa.Array, coded: Coded, name: str) -> IntArray:
    """Where each value lies among the fitted ones; numbers and dates between two of them count as the lower."""
    if coded.kind in (Kind.NUMERIC, Kind.DATE):
        known, new = _plain(coded.values, coded.kind), _plain(values, coded.kind)
        return np.clip(np.searchsorted(known, new, side="right") - 1, 0, max(len(known) - 1, 0)).astype(np.int64)
    found = pc.index_in(values, value_set=coded.values)
    if found.null_count:
        raise DataError(
            f"Column {name!r} has {found.null_count} values that the fitted data did not have.",
            code="new-values",
            hint="Fit on data that has them, or give the column a hierarchy that covers them.",
        )
    places: IntArray = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def _plain(values: pa.Array, kind: Kind) -> AnyArray:
    plain: AnyArray = (values.cast(pa.int32()) if kind is Kind.DATE else values).to_numpy(zero_copy_only=False)
    return plain


def region_labels(coded: Coded, low: IntArray, high: IntArray) -> pa.Array:
    """Name whole regions: half-open ranges of ordered columns, sets of labels otherwise.

    The lowest and the highest region of an ordered column are open-ended. A region of such a column that holds
    everything, and one of any column that holds missing and other values together, is the root.
    """
    first, last = int(coded.missing), coded.size - 1
    names = coded.labels[0]
    out: list[str | None] = []
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        if b < first:
            out.append(None)
        elif a < first or (a == first and b == last and coded.kind.ordered):
            out.append(ROOT)
        elif not coded.kind.ordered or coded.kind is Kind.ORDINAL:
            several = "{" + ", ".join(escape_member(names[c]) for c in range(a, b + 1)) + "}"
            out.append(escape_value(names[a]) if a == b else several)
        elif b == last:
            out.append(f">= {names[a]}")
        elif a == first:
            out.append(f"< {names[b + 1]}")
        else:
            out.append(f"[{names[a]}, {names[b + 1]})")
    return pa.array(out, pa.string())
