"""What was added or taken away between two releases: groups of people whose values follow by subtraction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.ledger.common import coded_releases
from hushtable.ledger.describe import Described
from hushtable.ledger.difference import candidates, difference, first_values, left_over, remainders
from hushtable.ledger.entry import Entry
from hushtable.ledger.exchange import Side, exchanges, told_before
from hushtable.ledger.trace import Traces, record_units
from hushtable.ledger.values import own_codes
from hushtable.table.stats import GroupStats, Key

__all__ = ["Rest", "rests"]

Rest: TypeAlias = tuple[GroupStats, BoolArray, Callable[[IntArray], BoolArray]]
"""Groups of people, which of them count, and how to find the records of some."""


def rests(now: Described, earlier: Sequence[Entry], traces: Traces, key: Key, unit: int) -> Iterator[Rest]:
    """Find groups of people whose values follow by subtracting those of other people in two releases.

    Parameters
    ----------
    now : Described
        The new release.
    earlier : sequence of Entry
    traces : Traces
        Of all those releases.
    key : Key
        The sensitive (or joint) column.
    unit : int
        Units per person, for all releases.

    Yields
    ------
    groups, counted, records
        Values that the new release does not know have codes behind its own. A group does not count where values have
        changed in between, or where it left before and was known then.
    """
    sizes = [len(now.entry.values[now.entry.columns.index(name)]) for name in key]
    own = own_codes(now, traces, key, sizes)
    entries, last = [*earlier, now.entry], len(earlier)
    classes, units = traces.classes, record_units(traces, entries, unit)
    coded = coded_releases(now.entry, earlier, key, sizes, unit)
    held = {
        e: release.classes for e, release in enumerate(coded) if release is not None and release.classes is not None
    }
    known = {e: first_values(classes_of, math.prod(sizes)) for e, classes_of in held.items()}
    sides = {
        e: Side(classes[:, e], units[:, e], h, _whole(entries[e], units[:, e], classes[:, e], unit))
        for e, h in held.items()
    }
    for e in sorted(held.keys() - {last}):
        for at, other in ((last, e), (e, last)):
            here, there = classes[:, at], classes[:, other]
            found = remainders(here, there, entries[at].counterfeits, entries[other].counterfeits)
            if found:
                sound = difference(key, known[at], known[other], found)[1]
                yield difference(key, held[at], held[other], found)[0], sound, partial(left_over, here, there, found)
        (came, new), (left, gone) = exchanges(sides[last], sides[e], own)
        yield candidates(key, came), np.ones(len(came), dtype=np.bool_), partial(np.isin, new)
        told = np.zeros(len(left), dtype=np.bool_)
        for f in held.keys() - {e, last} if len(left) else ():
            told |= told_before((left, gone), exchanges(sides[e], sides[f])[0])
        yield candidates(key, left), ~told, partial(np.isin, gone)


def _whole(entry: Entry, units: IntArray, at: IntArray, unit: int) -> BoolArray:
    """Tell which classes have no counterfeits, and all records of their people."""
    people, values = np.zeros(entry.n_classes, dtype=np.int64), np.zeros(entry.n_classes, dtype=np.int64)
    np.add.at(people, at[at >= 0], units[at >= 0])
    np.add.at(values, entry.entry_class, entry.entry_units * (unit // entry.unit))
    return np.asarray((entry.counterfeits == 0) & (people == values))
