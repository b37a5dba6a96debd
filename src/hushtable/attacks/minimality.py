"""Minimality: an algorithm that generalizes no more than necessary reveals why a class was not divided.

The adversary knows the algorithm, the models, and who is in a class (but not who has which value). The class could be
cut along each quasi-identifier at the median of its members. It was not, so each cut would have left a part that
violates a model. The adversary imagines worlds in which the values of the class are assigned to its members at
random, checks the parts with the models themselves, and drops the worlds in which a cut would have been allowed. A
value's share in a person's remaining worlds is the belief in it.

If every world remains (the parts would have been too small anyway) or none does (this algorithm was not minimal in
this sense), the class reveals nothing beyond its shares. The attack depends on no particular model or algorithm: cuts
at medians are what Mondrian tries, and a fair guess at what others could have done.

The adversary knows the policy. If it has the minimality guard, a cut may have been omitted without a reason: worlds in
which it would have been allowed remain with the probability that the guard gives them.

Baseline: the random-worlds guess, which takes the class's most frequent value for everybody.

References
----------
R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable import rng
from hushtable.arrays import BoolArray, FloatArray, IntArray, inverted, scattered
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.view import View
from hushtable.errors import UsageError
from hushtable.kernels.grouping import group_rows
from hushtable.models.base import Stat
from hushtable.params import AtLeast
from hushtable.release.guards.minimality import MinimalityGuard
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.stats import Histogram


def median_sides(codes: IntArray, groups: IntArray, n_groups: int) -> IntArray:
    """Cut every group at its median code: 0 for members below or at it, 1 for the others; -1 if all are equal.

    Examples
    --------
    >>> median_sides(np.array([1, 1, 2, 2, 2, 5, 5]), np.array([0, 0, 0, 0, 0, 1, 1]), 2).tolist()
    [0, 0, 1, 1, 1, -1, -1]
    """
    span = int(codes.max(initial=0)) + 1
    # sorting plain numbers is several times faster than ordering pairs
    sorted_codes = np.sort(groups * span + codes) % span
    sizes = np.bincount(groups, minlength=n_groups)
    start = np.cumsum(sizes) - sizes
    filled = sizes > 0
    middle, top, low = (np.zeros(n_groups, dtype=np.int64) for _ in range(3))
    middle[filled] = sorted_codes[start[filled] + (sizes[filled] - 1) // 2]
    low[filled], top[filled] = sorted_codes[start[filled]], sorted_codes[start[filled] + sizes[filled] - 1]
    # a median that is the greatest code leaves nobody above it
    below = np.where((middle == top)[groups], codes < middle[groups], codes <= middle[groups])
    return np.where((low == top)[groups], -1, np.where(below, 0, 1))


@dataclass(frozen=True)
class Minimality(SensitiveAttack):
    """Learns from the cuts that were not made.

    Parameters
    ----------
    worlds : int
        Number of imagined worlds.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [20, 20, 60, 60, 60, 60, 60],
    ...                   "disease": ["HIV", "HIV", "flu", "gout", "cold", "ulcer", "cough"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.ProbabilisticL(l=2)])
    >>> result = ht.anonymize(table, policy).attack("minimality", worlds=500)
    >>> result.rate > result.baseline
    True
    """

    worlds: Annotated[int, AtLeast(2), "number of imagined worlds"] = 100

    name: ClassVar[str] = "minimality"
    knowledge: ClassVar[str] = (
        "The adversary knows the algorithm and the models, that the algorithm generalizes no more than necessary, and "
        "the exact quasi-identifiers of everybody in the release."
    )
    remedy: ClassVar[str] = (
        "Write 'guard: [minimality]' in the policy, which groups people without using sensitive values and merges "
        "more groups than necessary; or add m-confidentiality, which bounds what a refused group of people "
        "reveals; or require a larger k than necessary, so that a missing cut may have reasons other than a violation."
    )

    def run(self, view: View) -> AttackResult:
        """Imagine worlds, drop those in which a cut would have been made, and score the best guesses."""
        if any(m.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND} for m in view.model.members):
            raise UsageError(
                "The minimality attack cannot replay models that count a population or a background table.",
                code="outside-model",
                hint="To run it, use a policy with models of classes only.",
            )
        column = self.column(view)
        histogram = view.histogram(column)
        value, group = view.truth(column), view.labels[view.released]
        records = len(value)
        kept, forced, tally = self._imagine(view, column)
        informed = (forced > 0) & (forced < self.worlds)
        guess = modes(histogram)[group]
        person, dealt, times = _counted(tally, column.coded.size)
        informative = informed[group[person]]
        person, dealt, times = person[informative], dealt[informative], times[informative]
        entries = histogram.groups * column.coded.size + histogram.values
        share = histogram.shares()[np.searchsorted(entries, group[person] * column.coded.size + dealt)]
        mode_times = np.zeros(records, dtype=np.int64)
        usual = dealt == guess[person]
        mode_times[person[usual]] = times[usual]
        # the most likely value of each person is written last; among equals, the one that the class has most often,
        # then the lowest code. What is likelier than the class's own by the luck of the draw alone is not believed.
        against = mode_times[person]
        likelier = np.flatnonzero(times > against + 1.5 * np.sqrt(times + against))
        order = likelier[np.lexsort((-dealt[likelier], share[likelier], times[likelier]))]
        guess[person[order]] = dealt[order]
        belief = times / np.maximum(kept[group[person]], 1)
        more = (dealt == value[person]) & (belief > share + 0.1)
        counts = {
            **view.base_counts(),
            "classes that tell more than their shares": int(np.count_nonzero(informed)),
            "records believed more than published, by 0.1": int(np.count_nonzero(more)),
            "right by random worlds": int(histogram.max(histogram.units).sum()),
        }
        baseline = float(histogram.max(histogram.units).sum()) / records
        return self.result(records, int(np.count_nonzero(guess == value)), baseline, counts)

    def _imagine(self, view: View, column: SensitiveColumn) -> tuple[IntArray, IntArray, IntArray]:
        """Return the remaining worlds of each class, how many remain because no cut was allowed, and their assignments.

        Assignments are person * size + value, for each person in every remaining world.
        """
        rows, table = view.released, view.table
        group = view.labels[rows]
        least = view.model.min_group_size()
        # a class with fewer members than two parts need is not cut in any world
        large = np.flatnonzero(view.sizes[group] >= 2 * max(least, 1))
        sides = []
        for c in table.quasi:
            own = median_sides(c.codes[rows[large]].astype(np.int64), group[large], view.n_groups)
            sides.append(scattered(own, large, len(rows)))
        cuts = [cut for side in sides if (cut := _cut(side, group, view.n_groups, least)) is not None]
        possible = np.zeros(view.n_groups, dtype=np.bool_)
        for _, _, could in cuts:
            possible |= could
        kept = np.where(possible, 0, self.worlds).astype(np.int64)
        forced = kept.copy()
        inside = np.flatnonzero(possible[group])
        tallies = []
        # members in an order that does not depend on the input's
        rank = inverted(table.canonical_order)
        order = inside[np.lexsort((rank[rows[inside]], group[inside]))]
        keys = sorted(view.model.histogram_keys())
        reference = table.reference(keys)
        needless = _needless(view)
        for world in range(self.worlds if len(inside) else 0):
            random = rng.bits(view.seed, f"attacks/minimality/{world}", len(order))
            dealt = scattered(rows[order[np.lexsort((random, group[order]))]], order, len(rows))
            refused = possible.copy()
            for members, offsets, could in cuts:
                stats = table.stats(dealt[members], offsets[:-1], offsets[1:], keys)
                fine = view.model.satisfied(stats, reference)
                refused[could] &= ~(fine[0::2] & fine[1::2])
            forced[refused] += 1
            if needless is not None:
                chance = rng.uniform(view.seed, f"attacks/minimality/{world}/needless", view.n_groups)
                refused |= possible & (chance < needless)
            kept[refused] += 1
            here = order[refused[group[order]]]
            tallies.append(here * column.coded.size + column.codes[dealt[here]].astype(np.int64))
        return kept, forced, np.concatenate(tallies) if tallies else np.empty(0, dtype=np.int64)


def _cut(side: IntArray, group: IntArray, n_groups: int, least: int) -> tuple[IntArray, IntArray, BoolArray] | None:
    """Return the members of the parts of all classes that could be cut, in compressed rows, and these classes.

    A part with fewer than ``least`` members is refused in every world.
    """
    part = np.where(side >= 0, 2 * group + side, -1)
    sizes = np.bincount(part[part >= 0], minlength=2 * n_groups).reshape(n_groups, 2)
    could = np.asarray(sizes.min(axis=1) >= max(least, 1))
    if not could.any():
        return None
    place = np.where(could, np.cumsum(could) - 1, -1)
    label = np.where((part >= 0) & could[group], 2 * place[group] + side, -1)
    members, offsets = group_rows(label, 2 * int(could.sum()))
    return members, offsets, could


def _needless(view: View) -> FloatArray | None:
    """Return the probability that a guard left each class whole unnecessarily; None if there is no guard.

    The number of the guard's groups in a class follows from its size: groups that cannot be divided have k to
    2k - 1 members.
    """
    guard = view.guard(MinimalityGuard.name)
    if not isinstance(guard, MinimalityGuard):
        return None
    groups = view.sizes / (1.5 * max(view.model.min_group_size(), 2))
    height = np.maximum(np.rint(np.log2(np.maximum(groups, 1.0))), 1.0)
    return np.asarray(guard.extra**height)


def modes(histogram: Histogram) -> IntArray:
    """Return the most frequent value of each class; ties go to the lowest code."""
    out = np.full(len(histogram), -1, dtype=np.int64)
    filled = histogram.lengths > 0
    out[filled] = histogram.values[histogram.descending()][histogram.offsets[:-1][filled]]
    return out


def _counted(tally: IntArray, size: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return person, value and the number of worlds in which the person got it."""
    key, times = np.unique(tally, return_counts=True)
    return key // size, key % size, times.astype(np.int64)
