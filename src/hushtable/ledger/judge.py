"""Whether a release may follow earlier ones: every promise is checked against all releases combined.

The adversary knows everybody's quasi-identifiers and who is in which release. Two things are checked for every *kind*
of people (see ``hushtable.ledger.kinds``):

1. **Identity.** Models that promise a group size count the people of a kind. That is complete: any combination of
classes of any releases is a union of kinds. 2. **Values.** Models with a sensitive column judge, by their own
``score``, how many people of a kind have each value on average over all worlds (see "Worlds" below). Which
values are possible is exact. So are the averages if worlds are counted; for large parts, they are those of the most
even table, an estimate.

The same is done for whole rows: columns that are published with a value, and that most people keep, reveal that a row
of one release is a row of another.

The promises are those of the new release, and those of every earlier one for the people who are in it. People in
the new release are judged by its promise; for others, and by earlier promises, only what the new release
breaks counts, not what was broken without it.

References
----------
S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray, mask_of, places_among
from hushtable.errors import IncompatibleError
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.kinds import History, PersonKinds, System
from hushtable.ledger.promise import Promise
from hushtable.ledger.search import IndependentPart, Limits, evened, expected, possible
from hushtable.ledger.trace import numbered
from hushtable.ledger.verdict import LedgerFinding, LedgerVerdict
from hushtable.models.base import PrivacyModel, Stat, Threat
from hushtable.models.compose import AllOf
from hushtable.table.people import PERSON_UNITS
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram, Key

_PARTS = PERSON_UNITS
"""Fractions of a person in which averages are counted: halves, thirds and so on are whole numbers of them."""


def check_judgeable(model: AllOf) -> None:
    """Refuse models that a ledger cannot check across releases: it stores no population and no beliefs."""
    for member in model.members:
        if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
            raise IncompatibleError(
                f"{member.name} counts people outside the table, which the ledger does not record.",
                code="ledger-model",
                hint="Remove that model, or check the combined releases in another way.",
            )
        if len(member.histogram_keys()) > 1:
            raise IncompatibleError(
                f"{member.name} uses several histograms at once, but the ledger checks one at a time.",
                code="ledger-model",
                hint="Set the model on its columns jointly.",
            )


def judge(
    now: Described, earlier: Sequence[Entry], promises: Sequence[Promise], *, limits: Limits | None = None
) -> LedgerVerdict:
    """Check a release together with earlier ones.

    Parameters
    ----------
    now : Described
        The new release.
    earlier : sequence of Entry
    promises : sequence of Promise
        Its own, and those of earlier releases.
    limits : Limits, optional
        Time limits.
    """
    history = History([*earlier, now.entry], now.own)
    case = _Case(history, limits or Limits(), promises)
    findings: list[LedgerFinding] = []
    for promise in promises:
        check_judgeable(promise.model)
        for member in promise.model.members:
            findings += _Question(case, promise, member).answered()
    # what several promises say is said once
    said = [f for i, f in enumerate(findings) if not any(_says(g, f) for g in findings[:i])]
    traces = history.traces
    present = traces.row >= 0
    known = present & (traces.classes[:, :-1] >= 0).any(axis=1)
    return LedgerVerdict(
        earlier=len(earlier),
        people=len(np.unique(traces.person[present])),
        known=len(np.unique(traces.person[known])),
        findings=tuple(said),
    )


def _says(one: LedgerFinding, other: LedgerFinding) -> bool:
    alike = all(getattr(one, name) == getattr(other, name) for name in ("model", "parameters", "how", "key"))
    return alike and one.people >= other.people and one.certain >= other.certain


@dataclass(frozen=True)
class _Left:
    """What the worlds of some releases allow for every kind, by values of the key.

    Attributes
    ----------
    kinds : PersonKinds
    average : Histogram
        Number of people of a kind with each value, in fractions of a person; as if there were at least as many people
        as values.
    values : int64 array, codes x columns
        The value of each code of ``average``, as the history numbers them.
    undecided : bool array
    """

    kinds: PersonKinds
    average: Histogram
    values: IntArray
    undecided: BoolArray


@dataclass(frozen=True)
class _Case:
    """All releases, and the results so far."""

    history: History
    limits: Limits
    promises: Sequence[Promise]
    found: dict[tuple[Key, int, int], _Left | None] = field(default_factory=dict)

    @property
    def last(self) -> int:
        return len(self.history.entries) - 1

    def left(self, columns: Key, key: int, upto: int) -> _Left | None:
        """Return what the first releases allow, computed once for all models of a column."""
        at = columns, key, upto
        if at not in self.found:
            kinds = self.history.kinds(columns, key, upto)
            self.found[at] = None if kinds is None else self._solved(kinds, columns[:key])
        return self.found[at]

    def _solved(self, kinds: PersonKinds, key: Key) -> _Left:
        worlds = solve(kinds.system, self.limits, lambda high: self._hopeless(kinds, key, high))
        return _averaged(kinds, len(key), worlds)

    def _hopeless(self, kinds: PersonKinds, key: Key, high: IntArray) -> BoolArray:
        """Return which kinds break a promise even if all their possible values were equally likely."""
        system, n = kinds.system, len(kinds.place)
        open_to = high > 0
        many = np.bincount(system.kind[open_to], minlength=len(system.size))
        even = np.where(open_to, (system.size / np.maximum(many, 1))[system.kind], 0.0)
        lost = np.zeros(len(system.size), dtype=np.bool_)
        left = _averaged(kinds, len(key), Worlds(even, np.zeros_like(lost)))
        for promise in self.promises:
            for member in promise.model.members:
                asked = _Question(self, promise, member)
                if asked.own and member.by_support and asked.key == key and promise.release < kinds.place.shape[1]:
                    lost[:n] |= (kinds.place[:, promise.release] >= 0) & asked.broken(left)[0]
        return lost

    @cached_property
    def crowds(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return each record's kind, a record of each, its people, and how many earlier releases left together."""
        traces = self.history.traces
        group, first = traces.groups
        people = traces.people(group, len(first))
        before = traces.people(traces.before, int(traces.before.max(initial=-1)) + 1)[traces.before[first]]
        return group, first, people, before


