"""Downcoding: reversing a generalization that is known to be minimal.

A local recoding publishes the smallest cell that covers a class, which reveals more than the cell says: both ends of
a range occur, every member of a set does, and a node has records under at least two of its children. The adversary
writes down as many exact records for each class as it has: in every column, the values that must occur come first and
the rest is drawn from the values that the cell covers; the columns are combined at random, since nothing reveals how.
Successes are records of the original that were written down (counted as multisets, class by class). A class of two
whose records differ in one column is recovered with certainty.

Cells of a global recoding (one level per column, independent of the class), patterns and the root reveal nothing more.

The adversary knows the policy. If it has the downcoding guard, ends of ranges are sought as far inside as the guard
moves them outward on average.

Baseline: the same without minimality: every value is drawn from the values that the cell covers.

References
----------
A. Cohen, "Attacks on deidentification's defenses", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable import rng
from hushtable.arrays import IntArray, run_starts
from hushtable.attacks.base import Attack, AttackResult
from hushtable.attacks.view import View
from hushtable.errors import UsageError
from hushtable.kernels.grouping import number_rows
from hushtable.release.forms.base import Cells
from hushtable.release.guards.downcoding import DowncodingGuard


@dataclass(frozen=True)
class Downcoding(Attack):
    """Writes down the exact records behind minimal cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [20, 29, 40, 44], "pay": [1, 2, 3, 4]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)], cells="intervals")
    >>> ht.anonymize(table, policy).attack("downcoding").rate
    1.0
    """

    name: ClassVar[str] = "downcoding"
    learns: ClassVar[str] = "cell"
    knowledge: ClassVar[str] = (
        "The adversary has the release and the hierarchies, and knows that every cell is the smallest that covers its "
        "class."
    )
    remedy: ClassVar[str] = (
        "Publish cells that do not fit the records tightly: write 'guard: [downcoding]' in the policy, which widens "
        "them at random; or recode globally (optimal, incognito, datafly), publish hierarchy nodes instead of ranges "
        "and sets (cells: nodes), or require larger classes than necessary."
    )

    def run(self, view: View) -> AttackResult:
        """Write down records, and count those that exist."""
        view = view.identity
        if not all(c.tells_bounds for c in view.cells):
            raise UsageError(
                "The downcoding attack needs generalized cells, and this release publishes representatives.",
                code="no-cells",
                hint="It attacks nodes, ranges and sets; linkage with method='distance' attacks representatives.",
            )
        general = np.zeros(view.n_groups, dtype=np.bool_)
        for cells in view.cells:
            general |= cells.leaves > 1
        order = view.released[np.argsort(view.labels[view.released], kind="stable")]
        order = order[general[view.labels[order]]]
        group = view.labels[order]
        truth = [c.codes[order].astype(np.int64) for c in view.table.quasi]
        minimal, chance = self._written(view, group)
        right, plain = (_count_in_both(group, truth, written, view) for written in (minimal, chance))
        counts = {
            **view.base_counts(),
            "records in generalised classes": len(order),
            "generalised classes": int(np.count_nonzero(general & (view.sizes > 0))),
            "columns with minimal cells": sum(cells.minimal for cells in view.cells),
        }
        return self.result(len(order), right, plain / len(order) if len(order) else 0.0, counts)

    def _written(self, view: View, group: IntArray) -> tuple[list[IntArray], list[IntArray]]:
        """Return the records written down with and without knowledge of minimality, column by column."""
        minimal, chance = [], []
        guard = view.guard(DowncodingGuard.name)
        spread = guard.spread if isinstance(guard, DowncodingGuard) else 0.0
        for j, cells in enumerate(view.cells):
            stream = f"attacks/downcoding/{j}"
            order = np.lexsort((rng.bits(view.seed, f"{stream}/order", len(group)), group))
            minimal.append(_guess(cells, group, view.seed, stream, minimal=cells.minimal, spread=spread)[order])
            chance.append(
                _guess(cells, group, view.seed, stream, minimal=False)[order] if cells.minimal else minimal[-1]
            )
        return minimal, chance


def _count_in_both(group: IntArray, truth: list[IntArray], written: list[IntArray], view: View) -> int:
    """Count the records that are in both, class by class."""
    if not len(group):
        return 0
    sizes = [view.n_groups, *(c.coded.size for c in view.table.quasi)]
    both = [np.concatenate([a, b]) for a, b in zip([group, *truth], [group, *written], strict=True)]
    numbers, first = number_rows(both, sizes)
    counts = [np.bincount(part, minlength=len(first)) for part in (numbers[: len(group)], numbers[len(group) :])]
    return int(np.minimum(*counts).sum())


def _guess(cells: Cells, group: IntArray, seed: int, stream: str, *, minimal: bool, spread: float = 0.0) -> IntArray:
    """Return a leaf for every record (sorted by class)."""
    draw = rng.uniform(seed, stream, len(group))
    new = run_starts(group)
    place = np.arange(len(group)) - np.flatnonzero(new)[np.cumsum(new) - 1] if len(group) else group
    return cells.written_down(group, place, draw, spread) if minimal else cells.draw_leaves(group, draw)
