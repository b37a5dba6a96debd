"""deFinetti's attack: learning across classes which person each value belongs to.

The usual reading of a class is the random-worlds guess: every member has each value with its share in the class. But
classes differ, and if smokers are frequent where cancer is, then within a class the smoker is more likely to be the
patient. A naive Bayes classifier learns across classes who might have which value. With it, the values of each class
are assigned to its members as a whole: every member gets one value in total, and every value as many members as were
published. Learning and assigning are repeated until little changes.

The adversary knows the exact quasi-identifiers of the members of every class, which a bucketization publishes and an
external table reveals for a generalization. Ordered columns with many values are cut into 32 parts of equal frequency.

Baseline: the random-worlds guess, which takes the class's most frequent value for everybody.

References
----------
D. Kifer, "Attacks on privacy and deFinetti's theorem", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray, IntArray, joined_ranges
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.view import View
from hushtable.errors import UsageError
from hushtable.params import AtLeast
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.stats import Histogram

_PARTS = 32
_MOST_PAIRS = 20_000_000
_BALANCING = 8


@dataclass(frozen=True)
class DeFinetti(SensitiveAttack):
    """Assigns the values of each class to its members with a naive Bayes classifier learned across classes.

    Parameters
    ----------
    rounds : int
        Number of rounds of learning and assigning.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> smoker = ["y", "y", "n", "n"] * 2 + ["y", "n", "n", "n"]
    >>> table = pa.table({"age": [20] * 4 + [40] * 4 + [60] * 4, "smoker": smoker,
    ...                   "disease": ["cancer" if s == "y" else "flu" for s in smoker]})
    >>> policy = ht.Policy(quasi=["age", "smoker"], sensitive=["disease"],
    ...                    models=[ht.KAnonymity(k=4), ht.DistinctL(l=2)])
    >>> result = ht.anonymize(table, policy).attack("definetti")
    >>> result.rate > result.baseline
    True
    """

    rounds: Annotated[int, AtLeast(1), "number of rounds of learning and assigning"] = 10

    name: ClassVar[str] = "definetti"
    knowledge: ClassVar[str] = (
        "The adversary knows the exact quasi-identifiers of everybody in the release, and combines all classes."
    )
    remedy: ClassVar[str] = (
        "Diversity within classes does not help against patterns across classes. Make classes similar: t-closeness or "
        "beta-likeness leave little to learn across classes, and fewer or coarser quasi-identifiers make it harder to "
        "distinguish members."
    )

    def run(self, view: View) -> AttackResult:
        """Learn, assign, repeat; then score the most likely value of each person."""
        column = self.column(view)
        histogram = view.histogram(column)
        person, entry = _pairs(view, histogram)
        belief = self._beliefs(view, column.coded.size, histogram, person, entry)
        guess = _argmax(belief, person, histogram.values[entry], len(view.released))
        right = int(np.count_nonzero(guess == view.truth(column)))
        records = len(view.released)
        counts = {**view.base_counts(), "right by random worlds": int(histogram.max(histogram.units).sum())}
        return self.result(records, right, float(histogram.max(histogram.units).sum()) / records, counts)

    def _beliefs(
        self, view: View, n_values: int, histogram: Histogram, person: IntArray, entry: IntArray
    ) -> FloatArray:
        value, quota = histogram.values[entry], histogram.units[entry].astype(np.float64)
        random_worlds = quota / histogram.sum(histogram.units)[view.labels[view.released]][person]
        features = [_parts(c, c.codes[view.released].astype(np.int64)) for c in view.table.quasi]
        belief = random_worlds
        for _ in range(self.rounds):
            score = np.zeros(len(belief))
            for codes, size in features:
                cell = codes[person] * n_values + value
                joint = np.bincount(cell, weights=belief, minlength=size * n_values).reshape(size, n_values)
                # half a record everywhere, so that nothing is impossible
                given = (joint + 0.5) / (joint.sum(axis=0) + 0.5 * size)
                score += np.log(given).ravel()[cell]
            top = np.full(len(view.released), -np.inf)
            np.maximum.at(top, person, score)
            belief = _balanced(quota * np.exp(score - top[person]), person, entry, quota)
        return belief


def _pairs(view: View, histogram: Histogram) -> tuple[IntArray, IntArray]:
    """Return all pairs of a released record and an entry of its class's histogram."""
    group = view.labels[view.released]
    lengths = histogram.lengths[group]
    if int(lengths.sum()) > _MOST_PAIRS:
        raise UsageError(
            f"The definetti attack would compare {int(lengths.sum()):,} pairs of people and values, which is too many.",
            code="too-large",
            hint="Attack a column with fewer values, or a release of a sample.",
        )
    person = np.repeat(np.arange(len(group)), lengths)
    return person, joined_ranges(histogram.offsets[:-1][group], lengths)


def _parts(column: QuasiColumn, codes: IntArray) -> tuple[IntArray, int]:
    """Return the codes; for ordered columns with many values, their part among 32 of equal frequency."""
    size = column.coded.size
    if size <= _PARTS or not column.coded.kind.ordered:
        return codes, size
    counts = np.bincount(codes, minlength=size)
    part = _PARTS * (np.cumsum(counts) - counts) // max(int(counts.sum()), 1)
    return part[codes], _PARTS


def _balanced(weight: FloatArray, person: IntArray, entry: IntArray, quota: FloatArray) -> FloatArray:
    """Scale so that each person's beliefs sum to 1, and those in each value of a class to its number of records."""
    for _ in range(_BALANCING):
        per_entry = np.bincount(entry, weights=weight)
        weight = weight * quota / np.maximum(per_entry[entry], np.finfo(float).tiny)
        weight = weight / np.maximum(np.bincount(person, weights=weight)[person], np.finfo(float).tiny)
    return weight


def _argmax(belief: FloatArray, person: IntArray, value: IntArray, n: int) -> IntArray:
    """Return each person's most likely value; ties go to the lowest code."""
    top = np.full(n, -np.inf)
    np.maximum.at(top, person, belief)
    best = np.flatnonzero(belief >= top[person] * (1 - 1e-9))[::-1]
    guess = np.full(n, -1, dtype=np.int64)
    # of several writes to one place the last one stays: the first entry
    guess[person[best]] = value[best]
    return guess
