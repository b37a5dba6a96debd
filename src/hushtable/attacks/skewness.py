"""Skewness: a class in which a rare value is frequent reveals much about its people, even if it is diverse.

A record is attacked if its own value's share in the class is at least ``factor`` times its share in the whole table,
and the value is rare: at most ``rare`` of the table. The paper's example is a value that makes up 1% of the table and
half of a class.

Baseline: the whole table as one class, where no share differs. The largest factor is also reported.

References
----------
N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", 2007, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.view import View
from hushtable.models.base import compare
from hushtable.params import Between, Positive
from hushtable.table.stats import Histogram


@dataclass(frozen=True)
class Skewness(SensitiveAttack):
    """Believes in a rare value more than before, because it is frequent in the class.

    Parameters
    ----------
    factor : float
        Minimum ratio of a value's share in the class to its share in the table.
    rare : float
        Maximum share in the table of a rare value.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 40, 41, 52, 53, 80, 81], "test": list("+-------")})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["test"], models=[ht.KAnonymity(k=2)])
    >>> result = ht.anonymize(table, policy).attack("skewness", factor=3)
    >>> result.successes, result.counts["greatest factor"]
    (1, 4.0)
    """

    factor: Annotated[float, Positive(), "minimum ratio of a value's share in the class to its share in the table"] = (
        2.0
    )
    rare: Annotated[float, Between(0, 1, closed="right"), "maximum share in the table of a rare value"] = 0.5

    name: ClassVar[str] = "skewness"
    knowledge: ClassVar[str] = (
        "The adversary knows a person's quasi-identifiers, that the person is in the release, and how frequent each "
        "value is in the whole table."
    )
    remedy: ClassVar[str] = (
        "Keep the distribution in every class close to the table's: beta-likeness with beta below factor - 1 excludes "
        "this attack; delta-disclosure and t-closeness bound the change of shares in other ways."
    )

    def run(self, view: View) -> AttackResult:
        """Count the records whose value is over-represented in their class."""
        column = self.column(view)
        whole = view.whole(column)
        share = np.zeros(column.coded.size)
        share[whole.values] = whole.shares()

        def ratio(histogram: Histogram) -> FloatArray:
            usual = share[histogram.values]
            # counterfeits may hold values that nobody has
            ratio = np.divide(histogram.shares(), usual, out=np.zeros(len(usual)), where=usual > 0)
            return np.where(compare(usual, "<=", self.rare), ratio, -1.0)

        def greatest(histogram: Histogram) -> dict[str, float]:
            return {"greatest factor": float(ratio(histogram).max(initial=0.0))}

        return self.by_belief(view, ratio, self.factor, {}, greatest)
