"""Attacks on linked releases: what an adversary who knows some events of a person makes of the published tables.

Every adversary is given the person's class, as if attributes always led to the right one, and some original events. An
original event matches published events that show it, or anything above it in the hierarchies: anybody can look that up.
Whoever has most of the known events is a candidate. The original serves for scoring alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.arrays import BoolArray, IntArray
from hushtable.attacks.base import AttackResult
from hushtable.errors import UsageError, did_you_mean
from hushtable.io.dictionaries import encode, to_codes
from hushtable.io.text import to_labels
from hushtable.linked.links import Links, cell_codes
from hushtable.linked.recoding import event_columns
from hushtable.linked.release import LinkedRelease
from hushtable.linked.run import relative_dates
from hushtable.schema.columns import Role

__all__ = ["ATTACKS", "attack_release"]

TARGETS = 400
"""People who are attacked, drawn at random."""

DRAWS = 12
"""Sets of events that a sweep tries for each person."""


@dataclass(frozen=True)
class _View:
    """The published tables as the adversary sees them, and the original to draw knowledge from."""

    release: LinkedRelease
    original: Links
    published: Links

    @classmethod
    def of(cls, release: LinkedRelease) -> _View:
        if release.links is None:
            raise UsageError("The release was opened without its original.", code="needs-original",
                             hint="Open it with the original tables.")  # fmt: skip
        return cls(release, relative_dates(release.links), release.published())

    @cached_property
    def row_of(self) -> IntArray:
        """The published row of each original person."""
        found = np.empty(self.original.people.num_rows, dtype=np.int64)
        found[self.release.origin[self.release.policy.people]] = np.arange(len(found))
        return found

    @cached_property
    def classes(self) -> IntArray:
        """The class of each published person."""
        quasi = self.release.policy.tables[self.release.policy.people].named(Role.QUASI)
        return cell_codes([self.published.people[name] for name in quasi], self.published.people.num_rows)

    @cached_property
    def events(self) -> dict[str, tuple[list[IntArray], list[list[IntArray]]]]:
        """For each table: published cells as numbers; and for each level, the numbers that show an original event."""
        found = {}
        for name, columns in event_columns(self.original).items():
            cells, shown = [], []
            for one in columns:
                labels = {label: i for i, label in enumerate(one.shown[1])}
                column = encode(self.published.tables[name][one.column.name])
                texts = [labels[t or None] for t in to_labels(column.dictionary).to_pylist()]
                cells.append(np.array([*texts, labels.get(None, -1)], dtype=np.int64)[to_codes(column)])
                shown.append([level[one.column.codes] for level in one.shown[0]])
            found[name] = cells, shown
        return found

    @cached_property
    def exact(self) -> dict[str, tuple[list[IntArray], list[list[IntArray]]]]:
        """The same for published columns that others are not thought to know."""
        found = {}
        for name in self.release.policy.events:
            table = self.release.policy.tables[name]
            own = [*table.named(Role.SENSITIVE), *table.named(Role.INSENSITIVE)]
            cells, shown = [], []
            for column in own:
                parts = [
                    to_labels(encode(t.tables[name][column]).cast(pa.string())) for t in (self.published, self.original)
                ]
                codes = to_codes(encode(pa.chunked_array(parts)))
                cells.append(codes[: len(parts[0])])
                shown.append([codes[len(parts[0]) :]])
            found[name] = cells, shown
        return found

    def matching(self, name: str, row: int, *, everything: bool = False) -> BoolArray:
        """Return which published people have an event that shows an original one."""
        fits = np.ones(self.published.tables[name].num_rows, dtype=np.bool_)
        parts = [self.events.get(name, ([], []))] + ([self.exact[name]] if everything else [])
        for cells, shown in parts:
            for column, levels in zip(cells, shown, strict=True):
                fits &= np.isin(column, [level[row] for level in levels])
        found = np.zeros(len(self.classes), dtype=np.bool_)
        found[self.published.person[name][fits]] = True
        return found

    @cached_property
    def of_person(self) -> tuple[IntArray, list[tuple[str, int]]]:
        """Where each original person's events begin, and all events in that order."""
        names = self.published.quasi
        person = np.concatenate([self.original.person[n] for n in names]) if names else np.empty(0, dtype=np.int64)
        events = [(n, i) for n in names for i in range(self.original.tables[n].num_rows)]
        order = np.argsort(person, kind="stable")
        starts = np.searchsorted(person[order], np.arange(self.original.people.num_rows + 1))
        return starts, [events[i] for i in order.tolist()]

    def known(self, person: int, stream: str) -> list[tuple[str, int]]:
        """Return as many events of a person as an adversary may know, drawn at random."""
        starts, events = self.of_person
        own = events[starts[person] : starts[person + 1]]
        knows = self.release.policy.knows
        most = len(own) if knows == "all" else min(int(knows), len(own))
        order = np.argsort(rng.uniform(self.release.policy.seed, f"{stream}/{person}", len(own)))
        return [own[i] for i in order[:most].tolist()]

    def candidates(self, person: int, events: Sequence[tuple[str, int]], *, everything: bool = False) -> IntArray:
        """Return the published people of the person's class who have most of these events."""
        hits = np.zeros(len(self.classes), dtype=np.int64)
        for name, row in events:
            hits += self.matching(name, row, everything=everything)
        mine = np.flatnonzero(self.classes == self.classes[self.row_of[person]])
        return np.asarray(mine[hits[mine] == hits[mine].max()])

    def targets(self) -> IntArray:
        """Return the people who are attacked."""
        n = self.original.people.num_rows
        lots = rng.uniform(self.release.policy.seed, "linked targets", n)
        return np.sort(np.argsort(lots, kind="stable")[:TARGETS])


