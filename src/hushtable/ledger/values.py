"""Class histograms of several releases in one coding: that of the new release's sensitive columns.

Earlier releases hold keyed hashes of values. The new release's values have the same hashes, so that counts can be
compared without anybody's value being written down. Earlier values that the new release does not know have no code
here: nobody in it can have them. What others have of them is in ``hushtable.ledger.common``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.arrays import IntArray
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.trace import Traces
from hushtable.table.stats import Histogram, Key

__all__ = ["Counts", "codes_of", "counts_of", "histogram_of", "own_codes"]


@dataclass(frozen=True)
class Counts:
    """How often the classes of an earlier release hold combinations of values.

    Attributes
    ----------
    keys : int64 array
        ``class * span + combination``, ascending.
    units : int64 array
    span : int
    unit : int
    distinct : int64 array
        Different combinations of each class.
    """

    keys: IntArray
    units: IntArray
    span: int
    unit: int
    distinct: IntArray

    def find(self, classes: IntArray, combinations: IntArray) -> IntArray:
        """Return the units of these combinations in these classes; 0 where there are none."""
        wanted = classes * self.span + combinations
        place = np.searchsorted(self.keys, wanted)
        inside = np.minimum(place, max(len(self.keys) - 1, 0))
        found = (combinations >= 0) & (place < len(self.keys))
        if len(self.keys):
            found &= self.keys[inside] == wanted
        return np.where(found, self.units[inside] if len(self.keys) else 0, 0)


def codes_of(entry: Entry, key: Key, sizes: Sequence[int]) -> IntArray:
    """Return, for every entry of the new release's histogram, its code in a (joint) column."""
    code = np.zeros(len(entry.entry_class), dtype=np.int64)
    for name, size in zip(key, sizes, strict=True):
        code = code * size + entry.entry_values[:, entry.columns.index(name)]
    return code


def own_codes(now: Described, traces: Traces, key: Key, sizes: Sequence[int]) -> IntArray:
    """Return, for everybody's records, their own value of a (joint) column; -1 where the new release lacks them."""
    code = np.zeros(len(now.entry.classes), dtype=np.int64)
    for name, size in zip(key, sizes, strict=True):
        code = code * size + now.own[:, now.entry.columns.index(name)]
    return np.where(traces.row >= 0, np.append(code, -1)[traces.row], -1)


def histogram_of(entry: Entry, key: Key, sizes: Sequence[int], unit: int) -> Histogram:
    """Return the new release's classes by the values of a (joint) column."""
    units = entry.entry_units * (unit // entry.unit)
    return Histogram.from_pairs(entry.entry_class, codes_of(entry, key, sizes), units, entry.n_classes, unit)


def counts_of(earlier: Entry, now: Entry, key: Key, sizes: Sequence[int], unit: int) -> tuple[Counts, IntArray] | None:
    """Return the earlier release's counts, and the combination that each code of the (joint) column stands for.

    None where the earlier release has none of the columns. Where it has some of them, those are compared.
    """
    shared = [name for name in key if name in earlier.columns]
    if not shared:
        return None
    spans = [len(earlier.values[earlier.columns.index(name)]) for name in shared]
    combination = np.zeros(len(earlier.entry_class), dtype=np.int64)
    for name, span in zip(shared, spans, strict=True):
        combination = combination * span + earlier.entry_values[:, earlier.columns.index(name)]
    total = math.prod(spans)
    hist = Histogram.from_pairs(
        earlier.entry_class, combination, earlier.entry_units * (unit // earlier.unit), earlier.n_classes, unit
    )
    counts = Counts(hist.groups * total + hist.values, hist.units, total, unit, hist.distinct())
    return counts, _translation(earlier, now, key, sizes, shared, spans)


def _translation(
    earlier: Entry, now: Entry, key: Key, sizes: Sequence[int], shared: Sequence[str], spans: Sequence[int]
) -> IntArray:
    """Return the earlier combination of each of the new codes; -1 where there is none."""
    code = np.arange(math.prod(sizes), dtype=np.int64)
    parts: dict[str, IntArray] = {}
    for name, size in reversed(list(zip(key, sizes, strict=True))):
        parts[name] = code % size
        code = code // size
    out, known = np.zeros(math.prod(sizes), dtype=np.int64), np.ones(math.prod(sizes), dtype=np.bool_)
    for name, span in zip(shared, spans, strict=True):
        place = {value: at for at, value in enumerate(earlier.values[earlier.columns.index(name)])}
        mine = np.array([place.get(value, -1) for value in now.values[now.columns.index(name)]], dtype=np.int64)
        known &= mine[parts[name]] >= 0
        out = out * span + mine[parts[name]]
    return np.where(known, out, -1)
