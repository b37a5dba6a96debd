"""Buckets of m-invariant republication: records whose classes all have one signature, and how they become classes.

Records are identified by row number; ``FAKE`` is a counterfeit. Rows are given in secret order, and every other draw
comes from coins, so that all assignments of a class's values to its people are equally likely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.table.coins import Coins

__all__ = ["FAKE", "ValueBucket", "alone", "assign", "blocks", "deal", "divide", "eligible", "halve"]

FAKE = -1

_SPARED = 16
"""Minimum number of people for each counterfeit that cutting a bucket costs."""

Signature = tuple[int, ...]
ByValue = dict[int, list[int]]


@dataclass
class ValueBucket:
    """Records by value; every class takes one of each, or a counterfeit if there are too few."""

    signature: Signature
    rows: ByValue = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Number of classes it will make."""
        return max(map(len, self.rows.values()))


def divide(rows: Sequence[int], values: Mapping[int, int], signature: Mapping[int, Signature]) -> list[ValueBucket]:
    """Put the records of people who were published before into one bucket for each signature, in sorted order.

    Examples
    --------
    >>> divide([0, 1, 2], {0: 5, 1: 6, 2: 5}, {0: (5, 6), 1: (5, 6), 2: (5, 7)})[0].rows
    {5: [0], 6: [1]}
    """
    buckets: dict[Signature, ValueBucket] = {}
    for row in rows:
        own = signature[row]
        bucket = buckets.setdefault(own, ValueBucket(own, {value: [] for value in own}))
        bucket.rows[values[row]].append(row)
    return [buckets[own] for own in sorted(buckets)]


def eligible(counts: Sequence[int], m: int) -> bool:
    """Whether no value makes up more than 1/m of all records.

    Examples
    --------
    >>> eligible([3, 1], 2), eligible([2, 2], 2)
    (False, True)
    """
    return m * max(counts, default=0) <= sum(counts)


def assign(new: ByValue, m: int) -> list[ValueBucket] | None:
    """Put newcomers into buckets of at least m values, the most frequent values first; None if that is impossible.

    Every bucket has equally many records of each of its values, so it needs no counterfeits.
    """
    left = {value: list(rows) for value, rows in new.items() if rows}
    if not eligible([len(rows) for rows in left.values()], m):
        return None
    buckets: dict[Signature, ValueBucket] = {}
    while left:
        chosen, amount = _next(left, m)
        if amount == 0:
            return None
        for signature in chosen:
            bucket = buckets.setdefault(signature, ValueBucket(signature, {value: [] for value in signature}))
            for value in signature:
                bucket.rows[value] += left[value][:amount]
                left[value] = left[value][amount:]
        left = {value: rows for value, rows in left.items() if rows}
    return [buckets[own] for own in sorted(buckets)]


def blocks(values: Sequence[int], shares: FloatArray, m: int) -> list[Signature]:
    """Divide values into blocks of at least m, so that no value makes up more than 1/m of its block.

    The most frequent values come first. If a value makes up more than 1/m of all, there is one block.

    Examples
    --------
    >>> blocks(range(6), np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04]), 2)
    [(0, 1, 2), (3, 4, 5)]
    """
    found: list[list[int]] = []
    current: list[int] = []
    for value in sorted(values, key=lambda v: (-shares[v], v)):
        current.append(value)
        if len(current) >= m and m * shares[current[0]] <= shares[current].sum() + 1e-9:
            found.append(current)
            current = []
    if current and found:
        found[-1] += current
    elif current:
        found.append(current)
    return [tuple(sorted(block)) for block in found]


def alone(rows: Sequence[int], values: Mapping[int, int], signatures: Sequence[Signature]) -> Iterator[ValueBucket]:
    """Give each of these people a separate bucket, with the signature that contains their value.

    Signatures are a public division of the values. So a person's signature reveals only which part the value is in:
    every value of that part would give the same signature.
    """
    of_value = {value: signature for signature in signatures for value in signature}
    for row in rows:
        signature = of_value[values[row]]
        yield ValueBucket(signature, {value: [row] if value == values[row] else [] for value in signature})


