"""Reference: what a privacy model may know about the whole table and its sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import PolicyError, UsageError
from hushtable.table.stats import GroupStats, Histogram, Key


@dataclass(frozen=True)
class Attribute:
    """One sensitive column (or several taken jointly) over the whole table.

    Attributes
    ----------
    key : Key
        Its name.
    labels : sequence of str
        The value behind each code, as text. A missing value's label is ``""``. Values of several columns taken jointly
        have none.
    units : int64 array
        How often each code occurs in the whole input table, in units.
    unit : int
        Units per person.
    ordered : bool
        Whether the order of the codes means something (numbers, dates, ordinal values).
    numbers : float array, optional
        The number behind each code, for numeric columns (days for dates).
    categories : int64 array, optional
        The sensitivity category of each code; 0 is the most sensitive (Sun et al.).
    n_categories : int
        How many categories were declared, occurring or not.
    levels : tuple of int64 arrays
        The value hierarchy: ``levels[h][code]`` is the node above ``code`` at height ``h``; ``levels[0]`` is the
        identity and the last level has one node. Empty if the column has no hierarchy.
    level_labels : tuple of tuples of str
        The nodes' labels, level by level.
    whole : bool
        Whether ``units`` describe the whole input table. For a published file alone they do not, and asking for the
        distribution is an error.
    withheld : bool
        Whether some values have no name here, because only suppressed records had them. A value that the policy names
        may then be one of these.

    Examples
    --------
    >>> a = Attribute.of("disease", ["HIV", "cancer", "flu"], [2, 1, 3], categories=[0, 0, 1])
    >>> a.category_weights().tolist()
    [0.0, 0.0, 1.0]
    >>> a.distribution().round(2).tolist()
    [0.33, 0.17, 0.5]
    """

    key: Key
    labels: Sequence[str]
    units: IntArray
    unit: int = 1
    ordered: bool = False
    numbers: FloatArray | None = None
    categories: IntArray | None = None
    n_categories: int = 0
    levels: tuple[IntArray, ...] = ()
    level_labels: tuple[tuple[str, ...], ...] = ()
    whole: bool = True
    withheld: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        labels: Sequence[str],
        counts: npt.ArrayLike,
        *,
        ordered: bool = False,
        numbers: npt.ArrayLike | None = None,
        categories: npt.ArrayLike | None = None,
        levels: Sequence[npt.ArrayLike] = (),
    ) -> Attribute:
        """Build from plain arrays, for tests and examples."""
        return cls.from_lists({
            "key": (name,), "labels": labels, "units": counts, "ordered": ordered or numbers is not None,
            "numbers": numbers, "categories": categories,
            "n_categories": 0 if categories is None else int(np.max(categories)) + 1, "levels": levels,
        })  # fmt: skip

    @classmethod
    def from_lists(cls, data: Mapping[str, Any]) -> Attribute:
        """Return a column from its fields as JSON has them, arrays as lists."""
        kinds = {"units": np.int64, "numbers": np.float64, "categories": np.int64}
        arrays = {name: np.asarray(data[name], dtype=kind) for name, kind in kinds.items() if data[name] is not None}
        names = {"key": tuple(data["key"]), "labels": tuple(data["labels"])}
        levels = tuple(np.asarray(level, dtype=np.int64) for level in data["levels"])
        level_labels = tuple(map(tuple, data.get("level_labels", ())))
        return cls(**{**data, **arrays, **names, "levels": levels, "level_labels": level_labels})

    @property
    def name(self) -> str:
        """The column's name; joint columns are joined by ``+``."""
        return "+".join(self.key)

    @property
    def n_values(self) -> int:
        """How many codes there are, occurring or not."""
        return len(self.units)

    @property
    def whole_units(self) -> IntArray:
        """``units``, or an error if they do not describe the whole table."""
        self._must_be_whole()
        return self.units

    @property
    def counts(self) -> FloatArray:
        """People per code in the whole table."""
        self._must_be_whole()
        return self.units / self.unit

    def distribution(self) -> FloatArray:
        """Each code's share of the whole table."""
        self._must_be_whole()
        total = self.units.sum()
        return self.units / total if total else np.zeros(len(self.units))

    def _must_be_whole(self) -> None:
        if not self.whole:
            raise UsageError(
                f"A model compares {self.name!r} with the whole input table, which is not in the published file.",
                code="needs-companion",
                hint="Verify where the private companion is, pass --data, or publish with 'publish: [reference]'.",
            )

    def with_further(self, n: int) -> Attribute:
        """Return the column with ``n`` additional values, each once, about which nothing is known.

        They come last in the order of values, directly below the root of a hierarchy, and in the most sensitive
        category.
        """
        names = [f"\0 further {i}" for i in range(n)] if len(self.labels) else []
        more, root = np.arange(n), len(self.levels) - 1
        levels = [
            np.append(level, 0 * more if h == root else int(level.max(initial=-1)) + 1 + more)
            for h, level in enumerate(self.levels)
        ]
        shown = [(*row, *names) if h < root else row for h, row in enumerate(self.level_labels)]
        numbers = None if self.numbers is None else np.append(self.numbers, self.numbers.max(initial=0) + 1 + more)
        categories = None if self.categories is None else np.append(self.categories, np.zeros(n, dtype=np.int64))
        return replace(
            self, labels=(*self.labels, *names), units=np.append(self.units, np.full(n, self.unit)), numbers=numbers,
            categories=categories, levels=tuple(levels), level_labels=tuple(shown),
        )  # fmt: skip

    def n_present(self) -> int:
        """How many codes occur."""
        return int(np.count_nonzero(self.units))

    def code_of(self, label: str) -> int:
        """Return the code of a value given by its label, or raise with a hint."""
        try:
            return list(self.labels).index(label)
        except ValueError:
            raise PolicyError(
                f"Column {self.name!r} has no value {label!r}.",
                code="unknown-value",
                hint="Check the spelling in the policy.",
            ) from None

    def category_weights(self) -> FloatArray:
        """Sun et al., equation 1: code -> weight of its category, (i - 1) / (m - 1), and 1 for the last.

        With a single category its weight is 1 ("the last").
        """
        categories = self.category_codes()
        if self.n_categories == 1:
            return np.ones(len(categories))
        return categories / (self.n_categories - 1)

    def category_codes(self) -> IntArray:
        """Return the category of every code, or raise if the policy declares none."""
        if self.categories is None:
            raise PolicyError(
                f"Column {self.name!r} has no sensitivity categories.",
                code="no-categories",
                hint="Declare them in the policy, the most sensitive first: categories: {secret: [...], ...}.",
            )
        return self.categories


