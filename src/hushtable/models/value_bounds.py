"""Per-value confidence bounds: template-based privacy.

Symbol: bounds. For every sensitive value v that the policy names, the share of v in any class is at most bounds[v];
other values are not bounded. This allows more confidence for a common illness than for a rare one, which a single
bound for all values cannot express.

A bound is linear in the shares, so merging two satisfied classes keeps them satisfied; adding or removing single
records may not. The model is feasible exactly when each value's share in the whole table is within its bound.

When to use
-----------
When only some values are sensitive, and each needs its own confidence bound.

When not
--------
When all values need protection: values that are not named are not bounded.

Cost
----
Linear in the named values.

References
----------
K. Wang, B. C. M. Fung, P. S. Yu, "Template-based privacy preservation in classification problems", 2005; Sun et
al. 2011, section 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible, ParameterError
from hushtable.models.alp_dif import Probabilities
from hushtable.models.alpha_k import known_codes
from hushtable.models.base import Monotone, Quantity, Sense, SensitiveModel
from hushtable.params import OfValues
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class ValueBounds(SensitiveModel):
    """No named value's share in a class exceeds its bound.

    Score: the largest (share - bound) over the named values. Satisfied when score <= 0.

    Parameters
    ----------
    bounds : mapping of str to float
        Value -> its maximum share in a class, from 0 to 1.
    on : str, optional
        The sensitive column, which must contain the values.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[1, 3], [2, 2]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [3, 5]))
    >>> ValueBounds(bounds={"HIV": 0.4}, on="disease").satisfied(groups, table).tolist()
    [True, False]
    """

    bounds: Annotated[Mapping[str, float], Probabilities(), OfValues(), "value -> its maximum share in a class"]

    name: ClassVar[str] = "value-bounds"
    bounded_by: ClassVar[float] = 0.0  # no value may exceed its bound
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<="

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.bounds:
            raise ParameterError("ValueBounds protects no value: 'bounds' is empty.", hint="Set at least one bound.")

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Largest excess of a named value's share over its bound; negative if all are below their bounds."""
        histogram, allowed = self.histogram(groups), self._allowed(table)
        # the excess of an absent value is -bound, at most minus the smallest bound
        excess = np.maximum(histogram.shares() - allowed[histogram.values], -min(self.bounds.values()))
        return histogram.max(excess, empty=np.inf)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The share of the named value that comes closest to its bound or exceeds it most."""
        histogram, allowed = self.histogram(groups), self._allowed(table)
        bounded = np.flatnonzero(np.isfinite(allowed))
        share = histogram.shares()
        excess = [(share[histogram.values == code].max(initial=0.0) - allowed[code], code) for code in bounded]
        if not excess:
            return ()
        code = int(max(excess)[1])
        place = list(self.bounds).index(self.attribute(table).labels[code]) + 1
        own = histogram.max(np.where(histogram.values == code, share, 0.0))
        # messages do not show values: the position among the bounds identifies the value
        return (Quantity(f"bound of value {place}", "<=", float(allowed[code]), own),)

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return the bounds."""
        return np.minimum(self._allowed(table), 1.0), 0.0

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse names that are not values of the column; otherwise check the shares in the whole table."""
        self._allowed(table)
        return super().feasible(table)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """Some value is more frequent in the whole table than its bound."""
        attribute = self.attribute(table)
        if not attribute.n_present():
            return Infeasible(f"Column {attribute.name!r} has no values at all.", hint="Add records.")
        share = attribute.distribution()
        code = int(np.argmax(share - self._allowed(table)))
        label = attribute.labels[code]
        # messages do not show values: the position among the bounds identifies the value
        place = list(self.bounds).index(label) + 1
        return Infeasible(
            f"At most {self.bounds[label]:g} of a class may have value {place} of 'bounds', but {share[code]:.6g} of "
            f"the whole table do in {attribute.name!r}.",
            hint=f"Raise the bound of value {place} to {share[code]:.6g} or more.",
        )

    def _allowed(self, table: Reference) -> FloatArray:
        """Code -> its bound; infinite if the policy sets none."""
        attribute = self.attribute(table)
        allowed = np.full(attribute.n_values, np.inf)
        for code in known_codes(attribute, tuple(self.bounds)):
            allowed[code] = self.bounds[attribute.labels[code]]
        return allowed
