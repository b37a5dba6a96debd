"""Localpk: top-down local recoding with un-specialization, under any model.

All records start in one group at the roots of the hierarchies. Level by level, every group is specialized along one
quasi-identifier: its records move one level down, to the children of the group's node. Children that violate the
model move back to the parent. If the records at the parent then violate it too, records of satisfied children move
back as well, so that both hold. If that is impossible, the specialization is undone.

The paper gives Algorithm 1 for one quasi-identifier. For several:

- a group is specialized along the quasi-identifier that saves the most distortion: the sum, over the records that
  stay lower, of the levels they descend in all columns, times the column's weight. Ties go to the column that the
  policy names first. If it is impossible, the next column is tried;
- records that stay at a parent are closed for that quasi-identifier, but can still be specialized along the others;
- ``unspecialise`` determines which records move back: few, with ties broken by secret lots.

Differences from the paper: as printed, the algorithm never ends, because leaves are specialized again and again. Here,
a group stops when no column has a level left. Line 13 (output a non-empty parent) comes after the inner loop and would
keep only the last parent of a level; it belongs inside. A chain of nodes with one child is passed at once; Figure 1 (b)
to (e) does so step by step. A group publishes the lowest node that covers its records, so records that stay at 1424*
are published as 1424* as long as they come from two of its children. If records of two groups are published with the
same cells, they form one class, which is verified.

Records may be suppressed within the limit: if a parent cannot be repaired, the records that stay there are suppressed
if the others gain more levels than these lose, the largest gain of a level first.

Records that stay at a parent overlap its children (1424* and 14248). Models that do not survive merging forbid that,
and with a population it would be unclear which class covers whom. In these cases, a specialization is made only if
every child is satisfied, or the others are suppressed. Table-level models start from one satisfied group; a level's
specializations are then committed in order of savings, as long as the table stays satisfied.

When to use
-----------
To follow Sun et al., or to descend hierarchies level by level with nodes as cells.

When not
--------
When you want the least loss: Mondrian with sets and lattice-sweep lose less.

Cost
----
One pass over the records per level and column; half a million rows by seven columns in seconds.

References
----------
Sun et al. 2011, section 6, Algorithm 1, Figure 1 and Table 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem, Reads, Recoding
from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.children import Branching, Children, Trees, satisfied_children
from hushtable.algorithms.partition.frontier import satisfied_prefix
from hushtable.algorithms.partition.specialise import Branches
from hushtable.algorithms.partition.unspecialise import Families, Moved, unspecialise
from hushtable.algorithms.refining.refinable import Refinable
from hushtable.algorithms.store import BranchCounts, Division, FarStore
from hushtable.algorithms.trim import trim
from hushtable.arrays import BoolArray, IntArray, mask_of, places_among, scattered, summed
from hushtable.errors import IncompatibleError
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import Monotone
from hushtable.models.compose import AllOf
from hushtable.table.stats import GroupStats, Histogram


@dataclass(frozen=True)
class Localpk(Refinable):
    """Top-down local recoding with un-specialization of records.

    Examples
    --------
    >>> Localpk().values()
    {}
    """

    name: ClassVar[str] = "localpk"
    recoding: ClassVar[Recoding] = Recoding.LOCAL
    reads_sensitive: ClassVar[Reads] = Reads.CHOOSES
    disclosure: ClassVar[str] = (
        "A record that moves back to its parent has a value that the parent lacked. Coins decide among equal records."
    )

    def run(self, problem: Problem) -> Partition:
        """Specialize from the top; see the module's docstring."""
        far = problem.store.far
        if far is not None and not (self.refine or problem.budget):
            return self._from_counts(problem, far)
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        budget = _budget(problem, kept)
        branches = Branches(problem, kept, budget)
        self._specialise(problem, branches, budget)
        return self.refined(problem, branches.partition())

    def _from_counts(self, problem: Problem, far: FarStore) -> Partition:
        """Specialize remote records: large groups from counts, small ones where they are stored."""
        if not bool(problem.model.table_satisfied(problem.reference.whole(), problem.reference)[0]):
            raise self.not_found(problem)
        outline = problem.store.outline
        quasi, minimum = outline.quasi, max(problem.model.min_group_size(), 1) * outline.unit
        # if no model uses a sensitive value, no lots are needed
        groups = far.groups(problem.coins if problem.model.histogram_keys() else None)
        trees, kinds = Trees(quasi), groups.kinds()
        nodes, closed = np.zeros(1, dtype=np.int64), np.zeros((1, len(quasi)), dtype=np.bool_)
        small: list[tuple[IntArray, BoolArray]] = []
        leaves: list[IntArray] = []
        fresh = 1
        while len(nodes):
            problem.progress(0.0, "specializing")
            records, units, low, high = groups.extents(nodes)
            heights = trees.heights(low, high)
            able = ~closed & (heights > 0)
            opened = (units >= 2 * minimum) & able.any(axis=1)
            large = opened & (records > groups.most)
            leaves.append(nodes[~opened])
            small.append((nodes[opened & ~large], closed[opened & ~large]))
            nodes, heights, closed, able = nodes[large], heights[large], closed[large], able[large]
            if not len(nodes):
                break
            branches = CountedBranches(problem, trees, kinds, groups.branches(nodes, heights, able), heights, closed)
            Specialising(problem, branches, 0, kinds).work()
            division = branches.division
            leaves.append(nodes[division.chosen < 0])
            groups.divide(nodes, heights, division, fresh)
            nodes = fresh + np.arange(len(division.closed), dtype=np.int64)
            fresh, closed = fresh + len(nodes), division.closed
        waiting = np.concatenate([own for own, _ in small]), np.concatenate([shut for _, shut in small])
        return groups.finish(np.concatenate(leaves), waiting, self.run_group)

    def run_group(self, problem: Problem, closed: BoolArray) -> Partition:
        """Specialize one group of a larger table; closed columns do not change, and nothing is suppressed."""
        branches = Branches(problem, np.ones(problem.table.n_rows, dtype=np.bool_), closed=closed)
        self._specialise(problem, branches, 0)
        return branches.partition()

    def _specialise(self, problem: Problem, branches: Branches, budget: int) -> None:
        level = Specialising(problem, branches, budget, Kinds.of(problem))
        while branches.open:
            problem.progress(branches.share_done(), "specializing")
            level.work()


