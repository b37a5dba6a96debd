"""Membership: finding out who is in the release.

The adversary knows the quasi-identifiers of the same number of people inside and outside the release, and decides for
each whether the person is in it. The evidence is the density of the classes that cover the person: the more records a
class publishes for each combination of values that its cells cover, the more likely it is that a person with one of
them is in the class. Everybody above the median of these densities is said to be in the release.

People outside the release come from a ``control`` table, or are the suppressed records; without either, the
attack is refused. They should come from the same population: strangers can be distinguished without any leak.

Baseline: a coin toss, right in half of the cases.

References
----------
R. Shokri et al., "Membership inference attacks against machine learning models", 2017; M. Nergiz, M. Atzori,
C. Clifton, "Hiding the presence of individuals from shared databases", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from hushtable import rng
from hushtable.arrays import FloatArray
from hushtable.attacks.base import Attack, AttackResult
from hushtable.attacks.linkage import sample
from hushtable.attacks.matching import match_chunks
from hushtable.attacks.people import People, outsiders
from hushtable.attacks.view import View
from hushtable.errors import UsageError
from hushtable.params import AtLeast


@dataclass(frozen=True)
class Membership(Attack):
    """Distinguishes people in the release from others.

    Parameters
    ----------
    control : table, optional
        People who are not in the release, with all quasi-identifiers. Defaults to the suppressed records.
    targets : int
        Maximum number of people inside and outside the release each, drawn at random.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 52, 53], "disease": ["flu", "HIV", "flu", "flu"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)], cells="intervals")
    >>> result = ht.anonymize(table, policy).attack("membership", control=pa.table({"age": [10, 35, 70, 80]}))
    >>> result.rate, result.baseline
    (1.0, 0.5)
    """

    control: Annotated[Any, "people who are not in the release; defaults to the suppressed records"] = None
    targets: Annotated[int, AtLeast(1), "maximum number of people inside and outside each, drawn at random"] = 5000

    name: ClassVar[str] = "membership"
    learns: ClassVar[str] = "presence"
    knowledge: ClassVar[str] = (
        "The adversary knows people's exact quasi-identifiers, and that half of them are in the release."
    )
    remedy: ClassVar[str] = (
        "Publish cells that cover the population rather than the records: use hierarchy nodes instead of ranges and "
        "sets (cells: nodes), delta-presence or k-map with a population table, and do not publish who was asked."
    )

    def run(self, view: View) -> AttackResult:
        """Decide for each person whether the density is above the median, and score the decisions."""
        view = view.identity
        outside = outsiders(view, self.control)
        if outside is None:
            raise UsageError(
                "The membership attack needs people who are not in the release, and no record was suppressed.",
                code="no-control",
                hint="Give a table of others from the same population: control.",
            )
        n = min(len(outside), len(view.released), self.targets)
        drawn = np.argsort(rng.bits(view.seed, "attacks/membership/control", len(outside)), kind="stable")[:n]
        inside = People.of_rows(view, sample(view, n, "membership/targets"))
        dense = np.concatenate([_density(view, inside), _density(view, outside.take(np.sort(drawn)))])
        member = np.arange(2 * n) < n
        middle = np.median(dense)
        # ties at the middle are decided by a coin
        coin = rng.uniform(view.seed, "attacks/membership/coin", 2 * n) < 0.5
        said = (dense > middle) | ((dense == middle) & coin)
        covered = int(np.count_nonzero(dense[n:] > 0))
        counts = {**view.base_counts(), "people of each side": n, "outsiders covered by a class": covered}
        return self.result(2 * n, int(np.count_nonzero(said == member)), 0.5, counts)


def _density(view: View, people: People) -> FloatArray:
    """Return the published records per combination of values that the classes around a person cover."""
    volume = np.ones(view.n_groups)
    for cells in view.cells:
        volume *= np.maximum(cells.leaves, 1) / cells.column.coded.size
    of_class = view.sizes / volume
    out = np.zeros(len(people))
    for part, inside in match_chunks(view, people):
        out[part] = np.where(inside, of_class, 0.0).max(axis=1, initial=0.0)
    return out
