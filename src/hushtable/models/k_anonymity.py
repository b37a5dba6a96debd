"""k-anonymity.

A table is k-anonymous if each combination of quasi-identifier values in it is shared by at least k people.

With ``subsets: m``, this applies to combinations of up to m quasi-identifiers, with ``combinations`` to the listed
ones: at least k people share each such combination of published cells. Use it for adversaries who know only a few facts
about a person, and for tables with so many columns that hardly any two rows are the same. It does not protect against
adversaries who know more. What counts is the published cells: a blank or a range is a separate category. Everyone with
the same cells as a person in the columns known to the adversary matches that knowledge, so at least k people do.

A class of k people always satisfies the model, so algorithms that do not expose their cells make classes of k. The
full-domain algorithms and ``local-suppression`` do expose them and lose far less; so does microaggregation with
``combinations``, which groups each combination separately. Publishing whole columns more coarsely merges the people
behind combinations, so it never violates the model (``COARSEN``). Adding a record to a class, merging two classes and
suppressing records may: the cells of the class change, or people disappear, and other rows that shared a combination
with them become rare.

When to use
-----------
As the minimum for every release: the quasi-identifiers narrow nobody down to fewer than k people.

When not
--------
On its own if a sensitive column is published: a class in which everyone has the same value discloses it. It does not
survive a second release of the same people. With ``subsets`` or ``combinations``, if an adversary may know more
columns.

Cost
----
One comparison per class; the cheapest model. With ``subsets``, one count for each combination of columns: twenty
columns, three at a time, give 1,140.

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
from hushtable.errors import Infeasible, ParameterError, counted
from hushtable.models.base import TOLERANCE, Audited, Monotone, PrivacyModel, Stat
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least k people.

    With ``subsets`` or ``combinations``, this applies to every such combination of its cells. Score: the class's size
    in people, or the fewest people who share a combination of its cells. Satisfied when >= k.

    Parameters
    ----------
    k : int
        Minimum number of people in a class.
    subsets : int, optional
        Number of quasi-identifiers an adversary may know. Defaults to all.
    combinations : list of lists of str, optional
        Quasi-identifiers an adversary may know together; replaces ``subsets``.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[2, 5])
    >>> KAnonymity(k=3).satisfied(groups, Reference.of(7)).tolist()
    [False, True]

    The first row's age and city are each common, but rare together:

    >>> cells = {"age": np.array([30, 30, 40]), "city": np.array([1, 2, 1])}
    >>> groups = GroupStats(np.array([1, 4, 4]), cells=cells)
    >>> KAnonymity(k=3, subsets=1).table_satisfied(groups, Reference.of(9)).tolist()
    [True]
    >>> KAnonymity(k=3, subsets=2).score(groups, Reference.of(9)).tolist()
    [1.0, 4.0, 4.0]
    """

    k: Annotated[int, AtLeast(2), "minimum number of people in a class"]
    subsets: Annotated[int | None, AtLeast(1), "maximum number of quasi-identifiers known jointly. Defaults to all"] = (
        None
    )
    combinations: Annotated[
        tuple[tuple[str, ...], ...] | None, "quasi-identifiers that may be known together, instead of 'subsets'"
    ] = None

    name: ClassVar[str] = "k-anonymity"
    bounded_by: ClassVar[str] = "k"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("k", "k", {"k": 2}),)
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.subsets is not None and self.combinations is not None:
            raise ParameterError(
                "KAnonymity has both 'subsets' and 'combinations'.", hint="Use only one of them, or two models."
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

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """People per group, or the fewest who share a combination of its cells."""
        if not self._by_cells or groups.cells is None:
            return groups.sizes
        # unlisted columns do not count
        least = np.full(len(groups), np.iinfo(np.int64).max)
        for _, units in self._counted(groups):
            np.minimum(least, units, out=least)
        return least / groups.unit

    def table_satisfied(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Whether each candidate table has no rare combination; stops at the first one found."""
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
        """The fewest units that count as k people."""
        return math.ceil((self.k - TOLERANCE * self.k) * groups.unit)

    def _counted(self, groups: GroupStats) -> Iterator[tuple[tuple[str, ...], IntArray]]:
        """Each combination of columns, and the number of units in the table that share it with each group.

        At least as many people share fewer columns as share more.
        """
        # loaded only when needed
        from hushtable.kernels.combinations import shared_units

        cells = groups.cells or {}
        names = list(cells)
        offsets = groups.table_offsets()
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        codes = np.stack([*cells.values(), owner]).astype(np.int32)
        sizes = [*codes[:-1].max(axis=1, initial=-1) + 1, len(offsets) - 1]
        # columns with many values are most likely to have a rare combination
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
        """Check the whole table as one class: all people share all its combinations."""
        return self.infeasible(table.whole(), table) if table.people < self.k else None

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has fewer than k people."""
        people = table.people
        return Infeasible(
            f"k={self.k} but the table has {counted(round(people), 'person', 'people')}.",
            hint=f"Lower k to {int(people)} or less, or add records." if people >= 2 else "Add records.",
        )
