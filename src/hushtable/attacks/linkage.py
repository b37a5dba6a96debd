"""Record linkage: finding a person's record.

The adversary has a table of people with names and the release's quasi-identifiers, and picks one published record for
each of them:

``exact``
    among the records of all classes whose cells cover the person;
``distance``
    among the records of the nearest class: the sum over columns of the distance to the middle of the cell (numbers and
    dates on a scale from 0 to 1, ranks for ordinal labels) or the share of the cell's values that are not the
    person's (nominal labels). This is the adversary for centroids, which cover nobody exactly.

Ties are broken at random (seeded). Without an ``external`` table, the adversary knows everybody's
quasi-identifiers exactly: the worst case.

Baseline: a record picked at random. Control: how often a person who is not in the release is linked to a record as the
only match, which is wrong by construction.

Overlooked quasi-identifiers: for every other published column, and for all of them together, the number of records
that would be unique if the adversary also knew that column.

References
----------
L. Sweeney, "k-anonymity: a model for protecting privacy", 2002; J. Domingo-Ferrer, V. Torra, "A quantitative comparison
of disclosure control methods for microdata", 2001 (distance-based linkage).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hushtable import rng
from hushtable.arrays import AnyArray, FloatArray, IntArray, scattered
from hushtable.attacks.base import Attack, AttackResult
from hushtable.attacks.matching import candidates
from hushtable.attacks.people import People, outsiders
from hushtable.attacks.view import View
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import TOLERANCE
from hushtable.params import AtLeast
from hushtable.release.forms.base import Cells
from hushtable.release.recode import class_numbers
from hushtable.table.coded_columns import scaled_numbers


def sample(view: View, n: int, stream: str) -> IntArray:
    """Draw at most n released records without replacement, independent of the input's order."""
    rows = view.table.canonical_order
    rows = rows[rows < view.table.n_sample]
    rows = rows[view.labels[rows] >= 0]
    if len(rows) <= n:
        return rows
    return rows[lowest(rng.bits(view.seed, f"attacks/{stream}", len(rows)), n)]


def lowest(numbers: AnyArray, n: int) -> IntArray:
    """Return the positions of the n lowest numbers, ascending; ties go to the first.

    Examples
    --------
    >>> lowest(np.array([5, 1, 3, 1, 1]), 2).tolist()
    [1, 3]
    """
    if len(numbers) <= n:
        return np.arange(len(numbers))
    bound = np.partition(numbers, n - 1)[n - 1]
    below = np.flatnonzero(numbers < bound)
    return np.sort(np.concatenate([below, np.flatnonzero(numbers == bound)[: n - len(below)]]))


@dataclass(frozen=True)
class Linkage(Attack):
    """Links people of an external table to published records.

    Parameters
    ----------
    method : {"exact", "distance"}
    external : table, optional
        People with all quasi-identifiers. They are scored if they are in the original, where a person is found by exact
        quasi-identifiers. Defaults to all released records.
    control : table, optional
        People who are not in the release.
    targets : int
        Maximum number of people to attack, drawn at random.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 52, 53], "pet": ["cat", "dog", "cat", "cat"]})
    >>> policy = ht.Policy(quasi=["age"], insensitive=["pet"], models=[ht.KAnonymity(k=2)])
    >>> result = ht.anonymize(table, policy).attack("linkage")
    >>> result.counts["expected links"], result.counts["unique with 'pet'"]
    (2.0, 2)
    """

    method: Annotated[Literal["exact", "distance"], "cells that cover the person, or the nearest cells"] = "exact"
    external: Annotated[Any, "people with all quasi-identifiers; defaults to the original's"] = None
    control: Annotated[Any, "people who are not in the release"] = None
    targets: Annotated[int, AtLeast(1), "maximum number of people to attack, drawn at random"] = 5000

    name: ClassVar[str] = "linkage"
    learns: ClassVar[str] = "person"
    knowledge: ClassVar[str] = (
        "The adversary has a table of people with their exact quasi-identifiers, and knows that they are in the "
        "release."
    )
    remedy: ClassVar[str] = (
        "Raise k of k-anonymity, or add average-risk: the chance of a correct link is then at most 1/k. If a column "
        "that is not a quasi-identifier makes many records unique, an adversary who knows it can link them: give it "
        "the role quasi, or drop it."
    )

    def run(self, view: View) -> AttackResult:
        """Pick a record for every person, and score the picks."""
        bucketed, view = view.exact is not None, view.identity
        people, own = self._people(view)
        offsets, classes = self._classes(view, people)
        weight = view.sizes[classes]
        owner = np.repeat(np.arange(len(people)), np.diff(offsets))
        total = np.bincount(owner, weights=weight, minlength=len(people))
        mine = np.zeros(len(people))
        mine[owner[classes == own[owner]]] = 1.0
        chance = np.divide(mine, total, out=np.zeros(len(people)), where=total > 0)
        hit = rng.uniform(view.seed, "attacks/linkage/pick", len(people)) < chance
        counts = {
            **view.base_counts(),
            "expected links": float(chance.sum()),
            "certain links": int(np.count_nonzero((total == 1) & (mine > 0))),
            "people without a match": int(np.count_nonzero(total == 0)),
            # with exact quasi-identifiers, nothing can be overlooked
            **({} if bucketed else _overlooked(view)),
        }
        outside = outsiders(view, self.control)
        control = None
        if outside is not None:
            # more would not make the rate more certain than the targets are
            outside = outside.take(np.arange(min(len(outside), self.targets)))
            control = float(np.mean(_records(view, *self._classes(view, outside)) == 1))
        return self.result(len(people), int(hit.sum()), 1.0 / len(view.released), counts, control)

    def _people(self, view: View) -> tuple[People, IntArray]:
        """Return the people and the class of each."""
        if self.external is None:
            rows = sample(view, self.targets, "linkage/targets")
            return People.of_rows(view, rows), view.labels[rows]
        people = People.of_table(view, self.external)
        people = people.take(np.arange(min(len(people), self.targets)))
        mine = [c.codes[view.released].astype(np.int64) for c in view.table.quasi]
        both = [np.concatenate([a, b]) + 1 for a, b in zip(mine, people.codes, strict=True)]
        numbers, _ = number_rows(both, [int(b.max()) + 1 for b in both])
        of_tuple = scattered(view.labels[view.released], numbers[: len(view.released)], int(numbers.max()) + 1)
        return people, of_tuple[numbers[len(view.released) :]]

    def _classes(self, view: View, people: People) -> tuple[IntArray, IntArray]:
        return candidates(view, people) if self.method == "exact" else nearest_classes(view, people)


