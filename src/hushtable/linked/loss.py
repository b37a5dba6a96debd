"""The information loss of a linked release, table by table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.linked.greedy import LinkedOutcome
from hushtable.linked.links import Links
from hushtable.linked.recoding import EventColumn

__all__ = ["losses", "order_kept"]


def losses(links: Links, columns: Mapping[str, list[EventColumn]], outcome: LinkedOutcome) -> dict[str, Any]:
    """Return, table by table, how many events are kept, how general they are and how much of their order is left.

    ``kept``: share of the events that are published. ``generality``: mean over the published events, from 0 (exact) to
    1 (says nothing). ``levels``: share of the table's events that each column publishes at each level of its hierarchy,
    exact values first. ``order_kept``: share of a person's consecutive events with different dates for which the
    published dates still show which came first.
    """
    found: dict[str, Any] = {"suppressed": float(outcome.dropped.mean()) if len(outcome.dropped) else 0.0}
    tables = found["tables"] = {}
    for name in links.policy.events:
        rows = links.tables[name].num_rows
        gone = outcome.dropped[links.offsets[name] :][:rows]
        entry: dict[str, Any] = {"events": rows, "kept": 1 - float(gone.mean()) if rows else 1.0}
        tables[name] = entry
        own, levels = columns.get(name) or [], outcome.recoded.levels.get(name) or []
        if not rows or not own:
            continue
        loss = outcome.recoded.loss[links.offsets[name] :][:rows]
        entry["generality"] = float(loss[~gone].mean()) if not gone.all() else 0.0
        entry["levels"] = {
            column.column.name: (np.bincount(level[~gone], minlength=column.height + 1) / rows).tolist()
            for column, level in zip(own, levels, strict=True)
        }
        for column, level in zip(own, levels, strict=True):
            if column.column.coded.kind.ordered:
                entry["order_kept"] = order_kept(links.person[name], column, level, gone)
                break
    return found


def order_kept(person: IntArray, column: EventColumn, levels: AnyArray, gone: BoolArray) -> float:
    """Return the share of consecutive events of a person whose order the published cells still show."""
    codes = column.column.codes.astype(np.int64)
    order = np.lexsort((codes, person))
    one, two = order[:-1], order[1:]
    pairs = (person[one] == person[two]) & (codes[one] != codes[two])
    # a month and the year around it differ, but do not say which came first: compare at the coarser level
    nodes, coarser = np.stack(column.shown[0]), np.maximum(levels[one], levels[two])
    told = pairs & (nodes[coarser, codes[one]] != nodes[coarser, codes[two]]) & ~gone[one] & ~gone[two]
    return float(told.sum() / pairs.sum()) if pairs.any() else 1.0
