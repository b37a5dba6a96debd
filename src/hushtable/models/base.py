"""Base classes of privacy models: predicates over group statistics, described as data.

A model is a frozen dataclass. Its annotated fields are its parameters; its class attributes declare which statistics
it needs, which threat it addresses and which operations preserve it. Its only formula is ``score``, which enforcing,
auditing and reporting all call.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, Flag, auto
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import Infeasible, ParameterError, UsageError
from hushtable.params import Parametrised
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram, Key

__all__ = [
    "TOLERANCE",
    "Audited",
    "Drawing",
    "Monotone",
    "PrivacyModel",
    "Quantity",
    "Sense",
    "SensitiveModel",
    "Stat",
    "Threat",
    "compare",
]

TOLERANCE = 1e-9
"""Scores this close (relative, and absolute near 0) to the bound count as equal to it."""

ROUNDED = 1e-9
"""What rounding may add to a quotient before it is rounded up."""

MOST_TRIED = 64
"""Largest group size for which to check whether a group of that size can satisfy a model."""

Sense = Literal[">=", "<=", "<"]
"""How a score is compared with a bound."""


class Stat(Enum):
    """A statistic that a model needs for every group."""

    SIZE = auto()
    HISTOGRAM = auto()
    POPULATION = auto()
    BACKGROUND = auto()
    CELLS = auto()


class Threat(Enum):
    """What the adversary would learn: the person behind a record, or a person's sensitive value."""

    IDENTITY = "identity"
    ATTRIBUTE = "attribute"


class Monotone(Flag):
    """Operations that cannot turn a satisfied group (or table) into a violated one.

    ``ADD``: adding any record. ``MERGE``: merging two satisfied groups. ``SUPPRESS``: removing records as long as the
    group is not empty. ``COARSEN``: publishing whole columns more coarsely, each value in the same way everywhere;
    models that survive merging survive that, too. Each model declares these, and the contract suite tests them.
    """

    NONE = 0
    ADD = auto()
    MERGE = auto()
    SUPPRESS = auto()
    COARSEN = auto()


def compare(score: FloatArray, sense: Sense, bound: FloatArray | float) -> BoolArray:
    """Compare scores with a bound, unrounded, with ``TOLERANCE``.

    ``>=`` and ``<=`` accept a score within the tolerance of the bound; ``<`` does not.

    Examples
    --------
    >>> compare(np.array([2.9999999999]), ">=", 3).tolist()
    [True]
    >>> compare(np.array([0.9999999999]), "<", 1).tolist()
    [False]
    """
    slack = TOLERANCE * np.maximum(1.0, np.abs(bound))
    if sense == ">=":
        return np.asarray(score >= bound - slack)
    if sense == "<=":
        return np.asarray(score <= bound + slack)
    return np.asarray(score < bound - slack)


class Drawing(NamedTuple):
    """How records must be drawn for a model to hold.

    Attributes
    ----------
    rate : float
        Probability of drawing a record.
    search : float
        Part of epsilon for choosing a recoding.
    """

    rate: float
    search: float


class Audited(NamedTuple):
    """How an audit uses a model on any table: the score is informative regardless of the bound.

    Attributes
    ----------
    key : str
        Usual name of the number: ``k``, ``entropy_l``.
    parameter : str
        The parameter that bounds it.
    values : mapping
        Parameters to build the model with.
    ordered : bool, optional
        Whether it applies to ordered columns only, or to unordered ones only. Defaults to both.
    """

    key: str
    parameter: str
    values: Mapping[str, Any]
    ordered: bool | None = None


class Quantity(NamedTuple):
    """One of a model's quantities, in human-readable form.

    Attributes
    ----------
    symbol : str
        The parameter that bounds it: ``alpha``, ``k``.
    sense : {">=", "<=", "<"}
    bound : float
        Bound set by the policy.
    values : float64 array
        One number per group.

    Examples
    --------
    >>> Quantity("k", ">=", 5, np.array([9.0, 6.0])).worst
    6.0
    """

    symbol: str
    sense: Sense
    bound: float
    values: FloatArray

    @property
    def worst(self) -> float:
        """The value of the worst group."""
        if not len(self.values):
            return float("nan")
        return float(self.values.min() if self.sense == ">=" else self.values.max())


