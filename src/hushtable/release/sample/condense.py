"""Condensation: numbers drawn from the means and covariances of a release's classes.

A class of a verified release is summarized by the mean and the covariance of its numeric quasi-identifiers, and as many
records as it has are drawn from these. Other quasi-identifiers are drawn from their published cells, as in any sample;
sensitive and insensitive values stay with their published row. So drawn rows depend on statistics of whole classes that
satisfy the models, and on coins of the local secret. Unlike a sample, this needs the original.

The draw has no seed: the same release gives the same rows, so nobody can average over draws. All numeric columns are
drawn together, even if only some are wanted: a column has the same numbers in every draw. Each class has its own coins,
which depend on its values and those of the whole release, not on the policy: as long as people stay together, other
settings give no other draw.

References
----------
C. C. Aggarwal, P. S. Yu: A condensation approach to privacy preserving data mining. EDBT 2004.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.algorithms.base import Recoding
from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import DataError, IncompatibleError, UsageError, counted, did_you_mean
from hushtable.io.dictionaries import decode
from hushtable.models.base import Stat
from hushtable.release.reading_back import published_cells
from hushtable.release.recode import check_cells
from hushtable.release.released import Released
from hushtable.release.sample.columns import deal
from hushtable.release.sample.opened import check_opened, check_sample_target, write_drawn
from hushtable.release.sample.sample import classes_of, nothing_to_draw, read_columns, typed_column
from hushtable.release.written import Written
from hushtable.schema.columns import Kind, Role
from hushtable.schema.prepare import prepare
from hushtable.table.coins import Coins
from hushtable.table.plan import ColumnPlan

CONDENSED = (
    "Numbers are drawn from means and covariances of classes. Drawn rows belong to nobody and are not k-anonymous "
    "themselves. One that matches a person does so by chance."
)
FEWEST = 3
"""Minimum number of rows in a class: the mean and the spread of two people reveal both."""

_LARGEST = 2**53
_COVARIANCE = 1e300
"""Numbers beyond this could overflow."""
_FORMS = (Recoding.GLOBAL, Recoding.LOCAL, Recoding.CENTROID)


def condense_release(release: Released, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Draw a condensed table from a release with its original; see ``Release.condense``."""
    _check(release)
    if isinstance(release.published, Written):
        check_opened(release)
    numeric = _numeric(release)
    chosen = _chosen(numeric, columns)
    plan, recoding = release.plan.table, release.plan.algorithm.recoding
    labels = classes_of(release.table, plan.named(Role.QUASI))
    sizes = np.bincount(labels)
    if sizes.min() < FEWEST:
        raise IncompatibleError(
            f"The smallest class has {counted(int(sizes.min()), 'row', 'rows')}: its mean would reveal individual "
            "values.",
            code="small-classes",
            hint=f"Use k-anonymity with k of at least {FEWEST}.",
        )
    drawn, coins = _numbers(release, numeric, chosen, labels)
    check_cells([published_cells(release.table.column(n)) for n in plan.named(Role.QUASI)], plan, recoding, labels)
    others = {}
    readings, codes = read_columns(release.table, plan, recoding, without=drawn)
    for name in plan.named(Role.QUASI):
        if name not in readings and name not in drawn:
            raise nothing_to_draw(name)
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
    """Refuse releases whose classes are not groups of people that may be summarized."""
    plan = release.plan
    if plan.algorithm.samples:
        raise IncompatibleError(
            f"{plan.algorithm.name} reveals only which cells records share, and means would reveal more.",
            code="sampled",
            hint="Draw a sample instead: 'hushtable sample' reads only the published files.",
        )
    if plan.algorithm.recoding not in _FORMS:
        raise IncompatibleError(
            f"{plan.algorithm.name} publishes no equivalence classes to condense.",
            code="no-classes",
            hint="Choose another algorithm, such as mdav.",
        )
    for member in plan.model().members:
        if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
            raise IncompatibleError(
                f"{member.name} counts people outside the table, but a mean covers only people in it.",
                code="population",
                hint="Choose another model, such as k-anonymity.",
            )
    if plan.table.entity is not None:
        raise IncompatibleError(
            "With 'entity', a person may have several rows, so a class of k people may be drawn from one person's "
            "rows.",
            code="entity",
            hint="Use a table with one row per person, and remove 'entity'.",
        )
    if plan.guards:
        raise IncompatibleError(
            f"The guard {plan.guards[0].name} hides what its classes were made of, which their means would reveal.",
            code="guards",
            hint="Remove 'guard' from the policy.",
        )


