"""Releases as plain data, and what dealing their values out leaves: every dealing of every class, tried in turn."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from functools import cache

At = tuple[int, int]
"""A release, and the label of a class in it."""

Kind = tuple[tuple[At, ...], bool]
"""The classes of some people, and whether they are counterfeits."""


@dataclass
class Plain:
    """Who is in which class with which value, and the counterfeits of the classes."""

    people: dict[int, tuple[int, str]]
    fakes: dict[int, str] = field(default_factory=dict)

    def members(self) -> dict[int, set[int]]:
        """The people of each class."""
        out: dict[int, set[int]] = {}
        for person, (label, _) in self.people.items():
            out.setdefault(label, set()).add(person)
        return out

    def counts(self, label: int) -> Counter[str]:
        """The published values of a class."""
        return Counter([v for c, v in self.people.values() if c == label] + list(self.fakes.get(label, "")))


@dataclass
class Piece:
    """Somebody in the classes (release, label) where they have the same value; counterfeits are nobody."""

    person: int | None
    classes: frozenset[tuple[int, int]]
    own: str | None = None


@cache
def fits(choices: tuple[str, ...], values: str) -> bool:
    """Whether the values can be dealt out to people with these choices."""
    if not choices:
        return not values
    return any(fits(choices[1:], values.replace(v, "", 1)) for v in choices[0] if v in values)


def pieces_of(releases: list[Plain]) -> list[Piece]:
    """Everybody, cut where the value has changed; and the counterfeits, one by one."""
    *earlier, now = releases
    out = []
    for person in sorted({p for r in releases for p in r.people}):
        where = {(e, r.people[person][0]) for e, r in enumerate(releases) if person in r.people}
        if person in now.people:
            own = now.people[person][1]
            same = {(e, c) for e, c in where if releases[e].counts(c)[own]}
            out.append(Piece(person, frozenset(same), own))
            where -= same
        elif set.intersection(*(set(releases[e].counts(c)) for e, c in where)):
            out.append(Piece(person, frozenset(where)))
            continue
        out += [Piece(person, frozenset({at})) for at in sorted(where)]
    for e, release in enumerate(releases):
        out += [Piece(None, frozenset({(e, c)})) for c, values in release.fakes.items() for _ in values]
    return out


def intersected(pieces: list[Piece], releases: list[Plain]) -> list[Counter[str]]:
    """What the classes of every piece have in common."""
    found = []
    for piece in pieces:
        counts = [releases[e].counts(c) for e, c in sorted(piece.classes)]
        left = counts[0] if counts else Counter()
        for other in counts[1:]:
            left = left & other
        found.append(left)
    return found


def classes_of(pieces: list[Piece]) -> dict[At, list[int]]:
    """The pieces of every class."""
    within: dict[At, list[int]] = {}
    for i, piece in enumerate(pieces):
        for at in piece.classes:
            within.setdefault(at, []).append(i)
    return within


def excluded(pieces: list[Piece], releases: list[Plain], left: list[set[str]], shut: set[At]) -> set[At]:
    """Take away what no dealing of a class gives, again and again; return the classes without a dealing."""
    within = classes_of(pieces)
    values = {(e, c): "".join(sorted(releases[e].counts(c).elements())) for e, c in within}
    while True:
        out, broken = set(), set()
        for at in within.keys() - shut:
            here = within[at]
            for i in here:
                for v in left[i]:
                    choices = tuple(v if j == i else "".join(sorted(left[j])) for j in here)
                    if not fits(tuple(sorted(choices)), values[at]):
                        out.add((i, v))
                        if v == pieces[i].own:
                            broken.add(at)
            if not fits(tuple(sorted("".join(sorted(left[j])) for j in here)), values[at]):
                broken.add(at)
        if broken or not out:
            return broken
        for i, v in out:
            left[i].discard(v)


class Kinds:
    """How many of the people in the same classes have a value, at least and at most; counterfeits are apart."""

    def __init__(
        self, pieces: list[Piece], releases: list[Plain], left: list[set[str]], shut: set[At], only: Container[int]
    ) -> None:
        self.of = [(tuple(sorted(at for at in p.classes if at[0] in only)), p.person is None) for p in pieces]
        self.size = Counter(self.of)
        self.own = {k: Counter(p.own for p, kind in zip(pieces, self.of, strict=True) if kind == k) for k in self.size}
        self.open = [at for at in classes_of(pieces) if at not in shut and at[0] in only]
        self.room = {at: releases[at[0]].counts(at[1]) for at in self.open}
        self.least = {(k, v): 0 for i, k in enumerate(self.of) for v in left[i]}
        self.most = {(k, v): self.size[k] for k, v in self.least}

    def left(self, at: At, kind: Kind, v: str, taken: dict[tuple[Kind, str], int]) -> int:
        return self.room[at][v] - sum(n for (k, u), n in taken.items() if u == v and k != kind and at in k[0])

    def turn(self) -> set[At]:
        """Tighten all bounds once; return the classes that cannot be."""
        least, most, broken = dict(self.least), dict(self.most), set()
        for at in self.open:
            for k, v in self.least:
                if at in k[0]:
                    top, bottom = self.left(at, k, v, self.least), self.left(at, k, v, self.most)
                    if top < self.least[k, v] or bottom > self.most[k, v]:
                        broken.add(at)
                    if self.own[k][v] > top or (None not in self.own[k] and self.own[k][v] < bottom):
                        broken.add(at)
                    least[k, v], most[k, v] = max(least[k, v], bottom), min(most[k, v], top)
        if broken:
            return broken
        for k, v in least:
            others = [(k, u) for j, u in least if j == k and u != v]
            self.most[k, v] = min(most[k, v], self.size[k] - sum(least[other] for other in others))
            self.least[k, v] = max(least[k, v], self.size[k] - sum(most[other] for other in others))
        wrong = [k for k, v in least if max(self.least[k, v], self.own[k][v]) > self.most[k, v]]
        return {at for k in wrong for at in k[0] if at in self.open}

    def settle(self) -> set[At]:
        while True:
            before = dict(self.least), dict(self.most)
            broken = self.turn()
            if broken or before == (self.least, self.most):
                return broken

    def counted(self, i: int, counts: Counter[str], left: set[str]) -> Counter[str]:
        """What is left of the counts: the values of fixed kinds are theirs, and nobody else's."""
        loose = {k for (k, v), n in self.least.items() if n != self.most[k, v]}
        kind = self.of[i]
        if len(left) == 1:
            return counts
        if kind not in loose:
            return Counter({v: self.least[kind, v] for v in left})
        fixed = {(k, v): n for (k, v), n in self.least.items() if k not in loose}
        for at in kind[0]:
            if at in self.open:
                counts &= Counter({v: self.left(at, kind, v, fixed) for v in left})
        return counts


