"""Mondrian: greedy multidimensional partitioning, level by level, under any model.

Start with all records in one group. Cut every group of the level at the median of its widest quasi-identifier, and
keep the cut if both halves satisfy the model. Otherwise, try the next-widest. A group without a valid cut is
finished.

Details: the median is the cut that divides the group's people most evenly, the lower one of two equally even cuts.
The textbook's "at most the median" can leave one side empty if many records are equal. Widths are compared as
integers on the column's scale times its weight; ties go to the column that the policy names first. A missing value is
a category of its own: if a group contains both missing and other values, separating them counts as the widest cut of
that column and precedes all cuts of that width. Strict partitioning keeps equal records together; relaxed
partitioning may divide them.

Table-level models start from one satisfied group. The cuts of a level are then committed in order of width, as long
as the table stays satisfied.

When to use
-----------
The default: fast, little loss, any model, any number of rows.

When not
--------
When all cells of a column must be at one level of its hierarchy (published tables with fixed codes): use optimal.

Cost
----
n log n: a million rows by eight columns in well under a second on one core.

References
----------
K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006; Allard 2023, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from hushtable.algorithms.base import Partition, Problem, Recoding
from hushtable.algorithms.partition.frontier import Frontier, divide
from hushtable.algorithms.refining.refinable import Refinable
from hushtable.algorithms.trim import trim
from hushtable.arrays import BoolArray

if TYPE_CHECKING:
    from hushtable.algorithms.store import FarStore

__all__ = ["Mondrian"]


@dataclass(frozen=True)
class Mondrian(Refinable):
    """Greedy multidimensional partitioning.

    Parameters
    ----------
    mode : {"strict", "relaxed"}
        Whether records with equal values in the cut column stay together.
    nominal : {"cuts", "children"}
        For nominal columns with a hierarchy: binary cuts in leaf order, or one group for each child of the lowest
        node that covers the group.

    Examples
    --------
    >>> Mondrian(mode="relaxed").values()
    {'mode': 'relaxed'}
    """

    mode: Annotated[Literal["strict", "relaxed"], "whether equal records stay together"] = "strict"
    nominal: Annotated[Literal["cuts", "children"], "how nominal columns are divided"] = "cuts"

    name: ClassVar[str] = "mondrian"
    recoding: ClassVar[Recoding] = Recoding.LOCAL

    def run(self, problem: Problem) -> Partition:
        """Partition from the top; see the module's docstring."""
        if self.mode == "strict" and not self.refine:
            far = problem.store.far
            if far is not None and not problem.store.fits and self.nominal == "cuts" and not problem.budget:
                return self._from_counts(problem, far)
            why = "suppression weighs all groups against one another" if problem.budget else "children are not counted"
            problem = problem.together(why)
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        frontier = Frontier(problem, kept, relaxed=self.mode == "relaxed", children=self.nominal == "children")
        del kept
        return self.refined(problem, divide(frontier, problem))

    def _from_counts(self, problem: Problem, far: FarStore) -> Partition:
        """Partition remote combinations: large groups from counts, small ones where they are stored."""
        from hushtable.algorithms.partition.histograms import divide_by_counts

        if not bool(problem.model.table_satisfied(problem.reference.whole(), problem.reference)[0]):
            raise self.not_found(problem)
        return divide_by_counts(problem, far, self._group)

    def _group(self, problem: Problem, closed: BoolArray) -> Partition:
        """Partition one group of a larger table; no column is closed."""
        return self.run(problem)
