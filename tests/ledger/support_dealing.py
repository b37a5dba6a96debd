"""Releases as plain data, and what dealing their values out leaves: every dealing of every class, tried in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache


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


def dealt(pieces: list[Piece], releases: list[Plain]) -> list[Counter[str]]:
    """What is left of it when all classes are dealt out, again and again; without those that have no dealing."""
    within: dict[tuple[int, int], list[int]] = {}
    for i, piece in enumerate(pieces):
        for at in piece.classes:
            within.setdefault(at, []).append(i)
    values = {(e, c): "".join(sorted(releases[e].counts(c).elements())) for e, c in within}
    shut: set[tuple[int, int]] = set()
    while True:
        left = [set(counts) for counts in intersected(pieces, releases)]
        broken: set[tuple[int, int]] = set()
        changed = True
        while changed and not broken:
            excluded = set()
            for at in within.keys() - shut:
                here = within[at]
                for i in here:
                    for v in left[i]:
                        choices = tuple(v if j == i else "".join(sorted(left[j])) for j in here)
                        if not fits(tuple(sorted(choices)), values[at]):
                            excluded.add((i, v))
                            if v == pieces[i].own:
                                broken.add(at)
                if not fits(tuple(sorted("".join(sorted(left[j])) for j in here)), values[at]):
                    broken.add(at)
            for i, v in excluded:
                left[i].discard(v)
            changed = bool(excluded)
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
    return out


def told(releases: list[Plain]) -> Iterator[tuple[int, Counter[str]]]:
    """Yield everybody of whom the last release tells something together with the others, and what is left for them."""
    last = len(releases) - 1
    pieces = pieces_of(releases)
    left, first = dealt(pieces, releases), intersected(pieces, releases)
    older = [Piece(p.person, frozenset(at for at in p.classes if at[0] < last), p.own) for p in pieces]
    before = dealt(older, releases)
    for i, piece in enumerate(pieces):
        new = any(e == last for e, _ in piece.classes)
        less = left[i].total() < (first if new else before)[i].total()
        if piece.person is not None and (less or (new and len(piece.classes) > 1)):
            yield piece.person, left[i]
