"""A streamed table with its groups: what is published, and what is known after verification.

Either every row has its group (``SolvedRows``), or equal rows were counted and every combination has one
(``SolvedCounts``), so that memory use grows with the combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines.combined import RUN_ROWS, Combined, StoredTable
from hushtable.engines.emit import EmittedRows
from hushtable.engines.local import kept_rows
from hushtable.engines.release import Release
from hushtable.engines.saved import Saved
from hushtable.errors import UsageError
from hushtable.io.dictionaries import to_codes
from hushtable.io.dictionary_reader import count_neighbours, read_coded
from hushtable.kernels.grouping import number_rows
from hushtable.kernels.placing import next_places
from hushtable.parallel import each, sort_numbers
from hushtable.release.companion import companion_of, load_evidence, read_companion
from hushtable.release.comparison import RowComparison
from hushtable.release.counted import CountedComparison
from hushtable.release.judge import judge, judge_counted
from hushtable.release.kept import keep_counted
from hushtable.release.origin import Fresh, Made, classes_of
from hushtable.release.original import Files, RestRanks
from hushtable.release.plan import Plan
from hushtable.release.reading_back import published_cells
from hushtable.release.recode import Recoded
from hushtable.release.verify import Verification
from hushtable.release.written import Written, for_spreadsheets
from hushtable.schema.columns import Role
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import TablePlan
from hushtable.table.ranks import dense_ranks
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class SolvedRows:
    """Groups of rows.

    Attributes
    ----------
    problem : Problem
    plan : Plan
    partition : Partition
    recoded : Recoded
    published : EmittedRows
    """

    problem: Problem
    plan: Plan
    partition: Partition
    recoded: Recoded
    published: EmittedRows

    def verified(self, path: Path, source: Files) -> Made:
        """Verify only what was actually written."""
        columns, escaped = _looked_at(self.plan), guarded(path, self.plan)
        table = _in_verifiers_form(read_coded(path, columns, unescape_formulas=escaped), self.plan)
        order = self.published.order
        verification = judge(self.problem, self.plan.table, self.recoded, table, order)
        done = self.problem.done()
        if done.table.tie_rank is not None:
            # data in the work folder are read from the original instead, if needed
            done = replace(done, store=replace(done.table, tie_rank=RestRanks(source, self.plan.table)))
        return Made(done, self.partition, self.recoded, verification, order)

    def finished(self, release: Release, folder: Path) -> Release:
        """Return the release after its folder has been written."""
        return release


def solved_rows(
    stored: StoredTable, coded: pa.Table, problem: Problem, plan: Plan, partition: Partition, recoded: Recoded
) -> SolvedRows:
    """Order the rows of an algorithm's groups."""
    # labels are in recoded, and regions are for new records
    partition = replace(partition, labels=np.empty(0, dtype=np.int64), regions=None)
    kept_rows(problem, plan, recoded)
    problem.progress(1.0, "publishing")
    labels = recoded.labels[: stored.n_rows]
    order = order_by(sort_keys(stored, coded, replace(recoded, labels=labels), plan.table), labels)
    return SolvedRows(problem, plan, partition, recoded, EmittedRows(stored, coded, recoded, plan.table, order))


@dataclass(frozen=True)
class SolvedCounts:
    """Groups of combinations.

    Attributes
    ----------
    problem : Problem
        Its rows are the combinations, weighted.
    plan : Plan
    partition : Partition
    recoded : Recoded
    published : EmittedRows
    combined : Combined
    shown : int32 array
        The published row of every combination, equal ones counted once; -1 for suppressed ones.
    """

    problem: Problem
    plan: Plan
    partition: Partition
    recoded: Recoded
    published: EmittedRows
    combined: Combined
    shown: AnyArray

    def verified(self, path: Path, source: Files) -> Tallied:
        """Verify only what was actually written."""
        columns, escaped = _looked_at(self.plan), guarded(path, self.plan)
        read, times = count_neighbours(path, columns, RUN_ROWS, unescape_formulas=escaped)
        table = _in_verifiers_form(read, self.plan)
        verification = judge_counted(self.problem, self.plan.table, table, times)
        return Tallied(self.problem, self.partition, self, verification, table)

    def finished(self, release: Release, folder: Path) -> Release:
        """Return the release after its folder has been written; rows are read again on demand."""
        tallied: Any = release.origin
        private = companion_of(folder)
        kept, public = read_companion(private, folder), load_evidence(folder / "release.json")
        plan = replace(release.plan, coins=self.problem.used_coins)
        written: Written = release.published
        origin = Streamed(written, plan, public, private, kept, release.source, tallied.verification, tallied.cells)
        return replace(release, origin=origin)


