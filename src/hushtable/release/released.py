"""Released: a published table and how it was made, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Partition, Problem, Recoding
from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.errors import DataError, UsageError
from hushtable.io.frames import like, to_arrow
from hushtable.models.compose import AllOf
from hushtable.release.origin import Made, Origin
from hushtable.release.original import Files
from hushtable.release.plan import Plan
from hushtable.release.recode import Recoded
from hushtable.release.verify import Verification
from hushtable.schema.columns import Kind, Role
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.encode import encode, sensitive_column
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Reference

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.release.exposure import Exposure
    from hushtable.schema.prepare import Prepared


@dataclass(frozen=True, repr=False)
class Released:
    """A published table that passed the verifier, and how it was made.

    Attributes
    ----------
    published : pyarrow.Table or Written
        The table, or its location.
    plan : Plan
        The plan of the run.
    origin : Origin
        What is known beyond the published rows.
    source : DataFrame or Files, optional
        The original, as given.
    repeatable : bool
        Whether the plan gives the same release again from the same original.
    """

    published: Any
    plan: Plan
    origin: Origin
    source: Any = None
    repeatable: bool = True

    @property
    def policy(self) -> Mapping[str, Any]:
        """The policy of the run, as data."""
        return self.plan.document

    @cached_property
    def table(self) -> pa.Table:
        """The published table: rows sorted by all their cells, no identifiers. Read on first use."""
        return self.published if isinstance(self.published, pa.Table) else self.published.read()

    @property
    def columns(self) -> list[str]:
        """The published columns."""
        return list(self.table.column_names if isinstance(self.published, pa.Table) else self.published.columns)

    @cached_property
    def frame(self) -> Any:
        """The published table as the same kind of DataFrame as the input."""
        held = getattr(self.published, "frame", None)
        if held is not None:
            return held
        gaps = getattr(self.published, "gaps", None)
        return self.like(self.table if gaps is None else gaps(self.table))

    def like(self, table: pa.Table) -> Any:
        """Return a table of the published columns as the same kind of DataFrame as the input."""
        coarser = (*self.plan.table.named(Role.QUASI), self.plan.table.shown_weight)
        given = None if isinstance(self.source, Files) else self.source
        return like(table, given, [name for name in table.column_names if name not in coarser])

    def original(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the original, or some of its columns.

        Raises
        ------
        UsageError
            If the release was opened without it.
        """
        if self.source is None:
            raise UsageError(
                "The release was opened without its original.",
                code="needs-original",
                hint="Open it with the original: hushtable.open_release(folder, original=...), or --data.",
            )
        if isinstance(self.source, Files):
            return self.source.read(columns)
        table = to_arrow(self.source)
        if columns is None:
            return table
        absent = [name for name in columns if name not in table.column_names]
        if absent:
            raise DataError(
                f"The original has no column {absent[0]!r}.",
                code="absent-columns",
                hint="Give exactly the data that were released.",
            )
        return table.select(columns)

    def treated(self, columns: Sequence[str]) -> pa.Table:
        """Return some columns of the original with the values that the release was made from."""
        if not self.plan.table.treated:
            return self.original(columns)
        from hushtable.treatments.treating import treated  # most releases are of untreated tables

        known = vars(self)
        if "_treated" not in known:
            known["_treated"] = treated(self.original(), self.plan.table, self.plan.document)
        return known["_treated"].select(columns)

    def raw_exposure(self) -> Exposure:
        """Return the classes of the raw quasi-identifiers, before any treatment."""
        plan = self.plan.table
        if not plan.treated:
            return self.origin.before()
        from hushtable.release.exposure import Exposure

        roles = (Role.QUASI, Role.SENSITIVE, Role.WEIGHT, Role.CLUSTER)
        looked_at = tuple(c for c in plan.columns if c.role in roles or c.name == plan.entity)
        original = self.original([c.name for c in looked_at])
        return Exposure.raw(encode(original, replace(plan, columns=looked_at), self.plan.side_tables))

    def changes(self) -> dict[str, float]:
        """Return how much treatments changed each treated column: 0 is not at all. Needs the original.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": [30, 31, 52, 53], "pay": [0, 20, 40, 96]})
        >>> policy = ht.Policy(quasi=["age"], insensitive={"pay": {"treatment": {"top-bottom-coding": {"top": 48}}}},
        ...                    models=[ht.KAnonymity(k=2)])
        >>> ht.anonymize(people, policy).changes()
        {'pay': 0.125}
        """
        columns = [column.name for column in self.plan.table.columns if column.treatments]
        if not columns:
            return {}
        rows = self.source_rows[self.source_rows >= 0]
        return changes(self.original(columns), self.treated(columns), self.plan.table, pa.array(rows))

    @property
    def verification(self) -> Verification:
        """What every model achieved, recomputed from the published cells."""
        return self.origin.verification

    @property
    def made(self) -> Made:
        """How it was made, row by row."""
        return self.origin.made

    @property
    def problem(self) -> Problem:
        """The input of the algorithm."""
        return self.made.problem

    @property
    def recoded(self) -> Recoded:
        """The published cells of every class, and the class of every record."""
        return self.made.recoded

    @property
    def partition(self) -> Partition:
        """The result of the algorithm."""
        return self.made.partition

    @property
    def source_rows(self) -> AnyArray:
        """The source row of each published row; negative for counterfeits. It links rows to people."""
        return self.made.source_rows

    @property
    def encoded(self) -> EncodedTable:
        """The encoded input."""
        return self.problem.table

    @property
    def model(self) -> AllOf:
        """The models, bound to their columns."""
        return self.plan.model()

    @property
    def reference(self) -> Reference:
        """The whole table, with which models compare classes."""
        return self.origin.reference

    @property
    def kept(self) -> BoolArray:
        """Which input rows were released, in input order."""
        return np.asarray(self.recoded.labels[: self.records] >= 0)

    @property
    def records(self) -> int:
        """Input rows."""
        return self.origin.records

    @property
    def n_released(self) -> int:
        """Input rows that are published, without counterfeits."""
        return self.origin.released

    @property
    def n_suppressed(self) -> int:
        """Input rows that were suppressed."""
        return self.records - self.n_released

    @property
    def apart(self) -> bool:
        """Whether sensitive values are published separately from people, linked only by the number of a group."""
        return self.plan.algorithm.recoding is Recoding.BUCKET

    @property
    def may_have_counterfeits(self) -> bool:
        """Whether its algorithm can publish rows that belong to nobody."""
        return self.plan.algorithm.recoding is Recoding.NUMBERED

    @property
    def guards(self) -> tuple[str, ...]:
        """The names of the guards that it was made with."""
        return tuple(guard.name for guard in self.plan.guards)

    def halves(self) -> tuple[pa.Table, pa.Table]:
        """Return people and sensitive values as two tables, if they are separate."""
        from hushtable.release.bucket import split_table

        return split_table(self.table, self.plan.table)

    def codes_of(self, column: str) -> IntArray:
        """Return the codes of a sensitive column, row by row of the published table.

        If sensitive values are separate from people, the values of the row's own person, from the same group.
        """
        codes = np.asarray(next(c.codes for c in self.encoded.sensitive if c.name == column), dtype=np.int64)
        if self.recoded.counterfeits is not None:
            # they are numbered from -1 downwards, so they are last and in reverse order
            codes = np.concatenate([codes, self.recoded.counterfeits.codes[column][::-1]])
        return codes[self.source_rows]

    @cached_property
    def groups(self) -> Any:
        """One row per class: its published cells, its size, and its score under every model."""
        names = self.columns[-1:] if self.apart else self.plan.table.named(Role.QUASI)
        columns, stats = self.origin.classes(lambda: self.table, names)
        columns["people"] = pa.array(stats.sizes)
        for member in self.model.members:
            columns[title_of(member)] = pa.array(member.score(stats, self.reference))
        return like(pa.table(columns), None if isinstance(self.source, Files) else self.source)


