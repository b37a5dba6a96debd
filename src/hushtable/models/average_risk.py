"""Average and maximum re-identification risk.

An adversary who links a person to a class of n people picks the correct record with probability 1 / n. The average of
this risk over all people of the release is (number of classes) / (number of people); its maximum is 1 / (size of the
smallest class). Set a bound for at least one of them.

The average depends on all classes together, so this is a table-level model. Adding records to classes and merging
classes can only lower both risks; removing records may raise both. Bounds are not rounded: 1/11 = 0.0909 exceeds
0.09.

When to use
-----------
When a rule limits risk (average 0.05, maximum 0.09) rather than class sizes.

When not
--------
As the only protection of sensitive values: it counts people, not their values.

Cost
----
One number per class, but evaluated over the whole table at every step.

References
----------
K. El Emam, "Guide to the de-identification of personal health information", 2013 (its average and maximum risk).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible, ParameterError, counted
from hushtable.models.base import TOLERANCE, Monotone, PrivacyModel, Quantity, Sense
from hushtable.params import Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class AverageRisk(PrivacyModel):
    """The average re-identification risk, the maximum risk, or both are bounded.

    Score of a class: its risk as a multiple of the allowed risk. For the maximum, that is (1 / size) / maximum. For
    the average, it is the table's average / ``average`` for all classes if the table meets the bound; otherwise it is
    (1 / size) / ``average``, so that the smallest classes, which cause the violation, stand out. The score is the
    larger of the two. A class is satisfied when score <= 1, a table when all its classes are.

    Parameters
    ----------
    average : float, optional
        Maximum average risk.
    maximum : float, optional
        Maximum risk of any person.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[2, 6])
    >>> AverageRisk(average=0.25).satisfied(groups, Reference.of(8)).tolist()
    [True, True]
    >>> AverageRisk(average=0.2).satisfied(groups, Reference.of(8)).tolist()
    [False, True]
    >>> AverageRisk(average=0.25, maximum=0.2).table_satisfied(groups, Reference.of(8)).tolist()
    [False]
    """

    average: Annotated[float | None, Between(0, 1, closed="right"), "maximum average risk: classes per person"] = None
    maximum: Annotated[
        float | None, Between(0, 1, closed="right"), "maximum risk of any person: 1 / (people in the class)"
    ] = None

    name: ClassVar[str] = "average-risk"
    bounded_by: ClassVar[float] = 1.0  # the risk may reach the allowed risk, not more
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE
    sense: ClassVar[Sense] = "<="
    table_level: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.average is None and self.maximum is None:
            raise ParameterError("AverageRisk needs the parameter 'average' or 'maximum', or both.")

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Each group's risk as a multiple of the allowed risk; infinite for groups without people."""
        risk = _risk(groups)
        score = np.where(np.isfinite(risk), 0.0, np.inf)
        if self.average is not None:
            mean = _average(groups) / self.average
            score = np.maximum(score, np.where(mean <= 1 + TOLERANCE, mean, risk / self.average))
        if self.maximum is not None:
            score = np.maximum(score, risk / self.maximum)
        return score

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The table's average risk, and the risk of each group."""
        average = () if self.average is None else (Quantity("average", "<=", self.average, _average(groups)),)
        maximum = () if self.maximum is None else (Quantity("maximum", "<=", self.maximum, _risk(groups)),)
        return (*average, *maximum)

    def min_group_size(self) -> int:
        """Return 1 / maximum, rounded down: with an entity column, sizes may be fractions."""
        return 1 if self.maximum is None else max(1, math.floor((1 + TOLERANCE) / self.maximum))

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has too few people, even as one class."""
        tightest = min(b for b in (self.average, self.maximum) if b is not None)
        which = "average" if tightest == self.average else "maximum"
        people = table.people
        needed = math.ceil(1 / tightest - TOLERANCE / tightest)
        return Infeasible(
            f"{which}={tightest:g} but the table has {counted(round(people), 'person', 'people')}, and at least "
            f"{needed} are needed.",
            hint=f"Raise {which} to {1 / people:.6g} or more, or add records." if people >= 1 else "Add records.",
        )


def _risk(groups: GroupStats) -> FloatArray:
    """One over the people of each group; infinite without people."""
    sizes = groups.sizes
    risk: FloatArray = np.divide(1.0, sizes, out=np.full(len(groups), np.inf), where=sizes > 0)
    return risk


def _average(groups: GroupStats) -> FloatArray:
    """Classes per person of the table that each group belongs to."""
    offsets = groups.table_offsets()
    classes = np.diff(offsets)
    running = np.concatenate([[0], np.cumsum(groups.units)])
    people = (running[offsets[1:]] - running[offsets[:-1]]) / groups.unit
    average = np.divide(classes, people, out=np.full(len(classes), np.inf), where=people > 0)
    return np.repeat(average, classes)
