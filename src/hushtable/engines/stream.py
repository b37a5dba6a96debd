"""The streaming engine: tables larger than memory, on one machine, from files or databases to files and databases.

Two passes. The first encodes the input's columns on disk, run by run; quasi-identifiers and sensitive columns are then
held as the smallest integer codes, a byte or two a cell, and the algorithm, the models and the order of the published
rows work on those alone. The second writes the release row group by row group; columns that were not held pass through
an external sort. What was written is read back and verified from its cells before the folder appears.

A database is read once, in one transaction, and a database that the release goes to gets the verified rows in one
transaction too, piece by piece. The files are those that the local engine writes for the same policy, byte for byte.
Memory is a few dozen bytes a row (the codes, the group of every row, its place in the release), one run of the input
and one bucket of the output.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushtable._version import __version__
from hushtable.algorithms.base import Algorithm, Problem, Progress, Recoding, quietly
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.emit import Piece, Published, parts_of
from hushtable.engines.local import kept_rows, problem_from, solve
from hushtable.engines.release import Release
from hushtable.engines.sorting import order_by, sort_keys
from hushtable.engines.stored import StoredTable, store
from hushtable.errors import IncompatibleError, ParameterError, UsageError
from hushtable.io.canonical import digest
from hushtable.io.coded import read_coded
from hushtable.io.files import column_names
from hushtable.io.formulas import guard_table
from hushtable.io.layout import Rows
from hushtable.io.parts import write_pieces
from hushtable.io.secret import load_secret
from hushtable.io.sources import check_unchanged, is_address, same_columns, stamps, table_sources
from hushtable.io.urls import Source
from hushtable.io.workspace import workspace
from hushtable.release.companion import release_folders
from hushtable.release.evidence import write_documents
from hushtable.release.judge import judge
from hushtable.release.origin import Made
from hushtable.release.original import Files, RestRanks
from hushtable.release.places import writing_rows
from hushtable.release.plan import Plan
from hushtable.release.recode import Recoded
from hushtable.release.reread import published_cells
from hushtable.release.verify import Verification
from hushtable.release.written import Written, for_spreadsheets
from hushtable.schema.columns import Role
from hushtable.table.encode import check_columns, encode

__all__ = ["is_streamable", "run_files"]

_log = logging.getLogger(__package__)

FORMATS = ("csv", "parquet")

_STREAMED = (Recoding.GLOBAL, Recoding.LOCAL, Recoding.CENTROID)
"""Recodings that publish one table, made of the input's rows alone."""


def is_streamable(algorithm: Algorithm) -> bool:
    """Whether an algorithm's release can be written piece by piece.

    Examples
    --------
    >>> from hushtable.registry import algorithms
    >>> is_streamable(algorithms.build("mondrian", {})), is_streamable(algorithms.build("anatomy", {}))
    (True, False)
    """
    return algorithm.recoding in _STREAMED


def _check_sources(files: Sequence[Source], plan: Plan) -> None:
    """Refuse sources whose columns are not those of the plan."""
    check_columns(same_columns(files, [column_names(file) for file in files]), plan.table)
    _log.info("Streaming %d sources with %s", len(files), plan.algorithm.name, extra={"sources": len(files)})


