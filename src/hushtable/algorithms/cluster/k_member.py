"""Greedy k-member clustering, under any model: the p-sensitive k-member clustering that Sun et al. call Clustering.

Starting from a seed, a cluster repeatedly takes the record that makes its cells least imprecise, until it satisfies the
model. Records whose sensitive value helps to satisfy it come before all others. The next seed is the free record
farthest from the last. Records left over when no other cluster can be completed join the nearest cluster that stays
satisfied.

Details: as in the papers, the first record is random, drawn by secret lots; if no model uses sensitive values, it is
the first in canonical order. The loss of joining is the NCP of the cells (see ``costs``); secret lots break ties.
Rows of a population take part as records without weight.

An adversary who knows the algorithm can conclude that a skipped record did not help: see ``p_first``, which has the
same weakness.

The exact algorithm compares every cluster with every free record, which takes n squared steps. By default, it runs in
parallel within blocks of similar records, cut along the widest column as in Mondrian; ``exact: true`` puts all
records into one block. For table-level models, and if leftover records fit nowhere, clusters are merged with their
nearest.

When to use
-----------
For small tables with nominal columns, if each group should lose as little as possible.

When not
--------
For large tables with ``exact: true``, which is quadratic.

Cost
----
Quadratic within blocks of similar records; linear in the number of blocks.

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
from hushtable.algorithms.cluster.leftovers import Clusters, join_rows, merge_until_satisfied
from hushtable.algorithms.kinds import Kinds, add_groups, helpful
from hushtable.algorithms.refining.refinable import Refinable
from hushtable.algorithms.shave import shave
from hushtable.algorithms.trim import trim
from hushtable.arrays import BoolArray, IntArray, places_among, scattered
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.kernels.members import extreme_records
from hushtable.models.base import SensitiveModel
from hushtable.models.compose import AllOf
from hushtable.params import AtLeast
from hushtable.schema.columns import Cover
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class KMember(Refinable):
    """Greedy clustering: adds the nearest record that helps, until the cluster is satisfied.

    Parameters
    ----------
    exact : bool
        Whether every free record is a candidate, or only those of the same block.
    block : int
        Maximum number of records in a block; always at least ten times the smallest cluster.

    Examples
    --------
    >>> KMember(exact=True).values()
    {'exact': True}
    """

    exact: Annotated[bool, "whether every free record is a candidate; takes n squared steps"] = False
    block: Annotated[int, AtLeast(2), "maximum number of records in a block"] = 1024

    name: ClassVar[str] = "k-member"
    recoding: ClassVar[Recoding] = Recoding.LOCAL
    reads_sensitive: ClassVar[Reads] = Reads.CHOOSES
    disclosure: ClassVar[str] = (
        "A cheaper record that a cluster skipped has a value that did not help it. Coins choose the first record "
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
        everything = scattered(labels, rows, table.n_rows)
        stats = table.stats_of(everything, n, model.histogram_keys())
        labels, n = join_rows(problem, groupwise, kinds, kind, block, Clusters(costs, labels, n, stats))
        merged = merge_until_satisfied(problem, costs, labels, n, rows)
        if merged is None:
            raise self.not_found(problem)
        everything[rows], n = merged
        partition = Partition(everything, n)
        # shaving measures ranges, which are not meaningful for nodes
        ranges = all(c.cover is not Cover.NODE for c in table.quasi)
        if problem.budget and ranges and not model.part(table_level=True).members:
            partition = shave(problem, partition)
        return self.refined(problem, partition)


# Growing clusters record by record, one cluster per block at a time.
#
# All blocks take a step together, so that a model is evaluated once per step, not once per record.


class Growth:
    """Clusters that grow in blocks.

    The first seed of a block is its first record; each later one is the free record farthest from the previous seed.
    A cluster takes the free record that makes its cells cheapest, among those that help a failing member of the
    model, if any does.

    Parameters
    ----------
    problem : Problem
    model : AllOf
        The members that evaluate groups one by one.
    kinds : Kinds
    costs : CellCosts
        Of the rows in block order.
    kind : int64 array
        The kind of each of them.
    offsets : int64 array
        Block b owns rows ``offsets[b]:offsets[b + 1]``; no block is empty.
    """

    def __init__(
        self, problem: Problem, model: AllOf, kinds: Kinds, costs: CellCosts, kind: IntArray, offsets: IntArray
    ) -> None:
        self._problem, self._model, self._kinds, self._costs = problem, model, kinds, costs
        self._kind, self._starts, self._ends = kind, offsets[:-1], offsets[1:]
        n_blocks = len(self._starts)
        self._block = np.repeat(np.arange(n_blocks, dtype=np.int64), np.diff(offsets))
        # the kinds of a block, numbered within it
        self._pair, first = number_rows([self._block, kind], [n_blocks, len(kinds.stats)])
        self._pair_block, self._pair_kind = self._block[first], kind[first]
        before = np.searchsorted(self._pair_block, np.arange(n_blocks + 1))
        self._pair_local = np.arange(len(first), dtype=np.int64) - before[self._pair_block]
        self._local = self._pair_local[self._pair]
        self._n_local = int(np.diff(before).max(initial=0))
        self._pair_free = np.bincount(self._pair, minlength=len(first))
        self._free = np.ones(len(kind), dtype=np.bool_)
        self._choosy = any(isinstance(m, SensitiveModel) for m in model.members)

    def run(self) -> tuple[IntArray, int]:
        """Return the cluster of every row (-1 for leftover rows), and the number of clusters."""
        n_blocks = len(self._starts)
        serial = np.zeros(n_blocks, dtype=np.int64)
        mine = np.full(len(self._kind), -1, dtype=np.int64)
        left = self._ends - self._starts
        alive = np.arange(n_blocks, dtype=np.int64)
        seed, fresh = self._starts.copy(), np.ones(n_blocks, dtype=np.bool_)
        stats = self._kinds.stats.take(np.zeros(n_blocks, dtype=np.int64))
        low = high = np.zeros((n_blocks, self._costs.codes.shape[1]), dtype=np.int64)
        for step in range(int(left.max(initial=0))):
            if step % 64 == 0:
                self._problem.progress(step / max(int((self._ends - self._starts).max()), 1), "clustering")
            added = np.empty(len(alive), dtype=np.int64)
            added[fresh] = self._seeds(alive[fresh], seed) if step else self._starts[alive]
            seed[alive[fresh]] = added[fresh]
            old = np.flatnonzero(~fresh)
            added[old] = self._nearest(alive[old], stats.take(old), low[old], high[old])
            stats = self._with(stats, fresh, self._kinds.stats.take(self._kind[added]))
            own = self._costs.codes[added].astype(np.int64)
            low = np.where(fresh[:, None], own, np.minimum(low, own))
            high = np.where(fresh[:, None], own, np.maximum(high, own))
            self._free[added] = False
            np.subtract.at(self._pair_free, self._pair[added], 1)
            mine[added] = serial[alive]
            left[alive] -= 1
            fresh = self._satisfied(stats)
            serial[alive[fresh]] += 1
            stays = np.flatnonzero(left[alive] > 0)
            alive, fresh, low, high, stats = alive[stays], fresh[stays], low[stays], high[stays], stats.take(stays)
        # records collected since a block's last satisfied cluster are left over
        whole = np.flatnonzero(mine < serial[self._block])
        labels, first = number_rows([self._block[whole], mine[whole]], [n_blocks, int(serial.max(initial=0)) + 1])
        return scattered(labels, whole, len(mine)), len(first)

    def _satisfied(self, stats: GroupStats) -> BoolArray:
        done = stats.units > 0
        some = np.flatnonzero(done)
        done[some] = self._model.satisfied(stats.take(some), self._problem.reference)
        return done

    @staticmethod
    def _with(stats: GroupStats, fresh: BoolArray, record: GroupStats) -> GroupStats:
        """Return the clusters with one more record each; fresh ones consist of it."""
        old = np.flatnonzero(~fresh)
        if not len(old):
            return record
        grown = add_groups(stats.take(old), record.take(old))
        place = np.arange(len(fresh), dtype=np.int64)
        place[old] = len(fresh) + np.arange(len(old))
        return GroupStats.concat([record, grown]).take(place)

    def _seeds(self, blocks: IntArray, seed: IntArray) -> IntArray:
        box = self._costs.codes[seed[blocks]].astype(np.int64)
        nothing = np.zeros((len(blocks), 0), dtype=np.bool_)
        return self._extreme(blocks, box, box, nothing, farthest=True)

    def _nearest(self, blocks: IntArray, stats: GroupStats, low: IntArray, high: IntArray) -> IntArray:
        wanted = np.zeros((len(blocks), self._n_local if self._choosy else 0), dtype=np.bool_)
        if self._choosy and len(blocks):
            place = places_among(blocks, len(self._starts))
            pair = np.flatnonzero((self._pair_free > 0) & (place[self._pair_block] >= 0))
            group = place[self._pair_block[pair]]
            helps = helpful(self._model, self._problem.reference, self._kinds, stats, group, self._pair_kind[pair])
            wanted[group[helps], self._pair_local[pair[helps]]] = True
        return self._extreme(blocks, low, high, wanted, farthest=False)

    def _extreme(
        self, blocks: IntArray, low: IntArray, high: IntArray, wanted: BoolArray, *, farthest: bool
    ) -> IntArray:
        return extreme_records(
            self._costs.codes, self._free, self._starts[blocks], self._ends[blocks], low, high, wanted, self._local,
            self._costs.tables, farthest=farthest,
        )  # fmt: skip