def _averaged(kinds: PersonKinds, key: int, worlds: Worlds) -> _Left:
    system, n = kinds.system, len(kinds.place)
    code, first = numbered(kinds.values[:, :key])
    cells = np.flatnonzero((system.kind < n) & (worlds.share > 0))
    kind = system.kind[cells]
    # a single person with two possible values counts as two people with one each
    people = np.maximum(system.size[:n], np.bincount(kind, minlength=n))
    share = worlds.share[cells] / system.size[kind]
    units = np.maximum(np.rint(share * people[kind] * _PARTS), 1).astype(np.int64)
    # what rounding leaves over goes to the rarest value, so that frequent ones keep their exact share
    rarest = np.lexsort((units, kind))
    rarest = rarest[np.flatnonzero(np.diff(kind[rarest], prepend=-1))]
    over = people[kind[rarest]] * _PARTS - np.bincount(kind, units, n).astype(np.int64)[kind[rarest]]
    units[rarest] = np.maximum(units[rarest] + over, 1)
    average = Histogram.from_pairs(kind, code[system.code[cells]], units, n, _PARTS)
    return _Left(kinds, average, kinds.values[first, :key], worlds.undecided[:n])


@dataclass(frozen=True)
class _Question:
    """Whether one model of a promise holds.

    Attributes
    ----------
    case : _Case
    promise : Promise
    member : PrivacyModel
        One of its models.
    linking : tuple of str
        Columns that link rows, in addition to those of the model.
    """

    case: _Case
    promise: Promise
    member: PrivacyModel
    linking: Key = ()

    @property
    def own(self) -> Key:
        """The columns of the model, with their names in its release; none if it only counts people."""
        return next(iter(self.member.histogram_keys()), ())

    @property
    def key(self) -> Key:
        """The same columns, with their names in the ledger."""
        return self.promise.calls(self.own)

    @property
    def mine(self) -> bool:
        """Whether the new release itself made the promise."""
        return self.promise.release == self.case.last

    def answered(self) -> Iterator[LedgerFinding]:
        """Check the people of every kind, and what the worlds allow: by the values alone, and by whole rows."""
        if not self.own and self.member.table_level:
            yield from self._whole_crowds()
        elif not self.own or Threat.IDENTITY in self.member.threats:
            yield from self._crowds()
        history = self.case.history
        for more in [(), *history.linking_columns(self.key)] if self.own else []:
            asked = replace(self, linking=more)
            # a class alone says what the release's own verifier has judged
            several = sum(bool({*self.key, *more} & set(entry.columns)) for entry in history.entries) >= 2
            left = asked._left(self.case.last + 1) if several else None
            if left is not None:
                yield from asked._table_values(left) if self.member.table_level else asked._values(left)

    def _whole_crowds(self) -> Iterator[LedgerFinding]:
        """Check the groups of a release together, for a model of the whole table."""
        traces, reference = self.case.history.traces, self.promise.reference
        group, first, people, _ = self.case.crowds
        about = traces.classes[first, self.promise.release] >= 0
        stats = GroupStats(people[about])
        there = traces.classes[:, self.promise.release] >= 0
        before = traces.people(np.where(there, traces.before, -1), int(traces.before.max(initial=-1)) + 1)
        if not self._holds(stats) and (self.mine or self._holds(GroupStats(before[before > 0]))):
            yield self._made(about[group], self._worst(self.member.score(stats, reference)), "crowd")

    def _holds(self, stats: GroupStats, reference: Reference | None = None) -> bool:
        return bool(self.member.table_satisfied(stats, reference or self.promise.reference)[0])

    def _crowds(self) -> Iterator[LedgerFinding]:
        """Check the people of every kind; for a model that also uses values, by its minimum group size."""
        group, first, people, before = self.case.crowds
        about = self.case.history.traces.classes[first, self.promise.release] >= 0
        apart = before > people
        # the new release is also judged for others whom it separates
        judged = np.flatnonzero(about | apart if self.mine else about & apart)
        stats, least = GroupStats(people[judged]), self.member.min_group_size()
        bad = people[judged] < least if self.own else ~self.member.satisfied(stats, self.promise.reference)
        if not bad.any():
            return
        hit = np.isin(group, judged[bad])
        if self.own:
            found = self._made(hit, float(people[judged][bad].min()), "crowd")
            yield replace(found, bound=f">= {least} people")
        else:
            score = self.member.score(stats.take(np.flatnonzero(bad)), self.promise.reference)
            yield self._made(hit, self._worst(score), "crowd")

    def _left(self, upto: int) -> _Left | None:
        """Return what the first releases allow."""
        return self.case.left((*self.key, *self.linking), len(self.key), upto)

    def _table_values(self, left: _Left) -> Iterator[LedgerFinding]:
        """Check what the worlds allow for the people of a release together, for a model of the whole table."""
        holds, worst = self._whole(left)
        then = None if self.mine or holds else self._left(self.case.last)
        if not holds and (then is None or self._whole(then)[0]):
            judged = left.kinds.place[:, self.promise.release] >= 0
            how = "undecided" if left.undecided[judged].any() else "values"
            yield self._made(self._records(left, judged), worst, how)

    def _whole(self, left: _Left) -> tuple[bool, float]:
        """Return whether the model holds for what the people of its release may have, and its score."""
        about = np.flatnonzero(left.kinds.place[:, self.promise.release] >= 0)
        stats, reference = self._in_codes(left, about)
        holds = self._holds(stats, reference) and not left.undecided[about].any()
        return holds, self._worst(self.member.score(stats, reference)) if len(about) else float("nan")

    def _values(self, left: _Left) -> Iterator[LedgerFinding]:
        """Check what the worlds allow for every kind."""
        present, about = (left.kinds.place[:, e] >= 0 for e in (self.case.last, self.promise.release))
        bad, certain, score = self.broken(left)
        # what the earlier releases already revealed does not count against the new one
        excused = ~present | (not self.mine)
        relevant = bad & (about | (~present & self.mine))
        if self.linking:
            # whose row has changed is not known: nobody is judged by rows who is together with such a one
            relevant &= ~self._unsure(left)
        if np.any(relevant & excused):
            relevant &= ~(excused & self._before(left, certain, score))
        for unknown, how in ((left.undecided, "undecided"), (~left.undecided, "values")):
            hit = relevant & unknown
            if hit.any():
                made = self._made(self._records(left, hit), self._worst(score[hit]), how)
                people = self.case.history.traces.person[self._records(left, hit & certain)]
                yield replace(made, certain=len(np.unique(people)))

    def broken(self, left: _Left) -> tuple[BoolArray, BoolArray, FloatArray]:
        """Return for which kinds the model fails or is undecided, whose value is certain, and all scores."""
        stats, reference = self._in_codes(left, np.arange(len(left.kinds.place)))
        # crowds are judged for themselves: what matters here are shares
        times = np.maximum(-(-self.member.min_group_size() * stats.unit // np.maximum(stats.units, 1)), 1)
        hist = stats.histogram(self.own)
        hist = replace(hist, units=hist.units * times[hist.groups])
        stats = GroupStats(stats.units * times, stats.unit, {self.own: hist})
        good, score = self.member.composed(stats, left.kinds.widest, reference), self.member.score(stats, reference)
        return ~good | left.undecided, (left.average.distinct() == 1) & ~left.undecided, score

    def _before(self, left: _Left, certain: BoolArray, score: FloatArray) -> BoolArray:
        """Return for which kinds the model also failed without the new release, and was no better."""
        then = self._left(self.case.last)
        if then is None or (self.mine and not len(then.kinds.place)):
            return np.zeros(len(left.kinds.place), dtype=np.bool_)
        bad, sure, old_score = self.broken(then)
        sign = 1.0 if self.member.sense == ">=" else -1.0
        now, old = left.kinds.place[:, : self.case.last], then.kinds.place
        number, first = numbered(np.concatenate([now, old]))
        mine, theirs, n = number[: len(now)], number[len(now) :], len(first)
        was, known = (np.bincount(theirs, some, n)[mine] > 0 for some in (bad & ~then.undecided, sure))
        best = np.full(n, -np.inf)
        np.maximum.at(best, theirs, sign * old_score)
        # scores of the same beliefs may differ in their last digits
        no_worse = (sign * score >= best[mine] - 1e-9 * np.abs(best[mine])) & (~certain | known)
        return np.asarray(was & no_worse & (now >= 0).any(axis=1))

    def _in_codes(self, left: _Left, some: IntArray) -> tuple[GroupStats, Reference]:
        """Return what some kinds may have in the codes of the promise's table, and that table.

        People who are not in the new release may have values that it does not know. They are counted as if its table
        contained each once: after all others if values have an order, right below the root of a hierarchy, and in the
        most sensitive category.
        """
        history, reference = self.case.history, self.promise.reference
        entry = history.entries[self.promise.release]
        code, known, n = np.zeros(len(left.values), dtype=np.int64), np.ones(len(left.values), dtype=np.bool_), 1
        for j, name in enumerate(self.key):
            values = entry.values[entry.columns.index(name)]
            numbers = history.numbers[name]
            mine = places_among([numbers[v] for v in values], len(numbers))[left.values[:, j]]
            known &= mine >= 0
            code, n = code * len(values) + mine, n * len(values)
        hist = left.average.take(some).relabel(np.where(known, code, n + np.cumsum(~known) - 1))
        total = hist.sum(hist.units)
        whole = np.rint(total / _PARTS) * _PARTS
        # averages are rounded; what differs from whole people by that is whole people
        people = np.where(np.abs(total - whole) < _PARTS // 1000, whole, total).astype(np.int64)
        if not known.all():
            more = reference.attribute(self.own).with_further(int((~known).sum()))
            reference = replace(reference, attributes={**reference.attributes, self.own: more})
        return GroupStats(people, hist.unit, {self.own: hist}), reference

    def _unsure(self, left: _Left) -> BoolArray:
        """Return which kinds share classes, in all releases with these columns, with a person whose row has changed."""
        history, columns, kinds = self.case.history, {*self.key, *self.linking}, left.kinds
        whole = [e for e, entry in enumerate(history.entries) if columns & set(entry.columns)]
        group, first = numbered(history.traces.classes[:, whole])
        changed = np.zeros(len(first), dtype=np.bool_)
        changed[group[np.bincount(kinds.record, minlength=len(group)) > 1]] = True
        return np.bincount(kinds.kind, changed[group[kinds.record]], len(kinds.place)) > 0

    def _records(self, left: _Left, kinds: BoolArray) -> BoolArray:
        """Return which records are of some kinds."""
        return mask_of(left.kinds.record[kinds[left.kinds.kind]], len(self.case.history.traces.person))

    def _worst(self, score: FloatArray) -> float:
        return float(score.min() if self.member.sense == ">=" else score.max())

    def _made(self, hit: BoolArray, worst: float, how: str) -> LedgerFinding:
        traces, member = self.case.history.traces, self.member

        def people(which: BoolArray) -> int:
            return len(np.unique(traces.person[hit & which]))

        there, before = traces.row >= 0, (traces.classes[:, :-1] >= 0).any(axis=1)
        return LedgerFinding(
            model=member.name, parameters=member.public_values(), how=how, people=people(np.ones_like(hit)),
            worst=worst, bound=f"{member.sense} {member.bound:.6g}", promised=self.promise.name,
            left=people(~there), came=people(there & ~before),
            columns=() if how == "crowd" else (*self.key, *self.linking), linking=self.linking,
            records=np.flatnonzero(hit),
        )  # fmt: skip


# Worlds: which values a kind of people can have, exactly, and how likely each is.
#
# Bounds come first: the people of a kind have as many values as their number, and so have those of a class, so the
# lower (upper) bounds of some leave the rest to the others. The open variables fall into independent parts. The
# worlds of a small part are counted (``hushtable.ledger.search``). For a larger one, integer solutions are searched
# (``hushtable.ledger.search``): which values occur in some world is then exact too, and their probabilities are taken
# from the most even table that satisfies all equations. A part that neither decides is undecided, and people in it
# are not accepted.


_TURNS = 200


@dataclass(frozen=True)
class Worlds:
    """What all worlds have in common.

    Attributes
    ----------
    share : float array
        Average number of people of its kind with the value of each variable; 0 if nobody has it in any world.
    undecided : bool array
        Which kinds are in a part that was not decided.
    """

    share: FloatArray
    undecided: BoolArray


def solve(system: System, limits: Limits, hopeless: Callable[[IntArray], BoolArray] | None = None) -> Worlds:
    """Find which values everybody can have.

    Parameters
    ----------
    system : System
    limits : Limits
        Time limits.
    hopeless : function, optional
        Returns which kinds break a model even if everything within their upper bounds is possible. Large parts
        with such kinds are not searched, and everything within the bounds is assumed to be possible in them.
    """
    low, high, sound = bounded(system)
    settled = np.where(low == high, low, 0)
    share = settled.astype(np.float64)
    # people without any value left are in no world
    undecided = np.bincount(system.kind, minlength=len(system.size)) == 0
    undecided[system.kind[~sound]] = True
    free = low < high
    if not free.any():
        return Worlds(share, _spread(system, undecided))
    open_people = system.size - np.bincount(system.kind, settled, len(system.size)).astype(np.int64)
    taken = np.bincount(system.row, system.weight * settled[system.cell], len(system.held))
    rest = system.held - taken.astype(np.int64)
    lost = np.zeros(len(system.size), dtype=np.bool_) if hopeless is None else hopeless(high)
    for cells, links in _parts(system, free):
        kinds, kind = np.unique(system.kind[cells], return_inverse=True)
        rows, row = np.unique(system.row[links], return_inverse=True)
        part = IndependentPart(
            open_people[kinds], kind, low[cells], high[cells],
            np.searchsorted(cells, system.cell[links]), row, system.weight[links], rest[rows],
        )  # fmt: skip
        found = _found(part, limits, bool(lost[kinds].any()))
        if found is None:
            # of those who break a model anyway, everything that the bounds leave is taken to be possible
            share[cells] = (part.open / np.bincount(kind, minlength=len(kinds)))[kind]
            undecided[kinds[~lost[kinds]]] = True
        else:
            share[cells] = found
    return Worlds(share, _spread(system, undecided))


def _found(part: IndependentPart, limits: Limits, lost: bool) -> FloatArray | None:
    found = expected(part, limits.steps)
    if found is None and not lost:
        occurs = possible(part, limits) if len(part.kind) <= limits.cells else None
        found = None if occurs is None else evened(part, occurs)
    return found if found is not None and found.any() else None


def bounded(system: System) -> tuple[IntArray, IntArray, BoolArray]:
    """Bound every variable, and return which of them contradict others."""
    kind, cell, row, weight = system.kind, system.cell, system.row, system.weight
    low = np.zeros(len(kind), dtype=np.int64)
    high = system.size[kind]
    np.minimum.at(high, cell, system.held[row] // weight)
    for _ in range(_TURNS):
        most, least = (np.bincount(kind, x, len(system.size)).astype(np.int64) for x in (high, low))
        new_low = np.maximum(low, system.size[kind] - most[kind] + high)
        new_high = np.minimum(high, system.size[kind] - least[kind] + low)
        up, down = (np.bincount(row, weight * x[cell], len(system.held)).astype(np.int64) for x in (new_high, new_low))
        room = new_low[cell] + (system.held - down)[row] // weight
        lack = new_high[cell] - (up - system.held)[row] // weight
        np.minimum.at(new_high, cell, room)
        np.maximum.at(new_low, cell, lack)
        if np.array_equal(new_low, low) and np.array_equal(new_high, high):
            break
        low, high = new_low, new_high
        if np.any(low > high):
            break
    return low, high, low <= high


def _parts(system: System, free: BoolArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the independent parts of the open variables, as variables and their positions in the equations."""
    cells, links = np.flatnonzero(free), np.flatnonzero(free[system.cell])
    label = _connected(system, links)[system.kind]
    cells = cells[np.argsort(label[cells], kind="stable")]
    links = links[np.argsort(label[system.cell[links]], kind="stable")]
    starts = np.unique(label[cells])[1:]
    ends = (np.searchsorted(own, starts) for own in (label[cells], label[system.cell[links]]))
    yield from zip(*map(np.split, (cells, links), ends), strict=True)


def _connected(system: System, links: IntArray) -> IntArray:
    """Label the kinds: kinds that share an equation have the same label."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(system.size)
    ends = (system.kind[system.cell[links]], n + system.row[links])
    graph = csr_array((np.ones(len(links), dtype=np.int8), ends), shape=2 * (n + len(system.held),))
    return np.asarray(connected_components(graph, directed=False)[1][:n], dtype=np.int64)


def _spread(system: System, undecided: BoolArray) -> BoolArray:
    """Mark kinds that share a class with a contradictory one as undecided too."""
    if not undecided.any():
        return undecided
    label = _connected(system, np.arange(len(system.cell)))
    return np.isin(label, np.unique(label[undecided]))
