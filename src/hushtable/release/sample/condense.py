"""Condensation: numbers drawn anew from the means and covariances of a release's classes.

A class of a verified release is summarised by the mean and the covariance of its numeric quasi-identifiers, and as many
records as it has are drawn from these. Other quasi-identifiers are drawn from their published cells, as in any sample;
sensitive and insensitive values stay with their published row. So drawn rows follow from statistics of whole classes
that satisfy the models, and from coins of the local secret. They need the original: a sample does not.

The draw has no seed. The same release gives the same rows, so nobody can average over draws.

References
----------
C. C. Aggarwal, P. S. Yu: A condensation approach to privacy preserving data mining. EDBT 2004.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.algorithms.base import Recoding
from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import DataError, IncompatibleError, UsageError, did_you_mean
from hushtable.io.dictionaries import decode
from hushtable.models.base import Stat
from hushtable.release.recode import check_cells
from hushtable.release.released import Released
from hushtable.release.reread import published_cells
from hushtable.release.sample.columns import deal
from hushtable.release.sample.moments import moments_of
from hushtable.release.sample.opened import check_opened, check_sample_target, write_drawn
from hushtable.release.sample.sample import classes_of, read_columns, typed_column
from hushtable.release.written import Written
from hushtable.schema.columns import Kind, Role
from hushtable.schema.prepare import prepare
from hushtable.table.coins import Coins, policy_digest, table_digest
from hushtable.table.plan import ColumnPlan

__all__ = ["CONDENSED", "FEWEST", "condense_release", "write_condensed"]

CONDENSED = (
    "Numbers are drawn from means and covariances of classes. Drawn rows are nobody's and are not k-anonymous "
    "themselves. One that matches a person does so by chance."
)
FEWEST = 3
"""Rows that a class has at least: the mean and the spread of two people are the two people."""

_LARGEST = 2**53
_FORMS = (Recoding.GLOBAL, Recoding.LOCAL, Recoding.CENTROID)


def condense_release(release: Released, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Draw a condensed table of a release that has its original; see ``Release.condense``."""
    _check(release)
    if isinstance(release.published, Written):
        check_opened(release)
    chosen = _chosen(release, columns)
    plan, recoding = release.plan.table, release.plan.algorithm.recoding
    labels = classes_of(release.table, plan.named(Role.QUASI))
    sizes = np.bincount(labels)
    if sizes.min() < FEWEST:
        raise IncompatibleError(
            f"The smallest class has {int(sizes.min())} rows: its mean would tell single values.",
            code="small-classes",
            hint=f"Ask for k-anonymity with k of at least {FEWEST}.",
        )
    coins = Coins.of_release(
        table_digest(release.encoded), policy_digest(release.plan.document, release.plan.seed)
    ).purse("condensation")
    drawn = _numbers(release, chosen, labels, coins)
    check_cells([published_cells(release.table.column(n)) for n in plan.named(Role.QUASI)], plan, recoding, labels)
    others = {}
    readings, codes = read_columns(release.table, plan, recoding, without=drawn)
    order = np.argsort(labels, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    back = np.argsort(order, kind="stable")
    seed = int(coins.words("seed", 1)[0] >> np.uint64(1))
    for name, reading in readings.items():
        others[name] = deal(reading, codes[name][order], offsets, seed, name).column(back)
    published: dict[str, Any] = {}
    for column in sorted(
        (c for c in plan.columns if c.published), key=lambda c: release.table.column_names.index(c.name)
    ):
        name = column.name
        if column.role is Role.QUASI:
            published[name] = drawn[name] if name in drawn else others[name]
        else:
            published[name] = typed_column(release.table.column(name), column, plan.missing_values)
    return _sorted(pa.table(published))


def _check(release: Released) -> None:
    """Refuse releases whose classes are not groups of people that may be summarised."""
    plan = release.plan
    if plan.algorithm.samples:
        raise IncompatibleError(
            f"{plan.algorithm.name} says nothing about records but which cells are shared, and means would say more.",
            code="sampled",
            hint="Draw a sample instead: 'hushtable sample' reads the published files alone.",
        )
    if plan.algorithm.recoding not in _FORMS:
        raise IncompatibleError(
            f"{plan.algorithm.name} publishes no classes of records that look alike, so there is nothing to condense.",
            code="no-classes",
            hint="Choose another algorithm, such as mdav.",
        )
    for member in plan.model().members:
        if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
            raise IncompatibleError(
                f"{member.name} counts people outside the table, and a mean is that of the people in it.",
                code="population",
                hint="Choose another model, such as k-anonymity.",
            )
    if plan.table.entity is not None:
        raise IncompatibleError(
            "With 'entity' a person may have several rows, so a class of k people may be drawn from one person's rows.",
            code="entity",
            hint="Give one row for each person, and leave 'entity' out.",
        )
    if plan.guards:
        raise IncompatibleError(
            f"The guard {plan.guards[0].name} hides what its classes were made of, and their means would tell.",
            code="guards",
            hint="Leave 'guard' out of the policy.",
        )


def _chosen(release: Released, columns: Sequence[str] | None) -> list[ColumnPlan]:
    """The numeric quasi-identifiers that are drawn, sorted by name so that the order of columns does not matter."""
    kinds = {c.name: c.coded.kind for c in release.encoded.quasi}
    numeric = [c for c in release.plan.table.columns if kinds.get(c.name) is Kind.NUMERIC]
    names = {c.name for c in numeric}
    wanted = names if columns is None else set(columns)
    for name in sorted(wanted - names):
        raise UsageError(
            f"Column {name!r} is no numeric quasi-identifier of this release.",
            code="no-number",
            hint=did_you_mean(name, names) or "Leave 'columns' out to take all numeric quasi-identifiers.",
        )
    if not wanted:
        raise IncompatibleError(
            "The release has no numeric quasi-identifier to condense.",
            code="no-number",
            hint="Use 'sample', which draws from published cells.",
        )
    return sorted((c for c in numeric if c.name in wanted), key=lambda c: c.name)


def _numbers(release: Released, chosen: Sequence[ColumnPlan], labels: IntArray, coins: Coins) -> dict[str, pa.Array]:
    """Draw numbers for every published row from the moments of its class."""
    rows = pa.array(release.source_rows)
    original = release.treated([c.name for c in chosen]).take(rows)
    read = [_read(original.column(c.name), c, release) for c in chosen]
    records = np.column_stack([values for values, _ in read])
    order = np.lexsort((*records.T[::-1], labels))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        moments = moments_of(records[order], offsets)
    luck = coins.uniform("numbers", records.size).reshape(records.shape)
    found = moments.drawn(labels, luck)
    out: dict[str, pa.Array] = {}
    for j, (column, (_, whole)) in enumerate(zip(chosen, read, strict=True)):
        if not np.all(np.isfinite(found[:, j])):
            raise DataError(
                f"Numbers of column {column.name!r} are too large for a covariance.",
                code="too-large",
                hint="Leave the column out of 'columns'.",
            )
        if whole:
            out[column.name] = pa.array(np.rint(found[:, j]).astype(np.int64))
        else:
            out[column.name] = pa.array(_rounded(found[:, j], moments.spreads[:, j], labels))
    return out


def _read(values: pa.ChunkedArray, column: ColumnPlan, release: Released) -> tuple[FloatArray, bool]:
    """The released values of a column as numbers, and whether all of them are whole."""
    data = prepare(
        values,
        name=column.name,
        kind=Kind.NUMERIC,
        missing_values=release.plan.table.missing_values,
        format=column.format,
    )
    if data.missing:
        raise DataError(
            f"Column {column.name!r} has missing values, which have no mean.",
            code="missing-numbers",
            hint="Leave the column out of 'columns': it is then drawn from its published cells.",
        )
    numbers = decode(data.data).to_numpy(zero_copy_only=False)
    whole = pa.types.is_integer(data.values.type)
    if whole and np.any((numbers > _LARGEST) | (numbers < -_LARGEST)):
        raise DataError(
            f"Column {column.name!r} has whole numbers beyond 2**53, which are no measurements.",
            code="too-large",
            hint="Leave the column out of 'columns'.",
        )
    return numbers.astype(np.float64), whole


def _rounded(values: FloatArray, spreads: FloatArray, labels: IntArray) -> FloatArray:
    """Round fractions to about a thousandth of their class's spread; a class without one keeps its value."""
    # decimal text is exact, and the same everywhere
    places = np.array([3 - int(f"{spread:e}".partition("e")[2]) for spread in spreads.tolist()])
    scale = np.array([10.0 ** float(min(max(p, -300), 300)) for p in places.tolist()])[labels]
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.rint(values * scale) / scale
    return np.where((spreads[labels] > 0) & np.isfinite(rounded), rounded, values)


def _sorted(table: pa.Table) -> pa.Table:
    """Rows sorted by all their cells: their order tells nothing."""
    plain = pa.table([_plain(c) for c in table.columns], names=[str(i) for i in range(table.num_columns)])
    order = pc.sort_indices(plain, sort_keys=[(name, "ascending") for name in plain.column_names])
    return table.take(order)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def write_condensed(
    release: Released,
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Draw a condensed table into a file, and write a note that says so; return what the note says.

    Raises
    ------
    OutputError
        If the file is in the folder of a release, exists, or cannot be written.
    """
    target = Path(path)
    check_sample_target(target, overwrite=overwrite)
    table = condense_release(release, columns=columns)
    return write_drawn(release, table, target, CONDENSED, {"method": "condensation"})
