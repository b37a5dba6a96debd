"""Writing a Spark release: executors write its rows in parallel, and the files on disk are counted again.

Nothing appears under its final name before the written cells are verified. None of Spark's own files remain.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Recoding
from hushtable.arrays import IntArray
from hushtable.engines.release import Release
from hushtable.engines.spark import part_files
from hushtable.errors import UsageError
from hushtable.io.dictionary_reader import read_coded
from hushtable.io.files import iter_batches, write_table
from hushtable.io.formulas import guard_table
from hushtable.io.layout import Rows
from hushtable.io.sources import table_files
from hushtable.kernels.grouping import number_rows
from hushtable.release.addresses import writing_rows
from hushtable.release.companion import release_folders
from hushtable.release.evidence import write_documents
from hushtable.release.files import patterns_of
from hushtable.release.recode import class_numbers
from hushtable.release.written import for_spreadsheets
from hushtable.schema.columns import Role

if TYPE_CHECKING:
    from hushtable.engines.spark.engine import SparkOutcome


def save_parts(
    release: Release,
    outcome: SparkOutcome,
    folder: Any,
    *,
    format: str,
    overwrite: bool,
    parts: bool | None = None,
    to: str | None = None,
) -> Path:
    """Write ``release.csv`` or ``release.parquet``, ``policy.yaml`` and ``release.json``, all or nothing.

    A release made of patterns also gets ``patterns.csv``. With ``to``, the rows that were written and counted also go
    to a database's table, or to Parquet in a store, in one transaction.

    Raises
    ------
    UsageError
        If the format is unknown, or CSV is requested in parts.
    VerificationError
        If the written rows differ from the verified ones.
    OutputError
        If the folder cannot be written.
    """
    if format not in ("csv", "parquet"):
        raise UsageError(f"A release can be saved as csv or parquet. Got {format!r} instead.", code="format")
    if format == "csv" and parts:
        raise UsageError("A release in parts must be saved as parquet.", code="format", hint="Use format='parquet'.")
    many = parts if parts is not None else format == "parquet" and release.verification.rows > part_files.ONE_FILE
    with (
        ExitStack() as elsewhere,
        release_folders(folder, overwrite=overwrite, together=elsewhere) as (target, private),
    ):
        name = f"release.{format}"
        shown = guard_table if for_spreadsheets(release.policy) else lambda table: table
        place = target / (name if many else ".parts")
        outcome.shown.write(place, many)
        _check(outcome, place)
        if release.plan.algorithm.recoding is Recoding.PATTERN:
            write_table(shown(_patterns(release, place)), target / "patterns.csv")
        if to is not None:
            elsewhere.enter_context(writing_rows([(to, _rows(place))], overwrite=overwrite))
        if not many:
            rows = read_coded(place)
            write_table(shown(rows) if format == "csv" else rows, target / name)
            shutil.rmtree(place)
        write_documents(release, target, private, name, release.measures(), lambda: _shown_classes(outcome))
    return Path(folder)


def _patterns(release: Release, place: Path) -> pa.Table:
    quasi, sensitive = (list(release.plan.table.named(role)) for role in (Role.QUASI, Role.SENSITIVE))
    written = read_coded(place, [*quasi, *sensitive])
    labels, _ = class_numbers(tuple(written.column(name) for name in quasi))
    return patterns_of(written, labels, quasi, sensitive, apart=release.plan.algorithm.apart)


def _rows(place: Path) -> Rows:
    """The written parts, one after the other."""
    files = table_files([place])
    schema = next(iter_batches(files[0])).schema
    return Rows(schema, (pa.Table.from_batches([batch]) for file in files for batch in iter_batches(file)))


def _check(outcome: SparkOutcome, place: Path) -> None:
    """Count the written cells, which must be the verified ones."""
    if not outcome.shown.count_written(outcome.problem, place).same_as(outcome.counted):
        raise part_files.not_verified()


def _shown_classes(outcome: SparkOutcome) -> IntArray:
    """The verifier's classes, in the order of the published rows."""
    counted, found = outcome.counted, outcome.verification
    with outcome.shown.jobs.run():
        first_rows = outcome.shown.class_order()
    n = len(counted.rows)
    both = [np.concatenate([own, shown]) for own, shown in zip(counted.cells, first_rows, strict=True)]
    numbers, _ = number_rows(both, outcome.shown.book.packing.sizes)
    label = np.empty(int(numbers.max()) + 1, dtype=np.int64)
    label[numbers[:n]] = found.labels[:n]
    return label[numbers[n:]]
