"""Attacks on linked releases: what an adversary who knows some of a person's events can infer from the tables.

Adversaries know original events. An original event matches published events that show it, or any of its ancestors in
the hierarchies, which are public. The people who have most of the known events are the candidates. Equal events are
counted; which events are related to each other is not used. The original is used for scoring only.

Linkage, sweep and inference give the adversary the person's class, as if attributes always led to the right one. The
baseline of linkage and sweep is a random pick from that class; the baseline of inference is the most frequent value.
Membership needs real people who are not in the release (``control``): the adversary gets the attributes and events of
the same number of people from inside and outside, finds classes by attributes, and guesses for each person whether they
are in the release. Its baseline is a coin toss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.algorithms.base import Recoding
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray, inverted, places_among
from hushtable.attacks.base import AttackResult
from hushtable.errors import UsageError, did_you_mean
from hushtable.hierarchy.spans import Span
from hushtable.io.dictionaries import encode, to_codes
from hushtable.io.frames import to_arrow
from hushtable.io.text import to_labels
from hushtable.linked.links import Links, cell_codes, link
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.recoding import event_columns
from hushtable.linked.release import LinkedRelease
from hushtable.release.forms.reading import EVERYTHING
from hushtable.release.recode import form_shown
from hushtable.schema.columns import Role

TARGETS = 400
"""Number of people who are attacked, drawn at random."""

DRAWS = 12
"""Number of sets of events that a sweep tries for each person."""

Event = tuple[str, int]
"""A table and a row of it."""


@dataclass(frozen=True)
class _Known:
    """What adversaries know about people: their original tables, coded by the numbers of the published cells."""

    links: Links
    published: Links

    @cached_property
    def published_cells(self) -> dict[str, list[list[IntArray]]]:
        """For each table and quasi-identifier, level by level, the published cell that would show each event."""
        found: dict[str, list[list[IntArray]]] = {}
        for name, columns in event_columns(self.links).items():
            found[name] = []
            for one in columns:
                number = _numbers(self.published.tables[name][one.column.name])[0]
                place = np.array([number.get(label, -2) for label in one.labels_by_level[1]], dtype=np.int64)
                found[name].append([place[level][one.column.codes] for level in one.labels_by_level[0]])
        return found

    @cached_property
    def exact(self) -> dict[str, list[IntArray]]:
        """The same for published columns that the policy assumes unknown; missing values are skipped."""
        found: dict[str, list[IntArray]] = {}
        for name in self.links.policy.events:
            found[name] = []
            for column in _others(self.links.policy, name):
                number = _numbers(self.published.tables[name][column])[0]
                one = encode(self.links.tables[name][column])
                labels = [number.get(text or None, -2) for text in to_labels(one.dictionary).to_pylist()]
                found[name].append(np.array([*labels, -1], dtype=np.int64)[to_codes(one)])
        return found

    def of_event(self, name: str, row: int, *, everything: bool) -> tuple[tuple[int, ...], ...]:
        """Return, column by column, the published cells that show an event."""
        cells = [tuple(int(level[row]) for level in levels) for levels in self.published_cells.get(name, [])]
        return (*cells, *((int(own[row]),) for own in self.exact[name])) if everything else tuple(cells)

    @cached_property
    def order(self) -> tuple[AnyArray, AnyArray, AnyArray, BoolArray]:
        """The first event of each person, and each event's table, row, and whether it is a quasi-identifier."""
        names = self.links.policy.events
        sizes = [self.links.tables[n].num_rows for n in names]
        person = np.concatenate([self.links.person[n] for n in names])
        table = np.repeat(np.arange(len(names)), sizes)
        row = np.concatenate([np.arange(size) for size in sizes])
        order = np.argsort(person, kind="stable")
        starts = np.searchsorted(person[order], np.arange(self.links.people.num_rows + 1))
        quasi = np.array([n in self.links.quasi for n in names], dtype=np.bool_)
        return starts, table[order], row[order], quasi[table[order]]

    def draw_known_events(self, person: int, stream: str, *, everything: bool = False) -> list[Event]:
        """Draw as many events of a person as an adversary may know.

        With ``everything``, from any table, even one that the policy assumes unknown.
        """
        policy = self.links.policy
        starts, tables, rows, quasi = self.order
        own = np.arange(starts[person], starts[person + 1])
        own = own if everything else own[quasi[own]]
        most = len(own) if policy.knows == "all" else int(policy.knows)
        found: list[Event] = []
        times: Counter[str] = Counter()
        lots = rng.uniform(policy.seed, f"{stream}/{person}", len(own))
        for i in own[np.argsort(lots)].tolist():
            name = policy.events[int(tables[i])]
            cap = policy.known_events(name)
            if len(found) < most and (everything or cap == "all" or times[name] < int(cap)):
                times[name] += 1
                found.append((name, int(rows[i])))
        return found


