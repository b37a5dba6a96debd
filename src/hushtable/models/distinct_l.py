"""Distinct l-diversity, the simplest interpretation of "well represented".

Symbol: l. At least l distinct sensitive values appear in every class. The condition is the same as p-sensitivity. It
has its own name because the l-diversity literature starts from it.

When to use
-----------
As a first, cheap step against homogeneous classes.

When not
--------
When one value may dominate a class: entropy-l, probabilistic-l or recursive-cl bound that.

Cost
----
Linear in the distinct values of the classes.

References
----------
A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006; Allard 2023, "l-Diversity III".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from hushtable.models.base import Audited
from hushtable.models.p_sensitive import DistinctValues
from hushtable.params import AtLeast


@dataclass(frozen=True)
class DistinctL(DistinctValues):
    """Every class contains at least l distinct sensitive values.

    Score: number of distinct values, capped at the number of whole people. Satisfied when score >= l.

    Parameters
    ----------
    l : int
        Minimum number of distinct values in a class.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute, Reference
    >>> from hushtable.table.stats import GroupStats
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[4, 0, 0], [2, 1, 1]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "cancer", "flu"], [6, 1, 1]))
    >>> DistinctL(l=3, on="disease").score(groups, table).tolist()
    [1.0, 3.0]
    """

    l: Annotated[int, AtLeast(2), "minimum number of distinct sensitive values in a class"]

    name: ClassVar[str] = "distinct-l"
    bounded_by: ClassVar[str] = "l"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("l", "l", {"l": 2}),)
    of_crowds: ClassVar[bool] = True

    @property
    def kept_by_shares(self) -> bool:
        """Only the number of values counts."""
        return True
