"""Basic implications: the adversary knows k true statements of the kind "if she has it, he has it".

About a person t with value s, every statement "if ... then t has s" is true. The attack takes k of them and tries
all ways to distribute them: "if t has v" for the most frequent other values of the class (which rules v out), "if u
has s" for other people u of the class, and the most revealing statements about people of other classes. The belief in
s is 1 / (1 + R), as in the model ``ck-safety``, which bounds it over all statements, true or not. The attack
succeeds if the belief in a person's own value reaches ``confidence``.

Baseline: the same statements about the whole table as one class.

References
----------
D. Martin, D. Kifer, A. Machanavajjhala, J. Gehrke, J. Halpern, "Worst-case background knowledge for privacy-preserving
data publishing", ICDE 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.view import View
from hushtable.models.ck_safety import least_elsewhere, least_products
from hushtable.models.privacy_skyline import struck_out
from hushtable.params import AtLeast, Between
from hushtable.table.stats import Histogram


def believed(histogram: Histogram, k: int) -> FloatArray:
    """Return, for every entry, the belief that one of its people has its value, given the k true implications.

    Examples
    --------
    Somebody is known not to have flu, or to have cancer if a colleague does:

    >>> believed(Histogram.dense([[2, 2, 1]]), 1).round(3).tolist()
    [0.667, 0.667, 0.333]
    """
    group, having = histogram.groups, histogram.counts
    people = histogram.totals()[group]
    elsewhere = np.ones((len(histogram), k + 1))
    for places, least in least_elsewhere(least_products(histogram, k)):
        elsewhere[places] = least
    best = np.full(len(having), np.inf)
    for on_target in range(k + 1):
        rest = np.maximum(people - having - struck_out(histogram, on_target), 0.0)
        for on_others in range(k - on_target + 1):
            best = np.minimum(best, rest * elsewhere[group, k - on_target - on_others])
            left = people - 1 - on_others
            rest = rest * np.divide(np.maximum(left - having, 0.0), left, out=np.ones(len(left)), where=left > 0)
    return np.asarray(having / (having + best))


@dataclass(frozen=True)
class Implications(SensitiveAttack):
    """Knows k implications that end in the person's own value.

    Parameters
    ----------
    k : int
        Number of implications.
    confidence : float
        Belief that counts as success.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 27, 52, 53, 54], "disease": ["flu", "HIV", "flu", "flu", "HIV", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=3)])
    >>> result = ht.anonymize(table, policy).attack("implications", k=1, confidence=0.7)
    >>> result.rate, result.baseline
    (0.5, 0.5)
    """

    k: Annotated[int, AtLeast(0), "number of implications that the adversary knows"] = 2
    confidence: Annotated[float, Between(0, 1, closed="right"), "belief that counts as success"] = 0.9

    name: ClassVar[str] = "implications"
    knowledge: ClassVar[str] = (
        "The adversary knows everybody's quasi-identifiers, who is in the release, and k true statements of the "
        "kind: if one person has a value, then another has one."
    )
    remedy: ClassVar[str] = (
        "Add ck-safety with the expected number of statements k and an acceptable c. Without it, raise l of "
        "recursive-cl, entropy-l or distinct-l by k."
    )

    def run(self, view: View) -> AttackResult:
        """Count the records whose value is believed after the statements."""
        return self.by_belief(view, lambda h: believed(h, self.k), self.confidence, {"implications": self.k})
