"""From an algorithm's groups to classes, under guards: groups with equal published cells become one, judged again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.arrays import AnyArray, BoolArray, IntArray, scattered
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import Monotone
from hushtable.release.forms.base import Cells
from hushtable.release.recode import Recoded, recode
from hushtable.table.encoded import EncodedTable

if TYPE_CHECKING:
    from hushtable.release.guard import Guard

_PROVED = ("lower_bound", "gap")
"""Notes that say how far an algorithm's own groups are from the best ones."""


def group_and_recode(
    problem: Problem, algorithm: Algorithm, guards: Sequence[Guard] = ()
) -> tuple[Partition, Recoded | None]:
    """Return the algorithm's groups and their cells, after the guards.

    Without guards, this is the algorithm and ``settle``. The second is None if no grouping could be settled.
    """
    given = problem = problem.as_read_by(algorithm)
    for guard in guards:
        given = guard.given(given)
    partition = algorithm.run(given)
    if guards:
        # the algorithm's proofs are about its own groups
        notes = {k: v for k, v in partition.notes.items() if not k.endswith("_proven") and k not in _PROVED}
        said = {guard.name: guard.values() for guard in guards}
        partition = replace(partition, notes={**notes, "guards": said})
    coins = [problem.coins.purse(f"guard/{guard.name}") for guard in guards]
    for guard, toss in zip(guards, coins, strict=True):
        found = guard.grouped(problem, partition, algorithm.recoding, toss)
        if found is None:
            return partition, None
        partition = found
    problem.progress(1.0, "recoding")
    recoded = settle(problem.grouped, partition, algorithm.recoding)
    for guard, toss in zip(guards, coins, strict=True):
        if recoded is not None and (widened := guard.recoded(problem, recoded, toss)) is not recoded:
            recoded = replace(widened, derived=False)
    return partition, recoded


def settle(problem: Problem, partition: Partition, recoding: Recoding = Recoding.LOCAL) -> Recoded | None:
    """Return the recoded partition, with classes merged until they neither overlap nor violate the model.

    Models that survive merging need nothing: their equal groups were satisfied one by one. For the others, and for
    those that count the people of a population whom a class covers, overlapping classes become one, and a class that
    fails joins the class whose cells grow least, until every class is satisfied. People of a population whom the
    widened cells cover count too, including those whose own class is suppressed; classes of only such people are
    neither published nor judged. None if that ends in a single class that still fails. Centroids are points: only equal
    ones overlap, and those are already one class.
    """
    if recoding is Recoding.BUCKET:
        return _settle_buckets(problem, partition)
    if recoding is Recoding.CONCEALED:
        # there are no classes to merge: the verifier judges who may have which record
        return recode(problem.table, partition, recoding)
    if recoding is Recoding.NUMBERED:
        from hushtable.release.numbered import recode_numbered

        # the number separates groups, and models that overlaps would break were refused
        return recode_numbered(problem.table, partition)
    while True:
        recoded = recode(problem.table, partition, recoding)
        if problem.model.may_overlap and not problem.model.minds_cover:
            return recoded
        n = recoded.n_groups
        if recoding is not Recoding.CENTROID:
            merged, n = merge_overlapping(recoded.cells)
        if n == recoded.n_groups:
            if recoding not in (Recoding.CENTROID, Recoding.PATTERN):
                recoded = _with_covered(problem.table, recoded)
            good, whole = _judged(problem, recoded.labels, n)
            if good.all() and whole:
                return recoded
            if n == 1:
                return None
            merged, n = _join_worst(recoded, good)
        labels = np.where(recoded.labels >= 0, merged[recoded.labels], -1)
        partition = replace(partition, labels=labels, n_groups=n)


def _judged(problem: Problem, labels: IntArray, n: int) -> tuple[BoolArray, bool]:
    """Which classes the models accept, and whether they accept the table; classes without records are not published."""
    stats = problem.table.stats_of(labels, n, problem.model.histogram_keys())
    held = stats.units > 0
    shown = stats.take(held)
    good = ~held
    good[held] = problem.model.satisfied(shown, problem.reference)
    return good, bool(problem.model.table_satisfied(shown, problem.reference)[0])


def _with_covered(table: EncodedTable, recoded: Recoded) -> Recoded:
    """Assign people of other tables who are in no class to the one that covers them."""
    outside = table.n_sample + np.flatnonzero(recoded.labels[table.n_sample :] < 0)
    if not len(outside):
        return recoded
    labels = recoded.labels.copy()
    labels[outside] = class_of(recoded.cells, [c.column.codes[outside] for c in recoded.cells])
    return replace(recoded, labels=labels)


