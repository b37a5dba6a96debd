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
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray, mask_of
from hushtable.errors import NotFound
from hushtable.linked.links import Links
from hushtable.linked.recoding import EventColumn, Levels, RecodedEvents
from hushtable.linked.settle import settle
from hushtable.table.coins import Coins

SAMPLE = 4_000
"""Number of people in the sample of classes."""

TRIES = 24
"""Maximum number of choices of levels to try."""

ROUNDS = 1
"""Rounds of counting combinations when choices are compared."""


@dataclass(frozen=True)
class LinkedOutcome:
    """Generalized events, and which of them are dropped."""

    recoded: RecodedEvents
    dropped: BoolArray

    def loss(self, links: Links) -> float:
        """Return the loss, by the weights of the tables: 0 is none, 1 is everything."""
        return event_loss(links, np.where(self.dropped, 1.0, self.recoded.loss))


def event_loss(links: Links, loss: FloatArray) -> float:
    """Return the mean loss of each table's events, averaged by the weights of the tables."""
    total = weights = 0.0
    for name in links.quasi:
        rows = links.tables[name].num_rows
        if rows:
            weight = links.policy.tables[name].weight
            total += weight * float(loss[links.offsets[name] :][:rows].mean())
            weights += weight
    return total / weights if weights else 0.0


def recode_events(
    links: Links,
    columns: Mapping[str, Sequence[EventColumn]],
    classes: IntArray,
    chosen: Levels,
    coins: Coins,
    rounds: int | None = None,
) -> LinkedOutcome:
    """Generalize events as chosen, and drop those that still identify someone; with ``rounds``, most of them."""
    recoded = RecodedEvents.of(links, columns, classes, chosen)
    return LinkedOutcome(recoded, settle(links, classes, recoded.cells, recoded.dropped, coins, rounds))


def choose_levels(
    links: Links,
    columns: Mapping[str, Sequence[EventColumn]],
    classes: IntArray,
    start: Levels,
    coins: Coins,
) -> tuple[Levels, float]:
    """Return the choice with the least loss on a sample of classes, and its loss.

    Hill climbing from ``start``: takes every step that helps, until none does.
    """
    part, own, label = _sample(links, columns, classes, coins)
    known: dict[tuple[object, ...], float] = {}

    def loss(levels: Levels) -> float:
        key = (levels.enough, *sorted(levels.floors.items()))
        if key not in known:
            try:
                known[key] = recode_events(part, own, label, levels, coins, ROUNDS).loss(part)
            except NotFound:
                known[key] = np.inf
        return known[key]

    best, least, better = start, loss(start), True
    while better:
        better = False
        for move in _moves(columns):
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


def _sample(
    links: Links, columns: Mapping[str, Sequence[EventColumn]], classes: IntArray, coins: Coins
) -> tuple[Links, dict[str, list[EventColumn]], IntArray]:
    """Return some whole classes, with their people and events."""
    sizes = np.bincount(classes)
    order = np.argsort(coins.words("sample of classes", len(sizes)), kind="stable")
    before = np.cumsum(sizes[order]) - sizes[order]
    people = mask_of(order[before < SAMPLE], len(sizes))[classes]
    if people.all():
        return links, {name: list(own) for name, own in columns.items()}, classes
    everything = np.ones(links.n_events, dtype=np.bool_)
    own = {name: [c.only(people[links.person[name]]) for c in given] for name, given in columns.items()}
    return links.only(everything, people), own, np.unique(classes[people], return_inverse=True)[1].astype(np.int64)