@dataclass(frozen=True)
class PrivacyModel(Parametrised, ABC):
    """Base of all privacy models.

    Class attributes
    ----------------
    name : str
        Kebab-case name in policies.
    needs : frozenset of Stat
    threat : Threat
    monotone : Monotone
    bounded_by : str or float
        The parameter, or the number, that a group's score is compared with.
    sense : {">=", "<=", "<"}
        How a group's score is compared with ``bound``.
    by_support : bool
        Whether the score depends only on which values occur, not how often, and more values can only help.
    table_level : bool
        Whether the model depends on all groups together. If so, ``score`` and ``satisfied`` take all groups of one
        candidate table, and algorithms call ``table_satisfied``.
    mixes : bool
        Whether the guarantee holds for a person known only to be in one of several satisfied groups, even if the
        merged groups might not satisfy the model. Models that survive merging need not declare this.
    of_crowds : bool
        Whether the guarantee concerns the number of an adversary's candidates, or of their distinct values, so that it
        can hold without classes of equal records. It ignores how likely each candidate is. Of all selections of n
        records of a group, those with its most frequent values have the worst score.
    audits : tuple of Audited
        The numbers that ``hushtable.audit`` computes with it for any table. Empty if they need more than its rows.
    """

    needs: ClassVar[frozenset[Stat]] = frozenset({Stat.SIZE})
    threat: ClassVar[Threat] = Threat.IDENTITY
    monotone: ClassVar[Monotone] = Monotone.NONE
    bounded_by: ClassVar[str | float] = ""
    sense: ClassVar[Sense] = ">="
    table_level: ClassVar[bool] = False
    by_support: ClassVar[bool] = False
    mixes: ClassVar[bool] = False
    of_crowds: ClassVar[bool] = False
    audits: ClassVar[tuple[Audited, ...]] = ()

    @property
    def bound(self) -> float:
        """What the score is compared with; see ``bounded_by``."""
        if self.bounded_by == "":
            raise UsageError(
                f"{type(self).__name__} does not say what its score is compared with.",
                code="no-bound",
                hint="Set 'bounded_by' to the name of a parameter or to a number, or override 'bound'.",
            )
        bound: float = getattr(self, self.bounded_by) if isinstance(self.bounded_by, str) else self.bounded_by
        return bound

    @property
    def threats(self) -> frozenset[Threat]:
        """All threats that the model addresses: ``threat``, or both."""
        return frozenset({self.threat})

    @abstractmethod
    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """One number per group: the value of the model's quantity (k, l, t, ...) that the group achieves."""

    def satisfied(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Whether each group satisfies the model."""
        return compare(self.score(groups, table), self.sense, self.bound)

    def table_satisfied(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Whether each candidate table satisfies the model (``groups.tables`` separates them)."""
        offsets = groups.table_offsets()
        violated = np.concatenate([[0], np.cumsum(~self.satisfied(groups, table))])
        return np.asarray(violated[offsets[1:]] == violated[offsets[:-1]])

    def composed(self, left: GroupStats, widest: IntArray, table: Reference) -> BoolArray:
        """Whether the model still holds for people who are in several releases.

        Parameters
        ----------
        left : GroupStats
            Number of these people with each value, averaged over all worlds consistent with the releases.
        widest : int64 array
            Number of distinct values in the most diverse of those classes.
        table : Reference
        """
        return self.satisfied(left, table)

    def achieved(self, groups: GroupStats, table: Reference) -> float:
        """The worst score of all groups, which a report shows next to the bound."""
        score = self.score(groups, table)
        if not len(score):
            return float("nan")
        return float(score.min() if self.sense == ">=" else score.max())

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """What people read instead of the score, if the score is a margin over several conditions.

        The score is computed from these numbers, so there is one formula. Empty if the score is clear by itself.
        """
        return ()

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Which values would help each group (group x sensitive value): one more such record improves the score.

        Models without a sensitive column return one column of True: any record counts.
        """
        return np.ones((len(groups), 1), dtype=np.bool_)

    def keepable(self, groups: GroupStats, table: Reference) -> FloatArray:
        """How much of each group can be kept if it is divided and violating parts are suppressed.

        An upper bound, in units. Searches use it to rule out everything that divides these groups further, so a
        number may be too large but never too small. If a group violates a model that survives adding records, no part
        of it satisfies the model. For other models, nothing is known here.
        """
        if Monotone.ADD in self.monotone and not self.table_level:
            return np.where(self.satisfied(groups, table), groups.units, 0).astype(np.float64)
        return groups.units.astype(np.float64)

    def min_group_size(self) -> int:
        """No group with fewer people can satisfy the model. A cheap prefilter."""
        return 1

    def least_people(self, table: Reference) -> int:
        """No group of this table with fewer people can satisfy the model, if every person has one row."""
        return self.min_group_size()

    def values_needed(self) -> int:
        """Number of distinct values that every group needs; 0 if the model does not require any."""
        return 0

    def feasible(self, table: Reference) -> Infeasible | None:
        """Return a proof, before any work, that no grouping of this table satisfies the model, or None.

        For a model that survives merging, it is enough to check the whole table as one group: if any grouping
        satisfied the model, so would the merger of all its groups. Other models override this if they can prove
        something.
        """
        if Monotone.MERGE not in self.monotone:
            return None
        whole = table.whole()
        if bool(self.table_satisfied(whole, table)[0]):
            return None
        return self.infeasible(whole, table)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The reason, given that even the whole table as one group fails. Models override it with a better one."""
        got = float(self.score(whole, table)[0])
        return Infeasible(
            f"{self} cannot hold: even the whole table as one class reaches {got:.6g}, "
            f"but {self.sense} {self.bound:.6g} is needed.",
            hint="Relax the parameter.",
        )

    def drawing(self) -> Drawing | None:
        """How records must be drawn for the model to hold; None if it depends only on the classes."""
        return None

    def stats_needed(self) -> frozenset[Stat]:
        """Which statistics the model needs: ``needs``, unless its parameters require more."""
        return self.needs

    def of_classes(self) -> PrivacyModel:
        """Return a model of single classes that implies this one, for algorithms that do not expose their cells.

        It is the model itself, unless that evaluates cells.
        """
        return self

    def columns_read(self) -> tuple[str, ...]:
        """Return the quasi-identifiers that the parameters name."""
        return ()

    def known_together(self) -> tuple[tuple[str, ...], ...] | None:
        """Return which quasi-identifiers an adversary may know together; None if it may be all of them."""
        return None

    def exposing(self, groups: GroupStats, table: Reference) -> IntArray:
        """Return, for each group and quasi-identifier, how many violations its cell takes part in.

        Only models that evaluate cells (``Stat.CELLS``) implement this.
        """
        raise NotImplementedError

    def bandwidth(self) -> float | None:
        """Bandwidth of the kernel estimate that replaces a background table; None if the policy provides the table."""
        return None

    def histogram_keys(self) -> frozenset[Key]:
        """Which histograms the model needs after it is bound to its columns."""
        return frozenset()

    def bind(self, sensitive: tuple[str, ...]) -> tuple[PrivacyModel, ...]:
        """Return the model applied to concrete columns: one model, or one for every sensitive column."""
        return (self,)


@dataclass(frozen=True)
class SensitiveModel(PrivacyModel):
    """Base of the models that use a sensitive column.

    Parameters
    ----------
    on : str or list of str, optional
        The sensitive column; a list takes several columns jointly. Defaults to every sensitive column separately.
    """

    on: Annotated[
        str | tuple[str, ...] | None, "sensitive column, or several taken jointly. Defaults to each one separately"
    ] = field(default=None, kw_only=True)

    needs: ClassVar[frozenset[Stat]] = frozenset({Stat.SIZE, Stat.HISTOGRAM})
    threat: ClassVar[Threat] = Threat.ATTRIBUTE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.on == ():
            raise ParameterError(
                f"The 'on' parameter of {type(self).__name__} names no column.",
                hint="Name one, or omit 'on': the model then applies to each sensitive column separately.",
            )

    @property
    def key(self) -> Key:
        """The histogram that this model reads."""
        if self.on is None:
            raise TypeError(f"{self.name} is not bound to a sensitive column yet")
        return (self.on,) if isinstance(self.on, str) else self.on

    def histogram(self, groups: GroupStats) -> Histogram:
        """The groups' histogram of the model's column."""
        return groups.histogram(self.key)

    def attribute(self, table: Reference) -> Attribute:
        """The model's column over the whole table."""
        return table.attribute(self.key)

    def histogram_keys(self) -> frozenset[Key]:
        """Return the model's only histogram."""
        return frozenset({self.key})

    def bind(self, sensitive: tuple[str, ...]) -> tuple[Self, ...]:
        """Return one model per sensitive column if ``on`` is None."""
        if self.on is not None:
            return (self,)
        return tuple(replace(self, on=name) for name in sensitive)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The column has no values, or the whole table fails."""
        if not isinstance(self.bounded_by, str) or self.attribute(table).n_present():
            return super().infeasible(whole, table)
        return Infeasible(
            f"{self.bounded_by}={self.bound:g} but column {self.attribute(table).name!r} has no values at all.",
            hint="Add records.",
        )

    def share_caps(self, table: Reference) -> tuple[FloatArray, float] | None:
        """Limits on a satisfied group's shares: a cap for every value, and the allowed total excess.

        The sum of max(share - cap, 0) over the values is at most the second number. None if the model bounds no shares.
        """
        return None

    def share_floors(self, table: Reference) -> FloatArray | None:
        """The smallest share of every value in a satisfied group; None if the model does not require any."""
        return None

    @property
    def kept_by_shares(self) -> bool:
        """Whether ``keepable`` follows from caps, floors, the number of values and the smallest size alone."""
        return Monotone.ADD not in self.monotone

    def keepable(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Bound by the number of values that a group needs, and by the caps and floors of their shares.

        Parts of a group have only values that it has. The caps hold for the union of satisfied parts as for each part:
        its shares are means of the parts' shares, and max(share - cap, 0) is convex. So do the floors.
        """
        kept, histogram = super().keepable(groups, table), self.histogram(groups)
        kept = np.where(histogram.distinct() >= self.values_needed(), kept, 0.0)
        floors = self.loose_floors(table)
        if floors is not None:
            own = floors[histogram.values]
            at_most = np.divide(histogram.units, own, out=np.full(len(own), np.inf), where=own > 0)
            complete = histogram.sum(own > 0) >= np.count_nonzero(floors)
            kept = np.minimum(kept, np.where(complete, np.floor(histogram.min(at_most) * (1 + ROUNDED)), 0.0))
        caps = self.loose_caps(table)
        if caps is None:
            return kept
        # loaded only when needed: only lattice searches call this
        from hushtable.kernels.caps import most_within_caps

        least = self.min_group_size()
        # 1 is no constraint: a group may contain one of a person's several rows
        least = least * groups.unit if least > 1 else 1
        most = most_within_caps(histogram.offsets, histogram.values, histogram.units, *caps, least)
        return np.minimum(kept, most)

    def loose_caps(self, table: Reference) -> tuple[FloatArray, float] | None:
        """Return the caps with the tolerance used to compare scores."""
        caps = self.share_caps(table)
        return None if caps is None else (caps[0] * (1 + 4 * TOLERANCE) + 4 * TOLERANCE, caps[1] + 4 * TOLERANCE)

    def loose_floors(self, table: Reference) -> FloatArray | None:
        """Return the floors with that tolerance."""
        floors = self.share_floors(table)
        return None if floors is None else floors * (1 - 4 * TOLERANCE)

    def least_people(self, table: Reference) -> int:
        """With fewer people, the shares would exceed the caps."""
        caps = self.loose_caps(table)
        least = self.min_group_size()
        if caps is None:
            return least
        from hushtable.kernels.caps import smallest_within_caps

        floors = self.loose_floors(table)
        if floors is not None:
            # one of every value that has to occur
            share = (caps[0] + caps[1])[floors > 0].min(initial=1.0)
            least = max(least, math.ceil((1 - ROUNDED) / share))
        return max(least, smallest_within_caps(*caps, MOST_TRIED))

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Try every value: it helps if the score of group + value is strictly better."""
        n_values = self.attribute(table).n_values
        now = self.score(groups, table)
        out = np.zeros((len(groups), n_values), dtype=np.bool_)
        for value in range(n_values):
            code: IntArray = np.full(len(groups), value, dtype=np.int64)
            then = self.score(groups.with_one_more(self.key, code), table)
            out[:, value] = then > now if self.sense == ">=" else then < now
        return out