def solved_counts(
    stored: StoredTable, combined: Combined, coded: pa.Table, problem: Problem, plan: Plan, partition: Partition,
    recoded: Recoded,
) -> SolvedCounts:  # fmt: skip
    """Order the combinations of an algorithm's groups."""
    partition = replace(partition, labels=np.empty(0, dtype=np.int64), regions=None)
    kept_rows(problem, plan, recoded)
    problem.progress(1.0, "publishing")
    keys = sort_keys(stored, coded, recoded, plan.table)
    order = order_by(keys, recoded.labels)
    first = first_of_equals(keys, order)
    shown = np.full(len(recoded.labels), -1, dtype=np.int32)
    shown[order] = np.repeat(np.arange(len(first), dtype=np.int32), np.diff(np.append(first, len(order))))
    times = np.add.reduceat(combined.records[order], first)
    published = EmittedRows(stored, coded, recoded, plan.table, order[first], times)
    return SolvedCounts(problem, plan, partition, recoded, published, combined, shown)


@dataclass(frozen=True)
class Tallied(Fresh):
    """What is known about a release with counted rows while it is written.

    Attributes
    ----------
    solved : SolvedCounts
    verification : Verification
        Verification of the published rows, with equal adjacent rows counted once.
    cells : pyarrow.Table
        Those rows.
    """

    solved: SolvedCounts
    verification: Verification
    cells: pa.Table

    @property
    def table(self) -> EncodedTable:
        """The columns of the original; every record is a person."""
        return replace(self.problem.table, row_units=np.empty(0, dtype=np.int64))

    @property
    def records(self) -> int:
        """Records of the original."""
        return self.problem.table.sample_units

    @property
    def released(self) -> int:
        """Published records."""
        return self.verification.rows

    @property
    def made(self) -> NoReturn:
        """Refuse: rows are read again after the release has been written."""
        raise UsageError("The release is being written.", code="no-release", hint="Try again when it is complete.")

    # this release is not returned: the returned one has another origin (``Streamed``)
    before = after = classes = verify = made

    def comparison(self, plan: Plan) -> CountedComparison:
        """Return the release compared with its original, combination by combination."""
        every = RowComparison(
            table=self.problem.table,
            labels=self.solved.recoded.labels,
            cells=self.solved.recoded.cells,
            k=self.problem.model.min_group_size(),
            seed=plan.seed,
        )
        return CountedComparison.of_rows(every, self.solved.combined.records, every)

    def keep(self, private: Path, table: Callable[[], pa.Table], plan: Plan) -> dict[str, Any]:
        """Write the class and the place of every record into the companion's folder, run by run."""
        solved = self.solved
        return keep_counted(self.problem.table, solved.partition, solved.recoded, self._rows(), self._codes, private)

    def _rows(self) -> Iterator[tuple[AnyArray, AnyArray]]:
        solved = self.solved
        times = solved.published.times
        assert times is not None
        following = np.cumsum(times) - times
        classes = np.asarray(solved.recoded.labels).astype(np.int32)
        for own, shown in solved.combined.runs(classes, solved.shown):
            yield own, next_places(shown, following)

    def _codes(self, name: str) -> Iterator[AnyArray]:
        solved, table = self.solved, self.problem.table
        columns: list[QuasiColumn | SensitiveColumn] = [*table.quasi, *table.sensitive]
        column = next(c for c in columns if c.name == name)
        of_place = np.zeros(len(solved.combined.columns[name]) + 1, dtype=column.codes.dtype)
        of_place[solved.combined.places_in(name)] = column.codes
        return solved.combined.codes(solved.published.stored, name, of_place)


@dataclass(frozen=True)
class Streamed(Saved):
    """What is known about a new release with counted rows; the rest is read on demand.

    Attributes
    ----------
    found : Verification
        Verification of the published rows, with equal adjacent rows counted once.
    cells : pyarrow.Table
        Those rows.
    """

    found: Verification | None = None
    cells: pa.Table | None = None

    @property
    def verification(self) -> Verification:
        """What every model achieved, recomputed from the published cells."""
        assert self.found is not None
        return self.found

    def classes(self, table: Callable[[], pa.Table], names: Sequence[str]) -> tuple[dict[str, pa.Array], GroupStats]:
        """Return the published cells of every class in these columns, in published order, and its statistics."""
        assert self.cells is not None
        return classes_of(self.cells, self.verification, names)

    def verify(self, table: Callable[[], pa.Table], plan: Plan) -> Verification:
        """Read the published cells again, and judge them again."""
        return Saved(self.written, self.plan, self.public, self.private, self.kept, self.source).verification


def _looked_at(plan: Plan) -> list[str]:
    return [*plan.table.named(Role.QUASI), *plan.table.named(Role.SENSITIVE)]


def guarded(path: Path, plan: Plan) -> bool:
    """Whether a file has an apostrophe before text that a spreadsheet would run."""
    return path.suffix == ".csv" and for_spreadsheets(plan.document)


def _in_verifiers_form(read: pa.Table, plan: Plan) -> pa.Table:
    """The rows that were read, with quasi-identifiers in the verifier's form."""
    quasi, sensitive = plan.table.named(Role.QUASI), plan.table.named(Role.SENSITIVE)
    cells = {name: published_cells(read.column(name)) for name in quasi}
    return pa.table({**cells, **{name: read.column(name) for name in sensitive}})


