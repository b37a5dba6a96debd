"""Who is farthest from a centroid that moves slowly.

Records are sorted by their distance from where the centroid was some time ago, the farthest first. A record's distance
from today's centroid is at most that distance plus the centroid's drift, so a query ends as soon as this is below the
best found. Once queries have cost about as much as sorting again, the list is sorted again. Equal records are listed
once: the lowest number among them wins every tie.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.kernels.metric import distance, plain_distance

__all__ = ["outermost", "reach"]

SLACK = 1.0 + 1e-12
"""Roundings of distances and drift cannot add up to more than this."""


def reach(points: Any, alive: Any, lead: Any, stop: Any, origin: Any, metric: Any, key: Any, run: Any) -> Any:
    """Fill ``key`` and ``run`` with the distance of every run of equal records that has one left; return how many."""
    n, plain = 0, metric.plain
    for r in range(len(lead)):
        p = lead[r]
        while p < stop[r] and not alive[p]:
            p += 1
        lead[r] = p
        if p < stop[r]:
            key[n] = np.sqrt(plain_distance(points, p, origin) if plain else distance(points, p, origin, metric))
            run[n] = r
            n += 1
    return n


def outermost(
    points: Any,
    alive: Any,
    lead: Any,
    stop: Any,
    key: Any,
    run: Any,
    head: Any,
    origin: Any,
    before: Any,
    metric: Any,
) -> Any:
    """Return the farthest record from ``origin``, its squared distance, entries looked at, where living ones begin.

    ``key`` are the distances from ``before`` (one row), in descending order.
    """
    drift = np.sqrt(distance(before, 0, origin, metric))
    best, enough, winner = -1.0, -1.0, np.int64(-1)
    at, plain = head, metric.plain
    while at < len(key) and (key[at] + drift) * SLACK >= enough:
        r = run[at]
        p = lead[r]
        while p < stop[r] and not alive[p]:
            p += 1
        lead[r] = p
        if p < stop[r]:
            here = plain_distance(points, p, origin) if plain else distance(points, p, origin, metric)
            if here > best or (here == best and p < winner):
                best, enough, winner = here, np.sqrt(here), p
        elif at == head:
            head += 1
        at += 1
    return winner, best, at - head, head
