"""The exact algorithm: the fewest suppressed events, by trying. For very small tables, and as a test of the greedy one.

Whatever makes a failing combination hold or disappear takes an event of it from somebody who matches it: as long as all
of them keep it, the people who match are the same. So a search that tries each of these events, with the least loss
first, finds the optimum.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from itertools import count

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.errors import NotFound
from hushtable.linked.greedy import Outcome, event_loss
from hushtable.linked.links import Links
from hushtable.linked.recoding import EventColumn, Levels, Recoded
from hushtable.linked.settle import part_of

__all__ = ["fewest_dropped"]

MOST_STATES = 20_000
"""Sets of events that are looked at before giving up."""


def fewest_dropped(
    links: Links, columns: Mapping[str, list[EventColumn]], classes: IntArray, levels: Levels, lots: IntArray
) -> Outcome:
    """Generalise as chosen, and drop the events that lose least so that the promise holds.

    Parameters
    ----------
    links, columns, classes, levels
        As for ``recode_events``.
    lots : int64 array
        A secret number for each event. They decide between equally good sets: with models of sensitive values, nobody
        may foresee the choice.

    Raises
    ------
    NotFound
        If the tables are too large to try.
    """
    recoded = Recoded.of(links, columns, classes, levels)
    start = ~links.alive(recoded.dropped)
    number = count()
    queue = [(_lost(links, recoded, start), next(number), start)]
    seen = {start.tobytes()}
    while queue:
        _, _, dropped = heapq.heappop(queue)
        failing = _failing(links, classes, recoded, dropped)
        if failing is None:
            return Outcome(recoded, dropped)
        for event in failing[np.argsort(lots[failing], kind="stable")].tolist():
            more = dropped.copy()
            more[event] = True
            more = ~links.alive(more)
            if more.tobytes() not in seen:
                seen.add(more.tobytes())
                heapq.heappush(queue, (_lost(links, recoded, more), next(number), more))
        if len(seen) > MOST_STATES:
            raise NotFound(f"The tables are too large to try everything: {links.n_events} events.",
                           hint="Write 'algorithm: greedy'.")  # fmt: skip
    raise NotFound("A class of people fails a model before any event is known.", hint="Raise 'crowd'.")


def _lost(links: Links, recoded: Recoded, dropped: BoolArray) -> float:
    return event_loss(links, np.where(dropped, 1.0, recoded.loss))


def _failing(links: Links, classes: IntArray, recoded: Recoded, dropped: BoolArray) -> IntArray | None:
    """Return the events of one failing combination, of all people who match it; None if none fails."""
    nodes, events, promise = part_of(links, classes, recoded.cells, ~dropped)
    _, good = promise.judge_classes(events)
    if not good.all():
        # people with other events than anybody else, who are known altogether: any of their events, or of those who
        # might become like them
        return nodes[events.source]
    for found in promise.judge(events):
        if len(found.rows):
            rows = found.rows
            items = events.item[rows]
            same = (items == items[0]).all(axis=1)
            if events.nested or not promise.fixed:
                # events that hang on the known ones have a say
                return nodes[events.source]
            mine = np.isin(events.item, items[0]) & np.isin(events.person, events.person[rows[same][:, 0]])
            return nodes[events.source[mine]]
    return None
