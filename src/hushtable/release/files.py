"""A release written to disk: the table, the policy and ``release.json``, and its private companion."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Recoding
from hushtable.arrays import IntArray, inverted
from hushtable.errors import DataError, UsageError
from hushtable.hierarchy.base import ROOT
from hushtable.io.dictionaries import decode
from hushtable.io.dictionary_reader import read_coded
from hushtable.io.files import write_table
from hushtable.io.formulas import guard_table
from hushtable.io.text import to_labels
from hushtable.release.companion import release_folders
from hushtable.release.evidence import write_documents
from hushtable.release.released import Released
from hushtable.release.written import for_spreadsheets, is_guarded, sensitive_path
from hushtable.schema.columns import Role
from hushtable.table.plan import TablePlan
from hushtable.table.ranks import dense_ranks

_log = logging.getLogger(__package__)


def save_release(
    release: Released,
    folder: Any,
    measured: Mapping[str, float],
    *,
    format: str = "csv",
    overwrite: bool = False,
    together: ExitStack | None = None,
) -> Path:
    """Write ``release.csv`` (or ``.parquet``), ``policy.yaml`` and ``release.json``, all or nothing.

    A release made of patterns also gets ``patterns.csv``: each of them once, as a rule. If sensitive values are
    separate from their people, they are in ``release-sensitive.csv``, and ``release.csv`` has none. ``together`` is
    completed with the folder; see ``hushtable.io.atomic.atomic_folder``. The private companion is the folder
    ``<folder>.private`` next to it, with ``measured``: measures over the original.
    """
    if format not in ("csv", "parquet"):
        raise UsageError(f"A release can be saved as csv or parquet. Got {format!r} instead.", code="format")
    with release_folders(folder, overwrite=overwrite, together=together) as (target, private):
        name = f"release.{format}"
        guarded = for_spreadsheets(release.policy)
        people = release.table
        if release.apart:
            people, values = release.halves()
            _write(values, sensitive_path(target / name), guarded)
        _write(people, target / name, guarded)
        if release.plan.algorithm.recoding is Recoding.PATTERN:
            _write(patterns(release), target / "patterns.csv", guarded)
        write_documents(release, target, private, name, measured, lambda: _shown_classes(release))
    _log.info("Saved a release of %d rows as %s", people.num_rows, format,
              extra={"rows": people.num_rows, "format": format})  # fmt: skip
    return Path(folder)


def _write(table: pa.Table, path: Path, guarded: bool) -> None:
    write_table(guard_table(table) if guarded and path.suffix == ".csv" else table, path)


def _shown_classes(release: Released) -> IntArray:
    """The verifier's classes, in the order of the published file."""
    labels = release.verification.labels[: release.table.num_rows]
    shown, first = np.unique(labels, return_index=True)
    if release.apart:
        first = release.table.column(release.table.num_columns - 1).to_numpy()[first]
    return shown[np.argsort(first, kind="stable")]


# Patterns as rules: what a class has in common, its number of records, and its most frequent sensitive values.
#
# Everything here is counted in the published table, so exporting it discloses nothing that the release does not.


def patterns(release: Released) -> pa.Table:
    """Return one row per class: its cells, how many of them are not ``*``, its records, and its most frequent values.

    If the algorithm never mixed the values of some sensitive columns (``within``), a pattern has one value each: a
    class with several values has a row for each of them.

    Parameters
    ----------
    release : Release
        A release of any algorithm; for anti-unification, the rows are its patterns.

    Returns
    -------
    pyarrow.Table
        The quasi-identifiers' cells; for every sensitive column, the most frequent value of the class (ties go to the
        first) and its share; ``length``, the number of cells other than ``*``; ``records``. In the order of the
        published classes.

    Examples
    --------
    >>> import hushtable as ht
    >>> from hushtable.algorithms.pattern.anti_unification import AntiUnification
    >>> people = pa.table({"job": ["a", "a", "b", "b"], "city": ["x", "y", "z", "z"], "pay": ["+", "+", "+", "-"]})
    >>> policy = ht.Policy(quasi=["job", "city"], sensitive=["pay"], models=[ht.KAnonymity(k=2)],
    ...                    algorithm=AntiUnification(indifferent=1))
    >>> for rule in patterns(ht.anonymize(people, policy)).to_pylist():
    ...     print(rule)
    {'job': 'a', 'city': '*', 'pay': '+', 'pay: share': 1.0, 'length': 1, 'records': 2}
    {'job': 'b', 'city': 'z', 'pay': '+', 'pay: share': 0.5, 'length': 2, 'records': 2}
    """
    table, plan = release.table, release.plan.table
    names = list(plan.named(Role.QUASI)), list(plan.named(Role.SENSITIVE))
    labels = release.verification.labels[: table.num_rows]
    return patterns_of(table, labels, *names, apart=release.plan.algorithm.apart)


