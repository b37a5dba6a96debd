"""The streaming engine: tables larger than memory, on one machine, from files or databases to files and databases.

The first pass encodes the input's columns on disk, run by run. If the algorithm keeps equal records together, equal
rows are then counted, and the algorithm, the models and the order of the published rows use the distinct combinations
of values (``combined``); otherwise, quasi-identifiers and sensitive columns are in memory as the smallest integer
codes, a byte or two per cell. The second pass writes the release row group by row group; columns on disk go through an
external sort. The written files are read back and verified from their cells before the folder appears.

A database is read once, in one transaction, and a target database gets the verified rows in one transaction too, piece
by piece. The files are identical to those of the local engine for the same policy, byte for byte. Memory grows with the
distinct combinations, or is a few dozen bytes per row (the codes, the group of every row, its place in the release),
plus one run of the input for each core and one bucket of the output.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushtable._version import __version__
from hushtable.algorithms.base import Algorithm, Problem, Progress, Recoding, quietly
from hushtable.arrays import IntArray
from hushtable.engines.combined import StoredTable, combine, store
from hushtable.engines.emit import EmittedRows, Piece, parts_of
from hushtable.engines.local import problem_from, solve
from hushtable.engines.release import Release
from hushtable.engines.solved import SolvedCounts, SolvedRows, guarded, solved_counts, solved_rows
from hushtable.errors import DataError, IncompatibleError, ParameterError, UsageError
from hushtable.io.canonical import digest
from hushtable.io.files import column_names
from hushtable.io.formulas import guard_table
from hushtable.io.layout import Repeated, Rows, write_pieces
from hushtable.io.secret import load_secret
from hushtable.io.sources import check_unchanged, is_address, same_columns, stamps, table_sources
from hushtable.io.urls import Source
from hushtable.io.workspace import Workspace, workspace
from hushtable.registry import measures
from hushtable.release.addresses import writing_rows
from hushtable.release.companion import release_folders
from hushtable.release.evidence import write_documents
from hushtable.release.original import Files
from hushtable.release.plan import Plan
from hushtable.release.recode import forms_shown
from hushtable.release.verify import Verification
from hushtable.release.written import Written
from hushtable.schema.columns import Role
from hushtable.table.encode import encode
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import check_columns

_log = logging.getLogger(__package__)

FORMATS = ("csv", "parquet")

MOST_ROWS = 2**31 - 1
"""The companion stores places of rows as numbers of 4 bytes."""

_STREAMED = (Recoding.GLOBAL, Recoding.LOCAL, Recoding.CENTROID)
"""Recodings that publish one table with only the input's rows."""


def is_streamable(algorithm: Algorithm) -> bool:
    """Whether an algorithm's release can be written piece by piece.

    Examples
    --------
    >>> from hushtable.registry import algorithms
    >>> is_streamable(algorithms.build("mondrian", {})), is_streamable(algorithms.build("anatomy", {}))
    (True, False)
    """
    return algorithm.recoding in _STREAMED and not algorithm.samples


def _check_sources(files: Sequence[Source], plan: Plan) -> None:
    """Refuse sources whose columns are not those of the plan."""
    check_columns(same_columns(files, [column_names(file) for file in files]), plan.table)
    _log.info("Streaming %d sources with %s", len(files), plan.algorithm.name, extra={"sources": len(files)})


def _check_streamable(plan: Plan) -> None:
    """Refuse plans that need the whole table in memory, before anything is read."""
    if plan.algorithm.samples:
        raise IncompatibleError(
            f"{plan.algorithm.name} draws records at random, and a resumed run would draw twice.",
            hint="Run it without streaming.",
        )
    if not is_streamable(plan.algorithm):
        raise IncompatibleError(
            f"{plan.algorithm.name} publishes more than the input's rows in one table, and cannot be streamed.",
            hint="Run it without streaming, or choose another algorithm.",
        )
    plan.refuse_in("Streaming")


