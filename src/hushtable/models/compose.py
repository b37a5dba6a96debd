"""AllOf: several models at once, and binding models to the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import IncompatibleError, Infeasible, PolicyError
from hushtable.models.base import Monotone, PrivacyModel, Stat, Threat
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Key

__all__ = ["AllOf"]


@dataclass(frozen=True)
class AllOf(PrivacyModel):
    """All members must hold. Algorithms always receive this model, even if it has one member.

    Score: the number of members a group satisfies. The bound is the number of members.

    Examples
    --------
    >>> from hushtable.models.k_anonymity import KAnonymity
    >>> both = AllOf.bound_to([KAnonymity(k=2), KAnonymity(k=4)], sensitive=())
    >>> both.satisfied(GroupStats.of(sizes=[3, 4]), Reference.of(7)).tolist()
    [False, True]
    >>> both.min_group_size()
    4
    """

    members: tuple[PrivacyModel, ...]

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Do nothing: members have been validated already."""

    @classmethod
    def bound_to(cls, models: Iterable[PrivacyModel], sensitive: tuple[str, ...]) -> AllOf:
        """Bind each model to its columns and combine them, cheap ones first."""
        bound: list[PrivacyModel] = []
        for model in models:
            parts = model.bind(sensitive)
            if not parts:
                raise PolicyError(
                    f"{model.name} protects a sensitive column, but the policy declares none.",
                    code="no-sensitive",
                    hint="Give a column the role 'sensitive'.",
                )
            for key in (k for part in parts for k in part.histogram_keys()):
                unknown = [c for c in key if c not in sensitive]
                if unknown:
                    raise PolicyError(
                        f"{model.name} is set on {unknown[0]!r}, which is not a sensitive column.",
                        code="not-sensitive",
                        hint=f"Sensitive columns: {', '.join(sensitive) or 'none'}.",
                    )
            bound += [p for p in parts if p not in bound]
        return cls(tuple(sorted(bound, key=lambda m: Stat.HISTOGRAM in m.stats_needed())))

    def stats_needed(self) -> frozenset[Stat]:
        """Return the union of the members' needs."""
        return frozenset({Stat.SIZE}).union(*(m.stats_needed() for m in self.members))

    @property
    def threats(self) -> frozenset[Threat]:
        """The threats that the members address."""
        return frozenset().union(*(m.threats for m in self.members))

    @property
    def flags(self) -> Monotone:
        """What every member survives."""
        flags = ~Monotone.NONE
        for member in self.members:
            flags &= member.monotone
        return flags

    @property
    def minds_cover(self) -> bool:
        """Whether covering more of a population can violate a model; then no other class may cover the same people.

        Examples
        --------
        >>> from hushtable.models.delta_presence import DeltaPresence
        >>> from hushtable.models.k_map import KMap
        >>> AllOf((KMap(k=2),)).minds_cover, AllOf((DeltaPresence(low=0.1, high=0.5),)).minds_cover
        (False, True)
        """
        return any(Stat.POPULATION in m.stats_needed() and Monotone.ADD not in m.monotone for m in self.members)

    def estimated(self) -> tuple[str, tuple[float, ...]]:
        """Return the column and bandwidths of the kernel estimates that members need, if any.

        Raises
        ------
        IncompatibleError
            If they concern several columns, or another member needs the policy's background table.
        """
        asking = [m for m in self.members if m.bandwidth() is not None]
        columns = {name for m in asking for key in m.histogram_keys() for name in key}
        if not asking:
            return "", ()
        if len(columns) > 1:
            raise IncompatibleError(
                f"{asking[0].name} estimates prior beliefs about one sensitive column, not about {len(columns)}.",
                hint="Set `on:` to one column.",
            )
        own = [m.name for m in self.members if Stat.BACKGROUND in m.stats_needed() and m.bandwidth() is None]
        if own:
            raise IncompatibleError(
                f"{own[0]} needs the policy's background table, and {asking[0].name} an estimate in its place.",
                hint="Choose one of them.",
            )
        return columns.pop(), tuple(sorted({float(b) for m in asking if (b := m.bandwidth()) is not None}))

    def of_classes(self) -> AllOf:
        """Return the members as models of single classes."""
        return AllOf(tuple(m.of_classes() for m in self.members))

    def known_together(self) -> tuple[tuple[str, ...], ...] | None:
        """Return the combinations that the adversary of any member may know."""
        found = [m.known_together() for m in self.members]
        return None if any(f is None for f in found) else tuple(names for f in found for names in f or ())

    @property
    def may_overlap(self) -> bool:
        """Whether published classes may cover the same people without being evaluated together.

        Members that survive merging allow it, because an adversary's candidates are then a union of classes. So do
        members that evaluate cells: people with the same cells remain candidates, no matter which other cells cover
        them.
        """
        return all(Monotone.MERGE in m.monotone or Stat.CELLS in m.stats_needed() for m in self.members)

    def part(self, *, table_level: bool) -> AllOf:
        """Return the members that evaluate groups one by one, or those that evaluate whole tables."""
        return AllOf(tuple(m for m in self.members if m.table_level == table_level))

    @cached_property
    def by_histogram(self) -> tuple[AllOf, ...]:
        """The members in parts that need different histograms, so that a group that fails one needs no others.

        Examples
        --------
        >>> from hushtable.models.distinct_l import DistinctL
        >>> from hushtable.models.k_anonymity import KAnonymity
        >>> models = [KAnonymity(k=2), DistinctL(l=2, on="a"), DistinctL(l=3, on="b"), DistinctL(l=3, on="a")]
        >>> [len(part.members) for part in AllOf.bound_to(models, ("a", "b")).by_histogram]
        [1, 2, 1]
        """
        parts: dict[frozenset[Key], list[PrivacyModel]] = {}
        for member in self.members:
            parts.setdefault(member.histogram_keys(), []).append(member)
        return tuple(AllOf(tuple(members)) for members in parts.values())

    @property
    def bound(self) -> float:
        """Return the number of members."""
        return len(self.members)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Number of members that each group satisfies."""
        score = np.zeros(len(groups))
        for member in self.members:
            score += member.satisfied(groups, table)
        return score

    def satisfied(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Whether each group satisfies every member; later members see only groups that passed earlier ones."""
        standing = np.ones(len(groups), dtype=np.bool_)
        for member in self.members:
            if member.table_level or standing.all():
                standing &= member.satisfied(groups, table)
            elif standing.any():
                index = np.flatnonzero(standing)
                standing[index] = member.satisfied(groups.take(index), table)
        return standing

    def table_satisfied(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Whether each candidate table satisfies every member."""
        standing = np.ones(len(groups.table_offsets()) - 1, dtype=np.bool_)
        for member in self.members:
            standing &= member.table_satisfied(groups, table)
        return standing

    def keepable(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Return the minimum over the members; 0 if that is too small for a group."""
        kept = groups.units.astype(np.float64)
        for member in self.members:
            kept = np.minimum(kept, member.keepable(groups, table))
        least = self.min_group_size()
        return kept if least <= 1 else np.where(kept < least * groups.unit, 0.0, kept)

    def min_group_size(self) -> int:
        """Return the largest of the members' minima."""
        return max((m.min_group_size() for m in self.members), default=1)

    def least_people(self, table: Reference) -> int:
        """Return the largest of the members' minima."""
        return max((m.least_people(table) for m in self.members), default=1)

    def feasible(self, table: Reference) -> Infeasible | None:
        """Return the first proof by a member that it cannot hold."""
        return next((reason for m in self.members if (reason := m.feasible(table))), None)

    def histogram_keys(self) -> frozenset[Key]:
        """Return every histogram that a member needs."""
        return frozenset().union(*(m.histogram_keys() for m in self.members))
