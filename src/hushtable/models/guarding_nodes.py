"""Guarding nodes: personalized privacy.

Symbols: guard, breach. Each person chooses, in a separate column, a node of the sensitive column's hierarchy: nobody
should be able to conclude that the person's value lies under it. An empty cell requests no protection. The papers we
have only mention the model. Our interpretation: for every record, the share of records in its class with a value
under that record's guarding node is at most ``breach``. Nodes are identified by label: if several nodes share a
label, all of them are guarded, and the label of a single value guards that value.

The guard column is sensitive too: declare it so. It is read record by record, together with the values.

Not monotone in any way. Merging a class in which a node is rare with one in which it is frequent, but unguarded,
violates the first class's guards.

When to use
-----------
When people were asked what nobody should be able to conclude about them.

When not
--------
When nobody was asked, or most people chose no node: the model does not protect them.

Cost
----
Linear in the pairs of value and guarding node in the classes; needs a hierarchy on the sensitive column.

References
----------
X. Xiao, Y. Tao, "Personalized privacy preservation", 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray, joined_ranges
from hushtable.errors import Infeasible, ParameterError, PolicyError
from hushtable.models.base import TOLERANCE, Monotone, Sense, SensitiveModel
from hushtable.params import Between
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram, Key


@dataclass(frozen=True)
class GuardingNodes(SensitiveModel):
    """At most ``breach`` of each record's class lies under the node that the record guards.

    Score: the largest share of the class under a node that one of its records guards; 0 if nobody guards a node.
    Satisfied when score <= breach.

    Parameters
    ----------
    guard : str
        Column with the label of each record's guarding node.
    breach : float
        Maximum share of a class under a guarding node.
    on : str, optional
        The sensitive column. Defaults to the only one other than ``guard``.

    Examples
    --------
    >>> from dataclasses import replace
    >>> disease = Attribute.of("disease", ["flu", "HIV", "cancer"], [1, 2, 1],
    ...                        levels=[[0, 1, 2], [0, 1, 1], [0, 0, 0]])
    >>> disease = replace(disease, level_labels=(("flu", "HIV", "cancer"), ("mild", "grave"), ("*",)))
    >>> guard = Attribute.of("guard", ["", "grave"], [3, 1])
    >>> joint = Attribute(("disease", "guard"), (), np.array([1, 0, 1, 1, 1, 0]))
    >>> table = Reference.of(4, disease, guard, joint)
    >>> model = GuardingNodes(guard="guard", breach=0.5, on="disease")
    >>> model.score(table.whole(), table).tolist()
    [0.75]
    """

    guard: Annotated[str, "column with the label of the node that each person guards"]
    breach: Annotated[float, Between(0, 1), "maximum share of a class under a guarding node"]

    name: ClassVar[str] = "guarding-nodes"
    bounded_by: ClassVar[str] = "breach"
    monotone: ClassVar[Monotone] = Monotone.NONE
    sense: ClassVar[Sense] = "<="

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.on == self.guard or isinstance(self.on, tuple):
            raise ParameterError(
                f"The 'on' parameter of GuardingNodes must be one column other than 'guard'. Got {self.on!r} instead."
            )

    @property
    def key(self) -> Key:
        """The joint histogram of value and guarding node."""
        (column,) = super().key
        return (column, self.guard)

    def bind(self, sensitive: tuple[str, ...]) -> tuple[GuardingNodes, ...]:
        """Return the model on the only sensitive column other than the guard."""
        if self.on is not None:
            return (self,)
        others = [name for name in sensitive if name != self.guard]
        if len(others) > 1:
            raise PolicyError(
                f"guarding-nodes needs one sensitive column, but {len(others)} are possible.",
                code="ambiguous-column",
                hint="Name one with `on:`.",
            )
        return tuple(replace(self, on=name) for name in others)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Largest share under a node that the group's own records guard."""
        histogram = self.histogram(groups)
        under, guarded = self._guards(table).under(histogram)
        units = np.where(guarded, under.units, 0)
        total = histogram.sum(histogram.units)
        share = np.full(len(histogram), np.inf)
        np.divide(under.max(units), total, out=share, where=total > 0)
        return share

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse labels that are not nodes; infeasible if too many people under a node guard it.

        The classes of people who guard a node above their own value contain all of these people and, from outside the
        node, at most everyone else in the table.
        """
        guards, whole = self._guards(table), self.histogram(table.whole())
        inside, _ = guards.under(whole)
        own, _ = guards.under(whole, only_own=True)
        lookup = dict(zip(inside.values.tolist(), inside.units.tolist(), strict=True))
        total = int(whole.units.sum())
        least = max((u / (u + total - lookup[g]) for g, u in zip(own.values, own.units, strict=True)), default=0.0)
        if least <= self.breach + TOLERANCE:
            return None
        return Infeasible(
            f"breach={self.breach:g} but {self.guard!r} guards a node of {self.on!r} for too many people under "
            f"it: even with everyone outside it, they make up {least:.6g} of their classes.",
            hint=f"Raise breach to {least:.6g} or more, or guard lower nodes." if least < 1 else "Guard lower nodes.",
        )

    def _guards(self, table: Reference) -> _Guards:
        return _guards(table.attribute((self.key[0],)), table.attribute((self.guard,)))


class _Guards(NamedTuple):
    """Which guard labels (by code) cover each value: ``guards[offsets[value]:offsets[value + 1]]``.

    The empty label covers no values.
    """

    offsets: IntArray
    guards: IntArray
    n_guards: int

    def under(self, joint: Histogram, *, only_own: bool = False) -> tuple[Histogram, BoolArray]:
        """Records under each label, group by group, and whether a record of the group guards it.

        ``only_own`` counts only the records that guard that label themselves.
        """
        value, own = np.divmod(joint.values, self.n_guards)
        times = np.diff(self.offsets)[value]
        index = joined_ranges(self.offsets[value], times)
        group, label, units = np.repeat(joint.groups, times), self.guards[index], np.repeat(joint.units, times)
        if only_own:
            keep = label == np.repeat(own, times)
            group, label, units = group[keep], label[keep], units[keep]
        covered = Histogram.from_pairs(group, label, units, len(joint), joint.unit)
        held = joint.groups * self.n_guards + own
        return covered, np.isin(covered.groups * self.n_guards + covered.values, held)


def _guards(values: Attribute, guard: Attribute) -> _Guards:
    codes = {label: code for code, label in enumerate(guard.labels) if label}
    levels = values.levels or (np.arange(values.n_values),)
    names = values.level_labels or (tuple(values.labels),)
    _check_labels(values, guard, {name for row in names for name in row})
    pairs = []
    for level, row in zip(levels, names, strict=True):
        of_node = np.array([codes.get(name, -1) for name in row], dtype=np.int64)[level]
        covered = np.flatnonzero(of_node >= 0)
        pairs.append(covered * guard.n_values + of_node[covered])
    both = np.unique(np.concatenate(pairs))
    offsets = np.searchsorted(both, np.arange(values.n_values + 1) * guard.n_values)
    return _Guards(offsets, both % guard.n_values, guard.n_values)


def _check_labels(values: Attribute, guard: Attribute, known: set[str]) -> None:
    used = [label for label, units in zip(guard.labels, guard.units, strict=True) if units and label]
    unknown = sum(label not in known for label in used)
    if unknown and not (values.withheld or guard.withheld):
        raise PolicyError(
            f"Column {guard.name!r} holds {unknown} labels that are not nodes of the hierarchy of {values.name!r}.",
            code="unknown-node",
            hint="Use the hierarchy's own labels, or leave the cell empty for no protection.",
        )
