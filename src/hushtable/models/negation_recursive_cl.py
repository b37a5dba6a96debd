"""Recursive (c, l)-diversity under n negation statements.

Symbol: (c, l, n). The adversary knows n sensitive values that the victim does not have ("Don does not have flu"). For
any such values, the class must remain recursive (c, l)-diverse after they are removed. For l >= 2, the worst case
removes n of the values between the first and the l-th, so this equals (c, l + n)-diversity before the statements,
which is what the model computes.

When to use
-----------
When an adversary can rule out some values (someone seen dancing has no broken leg).

When not
--------
When you know nothing about such knowledge: there is no basis for choosing n, and each statement costs utility.

Cost
----
The cost of recursive-cl with l + n.

References
----------
A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006; Allard 2023, "Recursive (c,
l)-Diversity, bis".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, Sense, SensitiveModel
from hushtable.models.recursive_cl import RecursiveCL
from hushtable.params import AtLeast, Positive
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class NegationRecursiveCL(SensitiveModel):
    """A class stays recursive (c, l)-diverse after any n values are ruled out.

    Score: r1 / (r(l + n) + ... + rm), infinite if there are fewer than l + n values or whole people. Satisfied when
    score < c.

    Parameters
    ----------
    c : float
        Upper limit (exclusive) for the most frequent value's count, as a multiple of the rest.
    l : int
        Rank at which the rest begins, after the statements.
    n : int
        Number of values the adversary can rule out.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[23], disease=[[7, 6, 5, 3, 1, 1]])
    >>> table = Reference.of(23, Attribute.of("disease", "abcdef", [7, 6, 5, 3, 1, 1]))
    >>> NegationRecursiveCL(c=1, l=2, n=1, on="disease").satisfied(groups, table).tolist()
    [True]
    >>> NegationRecursiveCL(c=1, l=3, n=1, on="disease").satisfied(groups, table).tolist()
    [False]
    """

    c: Annotated[float, Positive(), "limit (exclusive) for the most frequent value, as a multiple of the rest"]
    l: Annotated[int, AtLeast(2), "rank by frequency at which the rest begins, after the statements"]
    n: Annotated[int, AtLeast(1), "number of values the adversary can rule out"]

    name: ClassVar[str] = "negation-recursive-cl"
    bounded_by: ClassVar[str] = "c"
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<"

    @property
    def before(self) -> RecursiveCL:
        """The diversity that must hold before the statements."""
        return RecursiveCL(self.c, self.l + self.n, on=self.on)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """r1 / (r(l + n) + ... + rm) per group."""
        return self.before.score(groups, table)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values that help (c, l + n)-diversity."""
        return self.before.contributes(groups, table)

    def min_group_size(self) -> int:
        """Return l + n."""
        return self.l + self.n

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The whole table is not (c, l + n)-diverse."""
        reason = self.before.infeasible(whole, table)
        return Infeasible(
            f"l={self.l} with n={self.n} statements requires l={self.l + self.n} before them: {reason.message}",
            hint=f"{reason.hint} Here, l stands for l + n, so lowering n helps as well.",
        )
