"""Lattice sweep: local recoding with hierarchy nodes, from the cheapest node of the lattice upwards.

At each node the records that are not yet placed are grouped; groups that satisfy the model are kept, at the cost of
the cells there, and the others wait for a coarser node. The sweep never strands a remainder: what waits must satisfy
the model as one group, or be small enough to be suppressed; groups are given back, the last one first, until it does.
The root takes what is left. Where any record may join a satisfied group, those of a group that costs much of the whole
then join others, if that is cheaper: small groups may have taken a value that every group needs.

Readings. Nodes go by their NCP over the whole table, ties by their levels. Cells of one node differ in cost (a region
with three countries and one with twenty), so the sweep goes up in bands: in each band, all nodes are swept for the
cells that cost no more than the band allows. Published cells are the lowest nodes that cover a group, so they are never
above the node that it was found at. Of a lattice with too many nodes, levels in the middle are passed over, those of
the column with most levels first; where that is not enough, the last columns rise together.

Cells of different groups overlap (142** beside 14***). For models that do not survive merging, and where a population
or an adversary's background is counted by the cells that cover it, one node has to serve all records: the cheapest
one, as ``optimal`` finds it.

When to use
-----------
For hierarchy nodes as cells (``cells: nodes``) with less loss than full-domain generalisation.

When not
--------
For models beyond k-anonymity that few small groups satisfy: large groups come late, and most of the lattice is visited.

Cost
----
Groups the waiting records once per node that is visited; grows with the lattice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from hushtable.algorithms.base import Partition, Problem, Recoding
from hushtable.algorithms.cluster.leftovers import without_costly
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.algorithms.partition.sweep_nodes import SweepNodes
from hushtable.algorithms.partition.waiting import Waiting
from hushtable.algorithms.refinable import Refinable
from hushtable.algorithms.trim import trim
from hushtable.kernels.sweep import first_crowd
from hushtable.models.base import Monotone
from hushtable.params import AtLeast

__all__ = ["LatticeSweep"]

TUPLES_PER_BAND = 64
"""So many distinct records are worth a band."""


@dataclass(frozen=True)
class LatticeSweep(Refinable):
    """Local recoding by sweeping the lattice from the cheapest node up.

    Parameters
    ----------
    bands : int
        In how many bands of cost the lattice is swept, at most; 1 sweeps it once. A small table takes fewer.

    Examples
    --------
    >>> LatticeSweep(refine=True).values()
    {'refine': True}
    """

    bands: Annotated[int, AtLeast(1), "bands of cost that the lattice is swept in"] = 48

    name: ClassVar[str] = "lattice-sweep"
    recoding: ClassVar[Recoding] = Recoding.LOCAL

    def run(self, problem: Problem) -> Partition:
        """Sweep; see the module's docstring."""
        if Monotone.MERGE not in problem.model.flags or problem.table.n_rows > problem.table.n_sample:
            return self._one_node(problem)
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        nodes = SweepNodes(problem.table, kept)
        waiting = Waiting(problem, kept, nodes.of_row)
        ceilings = nodes.ceilings(min(self.bands, 1 + len(nodes.codes) // TUPLES_PER_BAND))
        for band, ceiling in enumerate(ceilings):
            problem.progress(band / len(ceilings), "sweeping the lattice")
            at, node = nodes.within(ceiling), 0
            while len(waiting) and node < len(at):
                codes, units, marks = nodes.codes[waiting.tuples], waiting.units, waiting.marks
                node, group, found = first_crowd(
                    codes, units, marks, waiting.refused, nodes.lut, nodes.cost, at, node, waiting.minimum, ceiling
                )
                if found:
                    waiting.place(group, found)
                node += 1
        partition = waiting.partition()
        if Monotone.ADD in problem.model.flags and not problem.model.part(table_level=True).members:
            partition = without_costly(problem, partition)
        return self.refined(problem, partition)

    def _one_node(self, problem: Problem) -> Partition:
        partition = Optimal(objective="ncp").run(problem)
        return replace(partition, levels=None, notes={"one_node": partition.notes["levels"]})
