"""m-invariant republication: people keep the distinct values of their class; counterfeits fill the gaps.

There are four phases, after Xiao and Tao. *Division*: everyone who was published before goes to the bucket of their
signature, the set of sensitive values of their earlier class. *Assignment*: newcomers form buckets of at least m
values, the most frequent first. *Partitioning*: buckets are cut along quasi-identifiers into smaller ones.
*Balancing*: a bucket's records are dealt to classes with one record of each value; if a value has too few records,
counterfeits are added.

The adversary knows all this, so secret coins make every choice that involves a value: which records with a value go
to a bucket, where it is cut among equally good positions, who shares a class, and which classes have counterfeits. So
every exchange of values that respects the signatures is as likely as the truth, and an adversary's confidence in
anyone's value is at most 1/m. For that reason, the algorithm differs from the paper:

- Newcomers do not fill the buckets of others. A person drawn to fill one would be more likely to have the rarer value.
- Newcomers are first divided into regions by quasi-identifiers alone, and form buckets within them. If more than 1/m
  of a region's records share a value, it is merged with its neighbor; otherwise it is merged with probability 1/4. So
  merging changes an adversary's odds by a factor of at most 4 for each level of the tree, as with the minimality
  guard.
- If there are few newcomers, or more than 1/m of them share a value, each gets a separate class, with counterfeits of
  all other values of the value's *block*. Blocks divide the values based on public information, so that no value
  makes up more than 1/m of its block, and a class reveals only the block. A person who was alone at first stays
  alone, so that no later release reveals who has the same value.
- A person whose value has changed is known not to have a value of the old signature, and is alone in a block of the
  others.

A counterfeit has the cells of its class and one of its values, so it looks like a record. The number of counterfeits
is not published.

Limits: where regions had to be merged, beliefs may exceed 1/m. An adversary can tell that more than 1/m of the
newcomers share a value. Anyone who learns one person's value from elsewhere learns something about people who have
shared a class with that person.

Classes are published with a number, because their cells overlap and may coincide: the number shows which values
belong together. A person whose quasi-identifiers fit several classes is in one of them, and no value is more likely
than in the worst of those. So models that do not survive merging are refused, unless they declare ``mixes``. m is the
smallest group that the models allow; if they require more than m distinct values (entropy, for example), it grows. If
no model uses a sensitive column, records are grouped by m in sorted order.

If no m fits a first release, records are dealt as by ``anatomy``, up to a single class. People with several records
have no signature.

When to use
-----------
For tables that are republished regularly, with a ledger of earlier releases.

When not
--------
For a single release: classes are based on sensitive values first and on quasi-identifiers second, so their cells are
wider than mondrian's. If the table must not contain invented records.

Cost
----
One sort of all records for each of at most log2(n/m) halvings.

References
----------
X. Xiao, Y. Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Reads, Recoding
from hushtable.algorithms.bucket.deal import deal_until
from hushtable.algorithms.cluster.blocks import cut_blocks
from hushtable.algorithms.earlier import Counterfeits, Earlier
from hushtable.algorithms.pairing import pair_up
from hushtable.algorithms.trim import trim
from hushtable.arrays import BoolArray, FloatArray, IntArray, inverted, run_places, scattered
from hushtable.errors import IncompatibleError, NotFound
from hushtable.kernels.grouping import group_rows
from hushtable.models.base import Monotone, Stat
from hushtable.models.compose import AllOf
from hushtable.table.coins import Coins
from hushtable.table.stats import GroupStats, Histogram

# Buckets of m-invariant republication: records whose classes all have one signature, and how they become classes.
#
# Records are identified by row number; ``FAKE`` is a counterfeit. Rows are given in secret order, and every other
# draw comes from coins, so that all assignments of a class's values to its people are equally likely.


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

    Every bucket has the same number of records of each of its values, so it needs no counterfeits.
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

    In the rest, no value may make up more than 1/m. If n records have counts n1 >= n2 >= ..., taking a records of each
    of the b most frequent values leaves max(n1 - a, n[b+1]) <= (n - a b) / m.
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


_GROWTH = 1.25
"""Factor by which m grows if the models require more."""

_REGION = 16
"""Maximum number of records in a region for each of the m values; a quarter of it for cut buckets."""

_FEW = 8
"""With fewer newcomers for each of the m values, each gets a separate class."""

_EXTRA = 0.25
"""Probability of merging two regions unnecessarily."""


@dataclass(frozen=True)
class MInvariant(Algorithm):
    """People keep the distinct values of their class across releases; counterfeits fill the gaps.

    Examples
    --------
    >>> MInvariant().values()
    {}
    """

    name: ClassVar[str] = "m-invariant"
    recoding: ClassVar[Recoding] = Recoding.NUMBERED
    reads_sensitive: ClassVar[Reads] = Reads.COINS
    keeps_signatures: ClassVar[bool] = True

    def check(self, model: AllOf, suppression: float) -> None:
        """Refuse models that overlapping classes would violate, and those that count people outside the table."""
        for member in model.members:
            if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
                raise IncompatibleError(
                    f"{member.name} counts people outside the table, and classes of {self.name} overlap.",
                    hint="Choose an algorithm that divides space, such as mondrian.",
                )
            if Monotone.MERGE not in member.monotone and not member.mixes:
                raise IncompatibleError(
                    f"Classes of {self.name} overlap, and {member.name} does not survive merging.",
                    hint="Choose an algorithm that divides space, such as mondrian.",
                )

    def run(self, problem: Problem) -> Partition:
        """Make classes; see the module's docstring."""
        if problem.earlier is not None:
            return self._continued(problem, problem.earlier)
        order = problem.secret_order
        rows = order[order < problem.table.n_sample]
        found = self._first(problem, rows) if problem.model.histogram_keys() else self._sorted(problem, rows)
        if found is None:
            raise self.not_found(problem)
        return found

    def _sorted(self, problem: Problem, rows: IntArray) -> Partition | None:
        """Group neighbors in sorted order, in growing groups."""
        size = float(problem.model.min_group_size())
        while True:
            groups = max(1, int(len(rows) / size))
            labels = scattered(np.arange(len(rows)) * groups // len(rows), rows, problem.table.n_rows)
            if _fits(problem, labels, groups, None):
                return Partition(labels, groups)
            if groups == 1:
                return None
            size = max(size * _GROWTH, size + 1)

    def _first(self, problem: Problem, rows: IntArray) -> Partition | None:
        """Make the first release: unique values if they fit, otherwise values dealt evenly."""
        key = _joint(problem)
        codes, _ = problem.table.code_column(key)
        m = float(max(problem.model.min_group_size(), 2))
        distinct = len(np.unique(codes[rows]))
        while m <= distinct:
            problem.progress(m / (2 * distinct), "assigning")
            kept = _eligible(codes, rows, int(m), problem)
            buckets = _in_regions(problem, codes, kept, int(m))
            if buckets is not None:
                found = _partition(problem, buckets, key)
                if _fits(problem, found.labels, found.n_groups, found.counterfeits):
                    return found
            m = max(m * _GROWTH, m + 1)
        keep = trim(problem)
        return None if keep is None else deal_until(problem, rows[keep[rows]], codes[rows[keep[rows]]].astype(np.int64))

    def _continued(self, problem: Problem, earlier: Earlier) -> Partition:
        """Make a later release that keeps signatures."""
        table = problem.table
        if table.unit > 1:
            raise NotFound(
                f"{self.name} keeps the signatures of people, and some people have several records.",
                hint="Publish one record per person, or remove 'ledger' from the policy.",
            )
        codes, size = table.code_column(earlier.key)
        rows = _order(problem, earlier)
        own, left, apart = earlier.of_row[rows], earlier.left[rows], earlier.alone[rows]
        known, new = rows[(own >= 0) & ~apart].tolist(), rows[(own < 0) & (left < 0)]
        values = dict(zip(rows.tolist(), codes[rows].tolist(), strict=True))
        positions = [c.positions[c.codes.astype(np.int64)] for c in table.quasi]
        coins, m = problem.coins.purse(self.name), max(problem.model.min_group_size(), 2)
        signature = {r: earlier.signatures[earlier.of_row[r]] for r in rows[own >= 0].tolist()}
        buckets = []
        for i, bucket in enumerate(divide(known, values, signature)):
            buckets += halve(bucket, positions, m * _REGION // 4, coins, f"bucket {i}/")
        problem.progress(0.3, "assigning")
        for row in rows[(own >= 0) & apart].tolist():
            buckets += alone([row], values, [signature[row]])
        shares = _public_shares(earlier, own, size)
        for number in np.unique(left[left >= 0]).tolist():
            # a changed value is not in the old signature
            others = [v for v in range(size) if v not in earlier.signatures[number]]
            buckets += alone(rows[left == number].tolist(), values, _enough(self, blocks(others, shares, m), m))
        more = _in_regions(problem, codes, new, m) if len(new) >= m * _FEW else None
        if more is None:
            more = list(alone(new.tolist(), values, _enough(self, blocks(range(size), shares, m), m)))
        found = _partition(problem, [*buckets, *more], earlier.key)
        if not _fits(problem, found.labels, found.n_groups, found.counterfeits):
            raise NotFound(
                f"{self.name} cannot both keep the signatures of earlier releases and satisfy "
                f"{', '.join(m.name for m in problem.model.members)}.",
                hint="Use no stricter models than the earlier releases did.",
            )
        forged = 0 if found.counterfeits is None else len(found.counterfeits)
        return replace(found, notes={"people_kept": int((own >= 0).sum()), "counterfeits": forged})


def _joint(problem: Problem) -> tuple[str, ...]:
    """All sensitive columns that models use, as one."""
    named = {name for key in problem.model.histogram_keys() for name in key}
    return tuple(c.name for c in problem.table.sensitive if c.name in named)


def _by_value(codes: IntArray, rows: IntArray) -> ByValue:
    found: ByValue = {}
    for row, value in zip(rows.tolist(), codes[rows].tolist(), strict=True):
        found.setdefault(value, []).append(row)
    return found


def _eligible(codes: IntArray, rows: IntArray, m: int, problem: Problem) -> IntArray:
    """Suppress records with values that exceed 1/m of the table, within the budget, the last rows first."""
    values, place = np.unique(codes[rows], return_inverse=True)
    counts = np.bincount(place, minlength=len(values))
    cap = int(counts.max())
    while cap and m * cap > int(np.minimum(counts, cap).sum()):
        cap -= 1
    order = np.argsort(place, kind="stable")
    surplus = run_places(place[order])[inverted(order)] >= cap
    return rows if int(problem.table.units_of(rows[surplus]).sum()) > problem.budget else rows[~surplus]


def _order(problem: Problem, earlier: Earlier) -> IntArray:
    """Return the sample's rows in secret order; equal records with different signatures count as distinct."""
    table = problem.table
    ties = table.tie_rank() if callable(table.tie_rank) else table.tie_rank
    ties = np.zeros(table.n_sample, dtype=np.int64) if ties is None else ties[: table.n_sample]
    kinds = np.unique([ties, *earlier.known(table.n_sample)], axis=1, return_inverse=True)[1]
    table = replace(table, tie_rank=kinds.reshape(-1).astype(np.int64))
    order = table.canonical_order
    order = order[np.argsort(problem.coins.lots(table)[order], kind="stable")]
    return order[order < table.n_sample]


def _enough(algorithm: MInvariant, signatures: list[tuple[int, ...]], m: int) -> list[tuple[int, ...]]:
    """Return signatures, or raise an error if one has fewer than m values."""
    if not signatures or min(map(len, signatures)) < m:
        raise NotFound(
            f"{algorithm.name} needs {m} distinct sensitive values for newcomers and for people whose value has "
            "changed, and knows too few.",
            hint="Name all values of the sensitive column in the policy ('categories' or 'order').",
        )
    return signatures


def _public_shares(earlier: Earlier, own: IntArray, size: int) -> FloatArray:
    """Frequencies of values according to earlier releases: all values of a signature are equally likely."""
    shares = np.ones(size)
    for number, people in enumerate(np.bincount(own[own >= 0], minlength=len(earlier.signatures)).tolist()):
        signature = np.array(earlier.signatures[number], dtype=np.int64)
        shares[signature] += people / len(signature)
    return shares


def _in_regions(problem: Problem, codes: IntArray, rows: IntArray, m: int) -> list[ValueBucket] | None:
    """Assign records to buckets within regions; None if a value makes up more than 1/m of all records."""
    if not len(rows):
        return []
    block = cut_blocks(problem.table, rows, _REGION * m)
    n = int(block.max()) + 1
    regions = GroupStats(
        np.bincount(block, minlength=n),
        histograms={("value",): Histogram.from_pairs(block, codes[rows].astype(np.int64), np.ones_like(block), n, 1)},
    )

    def satisfied(groups: GroupStats) -> BoolArray:
        hist = groups.histogram(("value",))
        return np.asarray(m * hist.max(hist.units) <= groups.units)

    united = pair_up(regions, satisfied, _EXTRA, problem.coins.purse("m-invariant regions"))
    if united is None:
        return None
    order, offsets = group_rows(united[block], int(united.max()) + 1)
    buckets: list[ValueBucket] = []
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        found = assign(_by_value(codes, rows[order[begin:end]]), m)
        if found is None:
            return None
        buckets += found
    return buckets


def _partition(problem: Problem, buckets: list[ValueBucket], key: tuple[str, ...]) -> Partition:
    coins = problem.coins.purse("m-invariant classes")
    labels = np.full(problem.table.n_rows, -1, dtype=np.int64)
    fakes: list[tuple[int, int]] = []
    n = 0
    for turn, bucket in enumerate(buckets):
        made = deal(bucket, coins, str(turn))
        number = n + np.repeat(np.arange(len(made), dtype=np.int64), made.shape[1]).reshape(made.shape)
        real = made != FAKE
        labels[made[real]] = number[real]
        value = np.broadcast_to(np.array(bucket.signature), made.shape)
        fakes += zip(number[~real].tolist(), value[~real].tolist(), strict=True)
        n += len(made)
    return Partition(labels, n, counterfeits=_counterfeits(problem, sorted(fakes), key))


def _counterfeits(problem: Problem, fakes: list[tuple[int, int]], key: tuple[str, ...]) -> Counterfeits | None:
    if not fakes:
        return None
    table = problem.table
    bare = [*(c.name for c in table.sensitive if c.name not in key), *table.ranked]
    if bare:
        raise IncompatibleError(
            "Earlier releases require counterfeits, which have cells in quasi-identifiers and in the sensitive columns "
            f"of the models only, and none in {' and '.join(map(repr, bare))}.",
            hint="Give these columns the role 'drop'. If one of them is sensitive, protect it with a model, "
            "and write equal values in the same way.",
        )
    code = np.array([value for _, value in fakes], dtype=np.int64)
    codes: dict[str, IntArray] = {}
    for name in reversed(key):
        size = table.attribute_size((name,))
        codes[name], code = code % size, code // size
    return Counterfeits(np.array([group for group, _ in fakes], dtype=np.int64), codes)


def _fits(problem: Problem, labels: IntArray, groups: int, counterfeits: Counterfeits | None) -> bool:
    """Whether every group, and the table of them, satisfies the models."""
    model, reference = problem.model, problem.reference
    stats = problem.table.stats_of(labels, groups, model.histogram_keys())
    if counterfeits is not None:
        stats = _with(stats, counterfeits, problem)
    return bool(model.satisfied(stats, reference).all() and model.table_satisfied(stats, reference)[0])


def _with(stats: GroupStats, counterfeits: Counterfeits, problem: Problem) -> GroupStats:
    """Add the counterfeits' values, but no people."""
    histograms = {}
    for key, hist in stats.histograms.items():
        code = np.zeros(len(counterfeits), dtype=np.int64)
        for name in key:
            code = code * problem.table.attribute_size((name,)) + counterfeits.codes[name]
        histograms[key] = Histogram.from_pairs(
            np.concatenate([hist.groups, counterfeits.groups]),
            np.concatenate([hist.values, code]),
            np.concatenate([hist.units, np.full(len(code), hist.unit, dtype=np.int64)]),
            len(hist),
            hist.unit,
        )
    return replace(stats, histograms=histograms)
