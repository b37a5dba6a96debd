"""The promise: an adversary who knows a person's attributes and a few of their events always finds a crowd.

A *combination* is a set of up to m published events of one person, at most as many of each table as the policy says.
Combinations differ by the class, by what each event shows and by how the events are related: two diagnoses of one stay
differ from two of different stays. The people who match are those of the class who have such events. Repeated events
count: an adversary who knows two of them matches people who have two. The order of events is known as far as the
published dates show it; the rows of a table have no other order.

Every model is evaluated on the people who match each combination, including the empty one. In sensitive columns of
events, a person has all values of their events, and counts once, for the value that most of the matching people have:
so a value that all of them have counts for all of them, no matter how many other values they have. An adversary who
knows an event can also look at the sensitive values of that very event, of the events that belong to it, of those it
belongs to, and of events of other tables that belong to the same one. Models are evaluated on those as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, permutations
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray, run_starts, scattered
from hushtable.errors import UsageError
from hushtable.kernels.subsets import EventRows, count_subsets, fill_subsets, judge_crowds
from hushtable.linked.events import Events, Lists, joint_codes
from hushtable.models.compose import AllOf
from hushtable.parallel import each
from hushtable.release.verify import Evidence
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram, Key

MOST_SUBSETS = 4_000_000_000
"""Maximum number of combinations to count: more would take hours."""

AT_ONCE = 1 << 21
"""Number of combinations that are counted together."""

MOST_CELLS = 1 << 23
"""Maximum number of combinations in a class for which each gets its own number, the fastest way to count."""

MANY = 200_000
"""Number of events at which pieces are counted on all cores."""


@dataclass(frozen=True)
class Sensitive:
    """The values of a sensitive column: each person's, and those of the rows linked with an event."""

    of_person: Lists
    of_event: Lists | None = None


@dataclass(frozen=True)
class Found:
    """The result of judging some combinations of events.

    Attributes
    ----------
    rows : int64 array
        The events of each failing combination of each person, one row per combination.
    kinds : int64 array
        A row for the tables that the events are of, as digits of one number to the base ``len(caps)``: how many
        different combinations, how many of them fail, and the fewest people who match one.
    """

    rows: IntArray
    kinds: IntArray


