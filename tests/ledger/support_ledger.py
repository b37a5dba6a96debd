"""Releases as plain data, and what putting them together tells, found person by person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from support_dealing import Plain, told

from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.models.base import PrivacyModel
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats

VALUES = "abcd"


def described(plain: Plain, known: str) -> Described:
    """What ``describe`` would make of it; ``known`` are the values in the order of their codes."""
    labels = sorted(plain.members())
    order = sorted(plain.people)
    persons = np.array([[p, 0] for p in order], dtype=np.uint64).reshape(-1, 2)
    classes = np.array([labels.index(plain.people[p][0]) for p in order], dtype=np.int64)
    cells = [(g, known.index(v), n) for g, label in enumerate(labels) for v, n in sorted(plain.counts(label).items())]
    entry_class, entry_value, units = (np.array(part, dtype=np.int64) for part in zip(*cells, strict=True))
    entry = Entry(
        "", "", "", ("disease",), 1, persons, persons[:, 0].copy(), classes,
        np.array([len(plain.fakes.get(label, "")) for label in labels], dtype=np.int64),
        (tuple(f"hash of {v}" for v in known),), entry_class, units, entry_value[:, None],
    )  # fmt: skip
    own = np.array([[known.index(plain.people[p][1])] for p in order], dtype=np.int64)
    return Described(entry, own)


def reference(plain: Plain, known: str) -> Reference:
    """The whole table of a release."""
    count = Counter(v for _, v in plain.people.values())
    return Reference.of(len(plain.people), Attribute.of("disease", known, [count[v] for v in known]))


def slow_crowds(now: Plain, earlier: list[Plain], model: PrivacyModel, table: Reference) -> set[int]:
    """Everybody whose look-alikes in all releases are too few, one by one."""

    def trace(person: int, releases: list[Plain]) -> tuple[int | None, ...]:
        return tuple(r.people[person][0] if person in r.people else None for r in releases)

    everybody = {p for r in [*earlier, now] for p in r.people}
    hit = set()
    for person in everybody:
        alike = [p for p in everybody if trace(p, [*earlier, now]) == trace(person, [*earlier, now])]
        before = [p for p in everybody if trace(p, earlier) == trace(person, earlier)]
        if person not in now.people and len(alike) == len(before):
            continue
        if not model.satisfied(GroupStats.of(sizes=[len(alike)]), table)[0]:
            hit.add(person)
    return hit


def _holds(model: PrivacyModel, left: Counter[str], known: str, table: Reference) -> bool:
    """Whether the model holds for these values, and for those of them that the new release knows."""
    foreign = "".join(sorted(v for v, n in left.items() if n > 0 and v not in known))
    for values in {known, known + foreign}:
        counts = [max(left[v], 0) for v in values]
        wide = Reference.of(int(table.people), Attribute.of("disease", values, counts)) if values != known else table
        if not model.satisfied(GroupStats.of(sizes=[sum(counts)], disease=[counts]), wide)[0]:
            return False
    return True


def slow_common(now: Plain, earlier: list[Plain], model: PrivacyModel, known: str, table: Reference) -> set[int]:
    """Everybody whose possible values are too few after intersecting and dealing all classes, one by one."""
    hit = set()
    for person, left in told([*earlier, now]):
        if not _holds(model, left, known, table):
            hit.add(person)
    return hit


def slow_changes(now: Plain, earlier: list[Plain], model: PrivacyModel, known: str, table: Reference) -> set[int]:
    """Everybody who is left when whole classes of one release are taken out of the classes their people are in now."""
    hit = set()
    for other in earlier:
        for whole, parts in ((now, other), (other, now)):
            for seed in parts.members().values():
                if not seed <= set(whole.people):
                    continue
                labels = {whole.people[p][0] for p in seed}
                people = set().union(*(whole.members()[c] for c in labels))
                inside = [c for c, group in parts.members().items() if group <= people]
                rest = people.difference(*(parts.members()[c] for c in inside))
                if not rest or any(whole.fakes.get(c) for c in labels) or any(parts.fakes.get(c) for c in inside):
                    continue
                left = Counter()
                for c in labels:
                    left.update(whole.counts(c))
                for c in inside:
                    left.subtract(parts.counts(c))
                if min((n for v, n in left.items() if v in known), default=0) >= 0 and not _holds(
                    model, left, known, table
                ):
                    hit |= rest
    return hit


def exchanged(one: Plain, other: Plain) -> Iterator[tuple[set[int], Counter[str], Counter[str]]]:
    """Yield the people in both whose classes hang together, where their values are known, and what is left of each."""
    rest = set(one.people) & set(other.people)
    while rest:
        group, labels = {min(rest)}, (set(), set())
        while True:
            labels = tuple({r.people[p][0] for p in group} for r in (one, other))
            wider = {p for p in rest if one.people[p][0] in labels[0] or other.people[p][0] in labels[1]}
            if wider == group:
                break
            group = wider
        rest -= group
        mine, theirs = (
            Counter(v for c in own for v in r.counts(c).elements()) for r, own in zip((one, other), labels, strict=True)
        )
        faked = any(r.fakes.get(c) for r, own in zip((one, other), labels, strict=True) for c in own)
        if (mine & theirs).total() == len(group) and not faked:
            yield group, mine - theirs, theirs - mine


def alone(group: set[int], one: Plain, other: Plain) -> frozenset[int]:
    """Those in classes of the group who are not in the other release."""
    labels = {one.people[p][0] for p in group}
    return frozenset(p for p, (c, _) in one.people.items() if c in labels and p not in other.people)


def slow_exchanges(now: Plain, earlier: list[Plain], model: PrivacyModel, known: str, table: Reference) -> set[int]:
    """Everybody who came or left, and whose values are those that the others do not have."""
    hit = set()
    for e, other in enumerate(earlier):
        before = [
            (alone(g, other, f), left) for i, f in enumerate(earlier) if i != e for g, left, _ in exchanged(other, f)
        ]
        for group, came, left in exchanged(now, other):
            labels = {now.people[p][0] for p in group}
            own = Counter(v for c in labels for v in now.counts(c).elements()) - came
            if own != Counter(now.people[p][1] for p in group):
                continue
            newcomers, leavers = alone(group, now, other), alone(group, other, now)
            if newcomers and not _holds(model, came, known, table):
                hit |= newcomers
            if leavers and (leavers, left) not in before and not _holds(model, left, known, table):
                hit |= leavers
    return hit