def _numeric(release: Released) -> dict[str, ColumnPlan]:
    """The numeric quasi-identifiers, sorted by name so that the order of columns does not matter."""
    kinds = {c.name: c.coded.kind for c in release.encoded.quasi}
    return {c.name: c for c in sorted(release.plan.table.columns, key=lambda c: c.name)
            if kinds.get(c.name) is Kind.NUMERIC}  # fmt: skip


def _chosen(numeric: Collection[str], columns: Sequence[str] | None) -> set[str]:
    """The columns to publish as drawn numbers."""
    wanted = set(numeric if columns is None else columns)
    for name in sorted(wanted - set(numeric)):
        raise UsageError(
            f"Column {name!r} is not a numeric quasi-identifier of this release.",
            code="no-number",
            hint=did_you_mean(name, numeric) or "Omit 'columns' to use all numeric quasi-identifiers.",
        )
    if not wanted:
        raise IncompatibleError(
            "The release has no numeric quasi-identifier to condense.",
            code="no-number",
            hint="Use 'sample', which draws from published cells.",
        )
    return wanted


def _numbers(
    release: Released, numeric: Mapping[str, ColumnPlan], chosen: Collection[str], labels: IntArray
) -> tuple[dict[str, pa.Array], Coins]:
    """Draw numbers for every published row from the moments of its class; return the chosen columns, and the coins."""
    original = release.treated(list(numeric)).take(pa.array(release.source_rows))
    read: dict[str, tuple[FloatArray, bool]] = {}
    for name, column in numeric.items():
        try:
            read[name] = _read(original.column(name), column, release)
        except DataError:
            if name in chosen:
                raise
    records = np.column_stack([values for values, _ in read.values()])
    order = np.lexsort((*records.T[::-1], labels))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
    moments = moments_of(records[order], offsets)
    whole = records[np.lexsort(records.T[::-1])]
    coins = Coins.of_release(_digest(whole, [*read]), b"condensation")
    found = moments.draw_records(labels, _luck(records[order], labels, offsets, coins))
    out: dict[str, pa.Array] = {}
    for j, (name, (_, is_whole)) in enumerate(read.items()):
        if is_whole:
            out[name] = pa.array(np.rint(found[:, j]).astype(np.int64))
        else:
            out[name] = pa.array(_rounded(found[:, j], moments.spreads[:, j], labels))
    return {name: out[name] for name in read if name in chosen}, coins


def _luck(records: FloatArray, labels: IntArray, offsets: IntArray, coins: Coins) -> FloatArray:
    """Return uniform numbers for every published row, from coins of its class's records.

    Classes with the same records have different coins: equal numbers would show that they have the same.
    """
    found = np.empty(records.shape)
    rows = np.argsort(labels, kind="stable")
    seen: Counter[str] = Counter()
    for start, end in itertools.pairwise(offsets.tolist()):
        own = _digest(records[start:end]).hex()
        seen[own] += 1
        found[rows[start:end]] = coins.uniform(f"{own}/{seen[own]}", found[start:end].size).reshape(end - start, -1)
    return found


def _digest(records: FloatArray, names: Sequence[str] = ()) -> bytes:
    head = json.dumps([*names, *records.shape], ensure_ascii=True).encode()
    return hashlib.sha256(head + (records + 0.0).astype("<f8").tobytes()).digest()


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
            hint="Remove the column from 'columns': it is then drawn from its published cells.",
        )
    numbers = decode(data.data).to_numpy(zero_copy_only=False)
    whole = pa.types.is_integer(data.values.type)
    if whole and np.any((numbers > _LARGEST) | (numbers < -_LARGEST)):
        raise DataError(
            f"Column {column.name!r} has whole numbers beyond 2**53, which are not measurements.",
            code="too-large",
            hint="Remove the column from 'columns'.",
        )
    if np.any(np.abs(numbers.astype(np.float64)) > _COVARIANCE):
        raise DataError(
            f"Numbers of column {column.name!r} are too large for a covariance.",
            code="too-large",
            hint="Remove the column from 'columns'.",
        )
    return numbers.astype(np.float64), whole