def _budget(problem: Problem, kept: BoolArray) -> int:
    """Return how many units may still be suppressed: none if that could affect coverage or a table-level model."""
    table = problem.table
    if table.n_rows > table.n_sample or problem.model.part(table_level=True).members:
        return 0
    return problem.budget - int(table.units_of(np.flatnonzero(~kept)).sum())


class Specialising:
    """Specializations, one level at a time: proposed, checked and committed.

    Parameters
    ----------
    problem : Problem
    branches : Branching
        The groups; ``Branches`` with table-level models.
    budget : int
        Units that may be suppressed.
    kinds : Kinds
    """

    def __init__(self, problem: Problem, branches: Branching, budget: int, kinds: Kinds) -> None:
        self._problem, self._branches, self._budget, self._kinds = problem, branches, budget, kinds
        self._groups = problem.model.part(table_level=False)
        self._table = problem.model.part(table_level=True)
        self._turns = np.arange(len(kinds.stats), dtype=np.int64)
        if kinds.values:
            self._turns = problem.coins.lots_of_combinations([*kinds.values.values(), kinds.stats.units])
        # with a population, it must be clear which class covers whom
        outline = problem.store.outline
        alone = outline.n_rows == outline.n_sample
        self._overlap = alone and Monotone.MERGE in problem.model.flags
        # if records can only help and no child of a column is satisfied, this holds for every subset
        self._shrinks = Monotone.ADD in self._groups.flags

    def work(self) -> None:
        """Specialize every open group once, or finish it."""
        branches = self._branches
        found = (branches.children(j, self._groups) for j in range(branches.width))
        families = [family for family in found if family is not None]
        saving = np.full((branches.open, branches.width), -1, dtype=np.int64)
        broken = np.zeros((branches.open, branches.width), dtype=np.bool_)
        unfit = np.zeros((branches.open, branches.width), dtype=np.bool_)
        for family in families:
            self._judge(family, saving, broken, unfit)
        chosen = np.full(branches.open, -1, dtype=np.int64)
        back: list[Any] = []
        for _ in range(branches.width):
            best = np.argmax(saving, axis=1)
            waiting = (chosen < 0) & (saving.max(axis=1) >= 0)
            if not waiting.any():
                break
            trying = np.where(waiting, best, -1)
            done = waiting & ~broken[np.arange(branches.open), best]
            for family in families:
                mended, moved = self._mend(family, (trying == family.column) & ~done)
                done[mended] = True
                back += moved
            done[self._suppressed(families, np.where(waiting & ~done, best, -1), saving)] = True
            chosen[done] = best[done]
            saving[np.flatnonzero(waiting), best[waiting]] = np.where(
                done[waiting], saving[np.flatnonzero(waiting), best[waiting]], -1
            )
        if self._table.members:
            chosen = self._committed(chosen, families, back, unfit, saving)
        for family in families:
            self._uncover(family, chosen)
        branches.advance(chosen, families, back, unfit & self._shrinks)

    def _judge(self, family: Children, saving: IntArray, broken: BoolArray, unfit: BoolArray) -> None:
        """Record what a column saves each group, and whether its parent needs repair."""
        n, j = self._branches.open, family.column
        offered = mask_of(family.group, n)
        saved = summed(family.saves[family.good], family.group[family.good], n)
        some = mask_of(family.group[family.good], n)
        stays = self._remainder(family, np.arange(n))
        # groups of population rows alone are not published, so no model needs to hold for them
        alive = stays.units > 0
        judged = np.flatnonzero(alive & some)
        mend = np.zeros(n, dtype=np.bool_)
        mend[judged] = ~self._groups.satisfied(stays.take(judged), self._problem.reference)
        able = offered & some
        saving[able, j] = saved[able]
        broken[:, j] = mend | (alive & (not self._overlap))
        unfit[:, j] = offered & ~some

    def _remainder(self, family: Children, groups: IntArray) -> GroupStats:
        """Return the records that stay at the parent of each of these groups: the children that violate the model."""
        place = places_among(groups, self._branches.open)[family.group]
        return family.stats.merge(np.where(family.good, -1, place), len(groups))

    def _mend(self, family: Children, wanted: BoolArray) -> tuple[IntArray, list[Any]]:
        """Move records back until these groups' parents hold; return the groups where that works, and records."""
        groups = np.flatnonzero(wanted & self._overlap)
        if not len(groups):
            return groups, []
        problem, branches = self._problem, self._branches
        number = places_among(groups, branches.open)
        child = np.flatnonzero(family.good & wanted[family.group])
        families = Families(
            self._remainder(family, groups),
            family.stats.take(child),
            number[family.group[child]],
            branches.kind_counts(family, child, self._kinds),
        )
        model, reference = self._groups, problem.reference
        moved = unspecialise(model, reference, branches.minimum, self._kinds, families, self._turns)
        possible = mask_of(groups[moved.possible], branches.open)
        return np.flatnonzero(possible), [branches.going_back(family, child, moved, possible, self._kinds)]

    def _suppressed(self, families: Sequence[Children], trying: IntArray, saving: IntArray) -> IntArray:
        """Suppress the records at parents that cannot be repaired, if that is worthwhile; return the groups."""
        if self._budget <= 0:
            return np.empty(0, dtype=np.int64)
        branches = self._branches
        groups = np.flatnonzero(trying >= 0)
        units = np.zeros(branches.open, dtype=np.int64)
        for family in families:
            stays = ~family.good & (trying[family.group] == family.column)
            np.add.at(units, family.group[stays], family.stats.units[stays])
        gain = saving[groups, trying[groups]] - units[groups] * branches.loss(groups)
        order = groups[np.lexsort((groups, -gain))]
        order = order[: int(np.count_nonzero(gain > 0))]
        taken = order[np.cumsum(units[order]) <= self._budget]
        self._budget -= int(units[taken].sum())
        out = mask_of(taken, branches.open)
        for family in families:
            stays = ~family.good & out[family.group] & (trying[family.group] == family.column)
            branches.leave_out(family, stays)
        return taken

    def _uncover(self, family: Children, chosen: IntArray) -> None:
        """Remove population rows at a parent without records: no class covers them."""
        divided = ~family.good & (chosen[family.group] == family.column)
        units = summed(family.stats.units[divided], family.group[divided], self._branches.open)
        empty = divided & (units[family.group] == 0)
        if empty.any():
            self._branches.leave_out(family, empty)

    def _committed(
        self, chosen: IntArray, families: Sequence[Any], back: list[Any], unfit: BoolArray, saving: IntArray
    ) -> IntArray:
        """Return the choices that keep the table satisfied, the largest saving first."""
        branches, model = self._branches, self._table
        assert isinstance(branches, Branches)
        places, parts, closed = branches.parts(chosen, families, back, unfit)
        standing, n_done = branches.standing(model)
        everything = GroupStats.concat([standing, branches.stats(places, parts, len(closed), model)])
        group_of_part = np.zeros(len(closed), dtype=np.int64)
        group_of_part[parts] = branches.group_of(places)
        groups = np.flatnonzero(chosen >= 0)

        def holds(some: IntArray) -> bool:
            divided = mask_of(groups[some], branches.open)
            keep = np.ones(len(standing), dtype=np.bool_)
            keep[n_done:] = ~divided
            new = len(standing) + np.flatnonzero(divided[group_of_part])
            table = everything.take(np.concatenate([np.flatnonzero(keep), new]))
            return bool(model.table_satisfied(_people(table), self._problem.reference)[0])

        value = saving[groups, chosen[groups]]
        kept = satisfied_prefix(np.lexsort((groups, -value)), holds)
        out = np.full_like(chosen, -1)
        out[groups[kept]] = chosen[groups[kept]]
        return out


