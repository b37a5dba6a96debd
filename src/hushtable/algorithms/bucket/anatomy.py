"""Anatomy: exact quasi-identifiers in one table, sensitive values in another, linked by groups alone.

Who has which quasi-identifiers is not hidden, so models against identity disclosure are refused. What a person's
sensitive value is remains hidden among those of the group, so groups are made by sensitive values alone: the records,
sorted by value, are dealt out to as many groups as the models allow. Where no value has more than 1/l of n records,
n/l groups are l distinct values each, as in Xiao and Tao's algorithm, which draws one record at a time from the l most
frequent values; but dealing also gives every group its share of every value, which t-closeness and the like ask for.
The number of groups is the first that fits of n/s, for sizes s that grow by a quarter, from the least that the models
allow up to the whole table.

Which records of a value go to which group is decided by secret lots (``Problem.secret_order``). The code is public:
dealt in an order that everybody knows, records can be found in their groups again. With secret lots every way to give a
group's values to its people is equally likely, so the promise of the models is exact.

Several sensitive columns are dealt jointly, as far as models look at them, and published jointly: a row of the second
table is one person's values.

When to use
-----------
When quasi-identifiers must stay exact and only the sensitive values need hiding.

When not
--------
When people must not be recognized: everybody's presence is published. Models against identity disclosure are
refused.

Cost
----
A sort of the records by sensitive value, repeated while the number of groups is sought.

References
----------
X. Xiao, Y. Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Reads, Recoding
from hushtable.algorithms.bucket.deal import deal_until
from hushtable.algorithms.trim import trim
from hushtable.arrays import IntArray
from hushtable.errors import IncompatibleError
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import Monotone, Stat
from hushtable.models.compose import AllOf

__all__ = ["Anatomy"]


@dataclass(frozen=True)
class Anatomy(Algorithm):
    """Exact quasi-identifiers; sensitive values apart, known by group only.

    Examples
    --------
    >>> Anatomy().values()
    {}
    """

    name: ClassVar[str] = "anatomy"
    recoding: ClassVar[Recoding] = Recoding.BUCKET
    reads_sensitive: ClassVar[Reads] = Reads.COINS

    def check(self, model: AllOf, suppression: float) -> None:
        """Refuse models that count an adversary's beliefs or a population: exact cells cover nobody else."""
        for member in model.members:
            if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
                raise IncompatibleError(
                    f"{member.name} counts people outside the table whom a class covers; {self.name} covers none.",
                    hint="Choose an algorithm that generalizes, such as mondrian.",
                )

    def run(self, problem: Problem) -> Partition:
        """Deal; see the module's docstring."""
        table = problem.table
        kept = trim(problem)
        if kept is None:
            if Monotone.MERGE in problem.model.flags:
                raise self.not_found(problem)
            # that the whole table fails as one group says nothing about smaller ones
            kept = np.ones(table.n_rows, dtype=np.bool_)
        order = problem.secret_order
        rows = order[kept[order] & (order < table.n_sample)]
        found = deal_until(problem, rows, _values(problem, rows))
        if found is None:
            raise self.not_found(problem)
        return found


def _values(problem: Problem, rows: IntArray) -> IntArray:
    """One code for all the sensitive columns that models look at."""
    table = problem.table
    named = {name for key in problem.model.histogram_keys() for name in key}
    columns = [c for c in table.sensitive if c.name in named]
    return number_rows([c.codes[rows] for c in columns], [c.coded.size for c in columns])[0]