_SLICE = 1 << 20


@dataclass(frozen=True)
class SortKey:
    """A sort key: ``rank[codes]``, or the codes themselves.

    Attributes
    ----------
    codes : integer array
        One per source row; -1 is the last entry of ``rank``.
    rank : int64 array, optional
    size : int
        A bound on the ranks.
    """

    codes: AnyArray
    rank: IntArray | None
    size: int

    def of(self, start: int, end: int) -> AnyArray:
        """Return the ranks of some rows."""
        return self.at(slice(start, end))

    def at(self, rows: slice | AnyArray) -> AnyArray:
        """Return the ranks of these rows."""
        codes = self.codes[rows]
        return codes if self.rank is None else self.rank[codes]


def sort_keys(stored: StoredTable, coded: pa.Table, recoded: Recoded, plan: TablePlan) -> list[SortKey]:
    """Return the sort keys of the published rows, in the policy's order of columns.

    Adjacent quasi-identifiers form one key: the rank of a class.
    """
    place = {cells.column.name: j for j, cells in enumerate(recoded.cells)}
    ranks = list(each(dense_ranks, recoded.published, many=len(recoded.labels) >= _SLICE))
    keys: list[SortKey] = []
    waiting: list[tuple[IntArray, int]] = []

    def flush() -> None:
        if waiting:
            rank, first = number_rows([r for r, _ in waiting], [n for _, n in waiting])
            keys.append(SortKey(recoded.labels, np.append(rank, 0), len(first)))
            waiting.clear()

    for column in plan.columns:
        if column.role is Role.QUASI:
            waiting.append(ranks[place[column.name]])
            continue
        if not column.role.published:
            continue
        flush()
        if column.name in stored.ranks:
            keys.append(SortKey(stored.rank_of(column.name), None, stored.ranks[column.name]))
        else:
            keys.append(_in_memory(coded.column(column.name).chunk(0)))
    flush()
    return keys


def _in_memory(column: pa.DictionaryArray) -> SortKey:
    rank, size = dense_ranks(column.dictionary)
    codes: AnyArray = column.indices.to_numpy(zero_copy_only=False)
    if column.indices.null_count:
        codes = to_codes(column)
    return SortKey(codes, np.append(rank, 0), size)


def first_of_equals(keys: Sequence[SortKey], order: AnyArray) -> IntArray:
    """Return 0 and the places at which rows in this order differ from their predecessor.

    Examples
    --------
    >>> key = SortKey(np.array([0, 1, 0, 1], dtype=np.uint8), None, 2)
    >>> first_of_equals([key], np.array([0, 2, 1, 3])).tolist()
    [0, 2]
    """
    new = np.zeros(len(order), dtype=np.bool_)
    new[:1] = True
    for key in keys:
        ranks = key.at(order)
        new[1:] |= ranks[1:] != ranks[:-1]
    return np.flatnonzero(new)


def order_by(keys: Sequence[SortKey], labels: AnyArray) -> AnyArray:
    """Return the rows with a label from 0, sorted by the keys; equal rows in their order.

    Keys and row numbers are packed into 8 bytes and sorted in place, so that sorting takes no additional memory.

    Examples
    --------
    >>> key = SortKey(np.array([0, 1, 0, 1], dtype=np.uint8), np.array([5, 2]), 6)
    >>> order_by([key], np.array([0, 0, -1, 1])).tolist()
    [1, 3, 0]
    """
    n = len(labels)
    packed = np.zeros(n, dtype=np.int64)
    span = 1
    for key in keys:
        if span * key.size >= 2**62:
            packed, first = number_rows([packed], [span])
            span = len(first)
        for start in range(0, n, _SLICE):
            part = packed[start : start + _SLICE]
            part *= key.size
            part += key.of(start, start + _SLICE)
        span *= key.size
    dtype = np.uint32 if n < 2**32 else np.int64
    bits = max(n - 1, 1).bit_length()
    if span << bits >= 2**63:
        packed, first = number_rows([packed], [span])
        span = len(first)
    if span << bits >= 2**63:
        # beyond two thousand million different rows
        order = np.argsort(packed, kind="stable")
        return order[labels[order] >= 0].astype(dtype)
    released = 0
    for start in range(0, n, _SLICE):
        part = packed[start : start + _SLICE]
        kept = np.flatnonzero(labels[start : start + _SLICE] >= 0)
        rows = (part[kept] << bits) | (kept + start)
        packed[released : released + len(kept)] = rows
        released += len(kept)
    packed = packed[:released]
    sort_numbers(packed)
    out = np.empty(released, dtype=dtype)
    mask = (1 << bits) - 1
    for start in range(0, released, _SLICE):
        out[start : start + _SLICE] = packed[start : start + _SLICE] & mask
    return out
