"""Whether a release may follow earlier ones: its models, judged on what all of them tell together.

Four ways of putting releases together, each judged by the models' own ``score``:

1. **Who.** The adversary knows the quasi-identifiers of all, and who is in which release. People with the same trace
   (see ``hushtable.ledger.trace``) are what is left of a class. Models that promise a crowd count them: those in the
   new release, and those of earlier ones whom it leaves out while it keeps others of their classes.
2. **What they have in common.** A person's value is in each of the person's classes, and in each at most as often as
   it occurs there: what is left is the least count of every value, as far as the classes' values can be dealt out to
   all their people like that (see ``hushtable.ledger.common`` and ``hushtable.ledger.dealing``). Everybody of whom
   the new release tells something so is judged, also newcomers and those whom it leaves out.
3. **What their rows have in common.** The same for whole rows, by what is published beside the sensitive values (see
   ``hushtable.ledger.rows``).
4. **What was added or taken away.** Where some classes consist of whole classes of another release and of some people
   more, those people's values are known exactly: the difference (``hushtable.ledger.difference``). So are those of
   people who left or came where the others can only have what both releases hold (``hushtable.ledger.exchange``).
   Classes with counterfeits are left out here, since nobody knows which of their values are people's.

The first is complete: any combination of classes of any number of releases is a union of traces. The second and third
look at all releases at once, deal one class at a time and bound the people who are together in all of them, until
nothing changes; the fourth looks at two at a time: what only differences of three or more tell of values is not
searched.

References
----------
S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import IncompatibleError
from hushtable.ledger.changes import rests
from hushtable.ledger.common import Common, common
from hushtable.ledger.describe import Described
from hushtable.ledger.difference import candidates, known_to
from hushtable.ledger.entry import Entry
from hushtable.ledger.rows import by_rows
from hushtable.ledger.trace import Traces, trace
from hushtable.ledger.verdict import Finding, Verdict
from hushtable.ledger.wide import widened
from hushtable.models.base import PrivacyModel, Stat, Threat
from hushtable.models.compose import AllOf
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Key

__all__ = ["check_judgeable", "judge"]

_WHO = "in the crowd that the releases leave of them"
_COMMON = "in what their classes have in common"
_ROWS = "in what the rows of their classes have in common"
_CHANGED = "in what was added or taken away between two releases"


@dataclass(frozen=True)
class _Case:
    """A new release beside earlier ones."""

    described: Described
    earlier: Sequence[Entry]
    traces: Traces
    model: AllOf
    reference: Reference
    found: dict[Key, Common | None] = field(default_factory=dict)
    linked: dict[Key, list[Common]] = field(default_factory=dict)
    wide: dict[Key, Reference | None] = field(default_factory=dict)

    @property
    def now(self) -> Entry:
        return self.described.entry

    @property
    def unit(self) -> int:
        return math.lcm(self.now.unit, *(e.unit for e in self.earlier))

    def values(self, key: Key) -> int:
        """Return how many values of a column the new release knows."""
        return math.prod(len(self.now.values[self.now.columns.index(name)]) for name in key)

    def widened(self, key: Key) -> Reference | None:
        """Return the whole table with the values that only earlier releases know, where models can compare them."""
        if key not in self.wide:
            self.wide[key] = widened(self.reference, self.now, self.earlier, key, self.unit)
        return self.wide[key]

    def common(self, key: Key) -> Common | None:
        """Return what everybody's classes have in common, found once for all models of a column."""
        if key not in self.found:
            self.found[key] = common(self.described, self.earlier, self.traces, key, self.unit)
        return self.found[key]

    def rows(self, key: Key) -> list[Common]:
        """Return what the rows of everybody's classes have in common."""
        if key not in self.linked:
            self.linked[key] = list(by_rows(self.described, self.earlier, self.traces, key, self.unit))
        return self.linked[key]


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


def judge(now: Described, earlier: Sequence[Entry], model: AllOf, reference: Reference) -> Verdict:
    """Judge a release together with earlier ones.

    Parameters
    ----------
    now : Described
        The new release.
    earlier : sequence of Entry
    model : AllOf
        The new release's models, bound to their columns.
    reference : Reference
        The new release's whole table.
    """
    check_judgeable(model)
    traces = trace([*earlier, now.entry])
    case = _Case(now, earlier, traces, model, reference)
    findings: list[Finding] = []
    for member in model.members:
        if not member.histogram_keys():
            findings += _crowds(case, member)
            continue
        if Threat.IDENTITY in member.threats:
            findings += _few(case, member)
        findings += _common(case, member)
        findings += _changes(case, member)
    present = traces.row >= 0
    known = present & (traces.classes[:, :-1] >= 0).any(axis=1)
    return Verdict(
        earlier=len(earlier),
        people=len(np.unique(traces.person[present])),
        known=len(np.unique(traces.person[known])),
        findings=tuple(findings),
    )


