"""The first three phases of m-invariant re-publication: division, balancing and assignment.

Records are known by their row numbers; ``FAKE`` is a counterfeit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["FAKE", "Bucket", "assign", "balance", "deficiency", "divide"]

FAKE = -1

Signature = tuple[int, ...]
ByValue = dict[int, list[int]]


@dataclass
class Bucket:
    """Records whose classes will all have one signature: of every value of it equally many."""

    signature: Signature
    rows: ByValue = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """How many classes it will make."""
        return max(len(rows) for rows in self.rows.values())

    def thinned(self) -> None:
        """Remove counterfeits as long as every value has one: a class of nothing else is nobody's."""
        spare = min(rows.count(FAKE) for rows in self.rows.values())
        for value, rows in self.rows.items():
            real = [row for row in rows if row != FAKE]
            self.rows[value] = real + [FAKE] * (len(rows) - len(real) - spare)


def divide(rows: Sequence[int], values: Mapping[int, int], signature: Mapping[int, Signature]) -> list[Bucket]:
    """Put the records of people who were published before into one bucket for each signature, in sorted order.

    Examples
    --------
    >>> divide([0, 1, 2], {0: 5, 1: 6, 2: 5}, {0: (5, 6), 1: (5, 6), 2: (5, 7)})[0].rows
    {5: [0], 6: [1]}
    """
    buckets: dict[Signature, Bucket] = {}
    for row in rows:
        own = signature[row]
        bucket = buckets.setdefault(own, Bucket(own, {value: [] for value in own}))
        bucket.rows[values[row]].append(row)
    return [buckets[own] for own in sorted(buckets)]


def deficiency(counts: Mapping[int, int], m: int) -> int:
    """How many records of other values are missing until no value has more than 1/m of all.

    Examples
    --------
    >>> deficiency({0: 3, 1: 1}, 2), deficiency({0: 2, 1: 2}, 2)
    (2, 0)
    """
    return max(0, m * max(counts.values(), default=0) - sum(counts.values()))


def balance(buckets: Sequence[Bucket], new: ByValue, m: int) -> None:
    """Fill every bucket until its values occur equally often: with newcomers that the others can spare, else fakes."""
    counts = {value: len(rows) for value, rows in new.items()}
    now = deficiency(counts, m)
    for bucket in buckets:
        depth = bucket.depth
        for value in bucket.signature:
            rows = bucket.rows[value]
            while len(rows) < depth:
                row = FAKE
                if counts.get(value):
                    counts[value] -= 1
                    then = deficiency(counts, m)
                    if then <= now:
                        now, row = then, new[value].pop(0)
                    else:
                        counts[value] += 1
                rows.append(row)


def assign(new: ByValue, m: int, domain: Sequence[int], *, fakes: bool) -> list[Bucket] | None:
    """Put newcomers into buckets of m values or more, the most frequent values first; None where that cannot be.

    Where a value has more than 1/m of them, counterfeits of the rarest values of the domain make up for it, if allowed.
    """
    left = {value: list(rows) for value, rows in new.items() if rows}
    missing = deficiency({value: len(rows) for value, rows in left.items()}, m)
    if missing and not (fakes and _forged(left, missing, domain, m)):
        return None
    buckets: dict[Signature, Bucket] = {}
    while left:
        chosen, amount = _next(left, m)
        if amount == 0:
            return None
        for signature in chosen:
            bucket = buckets.setdefault(signature, Bucket(signature, {value: [] for value in signature}))
            for value in signature:
                bucket.rows[value] += left[value][:amount]
                left[value] = left[value][amount:]
        left = {value: rows for value, rows in left.items() if rows}
    return [buckets[own] for own in sorted(buckets)]


def _forged(left: ByValue, missing: int, domain: Sequence[int], m: int) -> bool:
    """Add counterfeits until no value has more than 1/m; tell whether the domain has values enough."""
    if len(domain) < m:
        return False
    top = max(len(rows) for rows in left.values())
    while missing:
        rarest = min(domain, key=lambda value: (len(left.get(value, ())), value))
        left.setdefault(rarest, []).append(FAKE)
        missing -= 1
        assert len(left[rarest]) <= top
    return True


def _next(left: ByValue, m: int) -> tuple[list[Signature], int]:
    """Return the next signatures and how many records of each of their values they take.

    The rest must stay such that no value has more than 1/m of it. Of n records, with counts n1 >= n2 >= ..., taking a
    of each of the b most frequent values leaves max(n1 - a, n[b+1]) <= (n - a b) / m.
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
