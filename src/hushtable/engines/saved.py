"""A release opened from files: what its companion and its original contain, read on demand.

Nothing is anonymized again. The companion has the class of every source row; cells follow from the classes and the
original, and must be the published ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Problem, Recoding
from hushtable.arrays import IntArray
from hushtable.engines.local import problem_from, problem_of
from hushtable.errors import DataError, IncompatibleError, UsageError, counted
from hushtable.io.files import column_names
from hushtable.io.frames import to_arrow
from hushtable.io.sources import same_columns, table_sources
from hushtable.io.text import to_labels
from hushtable.kernels.grouping import count_rows
from hushtable.release.bucket import bucket_column
from hushtable.release.companion import check_private, recall, remember
from hushtable.release.comparison import Comparison
from hushtable.release.exposure import Exposure
from hushtable.release.judge import judge
from hushtable.release.kept import (
    CANONICAL,
    CELLS,
    CLASSES,
    ROWS,
    SPACE,
    counted_marks,
    kept_classes,
    kept_rows,
    original_marks,
    restored,
)
from hushtable.release.origin import Made, classes_of
from hushtable.release.original import Files, RestRanks
from hushtable.release.plan import Plan
from hushtable.release.publish import publish, published_order
from hushtable.release.published import verify_published
from hushtable.release.reading_back import published_cells, sensitive_codes
from hushtable.release.recode import Recoded, class_numbers
from hushtable.release.saved_reference import saved_reference
from hushtable.release.verify import Verification
from hushtable.release.written import Written
from hushtable.schema.columns import Role
from hushtable.table.encode import encode
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import TablePlan, check_columns
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

_SAID = (
    *("hushtable", "records", "released", "suppressed", "columns", "algorithm", "satisfied", "rows", "people"),
    *("classes", "models", "measures", "notes"),
)


@dataclass(frozen=True)
class Saved:
    """What is known about a release in a folder.

    Attributes
    ----------
    written : Written
        The published table.
    plan : Plan
    public : mapping
        Contents of ``release.json``.
    private : path, optional
        The companion's folder, if it exists and matches.
    kept : mapping, optional
        Contents of the companion.
    source : DataFrame or Files, optional
        The original.
    """

    written: Written
    plan: Plan
    public: Mapping[str, Any]
    private: Path | None = None
    kept: Mapping[str, Any] | None = None
    source: Any = None

    @cached_property
    def _published(self) -> pa.Table:
        return self.written.read()

    @cached_property
    def verification(self) -> Verification:
        """What every model achieves, recomputed from the published cells."""
        try:
            return replace(self._from_files(), from_original=self.kept is None and self.source is not None)
        except UsageError as error:
            # some models can only be judged with the original
            if error.code not in ("needs-companion", "needs-input") or self.source is None:
                raise
        return replace(self.made.verification, from_original=True)

    def _from_files(self) -> Verification:
        return verify_published(
            self._published,
            self.plan.table,
            self.plan.model(),
            self.kept or self.public,
            recoding=self.plan.algorithm.recoding,
            suppression=self.plan.suppression,
            whole=None if self.kept is not None or self.source is None else self._whole(),
        )

    def _whole(self) -> Reference:
        """The whole table's counts, from the original, so that nothing has to be trusted."""
        table = self._encoded((Role.QUASI, Role.SENSITIVE))
        self._check_original(table)
        return table.reference(self.plan.model().histogram_keys())

    @property
    def problem(self) -> Problem:
        """The input of the algorithm."""
        return self.made.problem

    @property
    def table(self) -> EncodedTable:
        """The encoded original."""
        return self.made.problem.table

    @cached_property
    def reference(self) -> Reference:
        """The whole table, with which models compare classes."""
        if self.kept is None:
            return self._whole()
        return saved_reference(self.kept, self.plan.model())

    @property
    def records(self) -> int:
        """Records of the original."""
        return self._count("records")

    @property
    def released(self) -> int:
        """Published records, without counterfeits."""
        return self._count("released")

    def _count(self, name: str) -> int:
        for said in (self.kept or {}, self.public):
            if isinstance(said.get(name), int):
                return int(said[name])
        raise _needs_companion("The number of rows that are people is not public.")

    @property
    def notes(self) -> Mapping[str, Any]:
        """The algorithm's notes on its result."""
        return dict((self.kept or self.public).get("notes") or {})

    @property
    def measured(self) -> Mapping[str, float]:
        """Measures over the original, from the run."""
        found = (self.kept or {}).get("measures") or {}
        return {name: math.nan if value is None else value for name, value in found.items()}

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """The verdict from the run, from the companion."""
        if self.kept is None:
            return None
        return {**{name: self.kept[name] for name in _SAID}, "measures": dict(self.measured)}

    def comparison(self, plan: Plan) -> Comparison:
        """Return the release compared with its original, row by row."""
        return self.made.comparison(plan)

    def before(self) -> Exposure:
        """Return the classes of the original quasi-identifiers; no other column is read."""
        if "made" in vars(self):
            return self.made.before()
        plan, side_tables = self.plan.table, self.plan.side_tables
        survey = any(c.role.of_survey for c in plan.columns)
        alone = (
            plan.entity is None
            and side_tables.population is None
            and not (side_tables.believes or survey or plan.treated)
        )
        detail = lambda: self.made.before().detailed()  # noqa: E731 - reads every column, if a risk asks
        if not (alone and isinstance(self.source, Files)):
            table = self._encoded((Role.QUASI, Role.WEIGHT, Role.CLUSTER))
            self._check_counted(table, None)
            return replace(Exposure.raw(table), detail=detail)
        # equal rows are counted before their values are processed
        columns = self._columns((Role.QUASI,))
        self._check_columns(self.source)
        distinct, records = self.source.count([c.name for c in columns.columns])
        table = encode(distinct, columns)
        self._check_counted(table, records)
        known = tuple(c.coded.size for c in table.quasi)
        shown, counts = count_rows([c.codes for c in table.quasi], known, records)
        return Exposure(tuple(c.name for c in table.quasi), tuple(shown), known, counts, detail=detail)

    def after(self, table: Callable[[], pa.Table]) -> Exposure:
        """Return the classes of the published table, as the verifier found them in its cells."""
        if self.plan.algorithm.recoding is Recoding.BUCKET or any(c.role.of_survey for c in self.plan.table.columns):
            return self.made.after(table)
        if self.private is not None and self.kept is not None:
            check_private(self.private, self.kept, (CLASSES,))
            kept = kept_classes(self.private, self.plan.table.named(Role.QUASI))
            if kept is not None:
                return replace(kept, detail=lambda: self.made.after(table))
        people = None if self.plan.side_tables.population is None else self.plan.side_tables.population.num_rows
        return Exposure.published(self._published, self.verification, self.plan.table.named(Role.QUASI), people)

    def classes(self, table: Callable[[], pa.Table], names: Sequence[str]) -> tuple[dict[str, pa.Array], GroupStats]:
        """Return the published cells of every class in these columns, in published order, and its statistics."""
        return classes_of(self._published, self.verification, names)

    def verify(self, table: Callable[[], pa.Table], plan: Plan) -> Verification:
        """Recompute the classes from the published cells and judge them again."""
        return replace(self).verification

    def attack_sample(self, plan: Plan, sample: int) -> None:
        """Return nothing: all rows are in memory."""

    def recall(self, name: str) -> Mapping[str, Any] | None:
        """Return the earlier result of an attack, if the companion has it."""
        return None if self.private is None else recall(self.private, name)

    def remember(self, name: str, found: Mapping[str, Any]) -> None:
        """Store the result of an attack in the companion, if it can be written."""
        if self.private is not None:
            remember(self.private, name, found)

    def keep(self, private: Path, table: Callable[[], pa.Table], plan: Plan) -> dict[str, Any]:
        """Write what later examinations need into another companion's folder."""
        return self.made.keep(private, table, plan)

    @cached_property
    def made(self) -> Made:
        """How it was made, row by row, from the companion and the original.

        Raises
        ------
        UsageError
            If the companion or the original is missing.
        DataError
            If the release was made from another original.
        """
        if self.kept is None or self.private is None:
            raise _needs_companion("Which record is in which class is not public.")
        kept = self.kept.get("made")
        if kept is None:
            raise IncompatibleError(
                "The release was made by Spark, whose driver did not know individual records: it is unknown which of "
                "them is in which class.",
                code="spark-engine",
                hint="Compute measures, risks and attacks with the release that Spark returns, before it ends.",
            )
        if self.source is None:
            raise _needs_original()
        check_private(self.private, self.kept, (ROWS, CELLS, SPACE))
        problem = self._problem()
        self._check_original(problem.table)
        recoding = self.plan.algorithm.recoding
        by_place = kept["order"] != CANONICAL
        rows, values = kept_rows(self.private, kept, self._published.num_rows) if by_place else (None, None)
        groups = None if values is None or rows is None else self._groups(rows, problem.table.n_sample)
        partition, recoded = restored(self.private, kept, problem.table, recoding, self.notes, groups)
        if rows is None:
            rows = self._sorted(recoded)
            self._check_cells(problem, recoded, rows)
        verification = judge(problem, self.plan.table, recoded, self._cells(), rows if values is None else values)
        return Made(problem.done(), partition, recoded, verification, rows, values, measured=self.measured)

    def _cells(self) -> pa.Table:
        """The published table, with quasi-identifiers as the verifier reads them."""
        table = self._published
        for name in self.plan.table.named(Role.QUASI):
            place = table.column_names.index(name)
            table = table.set_column(place, name, published_cells(table.column(name)))
        return table

    def _columns(self, roles: Sequence[Role]) -> TablePlan:
        """The plan with the columns of these roles, and the one that identifies each row's person."""
        plan = self.plan.table
        return replace(plan, columns=tuple(c for c in plan.columns if c.role in roles or c.name == plan.entity))

    def _encoded(self, roles: Sequence[Role]) -> EncodedTable:
        columns, exact = self._columns(roles), self.plan.algorithm.recoding is Recoding.BUCKET
        ranks = None
        files = isinstance(self.source, Files) and not self.plan.table.treated
        if Role.SENSITIVE in roles and self.plan.table.named(Role.INSENSITIVE) and files:
            ranks = RestRanks(self.source, self.plan.table)
        elif Role.SENSITIVE in roles:
            columns = self._columns((*roles, Role.INSENSITIVE))
        return encode(self._read([c.name for c in columns.columns]), columns, self.plan.side_tables, ranks, exact=exact)

    def _read(self, names: Sequence[str] | None) -> pa.Table:
        """Some columns of the original, or all, treated as they were when the release was made."""
        if self.plan.table.treated:
            from hushtable.treatments.treating import treated

            found = treated(self._raw(None), self.plan.table, self.plan.document)
            return found if names is None else found.select(names)
        return self._raw(names)

    def _raw(self, names: Sequence[str] | None) -> pa.Table:
        if self.source is None:
            raise _needs_original()
        if isinstance(self.source, Files):
            self._check_columns(self.source)
            return self.source.read(names)
        table = to_arrow(self.source)
        check_columns(table.column_names, self.plan.table)
        return table if names is None else table.select(names)

    def _check_columns(self, source: Files) -> None:
        files = table_sources(source.sources)
        check_columns(same_columns(files, [column_names(file) for file in files]), self.plan.table)

    def _problem(self) -> Problem:
        if self.plan.account is not None and self.plan.algorithm.keeps_signatures:
            return problem_of(self._read(None), self.plan.repeating())
        roles = (Role.QUASI, Role.SENSITIVE, Role.WEIGHT, Role.CLUSTER)
        return problem_from(self._encoded(roles), self.plan)

    def _check_original(self, table: EncodedTable) -> None:
        """Refuse an original with different records, as far as they were read and the companion has hashes of them."""
        if table.n_sample != self.records:
            raise _other_size(table.n_sample, self.records)
        known = ((self.kept or {}).get("made") or {}).get("original")
        if known is not None and any(known[name] != mark for name, mark in original_marks(table).items()):
            raise _other_original()

    def _check_counted(self, table: EncodedTable, records: IntArray | None) -> None:
        """Refuse an original whose quasi-identifiers have different values or frequencies."""
        n = table.n_sample if records is None else int(records.sum())
        if n != self.records:
            raise _other_size(n, self.records)
        known = ((self.kept or {}).get("made") or {}).get("counted")
        if known is not None and known != counted_marks(table, records):
            raise _other_original()

    def _groups(self, rows: IntArray, n: int) -> IntArray:
        """For a bucketization, the published group of every source row; -1 for suppressed ones."""
        number = self._published.column(bucket_column(self.plan.table)).cast(pa.string()).cast(pa.int64()).to_numpy()
        groups = np.full(n, -1, dtype=np.int64)
        groups[rows] = np.unique(number, return_inverse=True)[1]
        return groups

    def _sorted(self, recoded: Recoded) -> IntArray:
        """The source row of each published row, by sorting the published cells of the records."""
        kept = np.flatnonzero(recoded.labels[: self.records] >= 0)
        shown = publish(self._read(None), recoded, self.plan.table, kept)
        return np.asarray(kept[published_order(shown)])

    def _check_cells(self, problem: Problem, recoded: Recoded, rows: IntArray) -> None:
        """Refuse an original whose records do not give the published cells and values."""
        for j, column in enumerate(problem.table.quasi):
            if not _same(published_cells(self._published.column(column.name)), recoded.column(j, rows)):
                raise _other_original()
        if self.plan.table.shown_weight is not None and problem.table.survey is not None:
            from hushtable.release.class_weights import check_class_weights  # most tables are not surveys

            check_class_weights(self._published, self.plan.table, problem.table.survey.weights, rows)
        kinds = {c.name: c.coded.kind for c in problem.table.sensitive}
        codes = sensitive_codes(self._published, self.plan.table, problem.reference, kinds)
        for sensitive in problem.table.sensitive:
            if not np.array_equal(codes[sensitive.name], sensitive.codes[rows]):
                raise _other_original()


