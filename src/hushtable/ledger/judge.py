"""Whether a release may follow earlier ones: every promise, judged on what all releases tell together.

The adversary knows everybody's quasi-identifiers and who is in which release. Two things are judged, of every *kind*
of people (see ``hushtable.ledger.kinds``):

1. **Who.** Models that promise a crowd count the people of a kind. That is complete: any combination of classes of
   any releases is a union of kinds. 2. **What.** Models with a sensitive column judge, by their own ``score``, how
   many people of a kind have each value on average over all worlds (see ``hushtable.ledger.worlds``). Which values
   there are is exact. So are the averages where worlds are counted; of large parts they are those of the most even
   table, an estimate.

The same once more for whole rows: what is published beside a value, and most people keep, tells that a row of one
release is a row of another.

The promises are those of the new release, and those of every earlier one for the people who are in it. Whoever is in
the new release is judged by its promise; for others, and by earlier promises, what counts is what the new release
breaks: what was broken without it is not its fault.

References
----------
S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", 2008.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import IncompatibleError
from hushtable.kernels.grouping import number_rows
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.kinds import History, Kinds
from hushtable.ledger.promise import Promise
from hushtable.ledger.search import Limits
from hushtable.ledger.verdict import Finding, Verdict
from hushtable.ledger.worlds import Worlds, solve
from hushtable.models.base import PrivacyModel, Stat, Threat
from hushtable.models.compose import AllOf
from hushtable.table.people import PERSON_UNITS
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram, Key

__all__ = ["check_judgeable", "judge"]

_PARTS = PERSON_UNITS
"""Parts of a person that averages are counted in: halves, thirds and so on are whole numbers of them."""


def check_judgeable(model: AllOf) -> None:
    """Refuse models that a ledger cannot judge across releases: it keeps no population and no beliefs."""
    for member in model.members:
        if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
            raise IncompatibleError(
                f"{member.name} counts people outside the table; the ledger keeps no account of those.",
                code="ledger-model",
                hint="Leave that model out, or judge the releases together in another way.",
            )
        if len(member.histogram_keys()) > 1:
            raise IncompatibleError(
                f"{member.name} looks at several histograms at once; the ledger judges one at a time.",
                code="ledger-model",
                hint="Set the model on its columns jointly.",
            )


def judge(
    now: Described, earlier: Sequence[Entry], promises: Sequence[Promise], *, limits: Limits | None = None
) -> Verdict:
    """Judge a release together with earlier ones.

    Parameters
    ----------
    now : Described
        The new release.
    earlier : sequence of Entry
    promises : sequence of Promise
        Its own, and those of earlier releases.
    limits : Limits, optional
        How long it may take.
    """
    history = History([*earlier, now.entry], now.own)
    case = _Case(history, limits or Limits(), promises)
    findings: list[Finding] = []
    for promise in promises:
        check_judgeable(promise.model)
        for member in promise.model.members:
            if not member.histogram_keys():
                findings += _crowds(case, promise, member)
                continue
            if Threat.IDENTITY in member.threats:
                findings += _few(case, promise, member)
            findings += _values(case, promise, member)
    # what several promises say is said once
    said = [f for i, f in enumerate(findings) if not any(_says(g, f) for g in findings[:i])]
    traces = history.traces
    present = traces.row >= 0
    known = present & (traces.classes[:, :-1] >= 0).any(axis=1)
    return Verdict(
        earlier=len(earlier),
        people=len(np.unique(traces.person[present])),
        known=len(np.unique(traces.person[known])),
        findings=tuple(said),
    )


def _says(one: Finding, other: Finding) -> bool:
    alike = all(getattr(one, name) == getattr(other, name) for name in ("model", "parameters", "how", "key"))
    return alike and one.people >= other.people and one.certain >= other.certain


@dataclass(frozen=True)
class _Left:
    """What the worlds of some releases leave to every kind, by values of the key.

    Attributes
    ----------
    kinds : Kinds
    average : Histogram
        How many of a kind have each value, in parts of a person; of fewer people than values, as if there were as many.
    values : int64 array, codes x columns
        The value behind each code of ``average``, as the history numbers them.
    undecided : bool array
    """

    kinds: Kinds
    average: Histogram
    values: IntArray
    undecided: BoolArray


@dataclass(frozen=True)
class _Case:
    """All releases, and what was found out about them so far."""

    history: History
    limits: Limits
    promises: Sequence[Promise]
    found: dict[tuple[Key, int, int], _Left | None] = field(default_factory=dict)

    @property
    def last(self) -> int:
        return len(self.history.entries) - 1

    def left(self, columns: Key, key: int, upto: int) -> _Left | None:
        """Return what the first releases leave; it is found once for all models of a column."""
        at = columns, key, upto
        if at not in self.found:
            kinds = self.history.kinds(columns, key, upto)
            self.found[at] = None if kinds is None else self._solved(kinds, columns[:key])
        return self.found[at]

    def _solved(self, kinds: Kinds, key: Key) -> _Left:
        worlds = solve(kinds.system, self.limits, lambda high: self._hopeless(kinds, key, high))
        return self._averaged(kinds, len(key), worlds)

    def _hopeless(self, kinds: Kinds, key: Key, high: IntArray) -> BoolArray:
        """Tell which kinds break a promise even if everything that they might have were equally likely."""
        system, n = kinds.system, len(kinds.place)
        open_to = high > 0
        many = np.bincount(system.kind[open_to], minlength=len(system.size))
        even = np.where(open_to, (system.size / np.maximum(many, 1))[system.kind], 0.0)
        left = self._averaged(kinds, len(key), Worlds(even, np.zeros(len(system.size), dtype=np.bool_)))
        lost = np.zeros(len(system.size), dtype=np.bool_)
        for promise in self.promises:
            for member in promise.model.members:
                own = next(iter(member.histogram_keys()), ())
                if own and member.by_support and promise.calls(own) == key:
                    about = kinds.place[:, promise.release] >= 0 if promise.release < kinds.place.shape[1] else False
                    lost[:n] |= about & _broken(self, promise, member, own, key, left)[0]
        return lost

    def _averaged(self, kinds: Kinds, key: int, worlds: Worlds) -> _Left:
        system, n = kinds.system, len(kinds.place)
        sizes = [int(column.max(initial=0)) + 1 for column in kinds.values[:, :key].T]
        code, first = number_rows(list(kinds.values[:, :key].T), sizes)
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
        average = Histogram.from_pairs(system.kind[cells], code[system.code[cells]], units, n, _PARTS)
        return _Left(kinds, average, kinds.values[first, :key], worlds.undecided[:n])

    @cached_property
    def crowds(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """The kind of every record, a record of each, its people, and how many earlier releases left together."""
        traces = self.history.traces
        group, first = traces.groups
        people = traces.people(group, len(first))
        before = traces.people(traces.before, int(traces.before.max(initial=-1)) + 1)[traces.before[first]]
        return group, first, people, before


def _judged(case: _Case, promise: Promise) -> IntArray:
    """Return the crowds that a promise is about."""
    _, first, people, before = case.crowds
    about = case.history.traces.classes[first, promise.release] >= 0
    if promise.release == case.last:
        # others whom it tells apart
        return np.flatnonzero(about | (before > people))
    return np.flatnonzero(about & (before > people))


def _whole_crowds(case: _Case, promise: Promise, member: PrivacyModel) -> Iterator[Finding]:
    """Judge the crowds of a release together, for a model of the whole table."""
    traces = case.history.traces
    _, first, people, _ = case.crowds
    about = np.flatnonzero(traces.classes[first, promise.release] >= 0)
    stats = GroupStats(people[about])
    if bool(member.table_satisfied(stats, promise.reference)[0]):
        return
    if promise.release < case.last:
        there = traces.classes[:, promise.release] >= 0
        before = traces.people(np.where(there, traces.before, -1), int(traces.before.max(initial=-1)) + 1)
        if not bool(member.table_satisfied(GroupStats(before[before > 0]), promise.reference)[0]):
            return
    yield _crowd_finding(case, promise, member, about, member.score(stats, promise.reference))


def _crowds(case: _Case, promise: Promise, member: PrivacyModel) -> Iterator[Finding]:
    """Judge the people of every kind."""
    judged = _judged(case, promise)
    people = case.crowds[2][judged]
    if member.table_level:
        yield from _whole_crowds(case, promise, member)
        return
    bad = np.flatnonzero(~member.satisfied(GroupStats(people), promise.reference))
    if len(bad):
        score = member.score(GroupStats(people[bad]), promise.reference)
        yield _crowd_finding(case, promise, member, judged[bad], score)


def _few(case: _Case, promise: Promise, member: PrivacyModel) -> Iterator[Finding]:
    """Count the people of kinds for a model that promises a crowd beside its sensitive values."""
    judged = _judged(case, promise)
    people = case.crowds[2][judged]
    few = people < member.min_group_size()
    if few.any():
        finding = _crowd_finding(case, promise, member, judged[few], people[few].astype(np.float64))
        yield replace(finding, worst=float(people[few].min()), bound=f">= {member.min_group_size()} people")


def _crowd_finding(case: _Case, promise: Promise, member: PrivacyModel, bad: IntArray, score: FloatArray) -> Finding:
    return _made(case, promise, member, np.isin(case.crowds[0], bad), _worst(member, score), "crowd")


def _values(case: _Case, promise: Promise, member: PrivacyModel) -> Iterator[Finding]:
    """Judge what the worlds leave, by the values alone and by whole rows."""
    (own,) = member.histogram_keys()
    key = promise.calls(own)
    for more in [(), *case.history.beside(key)]:
        # a class alone says what the release's own verifier has judged
        if sum(bool({*key, *more} & set(entry.columns)) for entry in case.history.entries) < 2:
            continue
        yield from _left(case, promise, member, own, (*key, *more), len(key))


def _left(case: _Case, promise: Promise, member: PrivacyModel, own: Key, columns: Key, key: int) -> Iterator[Finding]:
    left = case.left(columns, key, case.last + 1)
    if left is None:
        return
    place = left.kinds.place
    mine = promise.release == case.last
    present = place[:, case.last] >= 0
    about = place[:, promise.release] >= 0
    if member.table_level:
        judged = np.flatnonzero(about)
        holds, worst = _whole(case, promise, member, own, columns[:key], left)
        then = None if mine or holds else case.left(columns, key, case.last)
        if not holds and (then is None or _whole(case, promise, member, own, columns[:key], then)[0]):
            how = "undecided" if left.undecided[judged].any() else "values"
            yield _made(case, promise, member, _records(case, left, judged), worst, how, columns, key)
        return
    bad, certain, score = _broken(case, promise, member, own, columns[:key], left)
    # what the earlier releases told without the new one is not its fault
    excused = ~present if mine else np.ones(len(place), dtype=np.bool_)
    relevant = bad & (about | (mine & ~present))
    if len(columns) > key:
        # whose row has changed is not known: nobody is judged by rows who is together with such a one
        relevant &= ~_unsure(case, left, columns)
    if np.any(relevant & excused):
        relevant &= ~(excused & _before(case, promise, member, own, columns, key, left, (certain, score)))
    for unknown, how in ((left.undecided, "undecided"), (~left.undecided, "values")):
        hit = np.flatnonzero(relevant & unknown)
        if len(hit):
            made = _made(
                case, promise, member, _records(case, left, hit), _worst(member, score[hit]), how, columns, key
            )
            people = case.history.traces.person[_records(case, left, hit[certain[hit]])]
            yield replace(made, certain=len(np.unique(people)))


def _whole(case: _Case, promise: Promise, member: PrivacyModel, own: Key, key: Key, left: _Left) -> tuple[bool, float]:
    """Tell whether a model of the whole table holds for what is left to the people of its release, and its score."""
    about = np.flatnonzero(left.kinds.place[:, promise.release] >= 0)
    stats, reference = _in_codes(case, promise, own, key, left, about)
    holds = bool(member.table_satisfied(stats, reference)[0]) and not left.undecided[about].any()
    return holds, _worst(member, member.score(stats, reference)) if len(about) else float("nan")


def _broken(
    case: _Case, promise: Promise, member: PrivacyModel, own: Key, key: Key, left: _Left
) -> tuple[BoolArray, BoolArray, FloatArray]:
    """Tell for which kinds a model does not hold or is undecided, whose value is certain, and all scores."""
    every = np.arange(len(left.kinds.place))
    stats, reference = _in_codes(case, promise, own, key, left, every)
    # crowds are judged for themselves: what matters here are shares
    times = np.maximum(-(-member.min_group_size() * stats.unit // np.maximum(stats.units, 1)), 1)
    hist = stats.histogram(own)
    stats = GroupStats(stats.units * times, stats.unit, {own: replace(hist, units=hist.units * times[hist.groups])})
    good, score = member.composed(stats, left.kinds.widest, reference), member.score(stats, reference)
    return ~good | left.undecided, (left.average.distinct() == 1) & ~left.undecided, score


def _before(
    case: _Case, promise: Promise, member: PrivacyModel, own: Key, columns: Key, key: int, left: _Left,
    found: tuple[BoolArray, FloatArray],
) -> BoolArray:  # fmt: skip
    """Tell for which kinds the model did not hold without the new release either, and was no better."""
    then = case.left(columns, key, case.last)
    out = np.zeros(len(left.kinds.place), dtype=np.bool_)
    if then is None or (promise.release == case.last and not len(then.kinds.place)):
        return out
    bad, sure, score = _broken(case, promise, member, own, columns[:key], then)
    bad &= ~then.undecided
    sign = 1.0 if member.sense == ">=" else -1.0
    now, old = left.kinds.place[:, : case.last], then.kinds.place
    both = np.concatenate([now, old])
    number, _ = number_rows(list((both + 1).T), [int(column.max(initial=-1)) + 2 for column in both.T])
    n = int(number.max(initial=-1)) + 1
    was, known, best = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_), np.full(n, -np.inf)
    np.logical_or.at(was, number[len(now) :], bad)
    np.logical_or.at(known, number[len(now) :], sure)
    np.maximum.at(best, number[len(now) :], sign * score)
    mine, there = number[: len(now)], (now >= 0).any(axis=1)
    # scores of the same beliefs may differ in their last digits
    no_worse = (sign * found[1] >= best[mine] - 1e-9 * np.abs(best[mine])) & (~found[0] | known[mine])
    out[there] = (was[mine] & no_worse)[there]
    return out


def _in_codes(
    case: _Case, promise: Promise, own: Key, key: Key, left: _Left, some: IntArray
) -> tuple[GroupStats, Reference]:
    """Return what is left in the codes of a promise's table, and that table.

    People whom the new release leaves out may have values that it does not know. They are counted as if its table
    held each once: behind all others where values have an order, right below the root of a hierarchy, and in the most
    sensitive category.
    """
    entry, attribute = case.history.entries[promise.release], promise.reference.attribute(own)
    code, known, n = np.zeros(len(left.values), dtype=np.int64), np.ones(len(left.values), dtype=np.bool_), 1
    for j, name in enumerate(key):
        values = entry.values[entry.columns.index(name)]
        place = np.full(len(case.history.numbers(name)), -1, dtype=np.int64)
        place[[case.history.numbers(name)[v] for v in values]] = np.arange(len(values))
        mine = place[left.values[:, j]]
        known &= mine >= 0
        code, n = code * len(values) + mine, n * len(values)
    code = np.where(known, code, n + np.cumsum(~known) - 1)
    hist = left.average.take(some)
    hist = Histogram.from_pairs(hist.groups, code[hist.values], hist.units, len(hist), hist.unit)
    total = hist.sum(hist.units)
    whole = np.rint(total / _PARTS) * _PARTS
    # averages are rounded; what differs from whole people by that is whole people
    people = np.where(np.abs(total - whole) < _PARTS // 1000, whole, total).astype(np.int64)
    stats = GroupStats(people, hist.unit, {own: hist})
    further = int((~known).sum())
    if not further:
        return stats, promise.reference
    more = attribute.with_further(further)
    return stats, replace(promise.reference, attributes={**promise.reference.attributes, own: more})


def _unsure(case: _Case, left: _Left, columns: Key) -> BoolArray:
    """Tell which kinds are, in all releases with these columns, together with somebody whose row has changed."""
    whole = [e for e, entry in enumerate(case.history.entries) if set(columns) & set(entry.columns)]
    classes = case.history.traces.classes[:, whole]
    group, first = number_rows(list((classes + 1).T), [int(c.max(initial=-1)) + 2 for c in classes.T])
    changed = np.zeros(len(first), dtype=np.bool_)
    changed[group[np.bincount(left.kinds.record, minlength=len(group)) > 1]] = True
    out = np.zeros(len(left.kinds.place), dtype=np.bool_)
    np.logical_or.at(out, left.kinds.kind, changed[group[left.kinds.record]])
    return out


def _records(case: _Case, left: _Left, kinds: IntArray) -> BoolArray:
    """Tell which records are of some kinds."""
    out = np.zeros(len(case.history.traces.person), dtype=np.bool_)
    out[left.kinds.record[np.isin(left.kinds.kind, kinds)]] = True
    return out


def _worst(member: PrivacyModel, score: FloatArray) -> float:
    return float(score.min() if member.sense == ">=" else score.max())


def _made(
    case: _Case, promise: Promise, member: PrivacyModel, hit: BoolArray, worst: float, how: str, columns: Key = (),
    key: int = 0,
) -> Finding:  # fmt: skip
    traces = case.history.traces

    def people(which: BoolArray) -> int:
        return len(np.unique(traces.person[hit & which]))

    there, before = traces.row >= 0, (traces.classes[:, :-1] >= 0).any(axis=1)
    return Finding(
        model=member.name, parameters=member.told(), how=how, people=people(np.ones_like(hit)), worst=worst,
        bound=f"{member.sense} {member.bound:.6g}", promised=promise.name,
        left=people(~there), came=people(there & ~before), columns=columns, beside=columns[key:],
        records=np.flatnonzero(hit),
    )  # fmt: skip