def check_patterns(path: Path, table: pa.Table, labels: IntArray, plan: TablePlan, apart: Sequence[str]) -> None:
    """Refuse a ``patterns.csv`` that does not follow from the published rows.

    Parameters
    ----------
    path : path
    table : pyarrow.Table
        The published rows.
    labels : integer array
        The class of each row.
    plan : TablePlan
    apart : sequence of str
        Sensitive columns whose values have separate patterns.

    Raises
    ------
    DataError
    """
    columns = list(plan.named(Role.QUASI)), list(plan.named(Role.SENSITIVE))
    own = patterns_of(table, labels, *columns, apart=apart)
    found = read_coded(path, unescape_formulas=is_guarded(path.parent))
    if found.column_names != own.column_names or any(
        _texts(found.column(name)) != _texts(own.column(name)) for name in own.column_names
    ):
        raise DataError(
            "patterns.csv does not follow from the published rows.",
            code="other-patterns",
            hint="Use the release as it was written.",
        )


def _texts(column: pa.ChunkedArray) -> list[str]:
    labels = to_labels(decode(column)).cast(pa.string())
    return [cell or "" for cell in labels.to_pylist()]


def patterns_of(
    table: pa.Table, labels: IntArray, quasi: Sequence[str], sensitive: Sequence[str], *, apart: Sequence[str] = ()
) -> pa.Table:
    """Return the patterns of a published table whose classes are known; see ``patterns``.

    Parameters
    ----------
    table : pyarrow.Table
        The published rows in order; only quasi-identifiers and sensitive columns are needed.
    labels : integer array
        The class of each row.
    quasi, sensitive : sequences of str
        Names of columns.
    apart : sequence of str
        Sensitive columns whose values have separate patterns.
    """
    for name in apart:
        ranks, n_ranks = dense_ranks(table.column(name))
        labels = labels.astype(np.int64) * n_ranks + ranks
    _, first, owner, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first, kind="stable")
    owner, size = inverted(order)[owner], size[order]
    take = pa.array(first[order])
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    length = np.zeros(len(order), dtype=np.int64)
    for name in quasi:
        cells = table.column(name).take(take)
        columns[name] = cells
        length += np.array([cell != ROOT for cell in cells.to_pylist()], dtype=np.int64)
    for name in sensitive:
        row, count = _commonest(table.column(name), owner, len(order))
        columns[name] = table.column(name).take(pa.array(row))
        columns[_free(f"{name}: share", columns)] = pa.array(count / size)
    columns[_free("length", columns)] = pa.array(length)
    columns[_free("records", columns)] = pa.array(size.astype(np.int64))
    return pa.table(columns)


def _commonest(column: pa.ChunkedArray, owner: IntArray, n_groups: int) -> tuple[IntArray, IntArray]:
    """A row with each group's most frequent value, and the number of such rows in the group."""
    ranks, n_ranks = dense_ranks(column)
    key, row, count = np.unique(owner * np.int64(n_ranks) + ranks, return_index=True, return_counts=True)
    group = key // n_ranks
    order = np.lexsort((key, -count, group))
    best = order[np.searchsorted(group[order], np.arange(n_groups))]
    return row[best], count[best]


def _free(name: str, taken: dict[str, pa.Array | pa.ChunkedArray]) -> str:
    """A column name that is not taken."""
    return name if name not in taken else _free(f"{name}_", taken)