def _same(shown: Any, made: pa.DictionaryArray) -> bool:
    """Whether two columns publish the same cells; numbers may have been read back as text."""

    def text(column: pa.DictionaryArray) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(column.indices, to_labels(column.dictionary).cast(pa.string()))

    one = shown.unify_dictionaries().combine_chunks() if isinstance(shown, pa.ChunkedArray) else shown
    both = pa.chunked_array([text(one).cast(pa.dictionary(pa.int32(), pa.string())), text(made)])
    labels, _ = class_numbers([both])
    return bool(np.array_equal(labels[: len(made)], labels[len(made) :]))


def _needs_companion(why: str) -> UsageError:
    return UsageError(
        f"{why} Only the publisher knows it, from the release's private companion.",
        code="needs-companion",
        hint="If that is you, put the folder whose name ends in '.private' next to the release. Releases of hushtable "
        "0.1 have none. Without it, the table can be read, verified and sampled.",
    )


def _needs_original() -> UsageError:
    return UsageError(
        "This needs the original, but the release was opened without it.",
        code="needs-original",
        hint="Give the original: hushtable.open_release(folder, original=...), or --data FILE.",
    )


def _other_size(found: int, known: int) -> DataError:
    return DataError(
        f"The original has {counted(found, 'record', 'records')}, but the release was made from {known:,}.",
        code="other-original",
        hint="Give exactly the data that were released.",
    )


def _other_original() -> DataError:
    return DataError(
        "The original's records, or their order, differ from those that the release was made from.",
        code="other-original",
        hint="Give exactly the data that were released.",
    )
