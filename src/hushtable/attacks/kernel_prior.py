"""Kernel prior: the adversary's prior is a kernel estimate of the table, updated with the release.

Beliefs about a person before the release are a kernel estimate from the original with bandwidth ``b``; after it, the
Omega-estimate in the person's class. Both are as in the model ``bt-privacy``. The adversary knows everybody's
quasi-identifiers and who is in which class. The attack guesses the most likely value of about ``targets`` people, in
randomly drawn classes. Each of them is compared with all others, so in large tables fewer are attacked by default.

Baseline: the most likely value before the release.

References
----------
T. Li, N. Li, J. Zhang, "Modeling and integrating background knowledge in data anonymization", ICDE 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable import rng
from hushtable.arrays import IntArray, inverted, mask_of
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.view import View
from hushtable.models.bayes_optimal import update_beliefs
from hushtable.models.bt_privacy import belief_distances
from hushtable.params import AtLeast, Positive
from hushtable.table.kernel_estimate import estimate
from hushtable.table.stats import Histogram

_UNIT = 1 << 40

_WORK = 64_000_000
"""Total number of records to compare people with if the number of people is not given."""

_FEWEST = 200
_MOST = 2000


@dataclass(frozen=True)
class KernelPrior(SensitiveAttack):
    """Guesses with a kernel estimate that the release refines.

    Parameters
    ----------
    b : float
        Bandwidth of the kernel; the smaller, the more the adversary knows.
    targets : int, optional
        Approximate number of people to attack; whole classes are drawn at random. Defaults to 2,000, fewer for tables
        of more than 32,000 records, but at least 200.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [20, 21, 60, 61] * 3, "disease": ["acne", "flu", "flu", "gout"] * 3})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=3)])
    >>> result = ht.anonymize(table, policy).attack("kernel-prior", b=2.0)
    >>> result.rate, result.baseline
    (1.0, 0.5)
    """

    b: Annotated[float, Positive(), "bandwidth of the kernel; the smaller, the more the adversary knows"] = 0.3
    targets: Annotated[
        int | None, AtLeast(1), "approximate number of people to attack; by default 2,000, fewer for large tables"
    ] = None

    name: ClassVar[str] = "kernel-prior"
    knowledge: ClassVar[str] = (
        "The adversary knows everybody's quasi-identifiers, who is in the release, and how values depend on "
        "quasi-identifiers, to the extent of a kernel estimate of the original."
    )
    remedy: ClassVar[str] = (
        "Add bt-privacy with this b and an acceptable t, for several b at once if the adversary's knowledge is not "
        "known; or require larger classes."
    )

    def run(self, view: View) -> AttackResult:
        """Guess each person's value before and after the release."""
        column = self.column(view)
        size = column.coded.size
        drawn = self._records_of_drawn_classes(view)
        wanted = mask_of(view.released[drawn], view.table.n_sample)
        found = estimate(view.table, column.name, [self.b], wanted)
        prior = found.prior[0]
        quasi, group = found.of_row[view.released[drawn]], view.labels[view.released[drawn]]
        value = view.truth(column)[drawn]
        pairs, of_record = np.unique(group * len(prior) + quasi, return_inverse=True)
        times = np.bincount(of_record.reshape(-1))
        entry, which = np.nonzero(prior[pairs % len(prior)])
        mass = np.maximum(np.rint(prior[pairs[entry] % len(prior), which] * times[entry] * _UNIT), 1).astype(np.int64)
        known = Histogram.from_pairs(
            pairs[entry] // len(prior), pairs[entry] % len(prior) * size + which, mass, view.n_groups, _UNIT
        )
        beliefs = update_beliefs(view.histogram(column), known, size)
        after = np.zeros((len(pairs), size))
        person = np.searchsorted(pairs, beliefs.group * len(prior) + beliefs.quasi)
        after[person, beliefs.value] = np.nan_to_num(beliefs.posterior)
        _, moved = belief_distances(beliefs, size)
        moved = moved[of_record.reshape(-1)]
        right = after.argmax(axis=1)[of_record.reshape(-1)] == value
        before = prior.argmax(axis=1)[quasi] == value
        counts = {
            **view.base_counts(),
            "right before the release": int(before.sum()),
            "greatest distance": float(moved.max()),
            "mean distance": float(moved.mean()),
        }
        return self.result(len(value), int(right.sum()), float(before.mean()), counts)

    def _records_of_drawn_classes(self, view: View) -> IntArray:
        """Return which released records are in the drawn classes, independent of the order of the original."""
        group = view.labels[view.released]
        rank = inverted(view.table.canonical_order)
        classes, first = np.unique(group[np.argsort(rank[view.released])], return_index=True)
        classes = classes[np.argsort(first)]
        turn = classes[np.argsort(rng.bits(view.seed, "attacks/kernel-prior", len(classes)), kind="stable")]
        targets = self.targets or int(np.clip(_WORK // max(len(group), 1), _FEWEST, _MOST))
        enough = np.searchsorted(np.cumsum(view.sizes[turn]), targets) + 1
        return np.flatnonzero(np.isin(group, turn[:enough]))