def _rounded(values: FloatArray, spreads: FloatArray, labels: IntArray) -> FloatArray:
    """Round fractions to about a thousandth of their class's spread; a class without spread keeps its value."""
    # decimal text is exact, and the same on every machine
    places = np.array([3 - int(f"{spread:e}".partition("e")[2]) for spread in spreads.tolist()])
    scale = np.array([10.0 ** float(min(max(p, -300), 300)) for p in places.tolist()])[labels]
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.rint(values * scale) / scale
    return np.where((spreads[labels] > 0) & np.isfinite(rounded), rounded, values)


def _sorted(table: pa.Table) -> pa.Table:
    """Rows sorted by all their cells, so that their order reveals nothing."""
    plain = pa.table([decode(c) for c in table.columns], names=[str(i) for i in range(table.num_columns)])
    order = pc.sort_indices(plain, sort_keys=[(name, "ascending") for name in plain.column_names])
    return table.take(order)


def write_condensed(
    release: Released,
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Draw a condensed table into a file, and write a note about it; return the contents of the note.

    Raises
    ------
    OutputError
        If the file is in the folder of a release, exists, or cannot be written.
    """
    target = Path(path)
    check_sample_target(target, overwrite=overwrite)
    table = condense_release(release, columns=columns)
    return write_drawn(release, table, target, CONDENSED, {"method": "condensation"})


# Means and covariances of groups of records, and records drawn from them.
#
# As in Aggarwal and Yu, draws are uniform along each eigenvector of a covariance, with the variance there. Unlike
# a normal distribution, this is bounded: no value is farther from the mean than sqrt(3 d) standard deviations of d
# columns, so nothing has to be truncated at a bound, which would be a person's value.
#
# Eigenvectors are those of the correlations, so units do not matter. They come from Jacobi rotations in plain
# arithmetic, group by group, with the same bits on every machine, which LAPACK does not guarantee.


DOMINANT = 0.5
"""If one record has more than this share of a group's variance in any direction, columns are drawn separately."""

_SWEEPS = 60
_NOTHING = 1e-16
_FLAT = 1e-9
"""A share of the variance that counts as none, because of rounding."""


@dataclass(frozen=True)
class Moments:
    """The statistics of groups of records.

    Attributes
    ----------
    means, spreads : float arrays, groups x columns
        Means and standard deviations (divided by n).
    values : float array, groups x columns
        Eigenvalues of the correlations.
    vectors : float array, groups x columns x columns
        Eigenvectors, one in each column of the matrix.
    apart : bool array
        Groups whose covariances are not used: each column is drawn separately.
    """

    means: FloatArray
    spreads: FloatArray
    values: FloatArray
    vectors: FloatArray
    apart: BoolArray

    def draw_records(self, labels: IntArray, luck: FloatArray) -> FloatArray:
        """Return a record for every label.

        Parameters
        ----------
        labels : int64 array
            Group numbers.
        luck : float array, rows x columns
            Uniform numbers in [0, 1).

        Examples
        --------
        >>> group = moments_of(np.array([[1.0], [3.0]]), np.array([0, 2]))
        >>> group.draw_records(np.array([0, 0]), np.array([[0.5], [0.0]])).round(4).tolist()
        [[2.0], [0.2679]]
        """
        # uniform on [-sqrt(3 v), sqrt(3 v)): the variance is v
        steps = np.sqrt(3.0 * self.values)[labels] * (2.0 * luck - 1.0)
        away = _turned(self.vectors.swapaxes(1, 2), labels, steps)
        return np.asarray(self.means[labels] + self.spreads[labels] * away)


def moments_of(records: FloatArray, offsets: IntArray) -> Moments:
    """Return the moments of groups.

    Parameters
    ----------
    records : float array, rows x columns
        Group by group, in an order that depends only on the values.
    offsets : int64 array
        Where each group begins, and the end. No group is empty.

    Examples
    --------
    >>> cross = np.repeat([[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]], 2, axis=0)
    >>> found = moments_of(cross, np.array([0, 8]))
    >>> found.means.tolist(), (found.spreads**2).round(4).tolist(), found.values.round(4).tolist()
    ([[0.0, 0.0]], [[2.5, 2.5]], [[0.4, 1.6]])
    """
    start, sizes = offsets[:-1], np.diff(offsets)[:, None]
    labels = np.repeat(np.arange(len(start)), sizes[:, 0])
    low, high = np.minimum.reduceat(records, start), np.maximum.reduceat(records, start)
    # a mean of equal values may differ from them by rounding
    means = np.where(low == high, low, np.add.reduceat(records / sizes[labels], start))
    away = records - means[labels]
    most = np.maximum.reduceat(np.abs(away), start)
    unit = np.where(most > 0, most, 1.0)
    away = away / unit[labels]
    spreads = np.sqrt(np.add.reduceat(away * away, start) / sizes)
    standard = away / np.where(spreads > 0, spreads, 1.0)[labels]
    n_columns = records.shape[1]
    correlations = np.empty((len(start), n_columns, n_columns))
    for i in range(n_columns):
        for j in range(i + 1):
            both = np.add.reduceat(standard[:, i] * standard[:, j], start) / sizes[:, 0]
            correlations[:, i, j] = correlations[:, j, i] = np.where(spreads[:, i] > 0, both, 1.0) if i == j else both
    values, vectors = eigen(correlations)
    apart = _dominated(standard, labels, start, values, vectors)
    return Moments(
        means,
        unit * spreads,
        np.where(apart[:, None], 1.0, values),
        np.where(apart[:, None, None], np.eye(n_columns), vectors),
        apart,
    )


def _dominated(
    standard: FloatArray, labels: IntArray, start: IntArray, values: FloatArray, vectors: FloatArray
) -> BoolArray:
    """Which groups have a direction with hardly any variance, or with most of its variance from one record.

    Drawn records would lie on a line or plane through that record, so an adversary who knows all of its values but one
    could infer the last one. The largest share of a record in any direction is its leverage without the mean.
    """
    flat = values.min(axis=1) <= _FLAT
    along = _turned(vectors, labels, standard)
    sizes = np.bincount(labels)[labels]
    shares = (along * along / np.maximum(values, _FLAT)[labels]).sum(axis=1) / sizes
    return np.asarray(flat | (np.maximum.reduceat(shares, start) > DOMINANT))


def _turned(matrices: FloatArray, labels: IntArray, rows: FloatArray) -> FloatArray:
    """Each row times the matrix of its group, summed in the order of the columns."""
    out = np.zeros_like(rows)
    for i in range(rows.shape[1]):
        out += rows[:, i, None] * matrices[labels, i]
    return out


def eigen(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues and eigenvectors of symmetric matrices, by Jacobi rotations of all of them at once.

    A finished matrix is not rotated any further, so its result does not depend on the others.

    Examples
    --------
    >>> values, vectors = eigen(np.array([[[2.0, 1.0], [1.0, 2.0]]]))
    >>> values.round(6).tolist(), np.abs(vectors).round(4).tolist()
    ([[1.0, 3.0]], [[[0.7071, 0.7071], [0.7071, 0.7071]]])
    """
    turned, size = matrices.copy(), matrices.shape[1]
    vectors = np.broadcast_to(np.eye(size), turned.shape).copy()
    upper = np.triu_indices(size, 1)
    for _ in range(_SWEEPS):
        if not np.any(np.abs(turned[:, upper[0], upper[1]]) > _NOTHING):
            break
        for p, q in zip(*upper, strict=True):
            _rotate(turned, vectors, int(p), int(q))
    values = np.maximum(np.einsum("gii->gi", turned), 0.0)
    return values, vectors


def _rotate(turned: FloatArray, vectors: FloatArray, p: int, q: int) -> None:
    """Rotate columns p and q, so that their common entry becomes 0."""
    common = turned[:, p, q]
    open_ = np.abs(common) > _NOTHING
    ratio = (turned[:, q, q] - turned[:, p, p]) / np.where(open_, 2.0 * common, 1.0)
    tangent = np.where(open_, np.where(ratio < 0, -1.0, 1.0) / (np.abs(ratio) + np.sqrt(ratio * ratio + 1.0)), 0.0)
    cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
    sine = (tangent * cosine)[:, None]
    cosine = cosine[:, None]
    for matrix in (turned, turned.swapaxes(1, 2), vectors):
        left, right = matrix[:, :, p].copy(), matrix[:, :, q].copy()
        matrix[:, :, p] = cosine * left - sine * right
        matrix[:, :, q] = sine * left + cosine * right
    turned[open_, p, q] = turned[open_, q, p] = 0.0