@dataclass(frozen=True)
class Reference:
    """What models know about the whole input table.

    Attributes
    ----------
    units : int
        Size of the table, in units.
    unit : int
        Units per person.
    attributes : mapping of Key to Attribute
    population : int, optional
        People in the population table, if there is one.
    background : Histogram, optional
        The background table as one group; see ``GroupStats.background``.
    background_values : int
        S of ``GroupStats.background`` codes ``q * S + s``; 0 if there is no background table.
    background_on : str
        The sensitive column that the background table is about, if known.
    bandwidths : tuple of float
        The widths of the kernels, if the background was estimated.
    household : int
        Members of the largest household; 0 if the policy declares no households.

    Examples
    --------
    >>> r = Reference.of(6, Attribute.of("disease", ["HIV", "flu"], [2, 4]))
    >>> r.people
    6.0
    >>> r.whole().sizes.tolist()
    [6.0]
    """

    units: int
    unit: int = 1
    attributes: Mapping[Key, Attribute] = field(default_factory=dict)
    population: int | None = None
    background: Histogram | None = None
    background_values: int = 0
    background_on: str = ""
    bandwidths: tuple[float, ...] = ()
    household: int = 0

    @classmethod
    def of(cls, people: int, *attributes: Attribute) -> Reference:
        """Build from plain arrays, for tests and examples."""
        return cls(people, attributes={a.key: a for a in attributes})

    @property
    def people(self) -> float:
        """People in the whole table."""
        return self.units / self.unit

    def attribute(self, key: Key) -> Attribute:
        """Return one sensitive (or joint) column."""
        return self.attributes[key]

    def whole(self) -> GroupStats:
        """The whole table as one group, the result of merging everything."""
        histograms = {}
        for key, a in self.attributes.items():
            present = np.flatnonzero(a.units)
            histograms[key] = Histogram(
                np.array([0, len(present)], dtype=np.int64),
                present.astype(np.int64),
                a.units[present],
                a.unit,
            )
        return GroupStats(
            np.array([self.units], dtype=np.int64),
            self.unit,
            histograms,
            None if self.population is None else np.array([self.population], dtype=np.int64),
            self.background,
        )