def run_files(
    paths: Sequence[Source],
    plan: Plan,
    folder: str | os.PathLike[str],
    *,
    format: str = "csv",
    part_rows: int | None = None,
    to: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Anonymize a table in files or databases under a plan, and write the release into a folder, all or nothing.

    Parameters
    ----------
    paths : sequence of paths and addresses
        Files, folders of files, patterns, databases, stores; see ``hushtable.io.sources.table_sources``.
    plan : Plan
    folder : path
        The output. Temporary files are hidden next to it until the run ends. If the run is killed, they stay, and the
        same run resumes from them, except for tables in databases and stores, which may have changed.
    format : {"csv", "parquet"}
    part_rows : int, optional
        Write the table as a folder with parts of this many rows, instead of one file.
    to : str, optional
        The address of a database table, or of Parquet in a store, that also gets the verified rows.
    overwrite : bool
        Whether an existing folder, and what ``to`` names, may be replaced.
    progress : callable, optional
        Called with (share done, what is being done); may raise ``Cancelled``.

    Raises
    ------
    UsageError, Infeasible, NotFound, VerificationError, Cancelled
        Nothing is left that was not verified.
    """
    _check_streamable(plan)
    if format not in FORMATS:
        raise UsageError(f"A release can be saved as csv or parquet. Got {format!r} instead.", code="format")
    if part_rows is not None and part_rows < 1:
        raise ParameterError(f"A part must have at least 1 row. Got {part_rows} instead.")
    load_secret()  # fail now rather than after the work
    plan = plan.pinned()
    report = progress or quietly
    report(0.0, "reading")
    files = table_sources(paths)
    before = stamps(files)
    _check_sources(files, plan)
    key = {"hushtable": __version__, "policy": digest(plan.document), "files": before}
    if any(map(is_address, files)):
        key["once"] = secrets.token_hex()  # it may have changed since a killed run read it
    with workspace(folder, key) as work, ExitStack() as elsewhere:
        stored = store(files, plan.table, work, report)
        check_unchanged(before)
        solved = _solved(stored, plan, work, report)
        with release_folders(folder, overwrite=overwrite, together=elsewhere) as (place, private):
            name = f"release.{format}"
            parts = parts_of(len(solved.published), part_rows)
            published = solved.published.with_spill([piece for part in parts for piece in part], work, report)
            columns = tuple(_write(published, parts, place / name, part_rows is not None, plan, report))
            report(1.0, "verifying")
            source = Files(tuple(paths))
            origin = solved.verified(place / name, source)
            origin.verification.raise_if_violated()
            check_unchanged(before)
            report(1.0, "measuring")
            plan = _held(Release(Written(place / name, columns), plan, origin, source), report)
            result = Release(Written(Path(folder, name), columns), plan, origin, source)
            measured = result.measures()
            result = replace(result, origin=replace(origin, measured=measured))
            report(1.0, "keeping")
            shown = partial(_shown_classes, origin.verification, len(solved.published))
            write_documents(result, place, private, name, measured, shown)
            if to is not None:
                rows = Rows(
                    published.schema, (rows for part in parts for rows in _plain(published.groups(part, report)))
                )
                elsewhere.enter_context(writing_rows([(to, rows)], overwrite=overwrite))
            report(1.0, "writing")
    return solved.finished(result, Path(folder))


def _held(release: Release, report: Progress) -> Plan:
    """Check a release with the ledger of its plan, if any, before it becomes visible."""
    plan = release.plan
    if plan.account is None:
        return plan
    report(1.0, "comparing with earlier releases")
    return replace(plan, account=plan.account.hold(release))


def _solved(stored: StoredTable, plan: Plan, work: Workspace, progress: Progress) -> SolvedRows | SolvedCounts:
    """Run the algorithm: on distinct combinations if it uses those, otherwise on rows."""
    if stored.n_rows > MOST_ROWS:
        raise DataError(
            f"The table has {stored.n_rows} rows, but a release can have at most {MOST_ROWS}.",
            code="too-many-rows",
            hint="Run it on Spark.",
        )
    combined = combine(stored, work, progress) if _counts(stored, plan) else None
    if combined is None:
        problem, coded = _problem(stored.in_memory(), plan, progress, stored.tie_rank)
        return solved_rows(stored, coded, problem, plan, *solve(problem, plan))
    counted, others = _problem(combined.table(), plan, progress, times=combined.records)
    runs = RunStore(counted.table, lambda: _problem(stored.in_memory(), plan, progress))
    problem = replace(counted, store=runs)
    del counted
    partition, recoded = solve(problem, plan)
    if runs.rows is None:
        return solved_counts(stored, combined, others, problem.grouped, plan, partition, recoded)
    return solved_rows(stored, runs.rows[1], problem.grouped, plan, partition, recoded)


def _counts(stored: StoredTable, plan: Plan) -> bool:
    """Whether nothing needs to know which of several equal records belongs to whom."""
    alone = plan.table.entity is None and plan.side_tables.population is None and not plan.side_tables.believes
    alone = alone and not any(c.role.of_survey for c in plan.table.columns)
    # of equal records only the combination is known, so cells have to follow from the values of a class
    alone = alone and all(form.by_members for form in forms_shown(plan.table, plan.algorithm.recoding))
    # a plug-in's measure may need rows; built-in ones do not
    plug_in = any(measure.default for measure in measures.plug_ins().values())
    return alone and not (plan.guards or plan.account is not None or plug_in or stored.ranks)


def _problem(
    coded: pa.Table,
    plan: Plan,
    progress: Progress,
    tie_rank: Callable[[], IntArray] | None = None,
    times: IntArray | None = None,
) -> tuple[Problem, pa.Table]:
    """The problem on codes, and the columns other than quasi-identifiers as they were read."""
    progress(0.0, "encoding")
    held = tuple(c for c in plan.table.columns if c.name in coded.column_names)
    encoded = encode(coded, replace(plan.table, columns=held), plan.side_tables, tie_rank, times=times)
    # columns that are only used to break ties are not in memory
    ranked = dict.fromkeys([*plan.table.named(Role.INSENSITIVE), *encoded.ranked])
    encoded = replace(encoded, ranked=tuple(ranked))
    return problem_from(encoded, plan, progress), coded.select(plan.table.named(Role.SENSITIVE))


def _write(
    published: EmittedRows,
    parts: Sequence[Sequence[Piece]],
    path: Path,
    in_parts: bool,
    plan: Plan,
    progress: Progress,
) -> list[str]:
    """Write the table as one file or as parts; return its columns."""
    schema = published.schema
    if in_parts:
        path.mkdir()
    for number, part in enumerate(parts, start=1):
        file = path / f"part-{number:05}{path.suffix}" if in_parts else path
        pieces = published.groups(part, progress)
        if guarded(path, plan):
            write_pieces(map(_guard, pieces), guard_table(schema.empty_table()).schema, file)
        else:
            write_pieces(pieces, schema, file)
    names: list[str] = schema.names
    return names


def _guard(piece: pa.Table | Repeated) -> pa.Table | Repeated:
    return replace(piece, table=guard_table(piece.table)) if isinstance(piece, Repeated) else guard_table(piece)


def _plain(pieces: Iterable[pa.Table | Repeated]) -> Iterator[pa.Table]:
    return (piece.rows() if isinstance(piece, Repeated) else piece for piece in pieces)


def _shown_classes(verification: Verification, rows: int) -> IntArray:
    """The verifier's classes, in the order of the published file."""
    shown, first = np.unique(verification.labels[:rows], return_index=True)
    return shown[np.argsort(first, kind="stable")]


# A streamed table for algorithms: combinations that were counted run by run, or rows on demand.


class RunStore:
    """A table as combinations; see ``hushtable.algorithms.store``.

    Parameters
    ----------
    combinations : EncodedTable
        Every combination with its weight.
    read : callable
        Returns the problem on rows, and the columns other than quasi-identifiers.

    Attributes
    ----------
    rows : (Problem, pyarrow.Table), optional
        The result of ``read``, if the algorithm used rows.
    """

    rows: tuple[Problem, pa.Table] | None = None
    fits = True  # the combinations are always in memory
    far = None  # rows can be read

    def __init__(self, combinations: EncodedTable, read: Callable[[], tuple[Problem, pa.Table]]) -> None:
        self.outline, self._read = combinations, read

    @property
    def sample_units(self) -> int:
        """Size of the sample, in units."""
        return self.outline.sample_units

    @property
    def digest(self) -> bytes:
        """A digest of the records: the same for combinations with their weights."""
        return self.outline.digest

    @property
    def given(self) -> EncodedTable:
        """The rows, if they were used; otherwise the combinations."""
        return self.outline

    def records(self) -> EncodedTable:
        """Read the rows, once."""
        if self.rows is None:
            self.rows = self._read()
            # the combinations are no longer needed
            self.outline = self.rows[0].table
        return self.outline

    def combinations(self, why: str = "") -> EncodedTable:
        """Return every combination with its weight."""
        return self.outline
