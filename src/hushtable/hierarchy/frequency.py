"""Automatic groups for columns with very many values and no taxonomy.

Neighbors in the order of the values (UTF-8 for nominal columns) are merged into groups of about equal numbers of
records, on average ``fanout`` nodes into one, level by level up to the root: a rare value shares its group with
more others than a frequent one. A published group is named after the first and the last value that is published in
it, ``aachen..berlin``, or after its only one. So a label says that people in the release have these values, like the
ends of a published interval. Values that only suppressed records have appear in no label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import BoolArray, IntArray
from hushtable.hierarchy.build import Draft, Level, Recipe, sorted_leaves
from hushtable.hierarchy.naming import Ends
from hushtable.io.text import to_labels
from hushtable.params import AtLeast
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    from hushtable.hierarchy.spans import Below

_ODD = r'^[."]|\.\.|\.$'
"""Values that could make two different groups look the same."""
_ENDS = re.compile(r'("(?:[^"]|"")*"|(?:[^.]|\.(?!\.))+?)\.\.("(?:[^"]|"")*"|.+)', re.DOTALL)


@dataclass(frozen=True)
class Frequency(Recipe):
    """Merge neighboring values into groups with balanced numbers of records.

    Parameters
    ----------
    fanout : int
        Average number of nodes that are merged into one of the next level.

    Examples
    --------
    >>> towns = pa.array(["bonn", "aachen", "celle", "dessau"])
    >>> counts = np.array([9, 1, 8, 2])
    >>> coded = Frequency(fanout=2).code(towns, Kind.NOMINAL, missing=False, column="town", counts=counts)
    >>> coded.labels[1]
    ('aachen..bonn', 'celle..dessau')
    """

    fanout: Annotated[int, AtLeast(2), "average number of nodes merged into one of the next level"] = 4

    name: ClassVar[str] = "frequency"
    in_a_policy: ClassVar[str] = "{frequency: 4}"
    shorthand: ClassVar[str] = "fanout"

    def below(self, labels: Sequence[str], column: str) -> list[Below | None]:
        """Return ranges: the published values between the first and the last; for ordered columns, all values between.

        Examples
        --------
        >>> Frequency().below(["aachen..bonn"], "town")[0][0][:3]
        ('aachen', 'bonn', True)
        """
        return [_ends(label) for label in labels]

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Group the values, then the groups, until one is left."""
        leaves, weights = sorted_leaves(values, kind, counts, column)
        naming = Ends("{}..{}", quoted=_ODD)
        text = pa.array(naming.quote(to_labels(leaves).to_pylist()), pa.string())
        starts = np.arange(len(leaves), dtype=np.int64)
        levels: list[Level] = []
        while len(starts) > self.fanout:
            group = _balanced(weights, -(-len(starts) // self.fanout))
            opens = np.diff(group, prepend=-1) != 0
            starts, weights = starts[opens], np.add.reduceat(weights, np.flatnonzero(opens))
            levels.append(_named(starts, text))
        return Draft.over(leaves, levels, naming, in_order=True)


def _balanced(weights: IntArray, n_groups: int) -> IntArray:
    """Return which of n_groups equal shares of the total contains the middle of each weight; non-decreasing."""
    if not weights.any():
        weights = np.ones_like(weights)
    ends = np.cumsum(weights)
    total = int(ends[-1])
    middles = 2 * ends - weights
    if 2 * total * n_groups >= 2**63:
        middles = middles.astype(object)
    shares: IntArray = (middles * n_groups // (2 * total)).astype(np.int64)
    return shares


def _named(starts: IntArray, text: pa.Array) -> Level:
    lasts = np.append(starts[1:], len(text)) - 1
    first, last = text.take(pa.array(starts)), text.take(pa.array(lasts))
    single: BoolArray = starts == lasts
    labels = pc.if_else(pa.array(single), first, pc.binary_join_element_wise(first, last, ".."))
    opens = np.zeros(len(text), dtype=np.int64)
    opens[starts] = 1
    return Level.of(np.cumsum(opens) - 1, labels)


def _ends(label: str) -> Below | None:
    from hushtable.hierarchy.spans import Span

    found = _ENDS.fullmatch(label)
    if found is None:
        return None
    first, last = (end[1:-1].replace('""', '"') if end.startswith('"') else end for end in found.groups())
    return (Span(first, last, closed=True, text=label),)
