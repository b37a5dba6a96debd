"""mu-Approx: microaggregation from a forest of nearest neighbors, with a proven bound on the loss.

A forest grows until every tree has at least k records: as long as a tree has fewer, one of its records that has not
chosen yet chooses its nearest record in another tree, and the two trees become one. Each record chooses at most once,
and one of its k - 1 nearest; in any partition into groups of k it shares a group with records at least that far away.
So the edges together are no longer than those that the best partition needs, and the loss of groups along the edges is
at most that of the best partition times a factor that depends on k alone.

Large trees are then cut in two at a record, as long as both parts keep k records. All edges at that record may be
divided between the parts, and the record itself belongs to one of them.

Details: the first record in canonical order chooses first, and of equally near records, the first is chosen. A tree is
cut at its centroid (the record whose largest branch is smallest, the first of several): branches, largest first, go to
one part until it has k. The paper cuts trees of more than max(2k - 1, 3k - 5) records by another case distinction, with
a similar result. Groups that still have 2k or more are divided by MDAV. With models beyond k-anonymity, groups that
violate one are merged with the nearest until none does.

When to use
-----------
As a baseline whose loss is bounded on every table.

When not
--------
When the loss itself matters: on most tables, ``mdav`` loses less.

Cost
----
Quadratic: three seconds for 20,000 records of six numbers.

References
----------
J. Domingo-Ferrer, F. Sebé, A. Solanas, "A polynomial-time approximation to optimal multivariate microaggregation",
Computers and Mathematics with Applications 55(4), 2008; M. Laszlo, S. Mukherjee, "Approximation bounds for minimum
information loss microaggregation", TKDE 21(11), 2009; G. Aggarwal et al., "Approximation algorithms for k-anonymity",
2005.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.mdav import TURN
from hushtable.algorithms.cluster.microaggregation import Microaggregation, needed_units
from hushtable.algorithms.cluster.mst import divided
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import IntArray
from hushtable.kernels.scan import scan_nearest

Tree: TypeAlias = dict[int, list[int]]
"""Neighbors of each record; a number below 0 joins branches of a record that belongs to another tree."""


@dataclass(frozen=True)
class MuApprox(Microaggregation):
    """Trees of nearest neighbors, cut into groups.

    Examples
    --------
    >>> MuApprox(scale="range").values()
    {'scale': 'range'}
    """

    name: ClassVar[str] = "mu-approx"

    def groups(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Grow the forest, cut its trees, then divide what is still large."""
        needed = needed_units(problem, space)
        units = space.weights.tolist()
        trees = _forest(problem, space, units, needed)
        cut = [np.array(part) for tree in trees for part in _parts(tree, dict(enumerate(units)), needed)]
        return [part for group in cut for part in divided(problem, space, group, needed)], {}


def _forest(problem: Problem, space: Space, units: list[int], needed: int) -> list[Tree]:
    """Return trees of at least the units needed, in the order of their first records."""
    n = len(units)
    tree_of, members = list(range(n)), [[record] for record in range(n)]
    size, chosen = list(units), [False] * n
    near: list[list[int]] = [[] for _ in range(n)]
    everyone = np.arange(n, dtype=np.int64)
    for first in range(n):
        if first % TURN == 0:
            problem.progress(first / n, "growing")
        while size[tree_of[first]] < needed and len(members[tree_of[first]]) < n:
            own = tree_of[first]
            record = min(r for r in members[own] if not chosen[r])
            origin, wanted = space.points[record], len(members[own]) + 1
            found, _ = scan_nearest(space.points, everyone, origin, space.metric, wanted)
            other = next(r for r in found.tolist() if tree_of[r] != own)
            chosen[record] = True
            near[record].append(other)
            near[other].append(record)
            small, large = sorted((own, tree_of[other]), key=lambda t: len(members[t]))
            for r in members[small]:
                tree_of[r] = large
            members[large] += members[small]
            size[large] += size[small]
            members[small] = []
    own_trees = sorted(sorted(some) for some in members if some)
    return [{record: near[record] for record in some} for some in own_trees]


def _parts(tree: Tree, units: Mapping[int, int], needed: int) -> list[list[int]]:
    """Cut a tree at records as long as both parts keep the units needed; return the records of each part."""
    waiting, done = [tree], []
    borrowed = 0
    while waiting:
        tree = waiting.pop()
        halves = _halves(tree, units, needed, borrowed - 1)
        if halves is None:
            done.append(sorted(record for record in tree if record >= 0))
        else:
            borrowed -= 1
            waiting += halves
    return sorted(done)


def _halves(tree: Tree, units: Mapping[int, int], needed: int, joint: int) -> tuple[Tree, Tree] | None:
    """Cut a tree at its centroid; None if a part would be too small. ``joint`` stands for the centroid in one part."""
    total = sum(units.get(record, 0) for record in tree)
    if total < 2 * needed:
        return None
    center, branches = _centroid(tree, units, total)
    own = units.get(center, 0)
    for keeps in (False, True):
        taken, got = [], own if keeps else 0
        for size, _, branch in branches:
            if got >= needed:
                break
            taken.append(branch)
            got += size
        if got >= needed and total - got >= needed:
            rest = [branch for _, _, branch in branches[len(taken) :]]
            names = (center, joint) if keeps else (joint, center)
            return _join_at_center(tree, center, taken, names[0]), _join_at_center(tree, center, rest, names[1])
    return None


def _centroid(tree: Tree, units: Mapping[int, int], total: int) -> tuple[int, list[tuple[int, int, list[int]]]]:
    """Return the record whose largest branch is smallest, and its branches: units, first neighbor, records."""
    start = min(tree)
    order, above = [start], {start: start}
    for record in order:
        for other in tree[record]:
            if other != above[record]:
                above[other] = record
                order.append(other)
    size = {record: units.get(record, 0) for record in order}
    largest = dict.fromkeys(order, 0)
    for record in reversed(order[1:]):
        size[above[record]] += size[record]
        largest[above[record]] = max(largest[above[record]], size[record])
    center = min(order, key=lambda r: (max(largest[r], total - size[r]), r))
    branches = []
    for first in tree[center]:
        branch, seen = [first], {center, first}
        for record in branch:
            more = [other for other in tree[record] if other not in seen]
            seen.update(more)
            branch += more
        branches.append((sum(units.get(record, 0) for record in branch), first, branch))
    return center, sorted(branches, key=lambda b: (-b[0], b[1]))


def _join_at_center(tree: Tree, center: int, branches: list[list[int]], name: int) -> Tree:
    """Return a tree of some branches around their center, under another name."""
    found = {r: [name if other == center else other for other in tree[r]] for branch in branches for r in branch}
    return {**found, name: [branch[0] for branch in branches]}
