"""Three kinds of knowledge: values that a person does not have, values of others, and families.

About a person t with value s, the adversary knows l values that t does not have, the values of k other people, and m
people who, if one of them had s, would have it in common with t. All of it is true. The worst choice and the
resulting belief are those of the model ``privacy-skyline``. The attack succeeds if the belief in a person's own value
reaches ``confidence``.

Baseline: the same knowledge about the whole table as one class.

References
----------
B.-C. Chen, K. LeFevre, R. Ramakrishnan, "Privacy skyline: privacy with multidimensional adversarial knowledge", VLDB
2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.view import View
from hushtable.models.privacy_skyline import beliefs
from hushtable.params import AtLeast, Between


@dataclass(frozen=True)
class SkylineKnowledge(SensitiveAttack):
    """Knows l facts about the target, k about others and m about families.

    Parameters
    ----------
    l : int
        Number of values that the target is known not to have.
    k : int
        Number of other people whose values are known.
    m : int
        Number of people known to imply the target's value: if one of them has it, so does the target.
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
    >>> result = ht.anonymize(table, policy).attack("skyline-knowledge", l=1, k=0, m=0)
    >>> result.rate, result.baseline
    (0.5, 0.0)
    """

    l: Annotated[int, AtLeast(0), "values that the target is known not to have"] = 1
    k: Annotated[int, AtLeast(0), "other people whose values are known"] = 1
    m: Annotated[int, AtLeast(0), "number of people known to imply the target's value"] = 1
    confidence: Annotated[float, Between(0, 1, closed="right"), "belief that counts as success"] = 0.9

    name: ClassVar[str] = "skyline-knowledge"
    knowledge: ClassVar[str] = (
        "The adversary knows everybody's quasi-identifiers, who is in the release, l values that the person does "
        "not have, the values of k others, and m people who would share the value with the person."
    )
    remedy: ClassVar[str] = (
        "Add privacy-skyline with the expected l, k and m and an acceptable c. Larger classes protect a "
        "person from knowledge about others; more values protect from knowledge about that person."
    )

    def run(self, view: View) -> AttackResult:
        """Count the records whose value the adversary believes with that knowledge."""
        known = {"pieces of knowledge": self.l + self.k + self.m}
        return self.by_belief(view, lambda h: beliefs(h, self.l, self.k, self.m), self.confidence, known)
