"""A release written to disk: the table, the policy and ``release.json``, and its private companion."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Recoding
from hushtable.arrays import IntArray
from hushtable.errors import UsageError
from hushtable.io.files import write_table
from hushtable.io.formulas import guard_table
from hushtable.release.companion import release_folders
from hushtable.release.evidence import write_documents
from hushtable.release.released import Released
from hushtable.release.written import for_spreadsheets, sensitive_path

__all__ = ["save_release"]

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
            from hushtable.release.rules import patterns

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
