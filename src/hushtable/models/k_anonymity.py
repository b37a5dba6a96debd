"""k-anonymity.

A table is k-anonymous when each combination of quasi-identifier values that occurs in it occurs for at least k
people.

With ``subsets: m`` it is the combinations of up to m quasi-identifiers that count, with ``combinations`` the listed
ones: no such combination of published cells shows fewer than k people. That is for adversaries who know a few things
about somebody, and for tables with so many columns that hardly two rows are alike. It says nothing about adversaries
who know more. The cells are what is published: a blank or a range is a category of its own. Whoever shows the same
cells as a person in the columns that the adversary knows agrees with what the adversary knows, so at least k people do.

How it behaves. A class of k people satisfies it whatever its cells are, so algorithms that do not tell what their cells
show make classes of k. The full-domain algorithms and ``local-suppression`` tell, and lose far less; so does
microaggregation with ``combinations``, which groups each of them on its own. Publishing whole
columns more coarsely unites the people behind combinations, so it never breaks the promise (``COARSEN``). Adding a
record to a class, merging two classes and leaving records out may: the cells of the class change, or people disappear,
and rows elsewhere that shared a combination with them are left alone.

When to use
-----------
As the floor of every release: nobody can be picked out of fewer than k people by the quasi-identifiers.

When not
--------
On its own where a sensitive column is published: a class whose people all have the same value discloses it. It does
not survive a second release of the same people. With ``subsets`` or ``combinations``, where somebody may know more
columns than that.

Cost
----
One comparison per class; the cheapest model. With ``subsets``, one count for each combination of columns: twenty
columns by three are 1,140.

References
----------
L. Sweeney, "k-anonymity: a model for protecting privacy", 2002; Sun et al. 2011, Definition 1. Subsets: M. Terrovitis,
N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008 (k^m-anonymity).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import Infeasible, ParameterError
from hushtable.models.base import TOLERANCE, Audited, Monotone, PrivacyModel, Stat
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["KAnonymity"]


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least k people.

    With ``subsets`` or ``combinations``: every combination of some of its cells. Score: the class's size in people, or
    the fewest people who share a combination of its cells. Satisfied when >= k.

    Parameters
    ----------
    k : int
        Smallest number of people in a class.
    subsets : int, optional
        How many quasi-identifiers an adversary may know; all by default.
    combinations : list of lists of str, optional
        Instead of that, which quasi-identifiers an adversary may know together.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[2, 5])
    >>> KAnonymity(k=3).satisfied(groups, Reference.of(7)).tolist()
    [False, True]

    Both rows show a common age and a common city, and only together they are rare:

    >>> cells = {"age": np.array([30, 30, 40]), "city": np.array([1, 2, 1])}
    >>> groups = GroupStats(np.array([1, 4, 4]), cells=cells)
    >>> KAnonymity(k=3, subsets=1).table_satisfied(groups, Reference.of(9)).tolist()
    [True]
    >>> KAnonymity(k=3, subsets=2).score(groups, Reference.of(9)).tolist()
    [1.0, 4.0, 4.0]
    """

    k: Annotated[int, AtLeast(2), "smallest number of people in a class"]
    subsets: Annotated[int | None, AtLeast(1), "largest number of quasi-identifiers known together; all by default"] = (
        None
    )
    combinations: Annotated[
        tuple[tuple[str, ...], ...] | None, "quasi-identifiers that may be known together, instead of 'subsets'"
    ] = None

    name: ClassVar[str] = "k-anonymity"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("k", "k", {"k": 2}),)
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.subsets is not None and self.combinations is not None:
            raise ParameterError(
                "KAnonymity has both 'subsets' and 'combinations'.", hint="Give one of them, or two models."
            )
        if self.combinations is not None and not (self.combinations and all(self.combinations)):
            raise ParameterError(
                "The 'combinations' parameter of KAnonymity names no columns.", hint="List them: [[age, city], [sex]]."
            )
        if self._by_cells:
            object.__setattr__(self, "monotone", Monotone.COARSEN)
            object.__setattr__(self, "table_level", True)

    @property
    def _by_cells(self) -> bool:
        return self.subsets is not None or self.combinations is not None

    def stats_needed(self) -> frozenset[Stat]:
        """Return the size; with subsets also the cells."""
        return self.needs | {Stat.CELLS} if self._by_cells else self.needs

    def of_classes(self) -> KAnonymity:
        """Return k-anonymity by all quasi-identifiers."""
        return KAnonymity(k=self.k) if self._by_cells else self

    def columns_read(self) -> tuple[str, ...]:
        """Return the columns of the listed combinations."""
        return tuple(dict.fromkeys(name for chosen in self.combinations or () for name in chosen))

    def known_together(self) -> tuple[tuple[str, ...], ...] | None:
        """Return the listed combinations."""
        return self.combinations

    @property
    def bound(self) -> float:
        """Return k."""
        return self.k

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """People per group, or the fewest who share a combination of its cells."""
        if not self._by_cells or groups.cells is None:
            return groups.sizes
        # columns that are not listed tell nothing
        least = np.full(len(groups), np.iinfo(np.int64).max)
        for _, units in self._counted(groups):
            np.minimum(least, units, out=least)
        return least / groups.unit

    def table_satisfied(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Whether each candidate table has no rare combination; the first one that is found decides."""
        if not self._by_cells or groups.cells is None:
            return super().table_satisfied(groups, table)
        offsets = groups.table_offsets()
        fits = np.ones(len(offsets) - 1, dtype=np.bool_)
        enough = self._enough(groups)
        for _, units in self._counted(groups):
            rare = np.flatnonzero(units < enough)
            fits[np.searchsorted(offsets, rare, side="right") - 1] = False
            if not fits.any():
                break
        return fits

    def exposing(self, groups: GroupStats, table: Reference) -> IntArray:
        """Return how many rare combinations each group's cells take part in, column by column."""
        names = list(groups.cells or {})
        found = np.zeros((len(names), len(groups)), dtype=np.int64)
        enough = self._enough(groups)
        for chosen, units in self._counted(groups):
            rare = np.flatnonzero(units < enough)
            for name in chosen:
                found[names.index(name), rare] += 1
        return found.T

    def _enough(self, groups: GroupStats) -> int:
        """The fewest units that compare as k people."""
        return math.ceil((self.k - TOLERANCE * self.k) * groups.unit)

    def _counted(self, groups: GroupStats) -> Iterator[tuple[tuple[str, ...], IntArray]]:
        """Each combination of columns, and how many units of its table share it with each group.

        A combination of fewer columns shows at least the people of one with more.
        """
        # a plain run need not load it
        from hushtable.kernels.combinations import shared_units

        cells = groups.cells or {}
        names = list(cells)
        offsets = groups.table_offsets()
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        codes = np.stack([*cells.values(), owner]).astype(np.int32)
        sizes = [*codes[:-1].max(axis=1, initial=-1) + 1, len(offsets) - 1]
        # columns with many values are the likeliest to show a rare combination
        widest = sorted(names, key=lambda name: -sizes[names.index(name)])
        chosen = self.combinations or combinations(widest, min(self.subsets or len(names), len(names)))
        several = [len(names)] if len(offsets) > 2 else []
        for some in chosen:
            places = [*several, *(names.index(name) for name in some)]
            yield some, shared_units(codes, places, sizes, groups.units)

    def min_group_size(self) -> int:
        """Return k; with subsets a class may be a single person."""
        return 1 if self._by_cells else self.k

    def feasible(self, table: Reference) -> Infeasible | None:
        """The whole table as one class decides: all combinations of one class show all people."""
        return self.infeasible(table.whole(), table) if table.people < self.k else None

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has fewer than k people."""
        people = table.people
        return Infeasible(
            f"k={self.k} but the table has {people:g} people.",
            hint=f"Lower k to {int(people)} or less, or add records." if people >= 2 else "Add records.",
        )
