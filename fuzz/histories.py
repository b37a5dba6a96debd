"""Random histories of releases, and every world that they allow, written down one by one: no code of the ledger.

A world says which values every record has, so that every class of every release holds what it publishes. A record
keeps its values from release to release unless they are known to have changed: from then on it is another one.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

__all__ = ["Belief", "Held", "Release", "Values", "beliefs", "random_history"]

Values = tuple[str, ...]

Belief = dict[tuple[tuple[int, int], tuple[tuple[int, int], ...]], dict[Values, Fraction]]
"""How likely every value is, by piece: whose record it is, and the classes that it is in."""


@dataclass(frozen=True)
class Held:
    """One published record: whose it is, which of that person's, its class and its values."""

    person: int
    record: int
    label: int
    values: Values


@dataclass(frozen=True)
class Release:
    """Published records, and counterfeits: a class and values each."""

    columns: tuple[str, ...]
    rows: tuple[Held, ...]
    fakes: tuple[tuple[int, Values], ...] = ()

    def counts(self, columns: Sequence[int]) -> dict[int, Counter[Values]]:
        """What every class publishes of some columns."""
        out: dict[int, Counter[Values]] = defaultdict(Counter)
        for label, values in [*((r.label, r.values) for r in self.rows), *self.fakes]:
            out[label][tuple(values[j] for j in columns)] += 1
        return out


@dataclass
class _Piece:
    """A record as long as its values stay the same, or a counterfeit."""

    owner: tuple[int, int] | None
    at: dict[int, int] = field(default_factory=dict)


def _pieces(releases: Sequence[Release], columns: Sequence[str]) -> list[_Piece]:
    out: list[_Piece] = []
    now: dict[tuple[int, int], tuple[_Piece, dict[str, str]]] = {}
    for e, release in enumerate(releases):
        own = [c for c in columns if c in release.columns]
        if not own:
            continue
        for row in release.rows:
            values = {c: row.values[release.columns.index(c)] for c in own}
            piece, known = now.get((row.person, row.record), (None, {}))
            if piece is None or any(known.get(c, v) != v for c, v in values.items()):
                piece, known = _Piece((row.person, row.record)), {}
                out.append(piece)
            piece.at[e] = row.label
            now[row.person, row.record] = piece, {**known, **values}
        out += [_Piece(None, {e: label}) for label, _ in release.fakes]
    return out


def beliefs(releases: Sequence[Release], columns: Sequence[str], most: int = 100_000) -> Belief | None:
    """How likely every value is for every piece of a record, over all worlds; None where there are too many.

    Pieces are named by whose they are and by the classes that they are in.
    """
    pieces = _pieces(releases, columns)
    whole = [e for e, r in enumerate(releases) if set(columns) <= set(r.columns)]
    pieces = [p for p in pieces if p.owner is None or set(p.at) & set(whole)]
    left, total = {}, {}
    for e, release in enumerate(releases):
        own = [c for c in columns if c in release.columns]
        for label, counts in release.counts([release.columns.index(c) for c in own]).items() if own else ():
            left[e, label] = counts
            total[e, label] = sum(counts.values())
    place = {e: [i for i, c in enumerate(columns) if c in releases[e].columns] for e, _ in left}
    slack = {at: n - sum(at in p.at.items() for p in pieces) for at, n in total.items()}
    every = sorted({v for (e, _), counts in left.items() if e in whole for v in counts})
    # the most constrained first
    pieces.sort(key=lambda p: -len(p.at))
    found: list[Counter[Values]] = [Counter() for _ in pieces]
    world: list[Values] = []
    worlds = 0
    steps = 0

    def choices(piece: _Piece) -> list[Values]:
        if piece.owner is None:
            ((e, label),) = piece.at.items()
            return [v for v, n in left[e, label].items() if n]
        return every

    def live() -> bool:
        nonlocal worlds, steps
        steps += 1
        if steps > most:
            return False
        if len(world) == len(pieces):
            # what is left of a class belongs to people of whom no whole row is known
            if all(sum(counts.values()) == slack[at] for at, counts in left.items()):
                ways = math.prod(math.factorial(slack[at]) for at in left)
                ways //= math.prod(math.factorial(n) for counts in left.values() for n in counts.values())
                worlds += ways
                for counts, values in zip(found, world, strict=True):
                    counts[values] += ways
            return True
        piece = pieces[len(world)]
        for values in choices(piece):
            keys = [
                (at, values if piece.owner is None else tuple(values[i] for i in place[at[0]]))
                for at in piece.at.items()
            ]
            if all(left[at][value] for at, value in keys):
                for at, value in keys:
                    left[at][value] -= 1
                world.append(values)
                if not live():
                    return False
                world.pop()
                for at, value in keys:
                    left[at][value] += 1
        return True

    if not live():
        return None
    return {
        (p.owner, tuple(sorted(p.at.items()))): {v: Fraction(n, worlds) for v, n in counts.items()}
        for p, counts in zip(pieces, found, strict=True)
        if p.owner is not None
    }


def random_history(seed: int) -> list[Release]:
    """Draw 2 to 4 releases of 5 to 9 people."""
    r = random.Random(seed)
    people, n_values = r.randint(5, 9), r.randint(2, 4)
    disease, beside = "abcd"[:n_values], "xyz"
    columns = ("disease", "beside") if r.random() < 0.3 else ("disease",)
    several, changes, fakes = r.random() < 0.25, r.random() < 0.3, r.random() < 0.25
    own = {
        (p, i): tuple(r.choice(disease if c == "disease" else beside) for c in columns)
        for p in range(people)
        for i in range(r.choice([1, 1, 2]) if several else 1)
    }
    n_classes, away = r.choice([1, 2, 2, 3]), r.choice([0, 0.1, 0.3])
    label = {key: r.randrange(n_classes) for key in own}
    out = []
    for e in range(r.choice([2, 2, 3, 4])):
        for key in own:
            if e and r.random() < 0.4:
                label[key] = r.randrange(n_classes)
            if e and changes and r.random() < 0.15:
                own[key] = (r.choice(disease), *own[key][1:])
        shown = columns[:1] if e == 0 and r.random() < 0.3 else columns
        there = {p for p in range(people) if r.random() >= away}
        rows = [Held(*key, label[key], own[key][: len(shown)]) for key in own if key[0] in there]
        made = []
        if fakes and len(shown) == 1:
            made = [(row.label, (r.choice(disease),)) for row in rows if r.random() < 0.2]
        if rows:
            out.append(Release(shown, tuple(rows), tuple(made)))
    return out