def dealt(pieces: list[Piece], releases: list[Plain]) -> list[Counter[str]]:
    """What is left when all classes are dealt out and all kinds bounded, again and again; without those that cannot."""
    within, shut = classes_of(pieces), set()
    while True:
        left = [set(counts) for counts in intersected(pieces, releases)]
        broken = excluded(pieces, releases, left, shut)
        if not broken:
            break
        shut |= broken
    out = []
    for i, (piece, counts) in enumerate(zip(pieces, intersected(pieces, releases), strict=True)):
        counts = Counter({v: n for v, n in counts.items() if v in left[i]})
        for at in piece.classes - shut if len(left[i]) > 1 else ():
            certain = Counter(next(iter(left[j])) for j in within[at] if len(left[j]) == 1)
            counts &= releases[at[0]].counts(at[1]) - certain
        out.append(counts)
    start = [set(own) for own in left]
    while True:
        kinds = Kinds(pieces, releases, left, shut, range(len(releases)))
        broken = kinds.settle()
        if not broken:
            fewer = [{v for v in own if kinds.most[kinds.of[i], v]} for i, own in enumerate(left)]
            for pair in itertools.combinations(range(len(releases)), 2) if len(releases) > 2 else ():
                closed = set(shut)
                while True:
                    wider = Kinds(pieces, releases, fewer, closed, pair)
                    contradicting = wider.settle()
                    if not contradicting:
                        break
                    closed |= contradicting
                fewer = [
                    {v for v in own if wider.most[wider.of[i], v] or not wider.of[i][0]} for i, own in enumerate(fewer)
                ]
            if fewer == left:
                break
            left = fewer
            broken = excluded(pieces, releases, left, shut)
        if broken:
            shut |= broken
            left = [set(own) for own in start]
    return [
        kinds.counted(i, Counter({v: n for v, n in counts.items() if v in left[i]}), left[i])
        for i, counts in enumerate(out)
    ]


def told(releases: list[Plain]) -> Iterator[tuple[int, Counter[str]]]:
    """Yield everybody of whom the last release tells something together with the others, and what is left for them."""
    last = len(releases) - 1
    pieces = pieces_of(releases)
    left, first = dealt(pieces, releases), intersected(pieces, releases)
    older = [Piece(p.person, frozenset(at for at in p.classes if at[0] < last), p.own) for p in pieces]
    before = dealt(older, releases)
    for i, piece in enumerate(pieces):
        new = any(e == last for e, _ in piece.classes)
        less = any(left[i][v] < n for v, n in (first if new else before)[i].items())
        if piece.person is not None and (less or (new and len(piece.classes) > 1)):
            yield piece.person, left[i]
