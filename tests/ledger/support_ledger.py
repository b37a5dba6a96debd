"""Releases as plain data, and the ledger's judgment of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fuzz.histories import Held, Release
from fuzz.ledger import described as told
from hushtable.ledger.describe import Described
from hushtable.ledger.judge import judge
from hushtable.ledger.promise import Promise
from hushtable.ledger.search import Limits
from hushtable.ledger.verdict import LedgerVerdict
from hushtable.models.base import PrivacyModel
from hushtable.models.compose import AllOf
from hushtable.table.reference import Attribute, Reference

VALUES = "abcd"


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

    def release(self) -> Release:
        """The same as the campaign has it."""
        rows = tuple(Held(person, 0, label, (value,)) for person, (label, value) in self.people.items())
        return Release(("disease",), rows, tuple((c, (v,)) for c, values in self.fakes.items() for v in values))


def people(**classes: str) -> Plain:
    """``people(x="1a 2b")``: class x holds person 1 with value a and person 2 with value b."""
    return Plain({int(m[0]): (i, m[1]) for i, members in enumerate(classes.values()) for m in members.split()})


def described(plain: Plain) -> Described:
    """What the ledger would keep of it."""
    return told(plain.release())


def reference(plain: Plain, known: Sequence[str]) -> Reference:
    """The whole table of a release."""
    count = Counter(v for _, v in plain.people.values())
    return Reference.of(len(plain.people), Attribute.of("disease", known, [count[v] for v in known]))


def verdict_of(
    releases: list[Plain],
    model: PrivacyModel,
    *promised: PrivacyModel | None,
    tags: bool = True,
    limits: Limits | None = None,
) -> LedgerVerdict:
    """Judge the last release by a model, and by what earlier ones promised."""
    made = [described(r) for r in releases]
    if not tags:
        made = [replace(d, entry=replace(d.entry, tags=d.entry.tags[:0])) for d in made]
    *earlier, now = made
    promises = [Promise(len(earlier), "", AllOf((model,)), now.promise.reference)]
    for e, own in enumerate(promised):
        if own is not None:
            promises.append(Promise(e, f"release {e + 1}", AllOf((own,)), earlier[e].promise.reference))
    return judge(now, [d.entry for d in earlier], promises, limits=limits)


def slow_crowds(now: Plain, earlier: list[Plain], k: int) -> set[int]:
    """Everybody whose look-alikes in all releases are too few, one by one."""

    def trace(person: int, releases: list[Plain]) -> tuple[int | None, ...]:
        return tuple(r.people[person][0] if person in r.people else None for r in releases)

    everybody = {p for r in [*earlier, now] for p in r.people}
    hit = set()
    for person in everybody:
        alike = [p for p in everybody if trace(p, [*earlier, now]) == trace(person, [*earlier, now])]
        before = [p for p in everybody if trace(p, earlier) == trace(person, earlier)]
        if (person in now.people or len(alike) < len(before)) and len(alike) < k:
            hit.add(person)
    return hit