@dataclass(frozen=True)
class _View:
    """The published tables as the adversary sees them, and what the adversary knows."""

    release: LinkedRelease
    published: Links
    inside: _Known
    control: Links | None = None

    @classmethod
    def of(cls, release: LinkedRelease, control: Mapping[str, Any] | None) -> _View:
        published = release.published()
        others = None
        if control is not None:
            others = link({name: to_arrow(table) for name, table in control.items()}, release.policy)
        return cls(release, published, _Known(release.original(), published), others)

    @property
    def policy(self) -> LinkedPolicy:
        return self.release.policy

    @cached_property
    def row_of(self) -> IntArray:
        """The published row of each original person."""
        return inverted(self.release.origin[self.policy.people])

    @cached_property
    def classes(self) -> IntArray:
        """The class of each published person."""
        quasi = self.policy.tables[self.policy.people].named(Role.QUASI)
        return cell_codes([self.published.people[name] for name in quasi], self.published.people.num_rows)

    @cached_property
    def sizes(self) -> IntArray:
        """People in each class."""
        return np.bincount(self.classes)

    @cached_property
    def members(self) -> list[IntArray]:
        """The published people of each class."""
        return np.split(np.argsort(self.classes, kind="stable"), np.cumsum(self.sizes)[:-1])

    @cached_property
    def events(self) -> dict[str, tuple[list[IntArray], list[IntArray]]]:
        """For each table, its columns as numbers, quasi-identifiers first; and the rows of each class."""
        found = {}
        for name in self.policy.events:
            columns = [*self.policy.tables[name].named(Role.QUASI), *_others(self.policy, name)]
            label = self.classes[self.published.person[name]]
            ends = np.cumsum(np.bincount(label, minlength=len(self.sizes)))
            rows = np.split(np.argsort(label, kind="stable"), ends[:-1])
            found[name] = [_numbers(self.published.tables[name][c])[1] for c in columns], rows
        return found

    def hits(self, known: _Known, events: Sequence[Event], label: int, *, everything: bool = False) -> IntArray:
        """Return how many of the given events each person of a class has."""
        mine = self.members[label]
        place = places_among(mine, len(self.classes))
        total = np.zeros(len(mine), dtype=np.int64)
        asked = Counter((name, known.of_event(name, row, everything=everything)) for name, row in events)
        for (name, cells), times in asked.items():
            columns, rows_of = self.events[name]
            rows = rows_of[label]
            fits = np.ones(len(rows), dtype=np.bool_)
            for column, values in zip(columns, cells, strict=False):
                fits &= np.isin(column[rows], values)
            owners = place[self.published.person[name][rows[fits]]]
            total += np.minimum(np.bincount(owners, minlength=len(mine)), times)
        return total

    def candidates(self, person: int, events: Sequence[Event], *, everything: bool = False) -> IntArray:
        """Return the published people of the person's class who have most of these events."""
        label = int(self.classes[self.row_of[person]])
        hits = self.hits(self.inside, events, label, everything=everything)
        return np.asarray(self.members[label][hits == hits.max()])

    def alone(self, people: IntArray) -> float:
        """Return the chance of picking people from their classes."""
        return float((1 / self.sizes[self.classes[self.row_of[people]]]).mean())

    def targets(self, links: Links, stream: str = "linked targets") -> IntArray:
        """Return the people who are attacked."""
        lots = rng.uniform(self.policy.seed, stream, links.people.num_rows)
        return np.sort(np.argsort(lots, kind="stable")[:TARGETS])


def _others(policy: LinkedPolicy, name: str) -> list[str]:
    """Return the published columns of a table that the policy assumes unknown."""
    table = policy.tables[name]
    return [*table.named(Role.SENSITIVE), *table.named(Role.INSENSITIVE)]


def _numbers(column: pa.ChunkedArray) -> tuple[dict[str | None, int], IntArray]:
    """Return the number of each label of a published column (-1 for an empty cell), and each row's number."""
    one = encode(column)
    number: dict[str | None, int] = {None: -1}
    codes = [number.setdefault(text or None, len(number)) for text in to_labels(one.dictionary).to_pylist()]
    return number, np.array([*codes, -1], dtype=np.int64)[to_codes(one)]


def _picked(view: _View, person: int, among: IntArray, stream: str) -> bool:
    """Whether the adversary picks this person among the candidates."""
    draw = rng.uniform(view.policy.seed, f"{stream} pick/{person}", 1)[0]
    return bool(among[min(int(draw * len(among)), len(among) - 1)] == view.row_of[person])


