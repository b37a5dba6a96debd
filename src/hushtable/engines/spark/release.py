"""A release of the Spark engine: its table is a Spark DataFrame, and its original is known by counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from hushtable import rng
from hushtable.algorithms.base import Progress
from hushtable.arrays import IntArray
from hushtable.attacks.view import View
from hushtable.engines import local
from hushtable.engines.release import Release
from hushtable.engines.spark.driver_rows import draw_classes
from hushtable.engines.spark.engine import SparkOutcome, check_driver, run
from hushtable.engines.spark.write import save_parts
from hushtable.errors import IncompatibleError, UsageError, VerificationError
from hushtable.io.canonical import table_digest
from hushtable.release.comparison import Comparison
from hushtable.release.exposure import Exposure
from hushtable.release.kept import keep_sorted
from hushtable.release.origin import Fresh, Made
from hushtable.release.plan import AccountProtocol, Plan
from hushtable.release.publish import publish
from hushtable.release.recode import Recoded
from hushtable.release.verify import Verification
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import GroupStats


def run_frame(data: DataFrame, plan: Plan, progress: Progress | None = None, files: Sequence[str] = ()) -> Release:
    """Run a resolved plan on a Spark DataFrame; ``files`` are the Parquet files that it reads, if nothing else."""
    plan = plan.pinned()
    outcome = run(data, plan, progress, files)
    if plan.account is not None:
        try:
            plan = replace(plan, account=_held(outcome, data, plan))
        except BaseException:
            outcome.shown.release()
            raise
    return Release(SparkTable(outcome), plan, CountedRelease(outcome.problem, outcome.known.partition, outcome))


def _held(outcome: SparkOutcome, data: DataFrame, plan: Plan) -> AccountProtocol:
    """Check a release with the ledger: the driver makes it again, to find out who is in which class.

    Raises
    ------
    IncompatibleError
        If the driver does not accept the table.
    VerificationError
        If a model is violated, or the driver's release differs.
    """
    assert plan.account is not None
    check_driver(data, outcome.content.records, "the ledger needs to know who is in which class")
    again = local.run(data.toArrow(), replace(plan, account=None))
    if table_digest(again.table) != table_digest(outcome.shown.frame.toArrow()):
        raise VerificationError(
            "The driver's release differs from the one that Spark made, so the ledger cannot check it.",
            code="spark-engine",
            hint="Run it with the local engine.",
        )
    return plan.account.hold(again)


class SparkTable:
    """A published table that Spark caches until ``unpersist``.

    Attributes
    ----------
    columns : tuple of str
    """

    def __init__(self, outcome: SparkOutcome) -> None:
        self.columns = tuple(outcome.shown.names)
        self.outcome = outcome

    @property
    def frame(self) -> DataFrame:
        """Rows sorted by all their cells, no identifiers."""
        return self.outcome.shown.frame

    def read(self) -> pa.Table:
        """Collect the rows on the driver."""
        return self.frame.toArrow()

    def save(
        self, release: Release, folder: Any, *, format: str = "csv", overwrite: bool = False, parts: bool | None = None
    ) -> Path:
        """Write the release into a folder that driver and executors share."""
        return save_parts(release, self.outcome, folder, format=format, overwrite=overwrite, parts=parts)

    def unpersist(self) -> None:
        """Let Spark discard the published rows; the release cannot be used afterwards."""
        self.outcome.shown.release()

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "The table of this release is kept by Spark and cannot be pickled or copied.",
            code="spark-engine",
            hint="Save it, and open the folder: hushtable.open_release(folder).",
        )


@dataclass(frozen=True)
class CountedRelease(Fresh):
    """Spark's counts of a release and its original.

    Attributes
    ----------
    outcome : SparkOutcome
    """

    outcome: SparkOutcome

    @property
    def made(self) -> Made:
        """Refuse: the rows are on Spark."""
        raise IncompatibleError(
            "This needs individual records, which are not on this machine for a Spark release.",
            code="spark-engine",
            hint="Save the release and open it with its original: hushtable.open_release(folder, original).",
        )

    @property
    def verification(self) -> Verification:
        """What every model achieved, recomputed from the published cells by an aggregation."""
        return self.outcome.verification

    @property
    def table(self) -> EncodedTable:
        """The content of the input, as codes; rows have no order, and one row may represent several by its weight."""
        table = self.problem.table
        return table if self.outcome.on_driver or table.unit > 1 else replace(table, row_units=np.empty(0, np.int64))

    @property
    def records(self) -> int:
        """Records of the original."""
        return int(self.outcome.content.records)

    @property
    def released(self) -> int:
        """Published records."""
        return self.verification.rows

    def comparison(self, plan: Plan) -> Comparison:
        """Return rows of codes, or Spark's counts."""
        return self.outcome.comparison

    def before(self) -> Exposure:
        """Return the classes of the original quasi-identifiers.

        Raises
        ------
        IncompatibleError
            If the distinct combinations of the raw table are not on the driver.
        """
        if not (self.outcome.on_driver or self.outcome.summarised):
            raise IncompatibleError(
                "The risks of the original table need all its combinations on the driver, but there are too many.",
                code="spark-engine",
                hint="Raise spark.hushtable.driverRows if the driver has enough memory.",
            )
        return Exposure.raw(self.problem.table)

    def after(self, table: Callable[[], pa.Table]) -> Exposure:
        """Return the classes of the published table, from Spark's counts."""
        found = self.verification
        first = self._first()
        real = np.flatnonzero((first >= 0) & (found.stats.units > 0))
        stats = found.stats.take(real)
        population = len(self.table.population_rows)
        return Exposure(
            columns=tuple(c.name for c in self.table.quasi),
            codes=tuple(cells[first[real]] for cells in self.outcome.counted.cells),
            sizes=tuple(len(cells) for cells in self.outcome.shown.book.cells),
            units=stats.units,
            unit=stats.unit,
            population=stats.population,
            population_size=population or None,
        )

    def classes(self, table: Callable[[], pa.Table], names: Sequence[str]) -> tuple[dict[str, pa.Array], GroupStats]:
        """Return the published cells of every class, and its statistics."""
        first = self._first()
        shown = np.flatnonzero(first >= 0)
        return self.outcome.classes(first[shown]), self.verification.stats.take(shown)

    def _first(self) -> IntArray:
        """The first counted entry of every class; -1 for classes without one."""
        labels = self.verification.labels[: len(self.outcome.counted.rows)]
        first = np.full(len(self.verification.stats), -1, dtype=np.int64)
        first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
        return first

    def verify(self, table: Callable[[], pa.Table], plan: Plan) -> Verification:
        """Count the published cells again, and judge them again."""
        with self.outcome.shown.jobs.run():
            return self.outcome.judge(self.outcome.shown.count(self.problem))

    def attack_sample(self, plan: Plan, sample: int) -> Any:
        """Return a view on some classes for attacks, its records and their weight."""
        return sampled_view(self.outcome, plan.document, sample)

    def keep(self, private: Path, table: Callable[[], pa.Table], plan: Plan) -> dict[str, Any] | None:
        """Store the classes of the rows on the driver, if those are all rows."""
        known = self.outcome.known
        if not self.outcome.on_driver:
            return None
        return keep_sorted(known.problem.table, known.partition, known.recoded, private)


