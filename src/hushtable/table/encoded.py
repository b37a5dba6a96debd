"""The encoded table: small integer codes and look-up arrays, the only form of the data that algorithms see.

Memory: the smallest unsigned integers that fit, column by column; a table with eight quasi-identifiers and one
sensitive column of at most 256 values each takes 9 bytes per row. Rows of a population table and of an adversary's
background table follow the sample's rows with weight 0, so that they take part in grouping.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray, joined_ranges, summed
from hushtable.errors import PolicyError
from hushtable.kernels.grouping import group_rows, histogram
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram, Key

if TYPE_CHECKING:
    from hushtable.table.survey import Survey

MOST_COMBINATIONS = 2**26
"""Maximum number of combinations of values of joint columns, all of which are counted, occurring or not."""


@dataclass(frozen=True)
class EncodedTable:
    """The sample's rows, then population and background rows with weight 0.

    Attributes
    ----------
    quasi, sensitive : tuples of columns
    n_sample : int
        Rows that may be published.
    n_rows : int
        All rows, including population and background.
    unit : int
        Units per person.
    row_units : int64 array
        Weight of every row in units; empty if every row weighs 1.
    population_rows : range
        The rows of the population table; empty if there is none.
    background_rows : range
        The rows of the background table.
    background_mass : int64 array
        Prior mass of every background row, in units of 1 / ``background_unit``.
    background_codes : integer array
        ``q * S + s`` of every background row: q numbers combinations of quasi-identifiers, s is a sensitive code.
    bandwidths : tuple of float
        If the background was estimated: the kernels' widths. q then numbers combinations and widths, widths fastest.
    tie_rank : int64 array, or a function that gives one, optional
        Rank of each sample row's other published cells: the last tie-breaker. A function is called only if needed.
    ranked : tuple of str
        The columns behind that rank.
    survey : Survey, optional
        Weights and households of the sample's rows, which risks read.
    """

    quasi: tuple[QuasiColumn, ...]
    sensitive: tuple[SensitiveColumn, ...]
    n_sample: int
    n_rows: int
    unit: int = 1
    row_units: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    population_rows: range = range(0)
    background_rows: range = range(0)
    background_mass: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    background_unit: int = 1
    background_codes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    background_on: str = ""
    bandwidths: tuple[float, ...] = ()
    tie_rank: IntArray | Callable[[], IntArray] | None = None
    ranked: tuple[str, ...] = ()
    survey: Survey | None = None

    @property
    def sample_units(self) -> int:
        """Size of the sample, in units."""
        return int(self.row_units.sum()) if len(self.row_units) else self.n_sample

    def units_of(self, rows: IntArray | slice) -> IntArray:
        """Return the units of these rows; 1 without an entity column."""
        return self.row_units[rows] if len(self.row_units) else np.ones(self.n_rows, dtype=np.int64)[rows]

    @property
    def bytes_per_row(self) -> int:
        """Number of bytes that the codes of one row take."""
        return sum(c.codes.itemsize for c in self.quasi) + sum(c.codes.itemsize for c in self.sensitive)

    @property
    def outline(self) -> EncodedTable:
        """The columns: the table itself, which serves algorithms as a ``TupleStore``."""
        return self

    @property
    def digest(self) -> bytes:
        """A digest of the records; see ``hushtable.table.coins``."""
        from hushtable.table.coins import table_digest

        return table_digest(self)

    @property
    def fits(self) -> bool:
        """Whether the combinations are in memory: always."""
        return True

    @property
    def given(self) -> EncodedTable:
        """The table that labels refer to: the table itself."""
        return self

    @property
    def far(self) -> None:
        """None: everything is in memory."""
        return None

    def records(self) -> EncodedTable:
        """Return every record as a row: the table itself."""
        return self

    def combinations(self, why: str = "") -> EncodedTable:
        """Return the records; equal ones need not be combined."""
        return self

    def code_column(self, key: Key) -> tuple[AnyArray, int]:
        """Return the codes of a sensitive or joint column for every row, and how many codes there are."""
        columns = [next(c for c in self.sensitive if c.name == name) for name in key]
        codes: AnyArray = columns[0].codes
        size = columns[0].coded.size
        for column in columns[1:]:
            codes = codes.astype(np.int64) * column.coded.size + column.codes
            size *= column.coded.size
        return codes, size

    def distinct(self, keys: tuple[Key, ...] = ()) -> tuple[AnyArray, IntArray, IntArray]:
        """Collapse duplicates: the distinct combinations of quasi-identifiers and these sensitive columns, once.

        Returns
        -------
        of_row, first, units
            The combination of every row, numbered in canonical order; a row that has each; its weight in units.
        """
        if keys not in self._collapsed:
            from hushtable.kernels.collapse import collapse_rows

            sensitive = [self.code_column(key) for key in keys]
            columns: list[AnyArray] = [*(c.codes for c in self.quasi), *(codes for codes, _ in sensitive)]
            sizes = [*(c.coded.size for c in self.quasi), *(size for _, size in sensitive)]
            self._collapsed[keys] = collapse_rows(columns, sizes, self.row_units)
        return self._collapsed[keys]

    @cached_property
    def derived(self) -> dict[Hashable, Any]:
        """Cache of results computed from the table, by keys that their callers choose."""
        return {}

    @cached_property
    def _collapsed(self) -> dict[tuple[Key, ...], tuple[AnyArray, IntArray, IntArray]]:
        return {}

    def attribute_size(self, key: Key) -> int:
        """How many codes a sensitive or joint column has."""
        return math.prod(next(c for c in self.sensitive if c.name == name).coded.size for name in key)

    @cached_property
    def _joint(self) -> dict[Key, tuple[AnyArray, int]]:
        return {}

    def _codes(self, key: Key) -> tuple[AnyArray, int]:
        if key not in self._joint:
            self._joint[key] = self.code_column(key)
        return self._joint[key]

    def attribute(self, key: Key) -> Attribute:
        """Return a sensitive or joint column over the whole sample."""
        if len(key) > 1:
            check_combinations(key, self.attribute_size(key))
        codes, size = self._codes(key)
        codes = codes[: self.n_sample]
        if len(self.row_units):
            units = summed(self.row_units[: self.n_sample], codes, size)
        else:
            units = np.bincount(codes, minlength=size).astype(np.int64)
        if len(key) > 1:
            return Attribute(key, (), units, self.unit)
        column = next(c for c in self.sensitive if c.name == key[0])
        return column.attribute(units, self.unit)

    def reference(self, keys: Iterable[Key] = ()) -> Reference:
        """The whole input table, with which models compare groups."""
        wanted = {(c.name,) for c in self.sensitive} | set(keys)
        background = None
        if len(self.background_rows):
            everything = np.array([0], dtype=np.int64), np.array([self.n_rows], dtype=np.int64)
            background = self._background(np.arange(self.n_rows), *everything)
        return Reference(
            units=self.sample_units,
            unit=self.unit,
            attributes={key: self.attribute(key) for key in sorted(wanted)},
            population=len(self.population_rows) if len(self.population_rows) else None,
            background=background,
            background_values=next((c.coded.size for c in self.sensitive if c.name == self.background_on), 0),
            background_on=self.background_on,
            bandwidths=self.bandwidths,
            household=0 if self.survey is None else self.survey.largest_household,
        )

    def stats(self, rows: AnyArray, starts: IntArray, ends: IntArray, keys: Iterable[Key]) -> GroupStats:
        """Return the statistics of the groups ``rows[starts[g]:ends[g]]``."""
        histograms = {}
        for key in keys:
            codes, size = self._codes(key)
            units = self.row_units if len(self.row_units) else np.empty(0, dtype=np.int64)
            parts = histogram(rows, starts, ends, codes, units, size)
            histograms[key] = Histogram(*parts, self.unit)
        if len(self.row_units):
            sizes = _range_sums(self.row_units[rows], starts, ends)
        else:
            sizes = (ends - starts).astype(np.int64)
        population = None
        if len(self.population_rows):
            member = (rows >= self.population_rows.start) & (rows < self.population_rows.stop)
            population = _range_sums(member.astype(np.int64), starts, ends)
        background = self._background(rows, starts, ends) if len(self.background_rows) else None
        return GroupStats(sizes, self.unit, histograms, population, background)

    def stats_of(self, labels: AnyArray, n_groups: int, keys: Iterable[Key]) -> GroupStats:
        """Return the statistics of the groups given by a label per row (-1: in no group)."""
        rows, offsets = group_rows(labels, n_groups)
        return self.stats(rows, offsets[:-1], offsets[1:], keys)

    def _background(self, rows: AnyArray, starts: IntArray, ends: IntArray) -> Histogram:
        mass = np.zeros(self.n_rows, dtype=np.int64)
        mass[self.background_rows.start : self.background_rows.stop] = self.background_mass
        codes = np.zeros(self.n_rows, dtype=np.int64)
        codes[self.background_rows.start : self.background_rows.stop] = self.background_codes
        owner = np.repeat(np.arange(len(starts)), ends - starts)
        row = np.asarray(rows)[joined_ranges(starts, ends - starts)]
        keep = mass[row] > 0
        return Histogram.from_pairs(
            owner[keep].astype(np.int64), codes[row[keep]], mass[row[keep]], len(starts), self.background_unit
        )

    @cached_property
    def canonical_order(self) -> IntArray:
        """Rows sorted by (quasi, sensitive, other published) codes; only this rank breaks ties.

        Rows that agree in everything published and in weight are interchangeable, so their order does not matter.
        """
        keys: list[AnyArray] = [self.row_units] if len(self.row_units) else []
        if self.tie_rank is not None:
            keys.append(self.tie_rank() if callable(self.tie_rank) else self.tie_rank)
        keys += [c.codes for c in reversed(self.sensitive)]
        keys += [c.codes for c in reversed(self.quasi)]
        order = np.lexsort([k[: self.n_sample] for k in keys])
        rest = np.arange(self.n_sample, self.n_rows)
        others = [c.codes[self.n_sample :] for c in reversed(self.quasi)]
        return np.concatenate([order, rest[np.lexsort(others)]]) if len(rest) else order


def check_combinations(key: Key, size: int) -> None:
    """Refuse columns with too many combinations of values to count."""
    if size > MOST_COMBINATIONS:
        raise PolicyError(
            f"Columns {' and '.join(map(repr, key))} taken jointly have {size} combinations of values, more than the "
            f"{MOST_COMBINATIONS} that can be counted.",
            code="too-many-combinations",
            hint="Set the model on each column by itself, or make their values coarser first.",
        )


def _range_sums(values: IntArray, starts: IntArray, ends: IntArray) -> IntArray:
    total = np.concatenate([[0], np.cumsum(values)]).astype(np.int64)
    return total[ends] - total[starts]
