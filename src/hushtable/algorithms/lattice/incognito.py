"""Incognito: all minimal nodes, subset by subset.

A node is minimal if it satisfies the models and no finer node does. Two properties of monotone models keep the search
small. Roll-up: if a node satisfies them, so do all coarser ones. Subset: if the levels of some columns violate the
models with the other columns fully generalized, so does every node with these levels. So the search visits subsets of
columns by size. A combination of levels is a candidate if all its smaller parts satisfied the models. Candidates are
evaluated breadth-first from the finest, and a satisfied one marks all coarser ones. The groups of a subset are rolled
up from its projection, not counted from records.

Only monotone models are accepted: without suppression, those that survive merging; with suppression, those that
survive adding any record (see ``monotone.py``). Others are refused before any work.

The minimal node with the lowest objective is published; the notes list all of them. Memory: one byte for every
combination of levels of every subset of the current and the last size. If there are too many, some sizes are skipped,
which costs time but does not change the result.

When to use
-----------
When you want all minimal generalizations, to choose among them by hand (``hushtable explore``).

When not
--------
For models that are not monotone (refused), with suppression limits, or with more than about nine columns.

Cost
----
Exponential in the number of quasi-identifiers.

References
----------
K. LeFevre, D. DeWitt, R. Ramakrishnan, "Incognito: efficient full-domain k-anonymity", SIGMOD 2005.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeAlias

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.full_domain import FullDomain, Goal
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.monotone import not_monotone
from hushtable.arrays import BoolArray, IntArray
from hushtable.errors import IncompatibleError
from hushtable.models.compose import AllOf

MOST_PARTS = 2**24
"""Maximum number of level combinations, over all subsets of one size, for a subset phase."""

Columns: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Incognito(FullDomain):
    """Finds all minimal nodes and publishes the cheapest.

    Parameters
    ----------
    objective : str
        Objective for choosing the published node among the minimal ones.

    Examples
    --------
    >>> Incognito(objective="discernibility").values()
    {'objective': 'discernibility'}
    """

    objective: Annotated[Goal, "objective for choosing among the minimal nodes"] = "loss"

    name: ClassVar[str] = "incognito"

    def check(self, model: AllOf, suppression: float) -> None:
        """Refuse models that are not monotone in the lattice."""
        refused = not_monotone(model, suppression=suppression > 0)
        if not refused:
            return
        names = ", ".join(m.name for m in refused)
        if suppression > 0 and not not_monotone(model, suppression=False):
            raise IncompatibleError(
                f"Incognito with a suppression limit needs models that survive adding records; {names} may not.",
                hint="Set 'suppression: 0', or choose 'optimal'.",
            )
        raise IncompatibleError(
            f"Incognito needs monotone models, and {names} may fail at a node coarser than a satisfied one.",
            hint="Choose 'optimal', which evaluates such models node by node.",
        )

    def run(self, problem: Problem) -> Partition:
        """Find all minimal nodes; see the module's docstring."""
        self.check(problem.model, problem.suppression)
        judge = Judge(problem, self.objective, self.fixed)
        self.enumerable(judge)
        minimal = _minimal(judge)
        if not len(minimal):
            raise self.not_found(problem)
        best = min((judge.again(node) for node in minimal), key=lambda v: (v.value, tuple(v.node)))
        notes = {"objective": self.objective, "value": best.value, "minimal_nodes": minimal.tolist()}
        return self.finish(judge, best, minimal, **notes)


def minimal_nodes(problem: Problem, fixed: Mapping[str, int] | None = None) -> IntArray:
    """Return all minimal nodes in lexicographic order, one per row, with a level per quasi-identifier.

    Raises
    ------
    IncompatibleError
        If a model is not monotone in the lattice.
    UsageError
        If the lattice has more nodes than can be enumerated.
    """
    algorithm = Incognito(fixed=fixed or {})
    algorithm.check(problem.model, problem.suppression)
    judge = Judge(problem, fixed=algorithm.fixed)
    algorithm.enumerable(judge)
    return _minimal(judge)


def _minimal(judge: Judge) -> IntArray:
    space = judge.space
    satisfied: dict[Columns, BoolArray] = {}
    for size in _sizes(judge):
        now: dict[Columns, BoolArray] = {}
        for columns in itertools.combinations(range(space.d), size):
            judge.problem.progress(size / (space.d + 1), f"subsets of {size} columns")
            now[columns] = _search(judge, columns, _candidates(judge, columns, satisfied))
        satisfied = now
    return np.argwhere(_without_finer(satisfied[tuple(range(space.d))])).astype(np.int64) + space.low


def _sizes(judge: Judge) -> Iterator[int]:
    """The subset sizes with few enough combinations of levels, and the number of all columns."""
    steps = [int(n) for n in judge.space.high - judge.space.low + 1]
    for size in range(1, len(steps)):
        if math.comb(len(steps), size) * math.prod(sorted(steps)[-size:]) <= MOST_PARTS:
            yield size
    yield len(steps)


def _candidates(judge: Judge, columns: Columns, satisfied: dict[Columns, BoolArray]) -> BoolArray:
    """Return the combinations of levels whose parts all satisfied the models."""
    steps = (judge.space.high - judge.space.low + 1)[list(columns)]
    out = np.ones(steps, dtype=np.bool_)
    size = len(next(iter(satisfied), ()))
    for part in itertools.combinations(columns, size) if size else ():
        shape = [int(n) if c in part else 1 for c, n in zip(columns, steps, strict=True)]
        out &= satisfied[part].reshape(shape)
    return out


def _search(judge: Judge, columns: Columns, candidate: BoolArray) -> BoolArray:
    """Return the combinations of levels that satisfy the models, breadth-first from the finest candidates."""
    space = judge.space
    index = list(columns)
    node = space.high.copy()
    node[index] = space.low[index]
    source = space.projection(node)
    satisfied = np.zeros(candidate.shape, dtype=np.bool_)
    places = np.argwhere(candidate)
    heights = places.sum(axis=1)
    for place in places[np.argsort(heights, kind="stable")]:
        if satisfied[tuple(place)]:
            continue
        judge.problem.progress(len(index) / (space.d + 1), f"subsets of {len(index)} columns")
        node[index] = space.low[index] + place
        if judge(node.copy(), source).fits:
            satisfied[tuple(slice(int(level), None) for level in place)] = True
    return satisfied


def _without_finer(satisfied: BoolArray) -> BoolArray:
    """Return the satisfied nodes that have no satisfied finer neighbor."""
    minimal = satisfied.copy()
    for axis in range(satisfied.ndim):
        coarser = [slice(None)] * satisfied.ndim
        finer = list(coarser)
        coarser[axis], finer[axis] = slice(1, None), slice(None, -1)
        minimal[tuple(coarser)] &= ~satisfied[tuple(finer)]
    return minimal
