"""What is known about a release beyond its published rows: how it was made, and from which records.

After a run, everything is known (``Made``). For a saved release, it comes from the private companion and the original,
which are read on demand; Spark has counts instead of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import AnyArray, IntArray
from hushtable.release.comparison import Comparison, RowComparison
from hushtable.release.judge import judge
from hushtable.release.plan import Plan
from hushtable.release.recode import Recoded
from hushtable.release.verify import Verification
from hushtable.table.encoded import EncodedTable
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

if TYPE_CHECKING:
    from hushtable.release.exposure import Exposure


def classes_of(
    table: pa.Table, verification: Verification, names: Sequence[str]
) -> tuple[dict[str, pa.Array], GroupStats]:
    """Return the published cells of every class in these columns, in published order, and its statistics."""
    shown, first = np.unique(verification.labels[: table.num_rows], return_index=True)
    order = np.argsort(first, kind="stable")
    take = pa.array(first[order])
    return {name: table.column(name).take(take) for name in names}, verification.stats.take(shown[order])


class Origin(Protocol):
    """What is known about a release beyond its published rows."""

    @property
    def verification(self) -> Verification:
        """What every model achieved, recomputed from the published cells."""

    @property
    def problem(self) -> Problem:
        """The input of the algorithm."""

    @property
    def table(self) -> EncodedTable:
        """The encoded original; if rows were counted, one row may represent several."""

    @property
    def reference(self) -> Reference:
        """The whole table, with which models compare classes."""

    @property
    def records(self) -> int:
        """Records of the original."""

    @property
    def released(self) -> int:
        """Published records, without counterfeits."""

    @property
    def notes(self) -> Mapping[str, Any]:
        """The algorithm's notes on its result."""

    @property
    def measured(self) -> Mapping[str, float]:
        """Measures over the original that are already known."""

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """What was reported at the time of the run, if stored."""

    @property
    def made(self) -> Made:
        """How it was made, row by row."""

    def comparison(self, plan: Plan) -> Comparison:
        """Return the release compared with its original, for utility measures."""

    def before(self) -> Exposure:
        """Return the classes of the original quasi-identifiers, for risks."""

    def after(self, table: Callable[[], pa.Table]) -> Exposure:
        """Return the classes of the published table, for risks; ``table`` reads it."""

    def classes(self, table: Callable[[], pa.Table], names: Sequence[str]) -> tuple[dict[str, pa.Array], GroupStats]:
        """Return the published cells of every class in these columns, in published order, and its statistics."""

    def verify(self, table: Callable[[], pa.Table], plan: Plan) -> Verification:
        """Recompute the classes from the published cells and judge them again."""

    def attack_sample(self, plan: Plan, sample: int) -> Any:
        """Return a view on some classes for attacks, its records and their weight; None if all rows are in memory."""

    def recall(self, name: str) -> Mapping[str, Any] | None:
        """Return the stored result of an attack, if there is one."""

    def remember(self, name: str, found: Mapping[str, Any]) -> None:
        """Store the result of an attack, if there is a place for it."""

    def keep(self, private: Path, table: Callable[[], pa.Table], plan: Plan) -> dict[str, Any] | None:
        """Write what later examinations need into the companion's folder; return the rest, for its JSON."""


@dataclass(frozen=True)
class Fresh:
    """What is known about every new release: the input and the result of its algorithm, and nothing stored.

    Attributes
    ----------
    problem : Problem
        The input of the algorithm.
    partition : Partition
        Result of the algorithm.
    measured : mapping of str to float
        Measures that are already known.
    """

    problem: Problem
    partition: Partition
    measured: Mapping[str, float] = field(default_factory=dict, kw_only=True)

    @property
    def summary(self) -> None:
        """Nothing: it is recomputed from what is known."""

    @property
    def reference(self) -> Reference:
        """The whole table, with which models compare classes."""
        return self.problem.reference

    @property
    def notes(self) -> Mapping[str, Any]:
        """The algorithm's notes on its result."""
        return self.partition.notes

    def attack_sample(self, plan: Plan, sample: int) -> Any:
        """Return nothing: all rows are used."""

    def recall(self, name: str) -> None:
        """Return nothing: a new release has no stored results."""

    def remember(self, name: str, found: Mapping[str, Any]) -> None:
        """Store nothing."""


@dataclass(frozen=True)
class Made(Fresh):
    """How a release was made, row by row, for those who have the original.

    Attributes
    ----------
    recoded : Recoded
        The published cells of every class, and the class of every record.
    verification : Verification
    source_rows : integer array
        The source row of each published row; negative for counterfeits. It links rows to people.
    value_rows : integer array, optional
        The source row of each published row's sensitive values, if these are separate from their people.
    """

    recoded: Recoded
    verification: Verification
    source_rows: AnyArray
    value_rows: IntArray | None = None

    @property
    def made(self) -> Made:
        """Itself."""
        return self

    @property
    def table(self) -> EncodedTable:
        """The encoded original."""
        return self.problem.table

    @property
    def records(self) -> int:
        """Records of the original."""
        return self.problem.table.n_sample

    @property
    def released(self) -> int:
        """Published records, without counterfeits."""
        return int(np.count_nonzero(self.source_rows >= 0))

    def comparison(self, plan: Plan) -> RowComparison:
        """Return the release compared with its original, row by row."""
        return RowComparison(
            table=self.problem.table,
            labels=self.recoded.labels[: self.records],
            cells=self.recoded.cells,
            k=self.problem.model.min_group_size(),
            seed=plan.seed,
            linked=self.recoded.buckets is None,
        )

    def before(self) -> Exposure:
        """Return the classes of the original quasi-identifiers."""
        from hushtable.release.exposure import Exposure

        return Exposure.raw(self.problem.table)

    def after(self, table: Callable[[], pa.Table]) -> Exposure:
        """Return the classes of the published table, as the verifier found them in its cells."""
        from hushtable.release.exposure import Exposure

        original = self.problem.table
        if self.recoded.buckets is not None:
            # exact quasi-identifiers: their classes are those of the raw rows
            found = Exposure.raw_rows(original, np.asarray(self.source_rows))
            return replace(found, members=found.members and replace(found.members, apart=True))
        people = len(original.population_rows) or None
        rows = np.asarray(self.source_rows)
        members = None if self.value_rows is not None else (original, rows)
        return Exposure.published(table(), self.verification, [c.name for c in original.quasi], people, members)

    def classes(self, table: Callable[[], pa.Table], names: Sequence[str]) -> tuple[dict[str, pa.Array], GroupStats]:
        """Return the published cells of every class in these columns, in published order, and its statistics."""
        return classes_of(table(), self.verification, names)

    def verify(self, table: Callable[[], pa.Table], plan: Plan) -> Verification:
        """Recompute the classes from the published cells and judge them again."""
        rows = self.source_rows if self.value_rows is None else self.value_rows
        return judge(self.problem, plan.table, self.recoded, table(), np.asarray(rows))

    def keep(self, private: Path, table: Callable[[], pa.Table], plan: Plan) -> dict[str, Any]:
        """Write what later examinations need into the companion's folder; return the rest, for its JSON."""
        from hushtable.release.kept import keep

        rows, values = np.asarray(self.source_rows), self.value_rows
        if values is not None:
            from hushtable.release.bucket import joined_orders

            people, own = joined_orders(table(), plan.table)
            rows, values = rows[people], values[own]
        return keep(self.problem.table, self.partition, self.recoded, rows, values, private)
