"""Diversity of the sensitive values in people's classes.

For each sensitive column, the distribution over people of their class's diversity: the number of different values
(``distinct``), the number of equally frequent values with the same entropy (``entropy``), and ``recursive``, the most
frequent value's count divided by that of all others (the smallest c of recursive (c, 2)-diversity; lower is better).
Each is the score of the model that bounds it, so a reported l is the one that is verified.

References
----------
A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, "l-diversity", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hushtable.arrays import FloatArray, scattered
from hushtable.errors import UsageError
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.recursive_cl import RecursiveCL
from hushtable.risk.base import Exposure, Finding, Risk

_READ: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "distinct": (DistinctL, {"l": 2}),
    "entropy": (EntropyL, {"l": 2}),
    "recursive": (RecursiveCL, {"c": 1.0, "l": 2}),
}


@dataclass(frozen=True)
class Diversity(Finding):
    """Diversity of people's classes in one sensitive column.

    Attributes
    ----------
    column : str
    measure : str
        ``distinct``, ``entropy`` or ``recursive``.
    least, quarter, median, mean, three_quarters, most : float
        Over people. A quantile is the value of the person at that position.
    """

    column: str
    measure: str
    least: float
    quarter: float
    median: float
    mean: float
    three_quarters: float
    most: float


@dataclass(frozen=True)
class LDiversityFinding(Finding):
    """Diversity of the sensitive values within classes.

    Attributes
    ----------
    people : float
    one_value : float
        People whose class has only one value in some sensitive column, which is thereby disclosed.
    share_one_value : float
    diversity : tuple of Diversity
    """

    people: float
    one_value: float
    share_one_value: float
    diversity: tuple[Diversity, ...]


@dataclass(frozen=True)
class LDiversity(Risk):
    """Diversity of the sensitive values in each person's class, and people whose class has only one value.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 30, 41, 41], "disease": ["flu", "gout", "flu", "flu"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> found = ht.anonymize(people, policy).risk("l-diversity").before
    >>> found.one_value, [d.median for d in found.diversity]
    (2.0, [1.0, 1.0, 1.0])
    """

    name: ClassVar[str] = "l-diversity"
    default: ClassVar[bool] = False

    def compute(self, exposure: Exposure) -> LDiversityFinding:
        """Assess one table."""
        exposure = exposure.detailed()
        members = exposure.members
        if members is None or members.apart or not members.table.sensitive:
            why = "publishes sensitive values separately from people" if members and members.apart else "has none"
            raise UsageError(
                f"l-diversity needs the sensitive values of each class, but the table {why}.",
                code="no-sensitive",
                hint="Give a column the role 'sensitive', and choose an algorithm that forms classes.",
            )
        table = members.table
        labels = scattered(members.classes, members.rows, table.n_rows)
        keys = [(c.name,) for c in table.sensitive]
        stats, reference = table.stats_of(labels, len(exposure), keys), table.reference()
        found, alone = [], np.zeros(len(exposure), dtype=np.bool_)
        for key in keys:
            for measure, (model, values) in _READ.items():
                score = model(**values, on=key[0]).score(stats, reference)
                found.append(Diversity(key[0], measure, *_spread(score, exposure.units)))
            alone |= stats.histogram(key).distinct() == 1
        return LDiversityFinding(
            people=exposure.people,
            one_value=float(int(exposure.units[alone].sum()) / exposure.unit),
            share_one_value=exposure.share(alone),
            diversity=tuple(found),
        )


def _spread(score: FloatArray, units: Any) -> tuple[float, ...]:
    """Return minimum, quartiles, mean and maximum over people."""
    order = np.argsort(score, kind="stable")
    running = np.cumsum(units[order])
    place = [min(int(np.searchsorted(running, q * running[-1])), len(order) - 1) for q in (0.25, 0.5, 0.75)]
    quarter, median, third = (float(score[order[i]]) for i in place)
    mean = float((score * units).sum() / units.sum())
    return float(score.min()), quarter, median, mean, third, float(score.max())
