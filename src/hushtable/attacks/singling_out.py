"""Singling out: a description that fits exactly one person.

The adversary reads descriptions from the release: the cells of a class combined with a sensitive value that only one
of its records has. A guess succeeds if exactly one person of the original fits it, including suppressed ones. (Cells
alone describe at least k people; the published value is what isolates.)

Baseline: the same descriptions, as if columns were independent. A description that fits a random person with
probability w isolates one of n people with probability n w (1 - w)^(n - 1), never above 37%; this is the mean
over all guesses, where w is the product of the cells' and the value's shares in the original.

References
----------
A. Cohen, K. Nissim, "Towards formalizing the GDPR's notion of singling out", 2020; Article 29 Working Party,
WP216, 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable import rng
from hushtable.arrays import FloatArray, IntArray
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.linkage import lowest
from hushtable.attacks.matching import covering
from hushtable.attacks.view import View
from hushtable.kernels.grouping import group_rows
from hushtable.params import AtLeast


def isolation(weight: FloatArray, n: int) -> FloatArray:
    """Return the probability that exactly one of n people fits a description that fits each with this probability.

    Examples
    --------
    >>> isolation(np.array([0.0, 0.5, 1.0]), 2).tolist()
    [0.0, 0.5, 0.0]
    """
    return np.asarray(n * weight * (1.0 - weight) ** (n - 1), dtype=np.float64)


_AT_ONCE = 1 << 25
"""Number of pairs of a person and a description that are compared at once."""


def _fitting(view: View, group: IntArray, value: IntArray, has: IntArray) -> IntArray:
    """Return the number of people of the original that each description fits: a class's cells, and a value."""
    fits = np.zeros(len(group), dtype=np.int64)
    # a published value may belong to nobody, such as that of a counterfeit
    people, offsets = group_rows(has, int(max(has.max(initial=-1), value.max(initial=-1))) + 1)
    for v in np.unique(value).tolist():
        # who has another value is not described, so most pairs need no look at the cells
        own = np.flatnonzero(value == v)
        tables = [covering(cells, group[own]) for cells in view.cells]
        rows = people[offsets[v] : offsets[v + 1]]
        step = max(_AT_ONCE // len(own), 1)
        for begin in range(0, len(rows), step):
            part = rows[begin : begin + step]
            bits = np.full((len(part), (len(own) + 7) // 8), 255, dtype=np.uint8)
            for cells, table in zip(view.cells, tables, strict=True):
                bits &= table[cells.column.codes[part]]
            fits[own] += np.unpackbits(bits, axis=1, count=len(own)).sum(axis=0, dtype=np.int64)
    return fits


@dataclass(frozen=True)
class SinglingOut(SensitiveAttack):
    """Describes people by their class and a value that only one of its records has.

    Parameters
    ----------
    guesses : int
        Maximum number of descriptions, drawn at random.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 52, 53], "disease": ["flu", "HIV", "flu", "flu"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> result = ht.anonymize(table, policy).attack("singling-out")
    >>> result.targets, result.successes
    (2, 2)
    """

    guesses: Annotated[int, AtLeast(1), "maximum number of descriptions, drawn at random"] = 2000

    name: ClassVar[str] = "singling-out"
    learns: ClassVar[str] = "alone"
    knowledge: ClassVar[str] = "The adversary has the release and nothing else."
    remedy: ClassVar[str] = (
        "A value that occurs once in a class isolates a person in combination with the class's cells. Fewer, coarser "
        "values of the sensitive column, or larger and more homogeneous classes under t-closeness, leave fewer of "
        "them; k-anonymity alone does not prevent singling out in this sense."
    )

    def run(self, view: View) -> AttackResult:
        """Try the descriptions on the original."""
        column = self.column(view)
        histogram = view.histogram(column)
        once = np.flatnonzero(histogram.units == 1)
        n = view.table.n_sample
        if len(once) > self.guesses:
            once = once[lowest(rng.bits(view.seed, "attacks/singling-out", len(once)), self.guesses)]
        group, value = histogram.groups[once], histogram.values[once]
        has = np.asarray(column.codes[:n], dtype=np.int64)
        fits = _fitting(view, group, value, has)
        weight = np.bincount(has, minlength=column.coded.size)[value] / n
        for cells in view.cells:
            counts = np.bincount(cells.column.codes[:n], minlength=cells.column.coded.size).astype(np.int64)
            weight = weight * cells.covered(counts)[group] / n
        baseline = float(isolation(weight, n).mean()) if len(once) else 0.0
        counted = {
            **view.base_counts(),
            "values that occur once in a class": int(np.count_nonzero(histogram.units == 1)),
        }
        return self.result(len(once), int(np.count_nonzero(fits == 1)), baseline, counted)
