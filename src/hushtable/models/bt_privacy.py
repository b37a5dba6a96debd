"""(B, t)-privacy and its skyline: bounded learning for an adversary with kernel-based prior beliefs.

Symbols: B, t. The adversary's prior belief about a person with quasi-identifiers q is a kernel estimate with
bandwidth B from the table (``table/kernel_estimate.py``): the smaller B, the more the adversary knows. The release
shows which values a class has. The posterior belief is the Omega-estimate

    P(s | q, class)  ~  n(class, s) P(s | q) / sum over the people r of the class of P(s | r),

normalized over s: each value is divided among the people of the class in proportion to the prior beliefs about them.
The exact posterior sums over all assignments of values to people and takes exponential time. The estimate equals it
if the prior beliefs are the same for everyone in the class; tests compare the two. The model holds if the distance
between prior and posterior is at most t for everyone.

The distance is the Jensen-Shannon divergence with base-2 logarithms. It ranges from 0 to 1, is defined when a
probability is 0, and is 1 when one certainty replaces another. With ``smooth``, both beliefs are first smoothed by
the same kernel over the distances between sensitive values (numbers, ranks, or nodes of a hierarchy), so that moving
belief to a similar value is a smaller change.

To require a skyline, list the model several times with different (B, t): all points must hold at once.

The beliefs come from the whole table, including suppressed records, and the people of a class are those its cells
cover. The model is not monotone.

When to use
-----------
When quasi-identifiers correlate with sensitive values, and an adversary may know it: men have no ovarian cancer.

When not
--------
For more than 50,000 distinct combinations of quasi-identifiers, or for joint sensitive columns.

Cost
----
Compares every combination of quasi-identifiers with every other, once for each B: 10,000 combinations of five columns
take a few seconds. After that, linear in combinations times values for every candidate.

References
----------
T. Li, N. Li, J. Zhang, "Modeling and integrating background knowledge in data anonymization", ICDE 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray, run_starts
from hushtable.errors import Infeasible, PolicyError
from hushtable.models.base import Monotone, Sense, SensitiveModel, Stat
from hushtable.models.bayes_optimal import Beliefs, update_beliefs
from hushtable.params import Between, Positive
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram


def divergence(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the base-2 Jensen-Shannon divergence between corresponding rows of two matrices of distributions.

    Examples
    --------
    >>> divergence(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [0.5, 0.5]])).tolist()
    [1.0, 0.0]
    """
    return np.asarray(_terms(one, other).sum(axis=1))


def _terms(one: FloatArray, other: FloatArray) -> FloatArray:
    middle = (one + other) / 2
    total = np.zeros(np.shape(one))
    for part in (one, other):
        ratio = np.divide(part, middle, out=np.ones(np.shape(one)), where=part > 0)
        total += part * np.log2(ratio) / 2
    return np.maximum(total, 0.0) if total.ndim == 1 else total


def smoothing(attribute: Attribute, bandwidth: float) -> FloatArray:
    """Return the matrix that smooths beliefs in a column's values: one row of weights per value.

    Examples
    --------
    >>> smoothing(Attribute.of("grade", ["1", "2", "3"], [1, 1, 1], ordered=True), 1.0).round(2).tolist()
    [[0.57, 0.43, 0.0], [0.3, 0.4, 0.3], [0.0, 0.43, 0.57]]
    """
    n = attribute.n_values
    if attribute.numbers is not None or attribute.ordered:
        place = attribute.numbers if attribute.numbers is not None else np.arange(n, dtype=np.float64)
        width = np.nanmax(place) - np.nanmin(place) if np.isfinite(place).any() else 0.0
        apart = np.abs(place[:, None] - place[None, :]) / (width or 1.0)
        apart = np.where(np.isnan(apart), 1.0 - np.eye(n), apart)
    elif len(attribute.levels) > 1:
        below = attribute.levels[:-1]
        apart = sum((level[:, None] != level[None, :]).astype(np.float64) for level in below) / len(below)
    else:
        apart = 1.0 - np.eye(n)
    weight = np.maximum(1.0 - (apart / bandwidth) ** 2, 0.0)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def belief_distances(beliefs: Beliefs, n_values: int, smooth: FloatArray | None = None) -> tuple[IntArray, FloatArray]:
    """Return the group of every (group, q) with a prior belief, and how far the beliefs moved.

    If the release contradicts all prior beliefs, or shows a value that they ruled out, the distance is 1.
    """
    new = run_starts(beliefs.group, beliefs.quasi)
    person, group = np.cumsum(new) - 1, beliefs.group[new]
    shaken = np.isnan(beliefs.posterior) | (beliefs.surprise > 0)
    posterior = np.nan_to_num(beliefs.posterior)
    moved: FloatArray
    if smooth is None:
        moved = np.asarray(np.bincount(person, _terms(beliefs.prior, posterior), len(group)), dtype=np.float64)
    else:
        both = np.zeros((2, len(group), n_values))
        both[0, person, beliefs.value], both[1, person, beliefs.value] = beliefs.prior, posterior
        # no matrix product: its last digits differ between machines
        spread = [(part[:, None, :] * smooth[None, :, :]).sum(axis=2) for part in both]
        scaled = [part / np.maximum(part.sum(axis=1, keepdims=True), np.finfo(float).tiny) for part in spread]
        moved = divergence(*scaled)
    moved[person[shaken]] = 1.0
    return group, np.asarray(np.clip(moved, 0.0, 1.0))


