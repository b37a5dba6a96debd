"""Greedy k-member clustering, under any model: the p-sensitive k-member clustering that Sun et al. call Clustering.

Beginning with a seed, a cluster takes the record whose joining makes its cells least imprecise, again and again, until
it satisfies the model; records whose sensitive value brings it nearer to that come before all others. The next seed is
the free record that is farthest from the last. Records that are left when no further cluster can be completed join the
nearest one that stays satisfied.

Readings. As in the papers the first record is a random one, drawn by secret lots; without a model that looks at
sensitive values it is the first in canonical order. The loss of joining is the NCP of the cells (see ``costs``); of
equally near records secret lots decide. Rows of a population take part like records without weight.

To an adversary who knows the algorithm, a record that was passed over did not help: see ``p_first``, of which the same
holds.

The exact algorithm compares every cluster with every free record, which takes n squared steps. By default it is run
inside blocks of similar records, cut like Mondrian's along the widest column, side by side; ``exact: true`` makes one
block of all. Models that judge the whole table, and models under which what is left fits nowhere, have clusters merged
with their nearest.

When to use
-----------
For small tables with nominal columns, where each group should lose as little as possible.

When not
--------
For large tables with ``exact: true``, which is quadratic.

Cost
----
Quadratic inside blocks of similar records; linear in the number of blocks.

References
----------
T. M. Truta, A. Campan, P. Meyer, "Generating microdata with p-sensitive k-anonymity property", SDM 2007; J.-W. Byun
et al., "Efficient k-anonymization using clustering techniques", DASFAA 2007; Sun et al. 2011, section 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem, Reads, Recoding
from hushtable.algorithms.cluster.blocks import cut_blocks
from hushtable.algorithms.cluster.costs import CellCosts
from hushtable.algorithms.cluster.grow import Growth
from hushtable.algorithms.cluster.leftovers import join_rows, merge_until_satisfied
from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.shave import shave
from hushtable.algorithms.refinable import Refinable
from hushtable.algorithms.trim import trim
from hushtable.kernels.grouping import group_rows
from hushtable.params import AtLeast
from hushtable.schema.columns import Cover

__all__ = ["KMember"]


@dataclass(frozen=True)
class KMember(Refinable):
    """Greedy clustering: the nearest record that helps, until the cluster is satisfied.

    Parameters
    ----------
    exact : bool
        Whether every free record is a candidate, or only those of the same block.
    block : int
        How many records a block has at most; at least ten times the smallest cluster, whatever is given.

    Examples
    --------
    >>> KMember(exact=True).values()
    {'exact': True}
    """

    exact: Annotated[bool, "whether every free record is a candidate, which takes n squared steps"] = False
    block: Annotated[int, AtLeast(2), "how many records a block has at most"] = 1024

    name: ClassVar[str] = "k-member"
    recoding: ClassVar[Recoding] = Recoding.LOCAL
    reads_sensitive: ClassVar[Reads] = Reads.CHOOSES
    disclosure: ClassVar[str] = (
        "A cheaper record that a cluster passed over has a value that did not help it. Coins choose the first record "
        "and decide among equally cheap ones."
    )

    def run(self, problem: Problem) -> Partition:
        """Cluster; see the module's docstring."""
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        table, model = problem.table, problem.model
        order = problem.secret_order
        rows = order[kept[order]]
        size = len(rows) if self.exact else max(self.block, 10 * model.min_group_size())
        block = cut_blocks(table, rows, max(size, 1))
        in_order, offsets = group_rows(block, int(block.max(initial=-1)) + 1)
        rows, block = rows[in_order], block[in_order]
        kinds, costs = Kinds.of(problem), CellCosts.of(table, rows)
        kind = kinds.of_row[rows]
        groupwise = model.part(table_level=False)
        labels, n = Growth(problem, groupwise, kinds, costs, kind, offsets).run()
        everything = np.full(table.n_rows, -1, dtype=np.int64)
        everything[rows] = labels
        stats = table.stats_of(everything, n, model.histogram_keys())
        labels, n = join_rows(problem, groupwise, kinds, costs, kind, block, labels, n, stats)
        merged = merge_until_satisfied(problem, costs, labels, n, rows)
        if merged is None:
            raise self.not_found(problem)
        everything[rows], n = merged
        partition = Partition(everything, n)
        # shaving measures ranges, which says little about nodes
        ranges = all(c.cover is not Cover.NODE for c in table.quasi)
        if problem.budget and ranges and not model.part(table_level=True).members:
            partition = shave(problem, partition)
        return self.refined(problem, partition)