def _settle_buckets(problem: Problem, partition: Partition) -> Recoded | None:
    """Settle exact quasi-identifiers: equal ones in two groups correspond to overlapping cells."""
    recoded = recode(problem.table, partition, Recoding.BUCKET)
    if Monotone.MERGE in problem.model.flags or recoded.buckets is None:
        return recoded
    for merged in (_with_equals(recoded.buckets, recoded.labels), np.where(recoded.buckets >= 0, 0, -1)):
        groups = int(merged.max(initial=-1)) + 1
        good, whole = _judged(problem, merged, groups)
        if good.all() and whole:
            return replace(recoded, buckets=merged.astype(np.int64))
    return None


def _with_equals(buckets: IntArray, equal: IntArray) -> IntArray:
    """Merge the groups that share a combination of quasi-identifiers, until none do."""
    kept = np.flatnonzero(buckets >= 0)
    owner, combination = buckets[kept], equal[kept]
    while True:
        least = np.full(int(combination.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, combination, owner)
        lowest = np.full(int(owner.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(lowest, owner, least[combination])
        if np.array_equal(lowest[owner], owner):
            break
        owner = lowest[owner]
    return scattered(np.unique(owner, return_inverse=True)[1], kept, len(buckets))


def _join_worst(recoded: Recoded, good: BoolArray) -> tuple[IntArray, int]:
    """Merge the first violating class (or else the first) with the class that widens its cells least."""
    worst = int(np.argmin(good))
    growth = np.zeros(recoded.n_groups, dtype=np.int64)
    for cells in recoded.cells:
        position = cells.column.positions
        low, high = np.minimum(cells.low, cells.low[worst]), np.maximum(cells.high, cells.high[worst])
        growth += position[high] - position[low]
    growth[worst] = np.iinfo(np.int64).max
    partner = int(np.argmin(growth))
    labels = np.arange(recoded.n_groups, dtype=np.int64)
    labels[max(worst, partner)] = min(worst, partner)
    _, labels = np.unique(labels, return_inverse=True)
    return labels.astype(np.int64), recoded.n_groups - 1


# Overlapping cells, such as 142** and 14***, and which class covers a person.
#
# If the cells of two classes share a point, an adversary's candidates are the union of both. Models that survive
# merging still hold; for the others, overlapping classes must become one.


def merge_overlapping(cells: Sequence[Cells]) -> tuple[IntArray, int]:
    """Number the groups so that groups with overlapping cells get the same number.

    Returns
    -------
    labels, n
        A number for every group, and how many numbers there are.
    """
    from hushtable.kernels.pairs import overlapping_boxes

    bounds = [c.extent for c in cells]
    low = np.column_stack([b[0] for b in bounds])
    high = np.column_stack([b[1] for b in bounds])
    pairs = overlapping_boxes(low, high)
    parent = list(range(len(cells[0])))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in pairs.tolist():
        if all(c.shares_leaf(a, b) for c in cells):
            ra, rb = root(a), root(b)
            parent[max(ra, rb)] = min(ra, rb)
    roots = np.array([root(i) for i in range(len(parent))], dtype=np.int64)
    _, labels = np.unique(roots, return_inverse=True)
    return labels.astype(np.int64), int(labels.max(initial=-1)) + 1


def class_of(cells: Sequence[Cells], codes: Sequence[AnyArray]) -> IntArray:
    """Return the class that covers each person, given the codes of people column by column; -1 for none.

    No two classes may overlap.
    """
    from hushtable.kernels.pairs import overlapping_boxes

    person, first = number_rows(list(codes), [c.column.coded.size for c in cells])
    people = [np.asarray(column[first], dtype=np.int64) for column in codes]
    bounds = [c.extent for c in cells]
    low = np.column_stack([np.concatenate([b[0], own]) for b, own in zip(bounds, people, strict=True)])
    high = np.column_stack([np.concatenate([b[1], own]) for b, own in zip(bounds, people, strict=True)])
    n = len(cells[0])
    pairs = overlapping_boxes(low, high)
    # distinct people are distinct points, so that every pair is a class and a person
    groups, who = pairs[:, 0], pairs[:, 1] - n
    real = (groups < n) & (who >= 0)
    groups, who = groups[real], who[real]
    for column, own in zip(cells, people, strict=True):
        inside = column.covers(groups, own[who])
        groups, who = groups[inside], who[inside]
    out = scattered(groups, who, len(first))
    return out[person]