def _next(left: ByValue, m: int) -> tuple[list[Signature], int]:
    """Return the next signatures and how many records of each of their values they take.

    In the rest, no value may make up more than 1/m. Of n records, with counts n1 >= n2 >= ..., taking a of each of
    the b most frequent values leaves max(n1 - a, n[b+1]) <= (n - a b) / m.
    """
    ranked = sorted(left, key=lambda value: (-len(left[value]), value))
    counts = [len(left[value]) for value in ranked]
    if counts[0] == counts[-1] and len(counts) >= m:
        # all equally frequent: cut the values into signatures at once
        cuts = [ranked[i : i + m] for i in range(0, len(ranked) - len(ranked) % m, m)]
        cuts[-1] += ranked[len(ranked) - len(ranked) % m :]
        return [tuple(sorted(cut)) for cut in cuts], counts[0]
    total = sum(counts)
    for b in range(m, len(counts) + 1):
        after = counts[b] if b < len(counts) else 0
        amount = min(counts[b - 1], (total - m * after) // b)
        if b > m:
            amount = min(amount, (total - m * counts[0]) // (b - m))
        if amount > 0:
            return [tuple(sorted(ranked[:b]))], amount
    return [], 0


def halve(bucket: ValueBucket, positions: Sequence[IntArray], depth: int, coins: Coins, name: str) -> list[ValueBucket]:
    """Cut a bucket along quasi-identifiers into buckets of about ``depth`` classes each, with few more counterfeits.

    A bucket is sorted along its widest quasi-identifier and cut in its middle half, at a position that coins draw
    from those where both parts together need the fewest classes. If that takes more than one counterfeit for
    ``_SPARED`` people, it is cut along the next widest, or not at all. The possible positions depend on how often
    values occur on both sides, not on which values they are.
    """
    if bucket.depth <= depth:
        return [bucket]
    place = {value: i for i, value in enumerate(bucket.signature)}
    rows = np.array([row for value in bucket.signature for row in bucket.rows[value]], dtype=np.int64)
    value = np.array([place[v] for v in bucket.signature for _ in bucket.rows[v]], dtype=np.int64)
    # equal places go by lot: rows come in secret order, value by value
    lots = np.argsort(np.argsort(coins.words(f"{name}/lots", len(rows)), kind="stable"), kind="stable")
    spans = [int(np.ptp(along[rows])) for along in positions]
    for j in sorted(range(len(positions)), key=lambda j: -spans[j]):
        if not spans[j]:
            break
        order = np.lexsort((lots, positions[j][rows]))
        below = np.cumsum(np.eye(len(place), dtype=np.int64)[value[order]], axis=0)
        parts = below.max(axis=1) + (below[-1] - below).max(axis=1)
        first, last = len(rows) // 4, len(rows) - len(rows) // 4
        least = int(parts[first : last - 1].min())
        if (least - bucket.depth) * len(place) * _SPARED > len(rows):
            continue
        fits = first + np.flatnonzero(parts[first : last - 1] == least)
        cut = int(fits[coins.below(f"{name}/cut", np.array([len(fits)]))[0]]) + 1
        halves = []
        for side, own in enumerate((order[:cut], order[cut:])):
            part = ValueBucket(bucket.signature, {v: [] for v in bucket.signature})
            for at in np.sort(own).tolist():
                part.rows[bucket.signature[int(value[at])]].append(int(rows[at]))
            halves += halve(part, positions, depth, coins, f"{name}{side}")
        return halves
    return [bucket]


def deal(bucket: ValueBucket, coins: Coins, name: str) -> IntArray:
    """Return the bucket's classes: one row of records for each, by value, with counterfeits placed by coins.

    Examples
    --------
    >>> deal(ValueBucket((5, 6), {5: [0, 1], 6: [2, 3]}), Coins(b""), "docs").tolist()
    [[0, 2], [1, 3]]
    """
    depth = bucket.depth
    made = np.full((depth, len(bucket.signature)), FAKE, dtype=np.int64)
    for i, value in enumerate(bucket.signature):
        rows = bucket.rows[value]
        if len(rows) < depth:
            at = np.argsort(coins.words(f"{name}/{i}", depth), kind="stable")[: len(rows)]
            made[np.sort(at), i] = rows
        else:
            made[:, i] = rows
    return made