class OtherColumns(Mapping[str, SensitiveColumn]):
    """The published columns that are neither quasi-identifiers nor sensitive, encoded on first use.

    Parameters
    ----------
    release : Released
        Must have its original.
    """

    def __init__(self, release: Released) -> None:
        self.release = release

    def __getitem__(self, name: str) -> SensitiveColumn:
        if name not in self.release.plan.table.named(Role.INSENSITIVE):
            raise KeyError(name)
        plan, table = self.release.plan.table, self.release.treated([name])
        return sensitive_column(next(c for c in plan.columns if c.name == name), table, plan, table.num_rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self.release.plan.table.named(Role.INSENSITIVE))

    def __len__(self) -> int:
        return len(self.release.plan.table.named(Role.INSENSITIVE))


def title_of(model: Any) -> str:
    """A model's name, with its columns if it has any: the heading of its scores."""
    on = getattr(model, "on", None)
    return f"{model.name} ({on if isinstance(on, str) else '+'.join(on)})" if on else model.name


def changes(original: pa.Table, treated: pa.Table, plan: TablePlan, published: pa.Array) -> dict[str, float]:
    """Return how much the treatment changed each treated column, over the published records.

    Parameters
    ----------
    original, treated : pyarrow.Table
        The same rows.
    plan : TablePlan
    published : pyarrow.Array
        The rows that are published.

    Returns
    -------
    dict
        For numbers and dates: the mean distance of the two values, relative to the original range. For others: the
        share of records with a different value. Pseudonyms are omitted: all of them are different.
    """
    from hushtable.treatments.treating import prepared

    return {
        column.name: change_of(prepared(original, column, plan), prepared(treated, column, plan), published)
        for column in plan.columns
        if column.name in original.column_names
        and column.treatments
        and not any(Role.PSEUDONYM in one.roles for one in column.treatments)
    }


def change_of(before: Prepared, after: Prepared, published: pa.Array) -> float:
    """Return how much of a column was changed, from 0 (nothing) upward."""
    rows = np.asarray(published)
    if not len(rows):
        return 0.0
    if before.kind in (Kind.NUMERIC, Kind.DATE):
        first, second = (np.append(_numbers(one), np.nan)[one.codes()] for one in (before, after))
        span = float(np.nanmax(first) - np.nanmin(first)) if before.missing < len(before) else 0.0
        moved = np.nan_to_num(np.abs(first[rows] - second[rows]))
        return float(moved.mean() / span) if span else float((moved > 0).mean())
    labels = (np.array([*one.values.to_pylist(), None], dtype=object)[one.codes()] for one in (before, after))
    first_labels, second_labels = labels
    return float(np.mean(first_labels[rows] != second_labels[rows]))


def _numbers(column: Prepared) -> np.typing.NDArray[np.float64]:
    values = column.values.cast("int32") if column.kind is Kind.DATE else column.values
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
