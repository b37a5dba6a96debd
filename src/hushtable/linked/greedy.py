"""The greedy algorithm, for tables of any size: choose how coarse people and events become by the loss.

People are divided into classes by their attributes. Within a class, events are generalized until enough of them are
equal, and dropped if they still identify someone. Small classes keep attributes and lose events; large ones keep events
and lose attributes. The size of classes, the lowest level of each column and the number of events that must show a node
are tried on a sample of classes. The best choice has the least loss by the weights of the tables.

References
----------
M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008. G. Poulis, G.
Loukides, A. Gkoulalas-Divanis, S. Skiadopoulos, "Anonymizing data with relational and transaction attributes", ECML
PKDD 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from hushtable.arrays import mask_of
from hushtable.errors import NotFound
from hushtable.linked.recoding import EventColumn, Levels, LinkedProblem, RecodedEvents
from hushtable.linked.settle import settle

SAMPLE = 4_000
"""Number of people in the sample of classes."""

TRIES = 24
"""Maximum number of choices of levels to try."""

ROUNDS = 1
"""Rounds of counting combinations when choices are compared."""


def recode_events(problem: LinkedProblem, chosen: Levels, rounds: int | None = None) -> RecodedEvents:
    """Generalize events as chosen, and drop those that still identify someone; with ``rounds``, most of them."""
    recoded = RecodedEvents.of(problem, chosen)
    return replace(recoded, dropped=settle(problem, recoded, rounds))


def choose_levels(problem: LinkedProblem, start: Levels) -> tuple[Levels, float]:
    """Return the choice with the least loss on a sample of classes, and its loss.

    Hill climbing from ``start``: takes every step that helps, until none does.
    """
    sample = _sample(problem)
    known: dict[tuple[object, ...], float] = {}

    def loss(levels: Levels) -> float:
        key = (levels.enough, *sorted(levels.floors.items()))
        if key not in known:
            try:
                known[key] = recode_events(sample, levels, ROUNDS).mean_loss(sample.links)
            except NotFound:
                known[key] = np.inf
        return known[key]

    best, least, better = start, loss(start), True
    while better:
        better = False
        for move in _moves(problem.columns):
            # a step that helped is tried again
            while len(known) < TRIES and (step := move(best)) is not None and loss(step) < least:
                best, least, better = step, loss(step), True
    return best, least


def _moves(columns: Mapping[str, Sequence[EventColumn]]) -> Iterator[Callable[[Levels], Levels | None]]:
    """Yield steps from one choice to the next: a column coarser or finer, more or fewer events for a node."""
    for name, own in columns.items():
        for column in own:
            for by in (1, -1):
                yield partial(_moved, (name, column.column.name), by, column.height)
    yield lambda levels: replace(levels, enough=levels.enough * 2)
    yield lambda levels: replace(levels, enough=levels.enough // 2) if levels.enough > 1 else None


def _moved(key: tuple[str, str], by: int, height: int, levels: Levels) -> Levels | None:
    floor = levels.floors.get(key, 0) + by
    return replace(levels, floors={**levels.floors, key: floor}) if 0 <= floor <= height else None


def _sample(problem: LinkedProblem) -> LinkedProblem:
    """Return some whole classes, with their people and events."""
    links, classes = problem.links, problem.classes
    sizes = np.bincount(classes)
    order = np.argsort(problem.coins.words("sample of classes", len(sizes)), kind="stable")
    before = np.cumsum(sizes[order]) - sizes[order]
    people = mask_of(order[before < SAMPLE], len(sizes))[classes]
    if people.all():
        return problem
    everything = np.ones(links.n_events, dtype=np.bool_)
    own = {name: [c.only(people[links.person[name]]) for c in given] for name, given in problem.columns.items()}
    label = np.unique(classes[people], return_inverse=True)[1].astype(np.int64)
    return replace(problem, links=links.only(everything, people), columns=own, classes=label)