def _picked(view: _View, person: int, among: IntArray, stream: str) -> bool:
    """Whether the person is the one whom the adversary picks among candidates."""
    draw = rng.uniform(view.release.policy.seed, f"{stream} pick/{person}", 1)[0]
    return bool(among[min(int(draw * len(among)), len(among) - 1)] == view.row_of[person])


def _linkage(view: _View) -> AttackResult:
    """Link people by as many events as the policy says."""
    right, alone, targets = 0, 0.0, view.targets().tolist()
    sizes = []
    for person in targets:
        found = view.candidates(person, view.known(person, "linkage"))
        right += _picked(view, person, found, "linkage")
        sizes.append(len(found))
        alone += 1 / np.count_nonzero(view.classes == view.classes[view.row_of[person]])
    return AttackResult(
        "event-linkage", "The adversary knows a person's class and as many of the person's events as the policy says.",
        len(targets), right, alone / len(targets), counts={"fewest_candidates": min(sizes)},
        remedy="Raise k or 'knows'.",
    )  # fmt: skip


def _sweep(view: _View) -> AttackResult:
    """Link people by the most telling of several sets of events, with all cells that are published of them."""
    right, alone, targets = 0, 0.0, view.targets()[: max(1, TARGETS // 4)].tolist()
    sizes = []
    for person in targets:
        tried = [view.known(person, f"sweep {i}") for i in range(DRAWS)]
        found = min((view.candidates(person, events, everything=True) for events in tried), key=len)
        right += _picked(view, person, found, "sweep")
        sizes.append(len(found))
        alone += 1 / np.count_nonzero(view.classes == view.classes[view.row_of[person]])
    return AttackResult(
        "event-sweep", "The adversary knows a person's class and the most telling of several sets of events, with "
        "columns that nobody was thought to know.", len(targets), right, alone / len(targets),
        counts={"fewest_candidates": min(sizes)},
        remedy="Give columns that others may know the role 'quasi', or drop them.",
    )  # fmt: skip


def _membership(view: _View) -> AttackResult:
    """Tell people from made-up ones, who have the attributes of one person and the events of another."""
    targets = view.targets()
    strangers = np.roll(targets, 1)
    right = 0
    for person, other in zip(targets.tolist(), strangers.tolist(), strict=True):
        for made_up in (False, True):
            events = view.known(other if made_up else person, "membership")
            hits = np.ones(len(view.classes), dtype=np.bool_)
            for name, row in events:
                hits &= view.matching(name, row)
            inside = bool((hits & (view.classes == view.classes[view.row_of[person]])).any())
            right += inside != made_up
    return AttackResult(
        "event-membership", "The adversary knows a person's class and events, and says whether there is such a person.",
        2 * len(targets), right, 0.5, remedy="Raise 'crowd', or lower what is known.",
    )  # fmt: skip


def _inference(view: _View) -> AttackResult:
    """Guess a sensitive value of people: the one that most candidates have."""
    policy = view.release.policy
    columns = []
    for name in policy.tables:
        for column in policy.tables[name].named(Role.SENSITIVE):
            person = np.arange(len(view.classes)) if name == policy.people else view.published.person[name]
            codes = to_codes(encode(view.published.tables[name][column])) + 1
            pairs = np.unique(np.stack([person, codes]), axis=1)
            columns.append((pairs[0], pairs[1]))
    if not columns:
        raise UsageError(
            "The policy has no sensitive column.", code="no-sensitive", hint="Leave 'event-inference' out."
        )
    right = guesses = 0
    usual = 0.0
    for who, values in columns:
        common = int(np.argmax(np.bincount(values)))
        for person in view.targets().tolist():
            found = view.candidates(person, view.known(person, "inference"))
            among = values[np.isin(who, found)]
            if not len(among):
                continue
            mine = values[who == view.row_of[person]]
            right += int(np.argmax(np.bincount(among))) in mine
            usual += common in mine
            guesses += 1
    return AttackResult(
        "event-inference", "The adversary knows a person's class and events, and guesses a sensitive value.",
        guesses, right, usual / max(guesses, 1), remedy="Add a model of sensitive values, for example distinct-l.",
    )  # fmt: skip


ATTACKS: dict[str, Callable[[_View], AttackResult]] = {
    "event-linkage": _linkage,
    "event-sweep": _sweep,
    "event-membership": _membership,
    "event-inference": _inference,
}
"""The attacks on linked releases, by name."""


def attack_release(release: LinkedRelease, only: Sequence[str] | None = None) -> list[AttackResult]:
    """Attack a linked release with its original at hand.

    Parameters
    ----------
    release : LinkedRelease
    only : sequence of str, optional
        Some of ``ATTACKS``. Defaults to all that apply.

    Returns
    -------
    list of AttackResult
        Each with its baseline and interval.
    """
    for name in only or ():
        if name not in ATTACKS:
            raise UsageError(f"There is no attack {name!r} on linked tables.", hint=did_you_mean(name, ATTACKS))
    view = _View.of(release)
    names = list(only or [n for n in ATTACKS if n != "event-inference" or release.policy.sensitive()])
    return [ATTACKS[name](view) for name in names]