@dataclass(frozen=True)
class BTPrivacy(SensitiveModel):
    """The beliefs of an adversary with kernel bandwidth b about any person move by at most t.

    Score: the largest distance between prior and posterior. Satisfied when score <= t.

    Parameters
    ----------
    b : float
        Kernel bandwidth; the smaller, the more the adversary knows.
    t : float
        Maximum distance that beliefs may move.
    smooth : float
        Bandwidth for smoothing beliefs over similar values before comparing them. Defaults to 0: no smoothing.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [20, 21, 60, 61] * 3, "disease": ["acne", "flu", "flu", "gout"] * 3})
    >>> models = [ht.KAnonymity(k=3), BTPrivacy(b=0.5, t=0.1)]
    >>> release = ht.anonymize(table, ht.Policy(quasi=["age"], sensitive=["disease"], models=models))
    >>> release.verify().ok
    True
    """

    b: Annotated[float, Positive(), "kernel bandwidth; the smaller, the more the adversary knows"]
    t: Annotated[float, Between(0, 1, closed="both"), "maximum distance that beliefs may move"]
    smooth: Annotated[float, Between(0, 1, closed="both"), "bandwidth for smoothing beliefs over similar values"] = 0.0

    name: ClassVar[str] = "bt-privacy"
    bounded_by: ClassVar[str] = "t"
    needs: ClassVar[frozenset[Stat]] = frozenset({Stat.SIZE, Stat.HISTOGRAM, Stat.BACKGROUND})
    monotone: ClassVar[Monotone] = Monotone.NONE
    sense: ClassVar[Sense] = "<="

    def bandwidth(self) -> float:
        """Return b: beliefs are estimated from the table."""
        return self.b

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Largest distance per group."""
        histogram, attribute = self.histogram(groups), self.attribute(table)
        known = self._prior_beliefs(groups.background, table)
        beliefs = update_beliefs(histogram, known, table.background_values)
        smooth = smoothing(attribute, self.smooth) if self.smooth else None
        group, moved = belief_distances(beliefs, table.background_values, smooth)
        score = np.zeros(len(groups))
        np.maximum.at(score, group, moved)
        # there are no prior beliefs in a group that covers no record
        covered = np.bincount(group, minlength=len(groups)) > 0
        return np.where((histogram.lengths > 0) & covered, score, np.inf)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Any record may help: its effect depends on its quasi-identifiers."""
        return np.ones((len(groups), self.attribute(table).n_values), dtype=np.bool_)

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse if there is no estimate; otherwise nothing can be proved in advance."""
        self._prior_beliefs(table.background, table)
        return None

    def _prior_beliefs(self, background: Histogram | None, table: Reference) -> Histogram:
        """Return the prior beliefs for this bandwidth only."""
        if background is None or self.b not in table.bandwidths or self.key != (table.background_on,):
            raise PolicyError(
                f"bt-privacy has no estimate of prior beliefs about {', '.join(map(repr, self.key))}.",
                code="no-background",
                hint="A run computes the estimate from the original table, for one column.",
            )
        size, widths = table.background_values, len(table.bandwidths)
        quasi = background.values // size
        mine = quasi % widths == table.bandwidths.index(self.b)
        kept = np.concatenate([[0], np.cumsum(mine)])
        values = quasi[mine] // widths * size + background.values[mine] % size
        return Histogram(kept[background.offsets], values, background.units[mine], background.unit)