def _crowds(case: _Case, member: PrivacyModel) -> Iterator[Finding]:
    """Judge the people of every trace that the new release has a part in."""
    group, judged, present = _judged(case)
    stats = GroupStats(case.traces.people(group, int(group.max(initial=-1)) + 1)[judged])
    if member.table_level:
        shown = np.flatnonzero(present[judged])
        good = np.full(len(judged), bool(member.table_satisfied(stats.take(shown), case.reference)[0]))
    else:
        good = member.satisfied(stats, case.reference)
    yield from _finding(case, member, stats, good, _WHO, lambda bad: np.isin(group, judged[bad]))


def _few(case: _Case, member: PrivacyModel) -> Iterator[Finding]:
    """Count the people of those traces for a model that promises a crowd beside its sensitive values."""
    group, judged, _ = _judged(case)
    people = case.traces.people(group, int(group.max(initial=-1)) + 1)[judged]
    few = people < member.min_group_size()
    if few.any():
        hit, needed = np.isin(group, judged[few]), f">= {member.min_group_size()} people"
        yield _made(case, member, hit, float(people.min()), _WHO, needed)


def _judged(case: _Case) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the trace of every record, the traces that the new release has a part in, and which are in it."""
    traces = case.traces
    group, first = traces.groups
    present = traces.classes[first, -1] >= 0
    size = np.bincount(group, minlength=len(first))
    # the same people as before, and none of them in the new release: it tells nothing about them
    before = np.bincount(traces.before)[traces.before[first]]
    return group, np.flatnonzero(present | (before > size)), present


def _common(case: _Case, member: PrivacyModel) -> Iterator[Finding]:
    """Judge what the classes of the same people have in common, once dealt out to all of them."""
    (key,) = member.histogram_keys()
    yield from _left(case, member, case.common(key), _COMMON)
    for found in case.rows(key):
        yield from _left(case, member, found, _ROWS)


def _left(case: _Case, member: PrivacyModel, found: Common | None, how: str) -> Iterator[Finding]:
    if found is None:
        return
    (key,) = member.histogram_keys()
    judged = np.flatnonzero(found.told & found.present if member.table_level else found.told)
    stats = candidates(key, found.left.take(judged))
    n = len(case.traces.person)
    if member.table_level:
        known = known_to(stats, key, case.values(key))
        good = np.full(len(judged), bool(member.table_satisfied(known, case.reference)[0]))
        yield from _finding(case, member, known, good, how, lambda bad: found.records(judged[bad], n))
        return
    good, score = _composed(case, member, stats, lambda s, table: member.composed(s, found.widest[judged], table))
    if not good.all():
        yield _made(case, member, found.records(judged[~good], n), _worst(member, score[~good]), how)


def _composed(
    case: _Case, member: PrivacyModel, stats: GroupStats, holds: Callable[[GroupStats, Reference], BoolArray]
) -> tuple[BoolArray, FloatArray]:
    """Return whether groups hold, and their scores: with and without values that the new release does not know."""
    (key,) = member.histogram_keys()
    known = known_to(stats, key, case.values(key))
    good, score = holds(known, case.reference), member.score(known, case.reference)
    wide = case.widened(key) if known is not stats else None
    if wide is not None:
        good = good & holds(stats, wide)
        score = (np.minimum if member.sense == ">=" else np.maximum)(score, member.score(stats, wide))
    return good, score


def _worst(member: PrivacyModel, score: FloatArray) -> float:
    return float(score.min() if member.sense == ">=" else score.max())


def _changes(case: _Case, member: PrivacyModel) -> Iterator[Finding]:
    """Judge the people by whom classes differ from those of another release."""
    if member.table_level:
        return
    (key,) = member.histogram_keys()
    scores = []
    hit = np.zeros(len(case.traces.person), dtype=np.bool_)
    for stats, counted, records in rests(case.described, case.earlier, case.traces, key, case.unit):
        good, score = _composed(case, member, stats, member.subtracted)
        bad = np.flatnonzero(~good & counted)
        if len(bad):
            hit |= records(bad)
            scores.append(score[bad])
    if scores:
        yield _made(case, member, hit, _worst(member, np.concatenate(scores)), _CHANGED)


def _finding(
    case: _Case,
    member: PrivacyModel,
    stats: GroupStats,
    good: BoolArray,
    how: str,
    hit: Callable[[IntArray], BoolArray],
) -> Iterator[Finding]:
    bad = np.flatnonzero(~good)
    if not len(bad):
        return
    score = member.score(stats if member.table_level else stats.take(bad), case.reference)
    yield _made(case, member, hit(bad), _worst(member, score), how)


def _made(
    case: _Case, member: PrivacyModel, hit: BoolArray, worst: float, how: str, needed: str | None = None
) -> Finding:
    people = len(np.unique(case.traces.person[hit]))
    bound = f"{member.sense} {member.bound:.6g}" if needed is None else needed
    return Finding(member.name, member.told(), how, people, worst, bound)
