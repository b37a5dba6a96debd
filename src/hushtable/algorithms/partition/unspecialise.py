"""Un-specializing: moving records of satisfied children back to their parent until the records there are satisfied too.

All parents of a level are processed at once, one record each per round. A child may give a record if it stays
satisfied without it. Among the possible records, the one that moves back

1. helps a member that still fails at the parent (its ``contributes``), if any record does,
2. makes the parent satisfy the most members, then brings its first failing member closest,
3. has the sensitive value that comes first in a secret order,
4. and comes from the child with the most people, then from the first child.

Secret lots (``Problem.coins``) decide which records with that value move. If no single record can be given, the child
with the fewest people moves back as a whole. At least one child has to stay. This is greedy: few records move, but
not provably the fewest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.algorithms.kinds import Kinds, add_groups, helpful
from hushtable.arrays import BoolArray, FloatArray, IntArray, run_starts, summed
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import SensitiveModel
from hushtable.models.compose import AllOf
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class Moved:
    """The records that move back.

    Attributes
    ----------
    possible : bool array
        Which parents can be satisfied while keeping at least one child.
    dissolved : bool array
        Which children move back as a whole.
    child, kind, count : int64 arrays
        Number of records of a kind that move back from a child that is not dissolved.
    """

    possible: BoolArray
    dissolved: BoolArray
    child: IntArray
    kind: IntArray
    count: IntArray


@dataclass(frozen=True)
class Families:
    """Parents whose records do not satisfy the model, with their satisfied children.

    Attributes
    ----------
    parents, children : GroupStats
    owner : int64 array
        The parent of each child, ascending.
    entries : child, kind, count
        The records of each child by kind.
    """

    parents: GroupStats
    children: GroupStats
    owner: IntArray
    entries: tuple[IntArray, IntArray, IntArray]


def unspecialise(
    model: AllOf, reference: Reference, minimum: int, kinds: Kinds, families: Families, turns: IntArray
) -> Moved:
    """Decide which records move back.

    Parameters
    ----------
    model, reference
    minimum : int
        Minimum units of a satisfied group.
    kinds : Kinds
    families : Families
    turns : int64 array
        Among equally good kinds, the one with the lowest number goes first.
    """
    work = _Round(model, reference, minimum, kinds, families, turns)
    while work.open:
        work.step()
    return work.moved()


class _Round:
    """The parents that are not yet satisfied, their children, and the decisions so far."""

    def __init__(
        self, model: AllOf, reference: Reference, minimum: int, kinds: Kinds, families: Families, turns: IntArray
    ) -> None:
        parents, children = families.parents, families.children
        self._turns = turns
        self._model, self._reference, self._minimum, self._kinds = model, reference, minimum, kinds
        self._possible = np.zeros(len(parents), dtype=np.bool_)
        self._dissolved = np.zeros(len(children), dtype=np.bool_)
        self._taken: list[tuple[IntArray, IntArray]] = []
        self._parents, self._children, self._owner = parents, children, families.owner
        self._parent_name = np.arange(len(parents), dtype=np.int64)
        self._child_name = np.arange(len(children), dtype=np.int64)
        self._child, self._kind, self._count = families.entries

    @property
    def open(self) -> int:
        return len(self._parent_name)

    def step(self) -> None:
        """Move one record, or dissolve one child, for each open parent; close those that are done."""
        chosen = self._best_entries()
        served = np.zeros(self.open, dtype=np.bool_)
        child, kind = self._child[chosen], self._kind[chosen]
        served[self._owner[child]] = True
        self._taken.append((self._child_name[child], kind))
        record = self._kinds.stats.take(kind)
        added, home = [record], [self._owner[child]]
        gone = np.zeros(len(self._children), dtype=np.bool_)
        stranded = self._smallest_children(~served)
        if len(stranded):
            gone[stranded] = True
            self._dissolved[self._child_name[stranded]] = True
            added.append(self._children.take(stranded))
            home.append(self._owner[stranded])
            served[self._owner[stranded]] = True
        before = np.arange(self.open, dtype=np.int64)
        everything = GroupStats.concat([self._parents, *added])
        self._parents = everything.merge(np.concatenate([before, *home]), self.open)
        if len(child):
            less = add_groups(self._children.take(child), record, -1)
            place = np.arange(len(self._children), dtype=np.int64)
            place[child] = len(self._children) + np.arange(len(child))
            self._children = GroupStats.concat([self._children, less]).take(place)
            self._count = self._count.copy()
            self._count[chosen] -= 1
        done = self._model.satisfied(self._parents, self._reference)
        self._possible[self._parent_name[done]] = True
        self._keep(served & ~done, gone)

    def _keep(self, parents: BoolArray, gone: BoolArray) -> None:
        """Continue with these parents and the children that were not dissolved."""
        children = parents[self._owner] & ~gone
        new_parent, new_child = np.cumsum(parents) - 1, np.cumsum(children) - 1
        entries = children[self._child] & (self._count > 0)
        self._child = new_child[self._child[entries]]
        self._kind, self._count = self._kind[entries], self._count[entries]
        self._owner = new_parent[self._owner[children]]
        self._parents, self._children = self._parents.take(parents), self._children.take(children)
        self._parent_name, self._child_name = self._parent_name[parents], self._child_name[children]

    def _smallest_children(self, parents: BoolArray) -> IntArray:
        """Return the child with the fewest people of each of these parents that has another one left."""
        n = np.bincount(self._owner, minlength=self.open)
        order = np.lexsort((np.arange(len(self._owner)), self._children.units, self._owner))
        smallest = order[run_starts(self._owner[order])]
        return smallest[(parents & (n > 1))[self._owner[smallest]]]

    def _best_entries(self) -> IntArray:
        """Return the entry (child, kind) from which each parent gets a record; parents without one are omitted."""
        kinds, owner = self._kinds, self._owner[self._child]
        spare = np.maximum(self._children.units - self._minimum, 0)
        supply = summed(spare, self._owner, self.open)
        enough = supply >= self._minimum - self._parents.units
        able = enough[owner] & (spare[self._child] >= kinds.stats.units[self._kind])
        entry = np.flatnonzero(able)
        entry = entry[helpful(self._model, self._reference, kinds, self._parents, owner[entry], self._kind[entry])]
        # a child that could give several kinds is evaluated without each of them
        less = add_groups(self._children.take(self._child[entry]), kinds.stats.take(self._kind[entry]), -1)
        entry = entry[self._model.satisfied(less, self._reference)]
        if not len(entry):
            return entry
        held, lead = self._progress(owner[entry], self._kind[entry])
        child = self._child[entry]
        order = np.lexsort(
            (child, -self._children.units[child], self._turns[self._kind[entry]], -lead, -held, owner[entry])
        )
        return entry[order[run_starts(owner[entry][order])]]

    def _progress(self, parent: IntArray, kind: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return how many members hold with one more record of a kind, and the first failing one's score then."""
        pair, first = number_rows([parent, kind], [self.open, len(self._kinds.stats)])
        parent, kind = parent[first], kind[first]
        then = add_groups(self._parents.take(parent), self._kinds.stats.take(kind))
        held = self._model.score(then, self._reference)
        lead = np.zeros(len(first))
        waiting = np.ones(self.open, dtype=np.bool_)
        # any record raises a size, so only the other members show what a record's value is worth
        for member in sorted(self._model.members, key=lambda m: not isinstance(m, SensitiveModel)):
            failing = waiting & ~member.satisfied(self._parents, self._reference)
            waiting &= ~failing
            mine = np.flatnonzero(failing[parent])
            if len(mine):
                score = member.score(then.take(mine), self._reference)
                lead[mine] = score if member.sense == ">=" else -score
        return held[pair], lead[pair]

    def moved(self) -> Moved:
        """Return all decisions."""
        child = np.concatenate([c for c, _ in self._taken]) if self._taken else np.empty(0, dtype=np.int64)
        kind = np.concatenate([k for _, k in self._taken]) if self._taken else np.empty(0, dtype=np.int64)
        stays = ~self._dissolved[child]
        child, kind = child[stays], kind[stays]
        pair, first = number_rows([child, kind], [len(self._dissolved), len(self._kinds.stats)])
        count = np.bincount(pair, minlength=len(first)).astype(np.int64)
        return Moved(self._possible, self._dissolved, child[first], kind[first], count)
