"""Combinatorial refinement: inferring the records of a greedy local recoding with a linear program.

A greedy local recoding places groups at the finest hierarchy nodes that hold k records, and only the rest rises to
coarser ones. So for classes that agree in all other columns (a family), and one column:

- a coarse class has no record below the node of a finer class of its family: it would have been placed there;
- below any finer node, the coarser classes of the family together have fewer than k records: they would have been
  placed there;
- a published cell is the lowest node that covers its class, so no child of it has all records;
- the records of a class add up to its size.

The numbers of records of each class at each leaf are the unknowns. A leaf stays plausible for a class if the program
(relaxed to real numbers) allows one record of it there. The adversary picks one of the plausible leaves for every
record. Readings: families in one column at a time, since the program over all columns at once is as large as the
domain; k is the smallest class that the models allow. If the program has no solution, the algorithm was not greedy
in this sense, and all leaves that the cell covers stay plausible.

Baseline: one of the leaves that the cell covers, regardless of other classes.

References
----------
S. Chhillar, M. Righi, R. Sutter, E. Kornaropoulos, "Exposing privacy risks in anonymizing clinical data: combinatorial
refinement attacks on k-anonymity without auxiliary information", 2025.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable import rng
from hushtable.arrays import BoolArray, IntArray
from hushtable.attacks.base import Attack, AttackResult
from hushtable.attacks.view import View
from hushtable.errors import UsageError
from hushtable.kernels.grouping import number_rows
from hushtable.params import AtLeast
from hushtable.release.forms.base import Cells

_MOST_LEAVES = 64
_MOST_UNKNOWNS = 512


@dataclass(frozen=True)
class CombinatorialRefinement(Attack):
    """Rules out leaves below a cell by simulating a greedy local recoding.

    Parameters
    ----------
    cells : int
        Maximum number of attacked cells (a class in a column), drawn at random.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"place": ["a"] * 3 + ["b", "b", "c"], "pay": [1, 2, 3, 4, 5, 6]})
    >>> policy = ht.Policy(quasi={"place": {"cells": "nodes"}}, sensitive=["pay"], models=[ht.KAnonymity(k=3)],
    ...                    algorithm=ht.LatticeSweep())
    >>> release = ht.anonymize(table, policy)
    >>> release.attack("combinatorial-refinement").counts["leaves ruled out"]
    1
    """

    cells: Annotated[int, AtLeast(1), "maximum number of attacked cells, drawn at random"] = 100

    name: ClassVar[str] = "combinatorial-refinement"
    learns: ClassVar[str] = "cell"
    knowledge: ClassVar[str] = (
        "The adversary has the release and the hierarchies, and knows that a greedy local recoding with this k made it."
    )
    remedy: ClassVar[str] = (
        "Recode globally (optimal, incognito), so that no class reveals what another one cannot contain, or divide "
        "from the top (mondrian), where a coarse cell is no evidence of a finer group."
    )

    def run(self, view: View) -> AttackResult:
        """Solve the programs of some cells, and pick among the plausible leaves."""
        view = view.identity
        columns = [j for j, c in enumerate(view.cells) if c.at_levels]
        if not columns:
            raise UsageError(
                "The combinatorial-refinement attack needs a local recoding with hierarchy nodes, and no column of "
                "this release has one.",
                code="no-local-nodes",
                hint="It attacks releases of lattice-sweep, or others with cells: nodes.",
            )
        attacked = self._draw_pairs(view, columns)
        families = {j: _families(view, j) for j in columns}
        picks, plain, records, ruled_out, unsolved = 0, 0, 0, 0, 0
        for j, group in attacked:
            cells = view.cells[j]
            family = np.flatnonzero(families[j] == families[j][group])
            leaves = _leaves(cells, group)
            allowed = plausible_leaves(cells, family, group, view.sizes, view.model.min_group_size())
            unsolved += allowed is None
            left = leaves if allowed is None else leaves[allowed]
            ruled_out += len(leaves) - len(left)
            truth = np.sort(cells.column.codes[: view.table.n_sample][view.labels == group].astype(np.int64))
            draw = rng.uniform(view.seed, f"attacks/combinatorial-refinement/{j}/{group}", len(truth))
            picks += int(np.count_nonzero(left[(draw * len(left)).astype(np.int64)] == truth))
            plain += int(np.count_nonzero(leaves[(draw * len(leaves)).astype(np.int64)] == truth))
            records += len(truth)
        counts = {
            **view.base_counts(),
            "cells attacked": len(attacked),
            "leaves ruled out": ruled_out,
            "cells whose program has no solution": unsolved,
        }
        return self.result(records, picks, plain / records if records else 0.0, counts)

    def _draw_pairs(self, view: View, columns: list[int]) -> list[tuple[int, int]]:
        everything = []
        for j in columns:
            cells = view.cells[j]
            open_to_it = (view.sizes > 0) & (cells.height > 0) & (cells.leaves <= _MOST_LEAVES)
            everything += [(j, int(group)) for group in np.flatnonzero(open_to_it)]
        if len(everything) <= self.cells:
            return everything
        order = np.argsort(rng.bits(view.seed, "attacks/combinatorial-refinement", len(everything)), kind="stable")
        return [everything[i] for i in np.sort(order[: self.cells])]


def _families(view: View, column: int) -> IntArray:
    """Number the classes by their cells in all other columns."""
    others = [cells.labels().dictionary_encode() for j, cells in enumerate(view.cells) if j != column]
    if not others:
        return np.zeros(view.n_groups, dtype=np.int64)
    codes = [o.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1 for o in others]
    return number_rows(codes, [len(o.dictionary) + 1 for o in others])[0]


def _leaves(cells: Cells, group: int) -> IntArray:
    every = np.arange(cells.column.coded.size)
    return np.flatnonzero(cells.covers(np.full(len(every), group), every))


def plausible_leaves(cells: Cells, family: IntArray, group: int, sizes: IntArray, k: int) -> BoolArray | None:
    """Return which leaves below a class's cell may hold one of its records; None if no leaf does.

    Parameters
    ----------
    cells : Cells
        One column, published as hierarchy nodes.
    family : int64 array
        The classes that agree in all other columns.
    group : int
        The class, one of them.
    sizes : int64 array
        Records of each class.
    k : int
        Size of a group that would have been placed at a finer node.
    """
    from scipy.optimize import linprog

    coded = cells.column.coded
    mine = _leaves(cells, group)
    # unknowns: (class, leaf) of the family's generalized classes that share a leaf with this one
    members = [int(g) for g in family if cells.height[g] > 0 and np.intersect1d(_leaves(cells, g), mine).size]
    pairs = [(g, int(u)) for g in members for u in _leaves(cells, g)]
    if len(pairs) > _MOST_UNKNOWNS:
        members, pairs = [group], [(group, int(u)) for u in mine]
    owner, leaf = (np.array(side) for side in zip(*pairs, strict=True))
    height = cells.height[owner]
    most = sizes[owner].astype(np.float64)
    for g in family:
        finer = cells.height[g] < height
        most[finer & np.isin(leaf, _leaves(cells, int(g)))] = 0.0
    rows, bounds = [], []
    for h in range(coded.height):
        for node in np.unique(coded.levels[h][leaf]):
            below = (coded.levels[h][leaf] == node) & (height > h)
            if below.any():
                rows.append(below)
                bounds.append(k - 1.0)
            for g in members:
                if cells.height[g] == h + 1 and (child := below & (owner == g)).any():
                    rows.append(child)
                    bounds.append(sizes[g] - 1.0)
    totals = np.array([owner == g for g in members], dtype=np.float64)
    found = np.zeros(len(mine), dtype=np.bool_)
    for i, u in enumerate(mine):
        wanted = (owner == group) & (leaf == u)
        if most[wanted][0] == 0.0:
            continue
        answer = linprog(
            -wanted.astype(np.float64), A_ub=np.array(rows, dtype=np.float64), b_ub=bounds, A_eq=totals,
            b_eq=sizes[members].astype(np.float64), bounds=np.column_stack([np.zeros(len(most)), most]), method="highs",
        )  # fmt: skip
        if answer.status != 0:
            return None
        found[i] = -answer.fun >= 1.0 - 1e-6
    return found if found.any() else None