def _check_streamable(plan: Plan) -> None:
    """Refuse, before anything is read, what needs the whole table in memory."""
    if not is_streamable(plan.algorithm):
        raise IncompatibleError(
            f"{plan.algorithm.name} publishes more than the input's rows in one table, and is not streamed.",
            hint="Run it without streaming, or choose another algorithm.",
        )


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
        What to write. Temporary files lie hidden beside it until the run ends; after a kill they stay, and the same
        run takes up what was finished, but for tables in databases and stores, which may have changed.
    format : {"csv", "parquet"}
    part_rows : int, optional
        Write the table as a folder with parts of so many rows, instead of one file.
    to : str, optional
        The address of a database's table, or of Parquet in a store, that gets the rows too once they are verified.
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
        raise UsageError(f"A release is saved as csv or parquet. Got {format!r} instead.", code="format")
    if part_rows is not None and part_rows < 1:
        raise ParameterError(f"A part must have at least 1 row. Got {part_rows} instead.")
    load_secret()  # better now than after the work
    plan = plan.pinned()
    report = progress or quietly
    report(0.0, "reading")
    files = table_sources(paths)
    before = stamps(files)
    _check_sources(files, plan)
    key = {"hushtable": __version__, "policy": digest(plan.document), "files": before}
    if any(map(is_address, files)):
        key["once"] = secrets.token_hex()  # nobody can tell whether it still is what a killed run has read
    with workspace(folder, key) as work, ExitStack() as elsewhere:
        stored = store(files, plan.table, work, report)
        check_unchanged(before)
        report(0.0, "encoding")
        problem, coded = _problem(stored, plan, report)
        partition, recoded = solve(problem, plan)
        # labels are in recoded, and regions are for records that were not seen
        partition = replace(partition, labels=np.empty(0, dtype=np.int64), regions=None)
        kept_rows(problem, plan, recoded)
        report(1.0, "publishing")
        order = order_by(sort_keys(stored, coded, recoded, plan.table), recoded.labels[: stored.n_rows])
        published = Published(stored, coded, recoded, plan.table, order)
        with release_folders(folder, overwrite=overwrite, together=elsewhere) as (place, private):
            name = f"release.{format}"
            parts = parts_of(len(order), part_rows)
            published = published.with_spill([piece for part in parts for piece in part], work, report)
            columns = _write(published, parts, place / name, part_rows is not None, plan, report)
            report(1.0, "verifying")
            verification = _verify(place / name, problem, plan, recoded, order)
            verification.raise_if_violated()
            check_unchanged(before)
            report(1.0, "measuring")
            source = Files(tuple(paths))
            made = Made(_done(problem, plan, source), partition, recoded, verification, order)
            plan = _held(Release(Written(place / name, tuple(columns)), plan, made, source), report)
            result = Release(Written(Path(folder, name), tuple(columns)), plan, made, source)
            measured = result.measures()
            result = replace(result, origin=replace(made, measured=measured))
            write_documents(result, place, private, name, measured, lambda: _shown_classes(verification, len(order)))
            if to is not None:
                rows = Rows(published.schema, (rows for part in parts for rows in published.groups(part, report)))
                elsewhere.enter_context(writing_rows([(to, rows)], overwrite=overwrite))
            report(1.0, "writing")
    return result


def _held(release: Release, report: Progress) -> Plan:
    """Hold a release against the ledger that its plan names, if any, before anybody can see it."""
    plan = release.plan
    if plan.account is None:
        return plan
    report(1.0, "comparing with earlier releases")
    return replace(plan, account=plan.account.hold(release))


def _done(problem: Problem, plan: Plan, source: Files) -> Problem:
    """The problem as it is kept: what lies in the work folder is read from the original, should it be asked for."""
    done = problem.done()
    if done.table.tie_rank is None:
        return done
    return replace(done, store=replace(done.table, tie_rank=RestRanks(source, plan.table)))


def _problem(stored: StoredTable, plan: Plan, progress: Progress) -> tuple[Problem, pa.Table]:
    """The problem on codes, and the columns beside the quasi-identifiers as they were read."""
    held = tuple(c for c in plan.table.columns if c.name in stored.runs and c.name not in stored.ranks)
    coded = stored.in_memory()
    encoded = encode(coded, replace(plan.table, columns=held), plan.extra, stored.tie_rank)
    return problem_from(encoded, plan, progress), coded.select(plan.table.named(Role.SENSITIVE))


def _write(
    published: Published,
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
        if _guarded(path, plan):
            write_pieces(map(guard_table, pieces), guard_table(schema.empty_table()).schema, file)
        else:
            write_pieces(pieces, schema, file)
    names: list[str] = schema.names
    return names


def _guarded(path: Path, plan: Plan) -> bool:
    """Whether text that a spreadsheet would run gets an apostrophe in a file."""
    return path.suffix == ".csv" and for_spreadsheets(plan.document)


def _verify(path: Path, problem: Problem, plan: Plan, recoded: Recoded, order: AnyArray) -> Verification:
    """Verify from what was written, and from nothing that was to be written."""
    quasi, sensitive = plan.table.named(Role.QUASI), plan.table.named(Role.SENSITIVE)
    written = read_coded(path, [*quasi, *sensitive], unescape_formulas=_guarded(path, plan))
    cells = {name: published_cells(written.column(name)) for name in quasi}
    table = pa.table({**cells, **{name: written.column(name) for name in sensitive}})
    return judge(problem, plan.table, recoded, table, order)


def _shown_classes(verification: Verification, rows: int) -> IntArray:
    """The verifier's classes, in the order in which the published file shows them."""
    shown, first = np.unique(verification.labels[:rows], return_index=True)
    return shown[np.argsort(first, kind="stable")]
