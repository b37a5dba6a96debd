"""SparkRelease: the verified result of the Spark engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from hushtable.algorithms.base import Problem, Progress
from hushtable.arrays import IntArray
from hushtable.engines.plan import Plan
from hushtable.engines.spark.engine import SparkOutcome, run
from hushtable.engines.spark.sample import SampledResult, sampled_view
from hushtable.engines.spark.write import save_parts
from hushtable.errors import IncompatibleError
from hushtable.kernels.grouping import number_rows
from hushtable.models.compose import AllOf
from hushtable.registry import attacks, measures
from hushtable.release.comparison import Comparison
from hushtable.release.evidence import summary_of
from hushtable.release.exposure import Exposure
from hushtable.release.release import title_of
from hushtable.release.verify import Verification
from hushtable.risk.before_after import BeforeAfter, RiskSummary, risk_of, risk_summary
from hushtable.table.encoded import EncodedTable
from hushtable.table.reference import Reference
from hushtable.utility.summary import measure_all

__all__ = ["SparkRelease"]

ATTACKED = 100_000
"""Records that an attack sees, about."""


@dataclass(frozen=True)
class SparkRelease:
    """A Spark table that passed the verifier, and how it came about.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
        What is published: rows sorted by all their cells, no identifiers. It is kept by Spark until ``unpersist``.
    policy : mapping
        The policy it was made under.
    verification : Verification
        What every model achieved, recomputed from the published cells by an aggregation.
    """

    frame: DataFrame
    policy: Mapping[str, Any]
    verification: Verification
    outcome: SparkOutcome = field(repr=False)

    @classmethod
    def of_plan(cls, data: DataFrame, plan: Plan, progress: Progress | None = None) -> SparkRelease:
        """Run a resolved plan on Spark."""
        outcome = run(data, plan, progress)
        return cls(outcome.shown.frame, plan.document, outcome.verification, outcome)

    @property
    def problem(self) -> Problem:
        """What the algorithm was given."""
        return self.outcome.problem

    @property
    def encoded(self) -> EncodedTable:
        """The content of the input, as codes; rows stand in no order, and may stand for several with their weight."""
        table = self.outcome.problem.table
        return table if self.outcome.on_driver or table.unit > 1 else replace(table, row_units=np.empty(0, np.int64))

    @property
    def model(self) -> AllOf:
        """The models, bound to their columns."""
        return self.outcome.problem.model

    @property
    def reference(self) -> Reference:
        """What models compare classes with."""
        return self.outcome.problem.reference

    @property
    def source_rows(self) -> IntArray:
        """Which rows of ``encoded`` are published."""
        if not self.outcome.on_driver:
            return self._shown_values()
        return np.flatnonzero(self.outcome.known.recoded.labels[: self.encoded.n_sample] >= 0)

    def _shown_values(self) -> IntArray:
        """The rows of ``encoded`` whose sensitive values are published, where they stand for many."""
        columns, shown = self.encoded.sensitive, self.outcome.counted.sensitive
        n = self.encoded.n_sample
        if not columns:
            return np.arange(n)
        numbers, first = number_rows(
            [np.concatenate([c.codes, shown[c.name]]) for c in columns], [c.coded.size for c in columns]
        )
        there = np.zeros(len(first), dtype=np.bool_)
        there[numbers[n:]] = True
        return np.flatnonzero(there[numbers[:n]])

    @property
    def may_have_counterfeits(self) -> bool:
        """Never: Spark refuses algorithms that add them."""
        return False

    @property
    def n_suppressed(self) -> int:
        """Input rows that were left out."""
        return self.outcome.content.records - self.verification.rows

    @cached_property
    def groups(self) -> pa.Table:
        """One row per class: its published cells, its size, and its score under every model."""
        found = self.verification
        first = _first(found.labels[: len(self.outcome.counted.rows)], len(found.stats))
        shown = np.flatnonzero(first >= 0)
        columns = self.outcome.classes(first[shown])
        stats = found.stats.take(shown)
        columns["people"] = pa.array(stats.sizes)
        for member in self.model.members:
            columns[title_of(member)] = pa.array(member.score(stats, self.reference))
        return pa.table(columns)

    def verify(self) -> Verification:
        """Count the published cells once more and judge them again; raise if a model is violated."""
        outcome = self.outcome
        with outcome.shown.jobs.run():
            found = outcome.judge(outcome.shown.count(outcome.problem))
        found.raise_if_violated()
        return found

    def comparison(self) -> Comparison:
        """The release beside its original, as utility measures see it: rows of codes, or what Spark counted."""
        return self.outcome.comparison

    def measure(self, name: str, **parameters: Any) -> float:
        """Compute one utility measure by name, from what Spark counted; accuracies may be those of a sample."""
        return float(measures.build(name, parameters).compute(self.comparison()))

    def measures(self, names: Sequence[str] | None = None) -> dict[str, float]:
        """Compute several utility measures: those asked for, or the cheap ones."""
        return measure_all(self.comparison(), names)

    @overload
    def risk(self, name: None = None, **parameters: Any) -> RiskSummary: ...

    @overload
    def risk(self, name: str, **parameters: Any) -> BeforeAfter: ...

    def risk(self, name: str | None = None, **parameters: Any) -> RiskSummary | BeforeAfter:
        """Assess how exposed people are before and after, from what Spark counted; see ``Release.risk``.

        Raises
        ------
        IncompatibleError
            If the distinct combinations of the raw table are not on the driver.
        """
        if not (self.outcome.on_driver or self.outcome.summarised):
            raise IncompatibleError(
                "The risks of the raw table need all its combinations on the driver, and it has too many.",
                code="spark-engine",
                hint="Raise spark.hushtable.driverRows if the driver has the memory.",
            )
        before, after = Exposure.raw(self.outcome.problem.table), self._exposure()
        if name is None:
            return risk_summary(parameters, before, after)
        return risk_of(name, parameters, before, after)

    def _exposure(self) -> Exposure:
        found = self.verification
        first = _first(found.labels[: len(self.outcome.counted.rows)], len(found.stats))
        real = np.flatnonzero((first >= 0) & (found.stats.units > 0))
        stats = found.stats.take(real)
        population = len(self.encoded.population_rows)
        return Exposure(
            columns=tuple(c.name for c in self.encoded.quasi),
            codes=tuple(cells[first[real]] for cells in self.outcome.counted.cells),
            sizes=tuple(len(cells) for cells in self.outcome.shown.book.cells),
            units=stats.units,
            unit=stats.unit,
            population=stats.population,
            population_size=population or None,
        )

    def attack(self, name: str, *, sample: int = ATTACKED, **parameters: Any) -> SampledResult:
        """Play an adversary against a sample of the classes, with the error that sampling leaves.

        Parameters
        ----------
        name : str
            ``hushtable attack --list`` names them.
        sample : int
            About so many records are attacked: whole classes, drawn with the policy's seed.
        **parameters
            Of the attack.
        """
        view, sampled, weight = sampled_view(self.outcome, self.policy, sample)
        result = attacks.build(name, parameters).run(view)
        return SampledResult.of(result, self.verification.rows, sampled, weight)

    def summary(self) -> dict[str, Any]:
        """What was done, as data: sizes, what every model achieved, what it cost. No value of a record."""
        outcome = self.outcome
        found = summary_of(
            self.encoded, outcome.shown.names, self.verification.rows, self.policy, self.verification,
            self.measures(), outcome.known.partition,
        )  # fmt: skip
        if outcome.on_driver:
            return found
        return {**found, "records": outcome.content.records, "suppressed": self.n_suppressed}

    def save(self, folder: Any, *, format: str = "csv", overwrite: bool = False, parts: bool | None = None) -> Path:
        """Write the release, its policy and ``release.json`` into a folder that driver and executors share.

        Parameters
        ----------
        folder : path
        format : {"csv", "parquet"}
        overwrite : bool
            Whether an existing folder may be replaced.
        parts : bool, optional
            Whether ``release.parquet`` is a folder with one file for each partition, which executors write side by
            side, instead of one file; by default from a million rows on. CSV is always one file.
        """
        return save_parts(self, folder, format=format, overwrite=overwrite, parts=parts)

    def unpersist(self) -> None:
        """Let Spark forget the published rows; the release cannot be used afterwards."""
        self.outcome.shown.release()


def _first(labels: IntArray, n: int) -> IntArray:
    """The first entry of every class; -1 for classes that have none."""
    first = np.full(n, -1, dtype=np.int64)
    first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
    return first
