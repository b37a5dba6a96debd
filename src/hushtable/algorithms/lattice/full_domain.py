"""Shared by full-domain algorithms: fixed levels, a limit on the lattice's size, and the final partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.verdict import NodeVerdict
from hushtable.arrays import AnyArray, IntArray
from hushtable.errors import UsageError

MOST_NODES = 2**22
"""Largest lattice to enumerate; takes 12 bytes of memory per node, and 2 bytes per node and column."""

Goal: TypeAlias = Literal[
    "loss", "ncp", "prec", "height", "entropy", "discernibility", "average-class-size", "payout", "payout-journalist"
]


@dataclass(frozen=True)
class FullDomain(Algorithm):
    """Base of the algorithms that publish every column at one level of its hierarchy.

    Parameters
    ----------
    fixed : mapping of str to int
        Quasi-identifiers with a fixed level; 0 means the original values.
    """

    fixed: Annotated[Mapping[str, int], "quasi-identifiers with a fixed level of their hierarchy"] = field(
        default_factory=dict, kw_only=True
    )

    recoding: ClassVar[Recoding] = Recoding.GLOBAL
    reads_cells: ClassVar[bool] = True

    def enumerable(self, judge: Judge) -> None:
        """Refuse a lattice with too many nodes to enumerate."""
        if judge.space.n_nodes > MOST_NODES:
            raise UsageError(
                f"The lattice has {judge.space.n_nodes} nodes; {self.name} searches at most {MOST_NODES}.",
                code="lattice-too-large",
                hint="Fix some levels, use hierarchies with fewer levels, or choose 'optimal', which searches larger "
                "lattices within a budget.",
            )

    def finish(self, judge: Judge, best: NodeVerdict, minimal: IntArray | None = None, **notes: Any) -> Partition:
        """Return the partition of a node that fits, with notes.

        Parameters
        ----------
        judge : Judge
        best : NodeVerdict
        minimal : int64 array, optional
            All minimal nodes, one per row, if the algorithm finds them. Each has been evaluated.
        **notes
        """
        space = _space(judge, minimal)
        said = {
            **notes,
            "nodes": judge.space.n_nodes,
            "nodes_judged": len(space["fits"]),
            "levels": named_levels(judge.problem, best.node),
        }
        return replace(judge.partition(best.node), notes=said, space=space)


def _space(judge: Judge, minimal: IntArray | None) -> dict[str, AnyArray]:
    """The evaluated nodes as columns, each once: minimal ones first, then the best; and those that do not fit last.

    The cost of a node that does not fit is infinite.
    """
    seen = judge.seen
    # a node is evaluated once for each subset of columns whose other columns are fully generalized
    first = np.unique(seen.nodes, axis=0, return_index=True)[1]
    first.sort()
    known = set() if minimal is None else set(map(tuple, minimal.tolist()))
    chosen = np.array([tuple(node) in known for node in seen.nodes[first].tolist()], dtype=np.bool_)
    order = first[np.lexsort((*seen.nodes[first].T[::-1], seen.lost[first], seen.value[first], ~chosen))]
    columns: dict[str, AnyArray] = {
        f"level of {c.name}": seen.nodes[order, j] for j, c in enumerate(judge.space.table.quasi)
    }
    if minimal is not None:
        columns["minimal"] = np.arange(len(order)) < np.count_nonzero(chosen)
    return {
        **columns,
        "fits": seen.fits[order],
        "cost": seen.value[order],
        "suppressed people": seen.lost[order] / judge.space.table.unit,
        "groups": seen.groups[order],
    }


def named_levels(problem: Problem, node: IntArray) -> dict[str, int]:
    """Return the level of every quasi-identifier by name."""
    return dict(zip((c.name for c in problem.store.outline.quasi), map(int, np.asarray(node)), strict=True))