# Attacks on samples: whole classes are drawn, so that an adversary sees all of a class.
#
# The stated error treats the records of a class as one observation, the worst case of drawing whole classes: with
# classes of sizes m, a sample counts as its records times sum(m) / sum(m * m).


def sampled_view(outcome: SparkOutcome, policy: Mapping[str, Any], most: int) -> tuple[View, int, float]:
    """Return a view on some classes and the same share of the suppressed records, its records, and their weight."""
    problem, recoded = outcome.known.problem, outcome.known.recoded
    table = problem.table
    labels = np.asarray(recoded.labels[: table.n_sample], dtype=np.int64)
    sizes = np.bincount(labels[labels >= 0], minlength=recoded.n_groups)
    chosen, weight = draw_classes(sizes, most, problem.seed)
    if len(chosen) == len(sizes):
        weight = outcome.known.weight
    renumber = np.full(recoded.n_groups + 1, -1, dtype=np.int64)
    renumber[chosen] = np.arange(len(chosen))
    gone = np.flatnonzero(labels < 0)
    share = float(sizes[chosen].sum() / sizes.sum())
    gone = gone[rng.uniform(problem.seed, "spark/attacked-suppressed", len(gone)) < share]
    rows = np.sort(np.concatenate([np.flatnonzero(renumber[labels] >= 0), gone]))
    inside = renumber[labels[rows]]
    released = np.flatnonzero(inside >= 0)
    cells = tuple(cells.take(chosen) for cells in recoded.cells)
    shown = Recoded(inside, cells, tuple(column.take(pa.array(chosen)) for column in recoded.published))
    view = View(
        published=publish(outcome.known.source(outcome.content, rows), shown, outcome.content.table_plan, released),
        policy=policy,
        cells=cells,
        table=_rows_of(table, rows),
        labels=inside,
        rows=released,
        model=problem.model,
        seed=problem.seed,
    )
    return view, len(released), weight


def _rows_of(table: EncodedTable, rows: IntArray) -> EncodedTable:
    """Some rows of the sample, and all rows of its other tables."""
    others = np.arange(table.n_sample, table.n_rows)
    everything = np.concatenate([rows, others])
    gone = table.n_sample - len(rows)
    return replace(
        table,
        quasi=tuple(replace(c, codes=c.codes[everything]) for c in table.quasi),
        sensitive=tuple(replace(c, codes=c.codes[everything]) for c in table.sensitive),
        n_sample=len(rows),
        n_rows=len(everything),
        row_units=table.row_units[everything] if len(table.row_units) else table.row_units,
        population_rows=range(table.population_rows.start - gone, table.population_rows.stop - gone)
        if len(table.population_rows)
        else range(0),
        background_rows=range(table.background_rows.start - gone, table.background_rows.stop - gone)
        if len(table.background_rows)
        else range(0),
        tie_rank=None,
    )