def _linkage(view: _View) -> AttackResult:
    """Link people by as many events as the policy says."""
    targets, right, sizes = view.targets(view.inside.links), 0, []
    for person in targets.tolist():
        found = view.candidates(person, view.inside.draw_known_events(person, "linkage"))
        right += _picked(view, person, found, "linkage")
        sizes.append(len(found))
    return AttackResult(
        "event-linkage", "The adversary knows a person's class and as many of the person's events as the policy says.",
        len(targets), right, view.alone(targets), counts={"fewest_candidates": min(sizes)},
        remedy="Raise k or 'knows'.",
    )  # fmt: skip


def _sweep(view: _View) -> AttackResult:
    """Link people by the most revealing of several sets of events, using all of their published cells."""
    targets, right, sizes = view.targets(view.inside.links)[: max(1, TARGETS // 4)], 0, []
    for person in targets.tolist():
        tried = [view.inside.draw_known_events(person, f"sweep {i}", everything=True) for i in range(DRAWS)]
        found = min((view.candidates(person, events, everything=True) for events in tried), key=len)
        right += _picked(view, person, found, "sweep")
        sizes.append(len(found))
    return AttackResult(
        "event-sweep", "The adversary knows a person's class and the most revealing of several sets of events of any "
        "table, with columns that the policy assumes unknown.", len(targets), right, view.alone(targets),
        counts={"fewest_candidates": min(sizes)},
        remedy="Give columns that others may know the role 'quasi', or drop them.",
    )  # fmt: skip


def _membership(view: _View) -> AttackResult:
    """Distinguish people in the release from real people who are not in it."""
    if view.control is None:
        raise UsageError("The attack needs real people who are not in the release.", code="no-control",
                         hint="Give their tables: --control FOLDER, or control=. Hold some out before the run with "
                              "hushtable.linked.attacks.hold_out.")  # fmt: skip
    inside, outside = view.targets(view.inside.links), view.targets(view.control, "linked control")
    n = min(len(inside), len(outside))
    sides = [(view.inside, inside[:n]), (_Known(view.control, view.published), outside[:n])]
    scores = np.concatenate([_fit(view, known, people) for known, people in sides])
    # guess "in the release" for every score above the median; a coin breaks ties
    coin = rng.uniform(view.policy.seed, "membership coin", 2 * n) < 0.5
    middle = np.median(scores)
    said = (scores > middle) | ((scores == middle) & coin)
    right = int(np.count_nonzero(said == (np.arange(2 * n) < n)))
    return AttackResult(
        "event-membership", "The adversary knows people's attributes and as many of their events as the policy says, "
        "and that half of them are in the release.", 2 * n, right, 0.5, counts={"people_of_each_side": n},
        remedy="Raise 'crowd' and k, publish attributes as nodes of their hierarchies, or lower 'knows'.",
    )  # fmt: skip


def _fit(view: _View, known: _Known, people: IntArray) -> FloatArray:
    """Return how well published people match each of these: by most known events, then by how many have them."""
    covered, found = _covering(view, known.links.people, people), np.zeros(len(people))
    for i, person in enumerate(people.tolist()):
        events = known.draw_known_events(person, "membership")
        for label in np.flatnonzero(covered[i]).tolist():
            hits = view.hits(known, events, label)
            found[i] = max(found[i], 1 + hits.max() + np.count_nonzero(hits == hits.max()) / (len(view.classes) + 1))
    return found


def _covering(view: _View, table: pa.Table, people: IntArray) -> BoolArray:
    """Return which classes cover which people, from the text of published cells: people x classes."""
    plan = view.policy.table_plan(view.policy.people)
    first = pa.array([members[0] for members in view.members])
    found = np.ones((len(people), len(view.members)), dtype=np.bool_)
    for column in (c for c in plan.columns if c.role is Role.QUASI):
        own = encode(table[column.name].take(pa.array(people)))
        texts = [text or None for text in to_labels(own.dictionary).to_pylist()]
        cells = encode(view.published.people[column.name].take(first))
        labels = pa.array([text or None for text in to_labels(cells.dictionary).to_pylist()], pa.string())
        form = form_shown(plan, column, Recoding.LOCAL)
        parts = form.split(labels, column)
        meant = [*form.meanings(parts.names, column), (None,)]
        fits = np.array([[_means(m, text) for m in meant] for text in [*texts, None]], dtype=np.bool_)
        inside = [fits[:, parts.codes[a:b]].any(axis=1) for a, b in zip(parts.offsets, parts.offsets[1:], strict=False)]
        empty = fits[:, -1]
        found &= np.stack([*inside, empty])[to_codes(cells)].T[to_codes(own)]
    return found


def _means(meaning: Sequence[Any], text: str | None) -> bool:
    """Whether a part of a cell covers a value; a part that cannot be read may cover any value."""
    if meaning is EVERYTHING:
        return True
    for atom in meaning:
        if not isinstance(atom, Span):
            if atom == text:
                return True
            continue
        try:
            low, high, value = (None if end is None else float(end) for end in (atom.low, atom.high, text))
        except ValueError:
            # dates and labels sort as text
            low, high, value = atom.low, atom.high, text  # type: ignore[assignment]
        above = value is not None and (low is None or low <= value)
        if above and (high is None or value < high or (atom.closed and value == high)):  # type: ignore[operator]
            return True
    return False


def _inference(view: _View) -> AttackResult:
    """Guess a sensitive value of people: the one that is most common among the candidates."""
    policy = view.policy
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
        for person in view.targets(view.inside.links).tolist():
            found = view.candidates(person, view.inside.draw_known_events(person, "inference"))
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


@dataclass(frozen=True)
class LinkedAttack:
    """An attack on linked releases.

    Attributes
    ----------
    summary : str
        What it does, in a sentence.
    learns : str
        What a correct guess reveals: identity, a sensitive value, or presence in the tables.
    run : callable
    """

    summary: str
    learns: str
    run: Callable[[_View], AttackResult] = field(repr=False)


ATTACKS = {
    "event-linkage": LinkedAttack("Links people by as many events as the policy says.", "person", _linkage),
    "event-sweep": LinkedAttack("Links people by events and columns that are assumed unknown.", "person", _sweep),
    "event-membership": LinkedAttack(
        "Distinguishes people in the tables from real people who are not.", "presence", _membership
    ),
    "event-inference": LinkedAttack("Guesses sensitive values from known events.", "value", _inference),
}
"""The attacks on linked releases, by name."""


def attack_release(
    release: LinkedRelease, only: Sequence[str] | None = None, *, control: Mapping[str, Any] | None = None
) -> list[AttackResult]:
    """Attack a linked release that has its original.

    Parameters
    ----------
    release : LinkedRelease
    only : sequence of str, optional
        Some of ``ATTACKS``. Defaults to all that apply.
    control : mapping of str to DataFrame, optional
        Tables of people who are not in the release.

    Returns
    -------
    list of AttackResult
        Each with its baseline and interval.
    """
    return play_linked(release, True if only is None else only, control=control)[0]


def chosen_attacks(wanted: bool | Sequence[str]) -> list[str]:
    """Return the names of the requested attacks; an unknown one is refused before any work."""
    names = [] if wanted is False else list(ATTACKS) if wanted is True else list(wanted)
    for name in names:
        if name not in ATTACKS:
            raise UsageError(f"There is no attack {name!r} on linked tables.", hint=did_you_mean(name, ATTACKS))
    return names


def play_linked(
    release: LinkedRelease,
    wanted: bool | Sequence[str] = True,
    *,
    control: Mapping[str, Any] | None = None,
    progress: Callable[[float, str], object] | None = None,
) -> tuple[list[AttackResult], dict[str, str]]:
    """Run all attacks, none, or those named; return the results, and why others were not run.

    Raises
    ------
    UsageError
        If an attack that was requested by name cannot run.
    """
    if wanted is False:
        return [], dict.fromkeys(ATTACKS, "Attacks were switched off.")
    names = chosen_attacks(wanted)
    view, results, refused = _View.of(release, control), [], {}
    for i, name in enumerate(names):
        if progress is not None:
            progress(i / len(names), f"attacking: {name}")
        try:
            results.append(ATTACKS[name].run(view))
        except UsageError as error:
            if wanted is not True:
                raise
            refused[name] = str(error)
    return results, refused


def hold_out(
    tables: Mapping[str, Any], policy: LinkedPolicy, share: float = 0.1
) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """Divide people, with all of their events, into those to release and a held-out control group.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    policy : LinkedPolicy
        Its seed decides who is held out.
    share : float
        Share of people to hold out.

    Returns
    -------
    released, control : dict of str to pyarrow.Table

    Examples
    --------
    >>> from hushtable.datasets.hospital import hospital, hospital_policy
    >>> released, control = hold_out(hospital(50), LinkedPolicy(**hospital_policy()), 0.2)
    >>> released["people"].num_rows, control["people"].num_rows
    (40, 10)
    """
    given = {name: to_arrow(table) for name, table in tables.items()}
    links = link(given, policy)
    n = links.people.num_rows
    lots = rng.uniform(policy.seed, "hold out", n)
    out = np.zeros(n, dtype=np.bool_)
    out[np.argsort(lots, kind="stable")[: round(share * n)]] = True
    masks = {policy.people: out, **{name: out[links.person[name]] for name in policy.events}}
    return (
        {name: table.filter(pa.array(~masks[name])) for name, table in given.items()},
        {name: table.filter(pa.array(masks[name])) for name, table in given.items()},
    )