@dataclass(frozen=True)
class LinkedPromise:
    """What must hold for all combinations of events.

    Parameters
    ----------
    model : AllOf
    reference : Reference
    total : int
        How many events an adversary may know.
    caps : int64 array
        How many of each table.
    sensitive : mapping of Key to Sensitive
        The columns that the models use.
    """

    model: AllOf
    reference: Reference
    total: int
    caps: IntArray
    sensitive: Mapping[Key, Sensitive] = field(default_factory=dict)

    def judge_classes(self, events: Events) -> tuple[IntArray, BoolArray]:
        """Return the size of each class, and whether it satisfies every model if no event is known."""
        people = np.arange(len(events.classes), dtype=np.int64)
        return self._judge(events.classes, people, int(events.classes[-1]) + 1)

    def judge(self, events: Events, touched: BoolArray | None = None) -> Iterator[Found]:
        """Yield all combinations of one event, then of two, and so on, in pieces.

        Parameters
        ----------
        events : Events
        touched : bool array, optional
            Only combinations with one of these items.
        """
        for size in range(1, self.total + 1):
            yield from self.judge_size(events, size, touched)

    def judge_size(self, events: Events, size: int, touched: BoolArray | None = None) -> Iterator[Found]:
        """Yield the combinations of the given size, in pieces."""
        check_countable(events, self.caps, size)
        mark = np.ones(len(events.item), dtype=np.bool_) if touched is None else touched[events.item]
        small = np.zeros(len(events.classes), dtype=np.bool_)
        work: list[Callable[[], Found]] = []
        if size <= 2 and not self.sensitive and len(events.item):
            small, parts = _small_classes(events, size)
            rows = EventRows(events.starts, events.item, events.copy, events.table, self.caps, mark)
            above = np.stack(events.above) if events.nested else np.empty((0, 0), dtype=np.int64)
            most = int(np.bincount(events.classes).max())
            enough = np.append(False, self.model.satisfied(GroupStats(np.arange(1, most + 1)), self.reference))
            work = [partial(_judged, rows, events.classes, part, above, enough, size, cells) for part, cells in parts]
        pieces: Iterator[Callable[[], Found]] = iter(work)
        if not small.all():
            mark = mark & ~np.repeat(small, np.diff(events.starts))
            more = combinations(events, self.caps, size, mark)
            pieces = chain(work, (partial(self._found, events, piece) for piece in more))
        # small tables need no threads
        yield from each(_called, pieces) if len(events.item) > MANY else map(_called, pieces)

    @property
    def fixed(self) -> bool:
        """Whether dropping events leaves sensitive values unchanged."""
        return all(one.of_event is None for one in self.sensitive.values())

    def _found(self, events: Events, piece: Callable[[], IntArray]) -> Found:
        rows = piece()
        if not len(rows):
            return Found(rows, _kinds(len(self.caps) ** rows.shape[1]))
        items = events.item[rows]
        low = int(items.min())
        base = int(items.max()) - low + 1
        if not self.sensitive and not events.nested and base ** rows.shape[1] < 2**62:
            keys = _packed((items - low).T, base)
            groups, sizes = np.unique(keys, return_counts=True)
            good = self.model.satisfied(GroupStats(sizes), self.reference)
            bad = groups[~good]
            failing = np.zeros(len(keys), dtype=np.bool_)
            if len(bad):
                place = np.minimum(np.searchsorted(bad, keys), len(bad) - 1)
                failing = bad[place] == keys
            known = [groups // base**i % base + low for i in range(rows.shape[1] - 1, -1, -1)]
            return self._summed(rows[failing], sizes, good, [events.table_of[i] for i in known])
        ids, person = combination_ids(events, rows)
        where = np.unique(ids, return_index=True)[1]
        sizes, good = self._judge(ids, person, len(where))
        for i, stats, combination in self._event_stats(events, rows, ids):
            good[combination[~self.model.members[i].satisfied(stats, self.reference)]] = False
        return self._summed(rows[~good[ids]], sizes, good, events.table[rows[where]].T)

    def _summed(self, failing: IntArray, sizes: IntArray, good: BoolArray, tables: Iterable[AnyArray]) -> Found:
        """Return the results, summed by tables."""
        kinds = _kinds(len(self.caps) ** failing.shape[1])
        kind = _packed(tables, len(self.caps))
        kinds[:, 0] = np.bincount(kind, minlength=len(kinds))
        kinds[:, 1] = np.bincount(kind[~good], minlength=len(kinds))
        np.minimum.at(kinds[:, 2], kind, sizes)
        return Found(failing, kinds)

    def _judge(self, ids: IntArray, person: IntArray, n: int) -> tuple[IntArray, BoolArray]:
        """Return how many people are in each group, and whether the group satisfies every model."""
        ids, person = people_once(ids, person)
        sizes = np.bincount(ids, minlength=n).astype(np.int64)
        good = np.ones(n, dtype=np.bool_)
        for i, stats in self._stats(ids, person, sizes):
            good &= self.model.members[i].satisfied(stats, self.reference)
        return sizes, good

    def _stats(self, ids: IntArray, person: IntArray, sizes: IntArray) -> Iterator[tuple[int, GroupStats]]:
        """Yield the models' numbers with the groups that each judges, in which each person counts once."""
        for i, member in enumerate(self.model.members):
            stats = GroupStats(sizes)
            for key in member.histogram_keys():
                place, values = self.sensitive[key].of_person.of_each(person)
                stats = GroupStats(sizes, histograms={key: _votes(ids[place], person[place], values, len(sizes))})
            yield i, stats

    def rows(self, events: Events) -> Iterator[IntArray]:
        """Yield the events of all combinations, in pieces: each with all people who have them."""
        everything = np.ones(len(events.item), dtype=np.bool_)
        for size in range(1, self.total + 1):
            check_countable(events, self.caps, size)
            for piece in combinations(events, self.caps, size, everything):
                rows = piece()
                if len(rows):
                    yield rows

    def evidence(self, events: Events) -> tuple[Evidence, ...]:
        """Return what every model achieves for the worst combination, and how many violate it."""
        members = self.model.members
        worst: dict[int, list[float]] = {i: [] for i in range(len(members))}
        violations = [0] * len(members)

        def note(which: int, stats: GroupStats, *_: IntArray) -> None:
            worst[which].append(members[which].achieved(stats, self.reference))
            violations[which] += int(np.count_nonzero(~members[which].satisfied(stats, self.reference)))

        def note_people(ids: IntArray, person: IntArray) -> None:
            for found in self._stats(ids, person, np.bincount(ids).astype(np.int64)):
                note(*found)

        note_people(events.classes, np.arange(len(events.classes), dtype=np.int64))
        for rows in self.rows(events):
            ids, person = combination_ids(events, rows)
            note_people(*people_once(ids, person))
            for seen in self._event_stats(events, rows, ids):
                note(*seen)
        return tuple(
            Evidence(member.name, member.public_values(), member.sense, float(member.bound),
                     (min if member.sense == ">=" else max)(worst[i]), violations[i])
            for i, member in enumerate(members)
        )  # fmt: skip

    def _event_stats(self, events: Events, rows: IntArray, ids: IntArray) -> Iterator[tuple[int, GroupStats, IntArray]]:
        """Yield the models' numbers with groups of values of the known events, and the combination of each group."""
        known, ids = rows.T.ravel(), np.tile(ids, rows.shape[1])
        for i, member in enumerate(self.model.members):
            for key in member.histogram_keys():
                lists = self.sensitive[key].of_event
                if lists is None:
                    continue
                place, values = lists.of_each(known)
                if len(place):
                    # equal events of a combination are looked at together
                    own = joint_codes([ids[place], events.item[known[place]]])
                    person = np.searchsorted(events.starts, known[place], side="right") - 1
                    votes = _votes(own, person, values, int(own.max()) + 1)
                    stats = GroupStats(votes.sum(votes.units).astype(np.int64), histograms={key: votes})
                    yield i, stats, scattered(ids[place], own, len(stats))


def _called(work: Callable[[], Found]) -> Found:
    return work()


def _judged(*given: Any) -> Found:
    return Found(*judge_crowds(*given))


def _kinds(n: int) -> IntArray:
    found = np.zeros((n, 3), dtype=np.int64)
    found[:, 2] = 2**62
    return found


def _small_classes(events: Events, size: int) -> tuple[BoolArray, list[tuple[tuple[int, int], int]]]:
    """Return the people whose combinations can be numbered within memory, and ranges of such people, in pieces."""
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(events.classes)) + 1, [len(events.classes)]])
    rows = events.starts[bounds]
    some = np.flatnonzero(np.diff(rows))
    items = np.zeros(len(bounds) - 1, dtype=np.int64)
    high, low = (f.reduceat(events.item, rows[:-1][some]) for f in (np.maximum, np.minimum))
    items[some] = high - low + 1
    cells = items if size == 1 else np.minimum(items, 2**24) ** 2 * (len(events.above) + 1)
    small = cells <= MOST_CELLS
    effort = np.cumsum(np.add.reduceat(np.diff(events.starts) ** size, bounds[:-1]))
    group = joint_codes([effort // AT_ONCE, np.append(0, np.cumsum(np.diff(small)))])
    ends = np.flatnonzero(np.append(np.diff(group) != 0, True)) + 1
    begins = np.append(0, ends[:-1])
    pieces = [
        ((int(bounds[a]), int(bounds[b])), int(cells[a:b].max()))
        for a, b in zip(begins.tolist(), ends.tolist(), strict=True)
        if small[a] and rows[a] < rows[b]
    ]
    return np.repeat(small, np.diff(bounds)), pieces


def combinations(events: Events, caps: IntArray, size: int, mark: BoolArray) -> Iterator[Callable[[], IntArray]]:
    """Yield the events of combinations with a marked event, in pieces: each with all people who have them."""
    lean = np.flatnonzero(events.copy < caps[events.table])
    if not len(lean):
        return
    part = events if len(lean) == len(events.item) else events.keep(events.copy < caps[events.table])
    mark = mark[lean]
    shared = part.item, part.copy, part.table, caps
    counts = count_subsets(part.starts, *shared, size, mark)
    for people, first, total in _pieces(part, counts):
        yield partial(_filled, lean, part.starts, people, *shared, mark, first, total, size)


def combination_ids(events: Events, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return a number for each row of events, equal for equal combinations, and its person."""
    items = events.item[rows]
    columns = list((items - items.min()).T)
    if events.nested and rows.shape[1] > 1:
        # equal items may be related in different ways
        columns.append(_shape(events, rows, items))
    return joint_codes(columns), np.searchsorted(events.starts, rows[:, 0], side="right") - 1


def people_once(ids: IntArray, person: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of combination and person, each once, sorted."""
    count = int(person.max(initial=0)) + 1
    pairs = np.unique(ids * count + person)
    return pairs // count, pairs % count


def _filled(lean: IntArray, *given: Any) -> IntArray:
    return lean[fill_subsets(*given)]


def check_countable(events: Events, caps: IntArray, size: int) -> None:
    """Refuse more combinations than can be counted in time.

    Raises
    ------
    UsageError
    """
    before = np.concatenate([[0], np.cumsum(events.copy < caps[events.table])])
    n = np.diff(before[events.starts]).astype(np.float64)
    many = np.ones(len(n))
    for i in range(size):
        many *= np.maximum(n - i, 0) / (i + 1)
    if many.sum() > MOST_SUBSETS:
        busy = int(np.count_nonzero(many > many.sum() / 100))
        most = "one person has most of them" if busy == 1 else f"{busy:,} people have more than 1% of them each"
        raise UsageError(
            f"The people have about {many.sum():,.0f} combinations of {size} events, too many to count"
            f"{f'; {most}' if busy else ''}.",
            code="too-many-combinations",
            hint="Lower 'knows', give event columns a coarser hierarchy, or remove people with very many events.",
        )


def _pieces(events: Events, counts: IntArray) -> Iterator[tuple[tuple[int, int], tuple[int, int], int]]:
    """Yield ranges of people and of first items of limited size; a class is split only by items."""
    ends = np.append(np.flatnonzero(np.diff(events.classes)) + 1, len(events.classes))
    sums = np.concatenate([[0], np.cumsum(counts)])
    whole = (0, np.iinfo(np.int64).max)
    begin = 0
    while begin < len(counts):
        # as many classes as fit, at least one
        fits = ends[(ends > begin) & (sums[ends] - sums[begin] <= AT_ONCE)]
        end = int(fits[-1]) if len(fits) else int(ends[ends > begin][0])
        total = int(sums[end] - sums[begin])
        if total > AT_ONCE:
            rows = slice(int(events.starts[begin]), int(events.starts[end]))
            low, high = int(events.item[rows].min()), int(events.item[rows].max()) + 1
            step = max(1, (high - low) * AT_ONCE // total)
            for first in range(low, high, step):
                # at most all of the class; untouched memory costs nothing
                yield (begin, end), (first, min(first + step, high)), total
        elif total:
            yield (begin, end), whole, total
        begin = end


def _packed(digits: Iterable[AnyArray], base: int) -> IntArray:
    total: Any = 0
    for digit in digits:
        total = total * base + digit.astype(np.int64)
    return np.asarray(total)


def _shape(events: Events, rows: IntArray, items: IntArray) -> IntArray:
    """Return how the events are related; the order of equal items does not matter."""
    size = rows.shape[1]
    base = len(events.above) + 1
    relation = {(i, j): events.relation(rows[:, i], rows[:, j]) for i in range(size) for j in range(i)}
    best = np.full(len(rows), np.iinfo(np.int64).max)
    for order in permutations(range(size)):
        same = np.ones(len(rows), dtype=np.bool_)
        for i, j in enumerate(order):
            same &= items[:, i] == items[:, j]
        if same.any():
            code = np.zeros(len(rows), dtype=np.int64)
            for i, j in relation:
                a, b = order[i], order[j]
                code = code * base + relation[max(a, b), min(a, b)]
            best = np.where(same, np.minimum(best, code), best)
    return best


def _votes(groups: IntArray, person: IntArray, values: IntArray, n: int) -> Histogram:
    """Return a histogram in which each person counts for the one of their values that most people in the group have."""
    order = np.lexsort((person, values, groups))
    g, v, p = groups[order], values[order], person[order]
    once = run_starts(g, v, p)
    g, v, p = g[once], v[once], p[once]
    run = np.cumsum(run_starts(g, v)) - 1
    times = np.bincount(run)[run] if len(run) else run
    choice = np.lexsort((v, -times, p, g))
    g, v, p = g[choice], v[choice], p[choice]
    first = run_starts(g, p)
    g, v = g[first], v[first]
    return Histogram.from_pairs(g, v, np.ones(len(g), dtype=np.int64), n)
