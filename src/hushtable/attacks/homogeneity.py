"""Homogeneity: all members of a class have the same value, so it does not matter which record is whose.

The adversary finds the person's class and reads the value from it. A record is attacked if its class has only one
value. For people of an ``external`` table, the classes are found by their published cells: if several cover a person,
all records of all of them must agree.

Baseline: the same reading of the whole table as one class. Control: people who are not in the release but match
homogeneous classes anyway, and have the value that is read.

References
----------
Q. Wang, Z. Xu, S. Qu, "An enhanced k-anonymity model against homogeneity attack", 2011, Figures 4 and 9;
A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from hushtable.arrays import IntArray
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.matching import candidates
from hushtable.attacks.people import People, outsiders, scored
from hushtable.attacks.view import View
from hushtable.table.stats import Histogram


def agreed(view: View, people: People, histogram: Histogram) -> IntArray:
    """Return the one value that all records of all classes that cover a person share; -1 if there is none.

    Parameters
    ----------
    view : View
    people : People
    histogram : Histogram
        The classes' records by value (or by category).

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 52, 53], "disease": ["cancer", "cancer", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> view = View.of(ht.anonymize(table, policy))
    >>> people = People.of_table(view, pa.table({"age": [26, 52]}))
    >>> agreed(view, people, view.histogram(view.table.sensitive[0])).tolist()
    [0, -1]
    """
    first = np.full(len(histogram), -1, dtype=np.int64)
    filled = histogram.lengths > 0
    first[filled] = histogram.values[histogram.offsets[:-1][filled]]
    alone = np.where(histogram.lengths == 1, first, -1)
    offsets, classes = candidates(view, people)
    out = np.full(len(people), -1, dtype=np.int64)
    some = np.diff(offsets) > 0
    if some.any():
        starts = offsets[:-1][some]
        low = np.minimum.reduceat(alone[classes], starts)
        high = np.maximum.reduceat(alone[classes], starts)
        out[some] = np.where(low == high, low, -1)
    return out


@dataclass(frozen=True)
class Homogeneity(SensitiveAttack):
    """Reads a person's value from a class in which everyone has the same value.

    Parameters
    ----------
    external : table, optional
        People to attack, with all quasi-identifiers. Defaults to all released records.
    control : table, optional
        People who are not in the release, with quasi-identifiers and the sensitive column.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 52, 53], "disease": ["cancer", "cancer", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> result = ht.anonymize(table, policy).attack("homogeneity")
    >>> result.rate, result.baseline, result.counts["attacked classes"]
    (0.5, 0.0, 1)
    """

    external: Annotated[Any, "people to attack, with all quasi-identifiers; defaults to all records"] = None
    control: Annotated[Any, "people who are not in the release, with the sensitive column"] = None

    name: ClassVar[str] = "homogeneity"
    knowledge: ClassVar[str] = (
        "The adversary knows that a person is in the release, and the person's quasi-identifiers."
    )
    remedy: ClassVar[str] = (
        "Require several different values in every class: add distinct-l, entropy-l or p-sensitive to k-anonymity, or "
        "alp-dif if values need different protection. A larger k alone makes such classes rarer but excludes none."
    )

    def run(self, view: View) -> AttackResult:
        """Count the records whose class has one value."""
        column = self.column(view)
        histogram = view.histogram(column)
        one = histogram.lengths == 1
        attacked = int(view.people_of(histogram, column)[one[histogram.groups]].sum())
        baseline = float(view.whole(column).lengths[0] == 1)
        counts = {**view.base_counts(), "attacked records": attacked, "attacked classes": int(one.sum())}
        outside = outsiders(view, self.control)
        control = None
        if outside is not None:
            guess = agreed(view, outside, histogram)
            control = float(np.mean((guess >= 0) & (guess == scored(outside, column.name))))
        if self.external is None:
            return self.result(len(view.released), attacked, baseline, counts, control)
        people = People.of_table(view, self.external)
        known = int(np.count_nonzero(agreed(view, people, histogram) >= 0))
        return self.result(len(people), known, baseline, counts, control)