def _records(view: View, offsets: IntArray, classes: IntArray) -> FloatArray:
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    weight = view.sizes[classes].astype(np.float64)
    return np.asarray(np.bincount(owner, weights=weight, minlength=len(offsets) - 1), dtype=np.float64)


def _overlooked(view: View) -> dict[str, float]:
    """Return the number of records that are unique by their class and another published column, and all others."""
    quasi = {c.name for c in view.table.quasi}
    others = [name for name in view.published.column_names if name not in quasi]
    labels = view.labels[view.rows]
    codes: dict[str, tuple[AnyArray, int]] = {n: class_numbers([view.published.column(n)]) for n in others}

    def unique(names: list[str]) -> int:
        columns, sizes = [codes[n][0] for n in names], [codes[n][1] for n in names]
        numbers, first = number_rows([labels, *columns], [view.n_groups, *sizes])
        return int(np.count_nonzero(np.bincount(numbers, minlength=len(first)) == 1))

    found: dict[str, float] = {"unique as published": unique([])}
    found |= {f"unique with {name!r}": unique([name]) for name in others}
    if len(others) > 1:
        found["unique with all columns"] = unique(others)
    return found


# How far a person is from what a class publishes.


_AT_ONCE = 1 << 21


def nearest_classes(view: View, people: People) -> tuple[IntArray, IntArray]:
    """Return the classes at the smallest distance from each person, in compressed rows: offsets and classes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> view = View.of(ht.anonymize(table, policy))
    >>> [part.tolist() for part in nearest_classes(view, People.of_table(view, pa.table({"age": [31, 52]})))]
    [[0, 1, 2], [0, 1]]
    """
    filled = np.flatnonzero(view.sizes > 0)
    lengths, found = [np.zeros(1, dtype=np.int64)], []
    step = max(_AT_ONCE // max(len(filled), 1), 1)
    for start in range(0, len(people), step):
        part = slice(start, min(start + step, len(people)))
        total = np.zeros((part.stop - part.start, len(filled)))
        for j, cells in enumerate(view.cells):
            # a table of all people's codes would have as many rows as people where a column's values differ
            codes, inverse = np.unique(people.codes[j][part], return_inverse=True)
            total += distances(cells, codes)[:, filled][inverse]
        owner, group = np.nonzero(total <= total.min(axis=1, keepdims=True) + TOLERANCE)
        lengths.append(np.bincount(owner, minlength=len(total)).astype(np.int64))
        found.append(filled[group])
    return np.cumsum(np.concatenate(lengths)), np.concatenate(found)


def distances(cells: Cells, codes: IntArray) -> FloatArray:
    """Return the distance of each code from the cell of each class: codes x classes, from 0 to 1.

    A value that does not occur in the original is at distance 1 from every cell, so the other columns decide.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> distances(example().cells[1], np.array([0, 2])).tolist()
    [[0.5, 1.0], [1.0, 0.0]]
    """
    coded = cells.column.coded
    known = (codes >= 0) & (codes < coded.size)
    place = np.where(known, codes, 0)
    if coded.kind.ordered:
        numbers = scaled_numbers(coded)
        if numbers is None:
            first = int(coded.missing)
            numbers = (np.arange(coded.size) - first) / max(coded.size - first - 1, 1)
            numbers[:first] = np.nan
        middles = cells.middles(numbers)
        gap = np.abs(numbers[place][:, None] - middles[None, :])
        # two missing values agree, a missing and another do not
        both = np.isnan(numbers[place])[:, None] & np.isnan(middles)[None, :]
        out = np.where(both, 0.0, np.nan_to_num(gap, nan=1.0))
    else:
        out = 1.0 - cells.nearness(place)
    out[~known] = 1.0
    return np.asarray(out, dtype=np.float64)
