"""Exposure: how many people match each class, before and after, for risk measures.

One entry per class: the combination of quasi-identifier cells (as numbers), the people who share it, and the people of
the population table who match it. Every risk measure aggregates these; none sees a record or a cell.

Cells are compared exactly: a missing value is a separate value. With ``missing: wildcard``, an adversary has more
candidates than that, so the risks stated here are upper bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, FloatArray, IntArray, first_places, summed
from hushtable.errors import DataError, UsageError
from hushtable.kernels.grouping import count_rows, number_rows
from hushtable.laws.frequencies import Frequencies
from hushtable.release.recode import class_numbers
from hushtable.release.verify import Verification
from hushtable.table.encoded import EncodedTable
from hushtable.table.survey import Survey


@dataclass(frozen=True)
class Members:
    """Which records are in which class, for risks that use survey weights, households or sensitive values.

    Attributes
    ----------
    table : EncodedTable
        The original.
    rows : integer array
        Its rows that are in a class.
    classes : int64 array
        The class of each.
    apart : bool
        Whether sensitive values are published separately from people, so that classes have no sensitive values.
    """

    table: EncodedTable
    rows: AnyArray
    classes: IntArray
    apart: bool = False

    @property
    def people(self) -> FloatArray:
        """The share of a person in each row: 1 without an entity column."""
        units = self.table.row_units
        return units[self.rows] / self.table.unit if len(units) else np.ones(len(self.rows))


@dataclass(frozen=True)
class Exposure:
    """The classes of one table, raw or published.

    Attributes
    ----------
    columns : tuple of str
        The quasi-identifiers.
    codes : tuple of integer arrays
        For each column, the number of the cell of each class.
    sizes : tuple of int
        Number of different cells in each column.
    units : int64 array
        People of each class, in units; always above 0.
    unit : int
        Units per person: 1 unless the policy has an entity column.
    population : int64 array, optional
        People of the population table in each class.
    population_size : int, optional
        People of the whole population table, whether a class covers them or not.
    members : Members, optional
        Which records are in which class, if known.
    detail : callable, optional
        Returns the same table's classes with all columns of their members.

    Examples
    --------
    >>> table = Exposure.of({"age": [30, 30, 41], "sex": ["f", "f", "m"]})
    >>> table.people, table.risks.tolist()
    (3.0, [0.5, 1.0])
    """

    columns: tuple[str, ...]
    codes: tuple[AnyArray, ...]
    sizes: tuple[int, ...]
    units: IntArray
    unit: int = 1
    population: IntArray | None = None
    population_size: int | None = None
    members: Members | None = None
    detail: Callable[[], Exposure] | None = None

    def __post_init__(self) -> None:
        if not len(self.units):
            raise DataError(
                "The table has no records to assess.", code="empty", hint="Assess a table with at least one record."
            )

    @classmethod
    def of(
        cls,
        rows: Mapping[str, Any],
        population: Mapping[str, Any] | None = None,
        weights: Sequence[float] = (),
        households: Sequence[int] = (),
    ) -> Exposure:
        """Build from plain columns, for tests and examples."""
        names = tuple(rows)
        n = len(next(iter(rows.values())))
        codes, sizes = [], []
        for name in names:
            both = [*rows[name], *(population[name] if population else [])]
            values, inverse = np.unique(np.array([repr(v) for v in both]), return_inverse=True)
            codes.append(inverse.astype(np.int64))
            sizes.append(len(values))
        n_population = None if population is None else len(codes[0]) - n
        found = _grouped(names, codes, sizes, n, n_population, np.empty(0, dtype=np.int64), 1)
        survey = Survey(np.asarray(weights, dtype=np.float64), np.asarray(households, dtype=np.int64))
        table = EncodedTable((), (), n, n, survey=survey)
        return found._with(table, np.arange(n))

    @classmethod
    def raw(cls, table: EncodedTable) -> Exposure:
        """Return the classes of the original quasi-identifiers."""
        if len(table.row_units) or len(table.population_rows) or table.survey is not None:
            return cls.raw_rows(table, np.arange(table.n_sample))
        sizes = tuple(c.coded.size for c in table.quasi)
        codes, counts = count_rows([c.codes[: table.n_sample] for c in table.quasi], sizes)
        detail = partial(cls.raw_rows, table, np.arange(table.n_sample))
        return cls(tuple(c.name for c in table.quasi), tuple(codes), sizes, counts, detail=detail)

    @classmethod
    def raw_rows(cls, table: EncodedTable, rows: IntArray) -> Exposure:
        """Return the classes of some rows of the sample, and the population rows in them."""
        others = slice(table.population_rows.start, table.population_rows.stop)
        n_population = len(table.population_rows)
        codes = [c.codes[rows] for c in table.quasi]
        n = len(codes[0])
        if n_population:
            codes = [np.concatenate([own, c.codes[others]]) for own, c in zip(codes, table.quasi, strict=True)]
        found = _grouped(
            tuple(c.name for c in table.quasi),
            codes,
            [c.coded.size for c in table.quasi],
            n,
            n_population or None,
            table.row_units[rows] if len(table.row_units) else table.row_units,
            table.unit,
        )
        return found._with(table, rows)

    @classmethod
    def published(
        cls,
        table: pa.Table,
        verification: Verification,
        names: Sequence[str],
        population: int | None = None,
        members: tuple[EncodedTable, IntArray] | None = None,
    ) -> Exposure:
        """Return the classes of a published table, as the verifier found them in its cells.

        Parameters
        ----------
        table : pyarrow.Table
        verification : Verification
        names : sequence of str
            The quasi-identifiers.
        population : int, optional
            People of the population table.
        members : EncodedTable and integer array, optional
            The original, and the original row of each published row; negative for counterfeits.
        """
        labels = verification.labels[: table.num_rows]
        first = first_places(labels, len(verification.stats))
        real = (first >= 0) & (verification.stats.units > 0)
        stats = verification.stats.take(real)
        rows = pa.array(first[real])
        numbered = [class_numbers([table.column(name).take(rows)]) for name in names]
        known = None
        if members is not None:
            original, source_rows = members
            own = np.flatnonzero(source_rows >= 0)
            known = Members(original, source_rows[own], (np.cumsum(real) - 1)[labels[own]])
        return cls(
            columns=tuple(names),
            codes=tuple(codes for codes, _ in numbered),
            sizes=tuple(size for _, size in numbered),
            units=stats.units,
            unit=stats.unit,
            population=stats.population,
            population_size=population,
            members=known,
        )

    def _with(self, table: EncodedTable, rows: IntArray) -> Exposure:
        """Return the table that contains the members' rows."""
        assert self.members is not None
        return replace(self, members=replace(self.members, table=table, rows=rows))

    def detailed(self) -> Exposure:
        """Return these classes with everything known about their members, or raise if they are unknown."""
        if self.detail is not None:
            return self.detail()
        if self.members is None:
            raise UsageError(
                "It is not known which record is in which class.",
                code="needs-records",
                hint="Assess the release with its original and the local engine.",
            )
        return self

    @cached_property
    def weighted(self) -> FloatArray | None:
        """People of the population that each class represents by its survey weights; None without weights."""
        survey = None if self.members is None else self.members.table.survey
        if self.members is None or survey is None or not len(survey.weights):
            return None
        weights = survey.weights[self.members.rows] * self.members.people
        return np.asarray(np.bincount(self.members.classes, weights, minlength=len(self)), dtype=np.float64)

    def __len__(self) -> int:
        return len(self.units)

    @property
    def people(self) -> float:
        """People in all classes."""
        return float(int(self.units.sum()) / self.unit)

    @cached_property
    def counts(self) -> FloatArray:
        """People in each class. With an entity column, a person's rows sum to 1."""
        return self.units / self.unit

    @cached_property
    def risks(self) -> FloatArray:
        """Chance of picking the right person in each class: 1 / people, and 1 for less than one person."""
        return self.unit / np.maximum(self.units, self.unit)

    @property
    def unique(self) -> AnyArray:
        """Which classes have at most one person."""
        return np.asarray(self.units <= self.unit)

    def mean(self, per_class: FloatArray) -> float:
        """Average a number per class over people."""
        return float((per_class * self.units).sum() / self.units.sum())

    def share(self, classes: AnyArray) -> float:
        """Return the share of people who are in these classes."""
        return float(int(self.units[classes].sum()) / int(self.units.sum()))

    def frequencies(self) -> tuple[IntArray, IntArray]:
        """Return the class sizes that occur, ascending, and how many classes have each.

        Estimators need whole people: with an entity column, sizes are rounded down, but to no less than 1.
        """
        return self._frequencies

    @cached_property
    def _frequencies(self) -> tuple[IntArray, IntArray]:
        found = Frequencies.of_units(self.units, self.unit)
        return found.sizes, found.counts


def _grouped(
    names: tuple[str, ...],
    codes: list[AnyArray],
    sizes: list[int],
    n: int,
    n_population: int | None,
    row_units: IntArray,
    unit: int,
) -> Exposure:
    """Group rows: the sample's first, then the population's, if there is one."""
    labels, first = number_rows(codes, sizes)
    if len(row_units):
        units = summed(row_units, labels[:n], len(first))
    else:
        units = np.bincount(labels[:n], minlength=len(first)).astype(np.int64)
    real = units > 0
    classes = (np.cumsum(real) - 1)[labels[:n]]
    population = None
    if n_population is not None:
        population = np.bincount(labels[n : n + n_population], minlength=len(first)).astype(np.int64)[real]
    return Exposure(
        columns=names,
        codes=tuple(c[first[real]] for c in codes),
        sizes=tuple(int(s) for s in sizes),
        units=units[real],
        unit=unit,
        population=population,
        population_size=n_population,
        # the caller says which table these rows are from
        members=Members(EncodedTable((), (), n, n), np.arange(n), classes),
    )
