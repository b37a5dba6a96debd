"""What a privacy model is: a predicate over statistics of groups, described as data.

A model is a frozen dataclass. Its annotated fields are its parameters; its class attributes say which statistics
it needs, which threat it answers and what keeps it satisfied; its one formula is ``score``. Enforcing, auditing
and reporting all call that ``score``: there is no second formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, Flag, auto
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import Infeasible, ParameterError
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

MOST_TRIED = 64
"""Sizes below which it is tried whether a group of that size can satisfy a model."""

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
    """What the adversary would learn: who a record is, or what a person's sensitive value is."""

    IDENTITY = "identity"
    ATTRIBUTE = "attribute"


class Monotone(Flag):
    """What cannot turn a satisfied group (or table) into a violated one.

    ``ADD``: adding any record. ``MERGE``: merging two satisfied groups. ``SUPPRESS``: removing records while
    the group is not empty. ``COARSEN``: publishing whole columns more coarsely, every value the same way everywhere;
    what survives merging survives that, too. Declared by each model and attacked by the contract suite.
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
    """How records have to be drawn so that a model holds.

    Attributes
    ----------
    rate : float
        The chance that a record is drawn.
    search : float
        What choosing a recoding may spend of epsilon.
    """

    rate: float
    search: float


class Audited(NamedTuple):
    """How a model reads a table that nobody made for it: its score tells a number, whatever the bound.

    Attributes
    ----------
    key : str
        What people call the number: ``k``, ``entropy_l``.
    parameter : str
        The parameter that bounds it.
    values : mapping
        Parameters to build the model with.
    ordered : bool, optional
        Whether it is for columns with an order, or for those without; any by default.
    """

    key: str
    parameter: str
    values: Mapping[str, Any]
    ordered: bool | None = None


class Quantity(NamedTuple):
    """One of a model's own quantities, as people read it.

    Attributes
    ----------
    symbol : str
        The parameter that bounds it: ``alpha``, ``k``.
    sense : {">=", "<=", "<"}
    bound : float
        What the policy asks for.
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
        """The value of the group that is furthest from what is asked for."""
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
    sense : {">=", "<=", "<"}
        How a group's score is compared with ``bound``.
    by_support : bool
        Whether the score counts which values occur, however often, and further ones can only help.
    table_level : bool
        Whether satisfaction depends on all groups together; then ``score`` and ``satisfied`` take the groups of
        one whole candidate table, and algorithms call ``table_satisfied``.
    mixes : bool
        Whether the promise holds for somebody of whom is only known to be in one of several satisfied groups, though
        the groups merged might not satisfy the model. Models that survive merging need not say so.
    of_crowds : bool
        Whether the promise is about all whom an adversary has to reckon with, so that it can be kept without classes of
        equal records. It counts them alone: neither how likely each is, nor sensitive values.
    audits : tuple of Audited
        The numbers that ``hushtable.audit`` reads with it from any table. Empty where they need more than its rows.
    """

    needs: ClassVar[frozenset[Stat]] = frozenset({Stat.SIZE})
    threat: ClassVar[Threat] = Threat.IDENTITY
    monotone: ClassVar[Monotone] = Monotone.NONE
    sense: ClassVar[Sense] = ">="
    table_level: ClassVar[bool] = False
    by_support: ClassVar[bool] = False
    mixes: ClassVar[bool] = False
    of_crowds: ClassVar[bool] = False
    audits: ClassVar[tuple[Audited, ...]] = ()

    @property
    @abstractmethod
    def bound(self) -> float:
        """What the score is compared with."""

    @property
    def threats(self) -> frozenset[Threat]:
        """All threats that the model answers: ``threat``, and the other one where it promises both."""
        return frozenset({self.threat})

    @abstractmethod
    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """One number per group: the model's own quantity (k, l, t, ...) that the group achieves."""

    def satisfied(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Whether each group fulfils the model."""
        return compare(self.score(groups, table), self.sense, self.bound)

    def table_satisfied(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Whether each candidate table does (``groups.tables`` tells them apart)."""
        offsets = groups.table_offsets()
        violated = np.concatenate([[0], np.cumsum(~self.satisfied(groups, table))])
        return np.asarray(violated[offsets[1:]] == violated[offsets[:-1]])

    def composed(self, left: GroupStats, widest: IntArray, table: Reference) -> BoolArray:
        """Whether the model still holds for people who are in several releases.

        Parameters
        ----------
        left : GroupStats
            How many of the same people have each value, on average over all worlds that the releases leave open.
        widest : int64 array
            How many different values the richest of those classes has.
        table : Reference
        """
        return self.satisfied(left, table)

    def achieved(self, groups: GroupStats, table: Reference) -> float:
        """The worst score of all groups: what a report shows beside the bound."""
        score = self.score(groups, table)
        if not len(score):
            return float("nan")
        return float(score.min() if self.sense == ">=" else score.max())

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """What people read instead of the score, where that is a margin over several conditions.

        The score is made of these numbers, so there is one formula. Empty where the score speaks for itself.
        """
        return ()

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Which values would help each group (group x sensitive value): one more such record improves the score.

        Models without a sensitive column answer with one column of True: any record counts.
        """
        return np.ones((len(groups), 1), dtype=np.bool_)

    def keepable(self, groups: GroupStats, table: Reference) -> FloatArray:
        """How much of each group can be kept, at most, if it is divided and the parts that violate the model go.

        In units. A search may rule out with it whatever divides these groups further, so a number may be too great but
        never too small. A group that violates a model which survives adding records has no part that satisfies it;
        about other models nothing is known here.
        """
        if Monotone.ADD in self.monotone and not self.table_level:
            return np.where(self.satisfied(groups, table), groups.units, 0).astype(np.float64)
        return groups.units.astype(np.float64)

    def min_group_size(self) -> int:
        """No group with fewer people can satisfy the model. A cheap prefilter."""
        return 1

    def least_people(self, table: Reference) -> int:
        """No group of this table with fewer people can satisfy the model, if every row is a person's only one."""
        return self.min_group_size()

    def values_needed(self) -> int:
        """How many different values of its column every group needs; 0 where that is not what the model asks for."""
        return 0

    def feasible(self, table: Reference) -> Infeasible | None:
        """Prove, before any work, that no grouping of this table satisfies the model; else None.

        For a model that survives merging the whole table as one group decides: were any grouping satisfied,
        merging all its groups would be. Other models override this where they can prove something.
        """
        if Monotone.MERGE not in self.monotone:
            return None
        whole = table.whole()
        if bool(self.table_satisfied(whole, table)[0]):
            return None
        return self.infeasible(whole, table)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The reason, given that even the whole table as one group fails. Models say it better."""
        got = float(self.score(whole, table)[0])
        return Infeasible(
            f"{self} cannot hold: even the whole table as one class reaches {got:.6g}, "
            f"but {self.sense} {self.bound:.6g} is needed.",
            hint="Relax the parameter.",
        )

    def drawing(self) -> Drawing | None:
        """How records have to be drawn for the model to hold; None where its classes are all that counts."""
        return None

    def stats_needed(self) -> frozenset[Stat]:
        """Which statistics the model needs: ``needs``, unless its parameters ask for more."""
        return self.needs

    def of_classes(self) -> PrivacyModel:
        """Return a model of single classes that implies this one, for algorithms that do not know what cells show.

        It is the model itself, unless that judges cells.
        """
        return self

    def columns_read(self) -> tuple[str, ...]:
        """Return the quasi-identifiers that the parameters name."""
        return ()

    def known_together(self) -> tuple[tuple[str, ...], ...] | None:
        """Return which quasi-identifiers an adversary may know together; None where it may be all of them."""
        return None

    def exposing(self, groups: GroupStats, table: Reference) -> IntArray:
        """Return, for each group and quasi-identifier, how many violations its cell takes part in.

        Only models that judge cells (``Stat.CELLS``) have an answer.
        """
        raise NotImplementedError

    def bandwidth(self) -> float | None:
        """Bandwidth of the kernel estimate that stands for a background table; None where the policy's own is meant."""
        return None

    def histogram_keys(self) -> frozenset[Key]:
        """Which histograms the model needs, once bound to its columns."""
        return frozenset()

    def bind(self, sensitive: tuple[str, ...]) -> tuple[PrivacyModel, ...]:
        """Return the model applied to concrete columns: one model, or one for every sensitive column."""
        return (self,)


@dataclass(frozen=True)
class SensitiveModel(PrivacyModel):
    """Base of the models that look at a sensitive column.

    Parameters
    ----------
    on : str or list of str, optional
        The sensitive column; a list takes several columns jointly. Left out, the model holds for every
        sensitive column on its own.
    """

    on: Annotated[
        str | tuple[str, ...] | None, "sensitive column, or several taken jointly; every one where left out"
    ] = field(default=None, kw_only=True)

    needs: ClassVar[frozenset[Stat]] = frozenset({Stat.SIZE, Stat.HISTOGRAM})
    threat: ClassVar[Threat] = Threat.ATTRIBUTE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.on == ():
            raise ParameterError(
                f"The 'on' parameter of {type(self).__name__} names no column.",
                hint="Name one, or leave 'on' out: the model then holds for every sensitive column on its own.",
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
        """Return the model's one histogram."""
        return frozenset({self.key})

    def bind(self, sensitive: tuple[str, ...]) -> tuple[Self, ...]:
        """Return one model per sensitive column where ``on`` was left out."""
        if self.on is not None:
            return (self,)
        return tuple(replace(self, on=name) for name in sensitive)

    def share_caps(self, table: Reference) -> tuple[FloatArray, float] | None:
        """What a satisfied group's shares keep to: a cap for every value, and by how much they may exceed them in all.

        That is: the sum of max(share - cap, 0) over the values is at most the second number. None where the model
        bounds no shares.
        """
        return None

    def keepable(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Bound by the values that a group needs, and by the caps of their shares.

        Parts of a group have no values that it lacks. The caps hold for the union of satisfied parts as they do for
        each: its shares are means of theirs, and max(share - cap, 0) is convex.
        """
        kept, histogram = super().keepable(groups, table), self.histogram(groups)
        kept = np.where(histogram.distinct() >= self.values_needed(), kept, 0.0)
        caps = self._loose_caps(table)
        if caps is None:
            return kept
        # only searches of the lattice ask, and a plain run need not load it
        from hushtable.kernels.caps import most_within_caps

        least = self.min_group_size()
        # 1 says nothing: a group may hold one of a person's several rows
        least = least * groups.unit if least > 1 else 1
        most = most_within_caps(histogram.offsets, histogram.values, histogram.units, *caps, least)
        return np.minimum(kept, most)

    def _loose_caps(self, table: Reference) -> tuple[FloatArray, float] | None:
        """The caps with the tolerance that scores are compared with."""
        caps = self.share_caps(table)
        return None if caps is None else (caps[0] * (1 + 4 * TOLERANCE) + 4 * TOLERANCE, caps[1] + 4 * TOLERANCE)

    def least_people(self, table: Reference) -> int:
        """Fewer people have shares that no caps allow."""
        caps = self._loose_caps(table)
        least = self.min_group_size()
        if caps is None:
            return least
        from hushtable.kernels.caps import smallest_within_caps

        return max(least, smallest_within_caps(*caps, MOST_TRIED))

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Try every value: it helps where the score of group + value is strictly better."""
        n_values = self.attribute(table).n_values
        now = self.score(groups, table)
        out = np.zeros((len(groups), n_values), dtype=np.bool_)
        for value in range(n_values):
            code: IntArray = np.full(len(groups), value, dtype=np.int64)
            then = self.score(groups.with_one_more(self.key, code), table)
            out[:, value] = then > now if self.sense == ">=" else then < now
        return out