def _people(groups: GroupStats) -> GroupStats:
    """Drop groups that consist of population rows only: they are not published."""
    return groups.take(groups.units > 0)


# A level of specializations, represented by counts of each kind of record, for records on other machines.
#
# For each group, column and child, there are counts of the kinds of records, and the lowest and highest rank of their
# values in every column. These determine the statistics of the children, what they save, and how many records of
# which kind move back to a parent. The machine that holds the records takes the first ones in canonical order.


@dataclass(frozen=True)
class CountedChildren(Children):
    """Children whose records are elsewhere: their nodes, and their records by kind."""

    node: IntArray
    owner: IntArray
    kind: IntArray
    count: IntArray


@dataclass(frozen=True)
class _Back:
    """What moves back to parents: whole children, and numbers of records by kind."""

    column: int
    whole: IntArray
    child: IntArray
    kind: IntArray
    count: IntArray


class CountedBranches(Branching):
    """The open groups of one level; see ``Branching``.

    Parameters
    ----------
    problem : Problem
    trees : Trees
    kinds : Kinds
    counts : BranchCounts
    heights, closed : (groups, d) arrays

    Attributes
    ----------
    division : Division
        The decisions.
    """

    division: Division

    def __init__(
        self, problem: Problem, trees: Trees, kinds: Kinds, counts: BranchCounts, heights: IntArray, closed: BoolArray
    ) -> None:
        self._problem, self._kinds, self._counts = problem, kinds, counts
        self.trees, self.heights, self.closed = trees, heights, closed
        self.minimum = max(problem.model.min_group_size(), 1) * problem.store.outline.unit

    def children(self, column: int, model: AllOf) -> CountedChildren | None:
        """Return the children along one column of all groups that can be specialized there."""
        counts, kinds, unit = self._counts, self._kinds, self._problem.store.outline.unit
        mine = np.flatnonzero(counts.column == column)
        if not len(mine):
            return None
        nodes = int(self.trees.nodes[column].max()) + 1
        owner, first = number_rows([counts.group[mine], counts.node[mine]], [self.open, nodes])
        n, kind, count = len(first), counts.kind[mine], counts.count[mine]
        weight = count * kinds.stats.units[kind]
        units = summed(weight, owner, n)
        histograms = {
            key: Histogram.from_pairs(owner, kinds.values[key][kind], weight, n, unit) for key in model.histogram_keys()
        }
        stats = GroupStats(units, unit, histograms)
        group = counts.group[mine][first]
        low = np.full((n, self.width), np.iinfo(np.int64).max)
        high = np.full((n, self.width), -1)
        np.minimum.at(low, owner, counts.low[mine])
        np.maximum.at(high, owner, counts.high[mine])
        good = satisfied_children(stats, self.minimum, model, self._problem.reference)
        lower = self.heights[group] - self.trees.heights(low, high)
        saves = units * (lower @ self.trees.weights)
        return CountedChildren(column, group, stats, good, saves, counts.node[mine][first], owner, kind, count)

    def kind_counts(
        self, family: CountedChildren, child: IntArray, kinds: Kinds
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return record counts by kind for some children: child (index in ``child``), kind, count."""
        place = places_among(child, len(family.group))
        here = np.flatnonzero(place[family.owner] >= 0)
        here = here[np.lexsort((family.kind[here], place[family.owner[here]]))]
        return place[family.owner[here]], family.kind[here], family.count[here]

    def going_back(
        self, family: CountedChildren, child: IntArray, moved: Moved, possible: BoolArray, kinds: Kinds
    ) -> _Back:
        """Return what moves back to the parents for which it is possible."""
        whole = child[moved.dissolved]
        some = child[moved.child]
        goes = possible[family.group[some]]
        return _Back(
            family.column,
            whole[possible[family.group[whole]]],
            some[goes],
            moved.kind[goes],
            moved.count[goes],
        )

    def leave_out(self, family: CountedChildren, children: BoolArray) -> None:
        """Refuse: suppression compares all groups, and only some are here."""
        raise IncompatibleError(
            "Records on other machines cannot be suppressed group by group.",
            hint="Set 'suppression: 0', or let the driver hold the table.",
        )

    def advance(
        self, chosen: IntArray, families: Sequence[CountedChildren], back: Sequence[_Back], unfit: BoolArray
    ) -> None:
        """Number the parts of the divided groups: satisfied children, and the records that stay at each parent."""
        groups: list[IntArray] = []
        nodes: list[IntArray] = []
        parts: list[IntArray] = []
        taken: list[tuple[IntArray, ...]] = []
        closed = [np.zeros((0, self.width), dtype=np.bool_)]
        n = 0
        for family in families:
            mine = chosen[family.group] == family.column
            stays = ~family.good
            own = [b for b in back if b.column == family.column]
            for b in own:
                stays[b.whole] = True
            some = np.concatenate([b.child for b in own]) if own else np.empty(0, dtype=np.int64)
            kept = mine[some] & ~stays[some]
            parent = mask_of(family.group[mine & stays], self.open)
            parent[family.group[some[kept]]] = True
            children = np.flatnonzero(mine & ~stays)
            part = scattered(n + np.arange(len(children)), children, len(family.group))
            of_parent = n + len(children) + np.cumsum(parent) - 1
            part[mine & stays] = of_parent[family.group[mine & stays]]
            groups.append(family.group[mine])
            nodes.append(family.node[mine])
            parts.append(part[mine])
            if len(some):
                kind, count = (np.concatenate([getattr(b, name) for b in own])[kept] for name in ("kind", "count"))
                at = some[kept]
                taken.append((family.group[at], family.node[at], kind, count, of_parent[family.group[at]]))
            below = self.closed | unfit
            closed.append(below[family.group[children]])
            rest = below[np.flatnonzero(parent)]
            rest[:, family.column] = True
            closed.append(rest)
            n += len(children) + int(parent.sum())
        group, node, kind, count, part_of = (_concatenated([t[i] for t in taken]) for i in range(5))
        self.division = Division(
            chosen,
            _concatenated(groups),
            _concatenated(nodes),
            _concatenated(parts),
            (group, node, kind, count, part_of),
            np.concatenate(closed),
        )


def _concatenated(parts: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
