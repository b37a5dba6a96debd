"""Values among everybody's possible records: who has too few of them changes places with somebody near.

A person's records are those of the crowds that the person is in, and everybody sees their values. Whoever has too few
different ones leaves one of these crowds for a crowd nearby that shows another value, and somebody of that crowd comes
instead, who loses nothing by it. Everybody stays in as many crowds, and every crowd keeps its record.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.table.stats import GroupStats, Histogram

__all__ = ["make_diverse"]

_ROUNDS = 8
_CROWDS = 400
"""Crowds around a person that are looked at."""


def make_diverse(
    problem: Problem, rows: IntArray, codes: IntArray, weights: IntArray, crowds: IntArray, drawn: IntArray
) -> IntArray | None:
    """Return crowds such that models of sensitive values hold for everybody; None where none were found.

    Parameters
    ----------
    problem : Problem
    rows : int64 array
        The source rows of the block's people.
    codes : int64 array
        People x quasi-identifiers.
    weights : int64 array
        What it costs that a crowd has one more value of a column.
    crowds : int64 array
        Crowds x k: people.
    drawn : int64 array
        Whose record each crowd has.
    """
    if not problem.model.histogram_keys():
        return crowds
    state = _State(problem, rows, codes, weights, crowds.copy(), drawn)
    everybody = np.arange(len(rows))
    for _ in range(_ROUNDS):
        bad = everybody[~state.satisfied(everybody)]
        for person in bad.tolist():
            state.move(person)
        if not len(bad):
            return state.crowds
    return state.crowds if state.satisfied(everybody).all() else None


class _State:
    """Crowds, and what they show to whom."""

    def __init__(
        self, problem: Problem, rows: IntArray, codes: IntArray, weights: IntArray, crowds: IntArray, drawn: IntArray
    ) -> None:
        self.problem, self.codes, self.weights, self.crowds, self.drawn = problem, codes, weights, crowds, drawn
        shown = rows[drawn]
        table = problem.table
        self.values = {key: table.code_column(key)[0][shown].astype(np.int64) for key in problem.model.histogram_keys()}
        order = np.argsort(crowds.reshape(-1), kind="stable")
        self.own = (order // crowds.shape[1]).reshape(crowds.shape)

    def _stats(self, own: IntArray) -> GroupStats:
        """The values that people see who are in these crowds: people x k."""
        n, width = own.shape
        owner, ones = np.repeat(np.arange(n), width), np.ones(n * width, dtype=np.int64)
        histograms = {
            key: Histogram.from_pairs(owner, values[own.reshape(-1)], ones, n, 1) for key, values in self.values.items()
        }
        return GroupStats(np.full(n, width, dtype=np.int64), 1, histograms)

    def satisfied(self, people: IntArray) -> BoolArray:
        """Which people see enough values."""
        return self.problem.model.satisfied(self._stats(self.own[people]), self.problem.reference)

    def _score(self, own: IntArray) -> FloatArray:
        """How well people who are in these crowds do, over all models of sensitive values."""
        stats, reference = self._stats(own), self.problem.reference
        members = [m for m in self.problem.model.members if m.histogram_keys()]
        return np.asarray(np.sum([np.minimum(m.score(stats, reference), m.bound) for m in members], axis=0))

    def _cost(self, people: IntArray) -> int:
        """What the cells of a crowd cost."""
        own = np.sort(self.codes[people], axis=0)
        return int(((own[1:] != own[:-1]).sum(axis=0) * self.weights).sum())

    def move(self, person: int) -> None:
        """Let a person change crowds with somebody, as cheaply as may be, until the values are enough."""
        while not self.satisfied(np.array([person]))[0]:
            now = self._score(self.own[[person]])[0]
            for crowd, other, instead in self._changes(person):
                mine, theirs = self.own[[person, instead]].copy()
                mine[mine == crowd], theirs[theirs == other] = other, crowd
                after = self._score(np.stack([mine, theirs]))
                if after[0] > now and after[1] >= self._score(self.own[[instead]])[0]:
                    break
            else:
                return
            self.own[person], self.own[instead] = mine, theirs
            self.crowds[crowd][self.crowds[crowd] == person] = instead
            self.crowds[other][self.crowds[other] == instead] = person

    def _changes(self, person: int) -> Iterator[tuple[int, int, int]]:
        """Yield a crowd to leave, one to join and who comes instead, the cheapest first."""
        own = self.own[person]
        left = [c for c in own.tolist() if self.drawn[c] != person]
        far = ((self.codes != self.codes[person]) * self.weights).sum(axis=1)
        near = np.argsort(far, kind="stable")[: _CROWDS // self.crowds.shape[1]]
        seen = {key: set(values[own].tolist()) for key, values in self.values.items()}
        found = []
        for other in dict.fromkeys(self.own[near].reshape(-1).tolist()):
            new = any(values[other] not in seen[key] for key, values in self.values.items())
            if not new or person in self.crowds[other]:
                continue
            for instead in self.crowds[other].tolist():
                if self.drawn[other] == instead:
                    continue
                joined = np.where(self.crowds[other] == instead, person, self.crowds[other])
                gain = self._cost(joined) - self._cost(self.crowds[other])
                for crowd in left:
                    if instead not in self.crowds[crowd]:
                        without = np.where(self.crowds[crowd] == person, instead, self.crowds[crowd])
                        cost = gain + self._cost(without) - self._cost(self.crowds[crowd])
                        found.append((cost, crowd, other, instead))
        for _, crowd, other, instead in sorted(found):
            yield crowd, other, instead
