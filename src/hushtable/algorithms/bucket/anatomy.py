"""Anatomy: exact quasi-identifiers in one table and sensitive values in another, linked only by group.

Anatomy does not hide people's quasi-identifiers, so models against identity disclosure are refused. A person's
sensitive value remains hidden among those of the group, so groups are based on sensitive values alone: the records,
sorted by value, are dealt to as many groups as the models allow. If no value makes up more than 1/l of n records,
this gives n/l groups with l distinct values each, as in Xiao and Tao's algorithm, which draws one record at a time
from the l most frequent values. Unlike that, dealing also gives every group its share of every value, as t-closeness
and similar models require. The algorithm tries n/s groups, for sizes s that grow by a quarter, from the smallest that
the models allow up to the whole table, and takes the first number that fits.

Secret lots (``Problem.secret_order``) decide which records with a value go to which group. The code is public: if
records were dealt in a known order, an adversary could trace them to their groups. With secret lots, every assignment
of a group's values to its people is equally likely, so the models' guarantees are exact.

Sensitive columns that models use are dealt jointly and published jointly: a row of the second table contains one
person's values.

When to use
-----------
When quasi-identifiers must stay exact and only the sensitive values need hiding.

When not
--------
When people must not be recognized: the release shows everyone's presence. Models against identity disclosure are
refused.

Cost
----
One sort of the records by sensitive value for each number of groups tried.

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


@dataclass(frozen=True)
class Anatomy(Algorithm):
    """Exact quasi-identifiers; sensitive values in a separate table, linked only by group.

    Examples
    --------
    >>> Anatomy().values()
    {}
    """

    name: ClassVar[str] = "anatomy"
    recoding: ClassVar[Recoding] = Recoding.BUCKET
    reads_sensitive: ClassVar[Reads] = Reads.COINS

    def check(self, model: AllOf, suppression: float) -> None:
        """Refuse models based on an adversary's beliefs or a population: exact cells cover nobody else."""
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
            # smaller groups may be satisfied even if the whole table as one group fails
            kept = np.ones(table.n_rows, dtype=np.bool_)
        order = problem.secret_order
        rows = order[kept[order] & (order < table.n_sample)]
        found = deal_until(problem, rows, _values(problem, rows))
        if found is None:
            raise self.not_found(problem)
        return found


def _values(problem: Problem, rows: IntArray) -> IntArray:
    """One joint code for all sensitive columns that models use."""
    table = problem.table
    named = {name for key in problem.model.histogram_keys() for name in key}
    columns = [c for c in table.sensitive if c.name in named]
    return number_rows([c.codes[rows] for c in columns], [c.coded.size for c in columns])[0]
