"""Apply a fitted partition's regions to new records, and verify the result on its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.engines.local import finish, problem_of
from hushtable.engines.release import Release
from hushtable.errors import DataError, IncompatibleError, counted
from hushtable.hierarchy.base import ROOT, Coded
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.models.base import Monotone, Stat
from hushtable.release.forms.base import escape_member, escape_value, form_of, of_groups
from hushtable.release.forms.rounding import number_text, round_between
from hushtable.release.plan import Plan
from hushtable.release.publish import publish
from hushtable.release.recode import Recoded, recode
from hushtable.schema.columns import Kind, Role
from hushtable.schema.prepare import prepare
from hushtable.table.coded_columns import QuasiColumn, known_numbers, smallest
from hushtable.table.encode import encode_rest, no_rows
from hushtable.table.plan import SideTables, check_columns


def apply_regions(table: pa.Table, plan: Plan, fitted: Problem, partition: Partition, *, source: Any = None) -> Release:
    """Publish new records in the regions that were fitted on others.

    Cuts tile the space: numbers and dates are cut at round values between the fitted ones, labels between two of them.
    Values that only suppressed records had do not count. A global recoding has its regions by definition: the nodes of
    its levels. The release of the new records is verified on its own, and refused if it violates a model.

    Raises
    ------
    IncompatibleError
        If groups overlap, so that the region of a new record is ambiguous (relaxed partitioning divides equal records,
        clusters have no cuts); if a model counts people outside the table, or does not survive merging while the cells
        of regions overlap.
    DataError
        If a record has a label that the fitted data did not have.
    VerificationError
        If too few of the new records fall into some region.
    """
    plan.refuse_guards("Publishing new records in fitted regions")
    if plan.algorithm.samples:
        raise IncompatibleError(
            f"{plan.algorithm.name} draws the records that it publishes, and new records were not drawn.",
            hint="Make a release of the new records, or fit with another algorithm.",
        )
    _check_regions(plan, partition)
    for column in fitted.table.quasi:
        if not form_of(column).by_members and partition.levels is None:
            raise IncompatibleError(
                f"New records need regions, but column {column.name!r} is published as {form_of(column).name}.",
                hint="Write 'cells: regions' for it, or use fit_transform.",
            )
    model = plan.model()
    for member in model.members:
        if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
            raise IncompatibleError(
                f"{member.name} counts people outside the table, whom fitted regions do not cover.",
                hint="Use fit_transform.",
            )
    check_columns(table.column_names, plan.table)
    if not table.num_rows:
        raise no_rows()
    if partition.regions is None:
        return _at_levels(table, plan, fitted, partition, source)
    shown, cuts = _fitted_cuts(fitted, partition)
    quasi = tuple(_recode_column(table, plan, c, own)[0] for c, own in zip(fitted.table.quasi, cuts, strict=True))
    encoded = encode_rest(table, plan.table, quasi)
    labels = partition.regions.assign([c.codes for c in quasi])
    low, high = partition.regions.boxes([c.coded.size for c in quasi], partition.n_groups)
    used, labels = np.unique(labels, return_inverse=True)
    low, high = low[used], high[used]
    if Monotone.MERGE not in model.flags:
        _check_apart(quasi, low, high)
    rows, offsets = group_rows(labels.astype(np.int64), len(used))
    cells = tuple(of_groups(c, rows, offsets) for c in quasi)
    known = [np.union1d(own, c.codes) for own, c in zip(shown, quasi, strict=True)]
    published = tuple(region_labels(c.coded, cuts[j], known[j], low[:, j], high[:, j]) for j, c in enumerate(quasi))
    problem = Problem(encoded, model, encoded.reference(model.histogram_keys()), seed=plan.seed)
    recoded = Recoded(labels.astype(np.int64), cells, published, derived=False)
    made = finish(table, plan, problem, replace(partition, labels=labels, n_groups=len(used)), recoded, source=source)
    return replace(made, repeatable=False)


def region_cells(table: pa.Table, plan: Plan, fitted: Problem, partition: Partition) -> pa.Table:
    """Return new records in the fitted regions, in their own order, for modeling; without any privacy guarantee.

    All records get cells, whatever their values and however few records there are. A label that the fitted data did not
    have becomes ``*``, and a missing value stays missing if there were none; both are placed by their order.

    Raises
    ------
    IncompatibleError
        If groups overlap, so that the region of a new record is ambiguous.
    """
    _check_regions(plan, partition)
    check_columns(table.column_names, plan.table)
    if not table.num_rows:
        raise no_rows()
    if partition.regions is None:
        problem, alike = _levelled(table, plan, fitted, partition)
        cells = recode(problem.table, alike, plan.algorithm.recoding)
        return publish(table, cells, plan.table, np.arange(table.num_rows))
    shown, cuts = _fitted_cuts(fitted, partition)
    placed = [
        _recode_column(table, plan, c, own, strict=False) for c, own in zip(fitted.table.quasi, cuts, strict=True)
    ]
    labels = partition.regions.assign([column.codes for column, _ in placed])
    low, high = partition.regions.boxes([c.coded.size for c, _ in placed], partition.n_groups)
    columns = {}
    for j, (column, strangers) in enumerate(placed):
        known = np.union1d(shown[j], column.codes)
        own = region_labels(column.coded, cuts[j], known, low[:, j], high[:, j]).take(pa.array(labels))
        if strangers is not None:
            own = pc.if_else(pa.array(strangers == _GONE), None, own)
            own = pc.if_else(pa.array(strangers == _UNKNOWN), pa.scalar(ROOT), own)
        columns[column.name] = own
    names = [c.name for c in plan.table.columns if c.role.published]
    return pa.table({name: columns[name] if name in columns else table.column(name) for name in names})


_UNKNOWN, _GONE = 1, 2


def _check_regions(plan: Plan, partition: Partition) -> None:
    plan.refuse_class_weights("Placing new records in fitted regions")
    plan.refuse_treatments("Placing new records in fitted regions does not apply treatments")
    if partition.regions is None and partition.levels is None:
        raise IncompatibleError(
            f"Groups of {plan.algorithm.name} with these parameters overlap, so it is ambiguous which group a new "
            "record belongs to.",
            hint="Use strict partitioning or a global recoding, or fit_transform.",
        )


def _fitted_cuts(fitted: Problem, partition: Partition) -> tuple[list[IntArray], list[FloatArray]]:
    """The published codes of each column, and the cuts between them."""
    kept = partition.labels >= 0
    shown = [np.unique(column.codes[kept]) for column in fitted.table.quasi]
    return shown, [_cuts(column.coded, own) for column, own in zip(fitted.table.quasi, shown, strict=True)]


def _at_levels(table: pa.Table, plan: Plan, fitted: Problem, partition: Partition, source: Any) -> Release:
    """Publish new records at the fitted levels: every value has a node."""
    problem, alike = _levelled(table, plan, fitted, partition)
    made = finish(table, plan, problem, alike, recode(problem.table, alike, plan.algorithm.recoding), source=source)
    return replace(made, repeatable=False)


def _levelled(table: pa.Table, plan: Plan, fitted: Problem, partition: Partition) -> tuple[Problem, Partition]:
    assert partition.levels is not None
    for column, level in zip(fitted.table.quasi, partition.levels, strict=True):
        if column.coded.naming is not None and 0 < level < column.coded.height:
            raise IncompatibleError(
                f"The hierarchy of column {column.name!r} was built from the fitted values, and new values have no "
                f"place in it.",
                hint="Give the column a fixed hierarchy (intervals, a file), or use fit_transform.",
            )
    problem = problem_of(table, replace(plan, side_tables=SideTables()), None)
    levels = [min(level, c.coded.height) for c, level in zip(problem.table.quasi, partition.levels, strict=True)]
    nodes = [c.coded.levels[h][c.codes] for c, h in zip(problem.table.quasi, levels, strict=True)]
    labels, first = number_rows(
        nodes, [len(c.coded.labels[h]) for c, h in zip(problem.table.quasi, levels, strict=True)]
    )
    return problem, Partition(labels, len(first), levels=tuple(levels), notes=partition.notes)


def _check_apart(quasi: tuple[QuasiColumn, ...], low: IntArray, high: IntArray) -> None:
    """Refuse regions that are published as the root, which covers everything, although they are smaller."""
    for j, column in enumerate(quasi):
        first, last = int(column.coded.missing), column.coded.size - 1
        mixed = (low[:, j] < first) & (high[:, j] > 0) & (high[:, j] < last)
        uncut = (low[:, j] == first) & (high[:, j] == last)
        if np.any(mixed | uncut if first and column.coded.kind.ordered else mixed):
            raise IncompatibleError(
                f"Cells of fitted regions overlap if column {column.name!r} has missing values, but a model of the "
                "policy does not survive merging.",
                hint="Fill the missing values, or use fit_transform.",
            )


def _recode_column(
    table: pa.Table, plan: Plan, fitted: QuasiColumn, cuts: FloatArray, *, strict: bool = True
) -> tuple[QuasiColumn, IntArray | None]:
    """The column in the fitted codes; unless ``strict``, also which rows have no place among them.

    If ``strict``, such rows are refused.
    """
    column = next(c for c in plan.table.columns if c.name == fitted.name and c.role is Role.QUASI)
    coded = fitted.coded
    data = prepare(
        table.column(column.name),
        name=column.name,
        kind=coded.kind,
        missing_values=plan.table.missing_values,
        order=column.order,
        format=column.format,
    ).data
    place, known = _nearest_fitted(data.dictionary, coded, cuts)
    unknown = int(np.count_nonzero(~known))
    if unknown and strict:
        raise DataError(
            f"Column {column.name!r} has {counted(unknown, 'value', 'values')} that the fitted data did not have.",
            code="new-values",
            hint="Fit on data that has them, or give the column a hierarchy that covers them.",
        )
    gone = bool(data.indices.null_count) and not coded.missing
    if gone and strict:
        raise DataError(
            f"Column {column.name!r} has missing values, but the fitted data had none.",
            code="new-missing",
            hint="Fill them, or fit on data that has missing values too.",
        )
    plain = data.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    lookup = np.append(place + int(coded.missing), 0).astype(smallest(coded.size))
    recoded = replace(fitted, codes=lookup[plain])
    if not unknown and not gone:
        return recoded, None
    return recoded, np.append(np.where(known, 0, _UNKNOWN), _GONE if gone else 0)[plain]


def _nearest_fitted(values: pa.Array, coded: Coded, cuts: FloatArray) -> tuple[IntArray, BoolArray]:
    """The place of each value among the fitted ones, and whether it has one; round numbers decide between two.

    A label that was not fitted is placed by its order.
    """
    if coded.kind in (Kind.NUMERIC, Kind.DATE):
        places = np.searchsorted(cuts, _plain(values, coded.kind), side="right").astype(np.int64)
        return places, np.ones(len(values), dtype=np.bool_)
    found = pc.index_in(values, value_set=coded.values)
    known = found.is_valid().to_numpy(zero_copy_only=False)
    order = np.array(coded.values.to_pylist(), dtype=object)
    near = [min(int(np.searchsorted(order, v)), max(len(order) - 1, 0)) for v in values.filter(~known).to_pylist()]
    places = found.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    places[~known] = near
    return places, known


def _cuts(coded: Coded, shown: IntArray) -> FloatArray:
    """The round number between each fitted value and the next; for unpublished ones, between their neighbors.

    Parameters
    ----------
    coded : Coded
    shown : int64 array
        The published codes, ascending.
    """
    if coded.kind not in (Kind.NUMERIC, Kind.DATE) or not len(coded.values):
        return np.empty(0)
    first = int(coded.missing)
    known, shown = known_numbers(coded).astype(np.float64), shown[shown >= first] - first
    # the published values around each place between two codes; there are no cuts beyond them
    above = np.searchsorted(shown, np.arange(len(known) - 1), side="right")
    inner = (above > 0) & (above < len(shown))
    cuts = np.where(above > 0, np.inf, -np.inf)
    if inner.any():
        low, high = known[shown[above[inner] - 1]], known[shown[above[inner]]]
        cuts[inner] = round_between(low, high, coded.kind)
    return cuts


def _plain(values: pa.Array, kind: Kind) -> AnyArray:
    plain: AnyArray = (values.cast(pa.int32()) if kind is Kind.DATE else values).to_numpy(zero_copy_only=False)
    return plain


def region_labels(coded: Coded, cuts: FloatArray, known: IntArray, low: IntArray, high: IntArray) -> pa.Array:
    """Describe whole regions: half-open ranges of numbers and dates with round bounds, sets of labels otherwise.

    The lowest and the highest region of an ordered column are open-ended. A region of such a column that covers
    everything is published as the root, and so is a region of any column with both missing and other values. Sets list
    the labels that are ``known``, without those that only suppressed records had.
    """
    first, last = int(coded.missing), coded.size - 1
    names, listed = coded.labels[0], frozenset(known.tolist())
    # infinite cuts are not bounds: nothing was published on their other side
    bounds = [number_text([cut], coded.kind)[0] if np.isfinite(cut) else "" for cut in cuts.tolist()]
    out: list[str | None] = []
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        if b < first:
            out.append(None)
        elif a < first or (a == first and b == last and coded.kind.ordered):
            out.append(ROOT)
        elif coded.kind not in (Kind.NUMERIC, Kind.DATE):
            codes = [c for c in range(a, b + 1) if c in listed or coded.kind is Kind.ORDINAL]
            several = "{" + ", ".join(escape_member(names[c]) for c in codes) + "}"
            out.append(escape_value(names[codes[0]]) if len(codes) == 1 else several)
        else:
            out.append(_range("" if a == first else bounds[a - first - 1], "" if b == last else bounds[b - first]))
    return pa.array(out, pa.string())


def _range(low: str, high: str) -> str:
    if low and high:
        return f"[{low}, {high})"
    return f"< {high}" if high else f">= {low}" if low else ROOT
