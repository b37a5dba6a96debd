"""Values that the new release does not know: people whom it leaves out may have them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hushtable.ledger.common import coded_releases
from hushtable.ledger.entry import Entry
from hushtable.table.reference import Reference
from hushtable.table.stats import Key

__all__ = ["widened"]


def widened(reference: Reference, now: Entry, earlier: Sequence[Entry], key: Key, unit: int) -> Reference | None:
    """Return the whole table with further values of a column, as often as an earlier release has them.

    None where values have an order, categories or a hierarchy: the further ones have no place in it.
    """
    attribute = reference.attribute(key)
    if attribute.ordered or attribute.categories is not None or attribute.levels or not attribute.whole:
        return None
    sizes = [len(now.values[now.columns.index(name)]) for name in key]
    n = math.prod(sizes)
    coded = [
        c.classes for c in coded_releases(now, earlier, key, sizes, unit) if c is not None and c.classes is not None
    ]
    further = np.zeros(max(int(hist.values.max(initial=0)) for hist in coded) + 1 - n, dtype=np.int64)
    for hist in coded:
        count = np.zeros(n + len(further), dtype=np.int64)
        np.add.at(count, hist.values, hist.units)
        further = np.maximum(further, count[n:])
    names = [f"\0 further {i}" for i in range(len(further))] if len(attribute.labels) else []
    # in the releases' common unit: a product of two kinds of units would not fit into 64 bits
    wide = replace(
        attribute,
        labels=(*attribute.labels, *names),
        units=np.append(attribute.units * (unit // attribute.unit), further),
        unit=unit,
    )
    return replace(reference, attributes={**reference.attributes, key: wide})
