"""Bayes-optimal privacy.

Symbol: theta. The adversary knows the joint distribution f(s, q) of sensitive values and quasi-identifiers. For a
person with quasi-identifier q, the prior belief in s is alpha = f(s|q). The release puts q into the class q*, which
has n(q*, s) records with s, and the posterior belief is

    beta = n(q*, s) f(s|q) / f(s|q*)  /  sum over s' of  n(q*, s') f(s'|q) / f(s'|q*),

where f(s|q*) = sum f(s, q) / sum f(q) over the q generalized to q*. The model holds when |alpha - beta| < theta,
strictly, for every q in the class and every s. There are two adversaries:

without ``background``
    f(s|q) = f(s), the value's share in the whole table, for all q. The posterior is then the value's share in the
    class, and the gap is the largest |share in the class - share in the table|. It is convex: merging two satisfied
    classes keeps them satisfied.
with ``background``
    f is the policy's background table, and the condition covers every q in it that falls into a class. Not monotone.

If the release contradicts f: when f rules out a value of the class for all of its q (0/0 in the formula), f(s|q) /
f(s|q*) counts as 1, the limit for an adversary who has the same small doubt about everyone. The value's prior is 0
and its gap is the posterior. If f rules out every value of the class for q, but not for others, the belief about q
collapses and the gap is 1. If the background table has no q in a class, the adversary's prior is the distribution in
the whole table.

When to use
-----------
To bound what an adversary with known beliefs can learn, or to test other models against this one.

When not
--------
When the adversary's beliefs are unknown: the guarantee holds only for the given ones. With a background table, it is
not monotone.

Cost
----
With a background table, visits all of its rows for every class; otherwise linear in the values.

References
----------
A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006; Allard 2023, "Formalizing the
Bayes-Optimal Model" and its example.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from hushtable.arrays import FloatArray, IntArray, inverted, run_starts
from hushtable.errors import Infeasible, PolicyError
from hushtable.models.base import Monotone, Sense, SensitiveModel, Stat
from hushtable.params import Between
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram


class Beliefs(NamedTuple):
    """An adversary's beliefs about each (group, q, s) of the background table.

    Attributes
    ----------
    group, quasi, value : int64 arrays
    prior, posterior : float arrays
        alpha and beta; beta is NaN if the release contradicts all prior beliefs about q.
    surprise : float array
        The largest posterior of a value that the background table rules out for the whole class.
    """

    group: IntArray
    quasi: IntArray
    value: IntArray
    prior: FloatArray
    posterior: FloatArray
    surprise: FloatArray


@dataclass(frozen=True)
class BayesOptimal(SensitiveModel):
    """An adversary's belief about any person's value changes by less than theta.

    Score: the largest |prior - posterior|. Satisfied when score < theta.

    Parameters
    ----------
    theta : float
        Upper limit for the change (exclusive).
    background : bool
        Whether the adversary knows the policy's background table, not just the shares in the whole table.
    on : str or list of str, optional
        The sensitive column; with ``background``, the background table's sensitive column.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[2, 2], [0, 4]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [2, 6]))
    >>> BayesOptimal(theta=0.25, on="disease").score(groups, table).tolist()
    [0.25, 0.25]
    """

    theta: Annotated[float, Between(0, 1, closed="right"), "upper limit for the change of any belief (exclusive)"]
    background: Annotated[bool, "the adversary knows the policy's background table"] = False

    name: ClassVar[str] = "bayes-optimal"
    bounded_by: ClassVar[str] = "theta"
    monotone: ClassVar[Monotone] = Monotone.NONE
    sense: ClassVar[Sense] = "<"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.background:
            # the gap is convex only for this adversary, so the instance overrides its class
            object.__setattr__(self, "monotone", Monotone.MERGE)

    def stats_needed(self) -> frozenset[Stat]:
        """Request the background table if the adversary knows it."""
        return self.needs | {Stat.BACKGROUND} if self.background else self.needs

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Largest change of belief per group."""
        histogram, attribute = self.histogram(groups), self.attribute(table)
        if not self.background:
            return _gap_of_shares(histogram, attribute)
        known = _background(groups.background)
        beliefs = self.beliefs(groups, table)
        gap = np.where(np.isnan(beliefs.posterior), 1.0, np.abs(beliefs.prior - beliefs.posterior))
        score = known.max(np.maximum(gap, beliefs.surprise))
        unknown = np.flatnonzero(known.lengths == 0)
        score[unknown] = _gap_of_shares(histogram.take(unknown), attribute)
        return np.where(histogram.lengths > 0, score, np.inf)

    def beliefs(self, groups: GroupStats, table: Reference) -> Beliefs:
        """Prior and posterior of every (group, q, s) of the background table."""
        known = _background(groups.background)
        about_another = table.background_on and self.key != (table.background_on,)
        if about_another or table.background_values != self.attribute(table).n_values:
            raise PolicyError(
                f"bayes-optimal is set on {self.attribute(table).name!r}, but the background table is about "
                "another column.",
                code="other-background",
                hint="Set `on:` to the background table's sensitive column.",
            )
        return update_beliefs(self.histogram(groups), known, table.background_values)

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse if the background table is missing; otherwise nothing can be proved in advance."""
        if not self.background:
            return super().feasible(table)
        self.beliefs(table.whole(), table)
        return None


def _background(histogram: Histogram | None) -> Histogram:
    if histogram is None:
        raise PolicyError(
            "bayes-optimal with background: true needs a background table.",
            code="no-background",
            hint="Add `background:` to the policy, or remove the parameter.",
        )
    return histogram


def _gap_of_shares(histogram: Histogram, attribute: Attribute) -> FloatArray:
    """Largest |share in the group - share in the table| over all values, including those absent from the group."""
    share = attribute.distribution()
    order = np.argsort(-share, kind="stable")
    rank = inverted(order)
    # the most frequent value absent from a group is at the first gap in its ranks
    sorted_ranks = rank[histogram.values][np.lexsort((rank[histogram.values], histogram.groups))]
    place = histogram.ranks()
    lengths = histogram.lengths
    whole = np.repeat(lengths, lengths)
    lacking = histogram.min(np.where(sorted_ranks == place, whole, place)).astype(np.int64)
    lacking_share = np.append(share[order], 0.0)[lacking]
    present = histogram.max(np.abs(histogram.shares() - share[histogram.values]), empty=np.inf)
    return np.asarray(np.maximum(present, lacking_share))


def update_beliefs(histogram: Histogram, known: Histogram, n_values: int) -> Beliefs:
    """Return prior and posterior of every (group, q, s): ``known`` counts the background's mass as q * n_values + s.

    Examples
    --------
    One of two people has value 1; the prior rules it out for the first:

    >>> known = Histogram.dense([[2, 0, 1, 1]])
    >>> update_beliefs(Histogram.dense([[1, 1]]), known, 2).posterior.round(2).tolist()
    [1.0, 0.25, 0.75]
    """
    group, quasi, value = known.groups, known.values // n_values, known.values % n_values
    mass = known.units.astype(np.float64)
    # entries are sorted by (group, q, s), so each person's are neighbors
    person = np.cumsum(run_starts(group, quasi)) - 1
    prior = mass / np.bincount(person, weights=mass)[person] if len(mass) else mass

    cells, cell = np.unique(group * n_values + value, return_inverse=True)
    class_share = np.bincount(cell, weights=mass)[cell] / known.sum(known.units)[group] if len(mass) else mass
    here = histogram.groups * n_values + histogram.values
    count = _look_up(here, histogram.units, group * n_values + value)
    weight = count * prior / class_share

    impossible = np.where(np.isin(here, cells), 0, histogram.units)
    total = histogram.sum(impossible)[group]
    total += np.bincount(person, weights=weight)[person] if len(weight) else weight
    posterior = np.divide(weight, total, out=np.full(len(weight), np.nan), where=total > 0)
    surprise = np.divide(histogram.max(impossible)[group], total, out=np.zeros(len(total)), where=total > 0)
    return Beliefs(group, quasi, value, prior, posterior, surprise)


def _look_up(keys: IntArray, counts: IntArray, wanted: IntArray) -> IntArray:
    """Return the count of each wanted key, 0 if it is not in ``keys`` (sorted)."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, counts[at], 0)
