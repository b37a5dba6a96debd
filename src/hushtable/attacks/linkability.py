"""Linkability: joining two tables about the same people, with different columns, through the release.

One table has the first half of the quasi-identifiers, the other the second half, both about the same people and
without names in common. The release reveals which combinations occur: the score of a record of one table and a record
of the other is the number of people in classes that cover both. For every record of the first table, the adversary
takes the best match of the second; ties are broken at random (seeded).

Baseline: without the release, a random record of the second table.

References
----------
Article 29 Working Party, "Opinion 05/2014 on anonymisation techniques" (WP216), 2014; M. Giomi et al., "A unified
framework for quantifying privacy risk in synthetic data", 2023, section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from hushtable import rng
from hushtable.arrays import BoolArray, IntArray
from hushtable.attacks.base import Attack, AttackResult
from hushtable.attacks.linkage import sample
from hushtable.attacks.matching import match_chunks
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.errors import UsageError, did_you_mean
from hushtable.params import AtLeast

_AT_ONCE = 1 << 12
"""Number of classes whose covers are multiplied at once: a few reused megabytes instead of new gigabytes."""


def _covered(left: BoolArray, right: BoolArray, sizes: IntArray) -> tuple[Any, Any]:
    """Return the number of people in classes that cover a record of each table, and one of the second."""
    together, second = np.zeros((len(left), len(right))), np.zeros(len(right))
    for begin in range(0, len(sizes), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        size, fit = sizes[part].astype(np.float32), right[:, part].astype(np.float32)
        # whole numbers below 2**24 are exact
        together += (left[:, part] * size) @ fit.T
        second += fit @ size
    return together.astype(np.float32), second.astype(np.float32)


@dataclass(frozen=True)
class Linkability(Attack):
    """Joins two tables without a common column through the release.

    Parameters
    ----------
    first : list of str
        The quasi-identifiers of the first table. Defaults to the first half.
    targets : int
        Maximum number of people in both tables, drawn at random.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 52, 53], "zip": [1, 1, 9, 9], "pay": [1, 2, 3, 4]})
    >>> policy = ht.Policy(quasi=["age", "zip"], sensitive=["pay"], models=[ht.KAnonymity(k=2)])
    >>> result = ht.anonymize(table, policy).attack("linkability")
    >>> result.targets, result.baseline, result.counts["expected links"]
    (4, 0.25, 1.0)
    """

    first: Annotated[tuple[str, ...], "quasi-identifiers of the first table; defaults to the first half"] = field(
        default=()
    )
    targets: Annotated[int, AtLeast(2), "maximum number of people in both tables, drawn at random"] = 1000

    name: ClassVar[str] = "linkability"
    learns: ClassVar[str] = "person"
    knowledge: ClassVar[str] = (
        "The adversary has two tables about the same people in the release, each with some of the quasi-identifiers "
        "and none in common."
    )
    remedy: ClassVar[str] = (
        "Small classes reveal which values go together. Raise k, or generalize the columns of one of the tables "
        "further (a fixed level, or a larger weight for the other columns), so that many records match many others."
    )

    def run(self, view: View) -> AttackResult:
        """Score all pairs of records, and take the best."""
        view = view.identity
        names = [c.name for c in view.table.quasi]
        left, right = self._halves(names)
        rows = sample(view, self.targets, "linkability/targets")
        people = People.of_rows(view, rows)
        first, other = (
            np.concatenate([inside for _, inside in match_chunks(view, people, half)]) for half in (left, right)
        )
        # people in classes that cover both, relative to what covers the second record at all
        together, second = _covered(first, other, view.sizes)
        score = together / np.maximum(second, 1.0)
        best = score >= score.max(axis=1, keepdims=True) * (1 - 1e-5)
        chance = np.diag(best) / best.sum(axis=1)
        hit = rng.uniform(view.seed, "attacks/linkability/pick", len(rows)) < chance
        counts = {
            **view.base_counts(),
            "expected links": float(chance.sum()),
            "certain links": int(np.count_nonzero(chance == 1.0)),
        }
        return self.result(len(rows), int(hit.sum()), 1.0 / len(rows), counts)

    def _halves(self, names: list[str]) -> tuple[list[int], list[int]]:
        if len(names) < 2:
            raise UsageError(
                "The linkability attack needs two quasi-identifiers or more, and the release has one.",
                code="too-few-columns",
                hint="A single quasi-identifier cannot be split into two tables.",
            )
        for name in self.first:
            if name not in names:
                raise UsageError(
                    f"The linkability attack needs quasi-identifiers, and {name!r} is not one.",
                    code="absent-columns",
                    hint=did_you_mean(name, names),
                )
        chosen = set(self.first or names[: len(names) // 2])
        if len(chosen) == len(names):
            raise UsageError(
                "The linkability attack needs a quasi-identifier for the second table.",
                code="too-few-columns",
                hint="Leave at least one out of `first`.",
            )
        return [j for j, n in enumerate(names) if n in chosen], [j for j, n in enumerate(names) if n not in chosen]
