"""Dropping events until the promise holds.

Every failing combination of events loses its rarest item, for all people who match it, so that nobody matches it any
longer. Fewer events may make other combinations fail, so this is repeated until nothing changes. It ends, since the
number of events only falls, and a class of people without events satisfies the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

import numpy as np

from hushtable.arrays import BoolArray, IntArray, inverted, mask_of, run_places
from hushtable.errors import NotFound
from hushtable.linked.events import Events, joint_codes
from hushtable.linked.links import Links
from hushtable.linked.promise import LinkedPromise
from hushtable.linked.recoding import LinkedProblem, RecodedEvents
from hushtable.linked.verify import promise_of
from hushtable.table.coins import Coins

COMPARED = 12
"""Number of each person's events that are compared to find similar people."""

AT_ONCE = 10
"""Share of the rarest items that is dropped at once from people whose events must become equal."""


def settle(problem: LinkedProblem, recoded: RecodedEvents, rounds: int | None = None) -> BoolArray:
    """Return which events are dropped so that the promise holds for the others.

    Parameters
    ----------
    problem : LinkedProblem
    recoded : RecodedEvents
        What each event shows, and which have already been dropped.
    rounds : int, optional
        Maximum number of rounds of counting. A few rounds drop nearly all that must go, which is enough to compare
        choices, but not to publish one.

    Raises
    ------
    NotFound
        If a class of people fails even without any event.
    """
    links, cells = problem.links, recoded.cells
    alive = links.alive(recoded.dropped)
    every = bool(links.policy.counted) or any(links.policy.known_events(name) == "all" for name in links.quasi)
    while True:
        if every:
            alive = _equalised(problem, cells, alive, rounds)
        left = _settled(problem, cells, alive, rounds)
        if not every or rounds or np.array_equal(left, alive):
            return ~left
        alive = left


def _settled(problem: LinkedProblem, cells: Mapping[str, IntArray], alive: BoolArray, rounds: int | None) -> BoolArray:
    """Drop items of failing combinations until none fails."""
    alive = alive.copy()
    nodes, events, promise = part_of(problem, cells, alive)
    _check_classes(promise, events)
    touched: BoolArray | None = None
    for done in count(1):
        changed, rebuilt = np.zeros(len(events.table_of), dtype=np.bool_), False
        for size in range(1, promise.total + 1):
            gone = _victims(events, promise, size, touched, problem.coins)
            if not gone.any():
                continue
            alive[nodes[events.source[gone]]] = False
            alive = problem.links.alive(~alive)
            if promise.fixed:
                keep = alive[nodes[events.source]]
                changed[events.item[~keep]] = True
                events = events.keep(keep)
            else:
                nodes, events, promise = part_of(problem, cells, alive)
                # dropping events drops their sensitive values
                _check_classes(promise, events)
                touched, rebuilt = None, True
        if done == rounds or (not rebuilt and not changed.any()):
            break
        touched = None if rebuilt else changed
    return alive


def part_of(
    problem: LinkedProblem, cells: Mapping[str, IntArray], alive: BoolArray
) -> tuple[IntArray, Events, LinkedPromise]:
    """Return the remaining events: the number of each among all, the events, and the promise."""
    kept = {name: own[alive[problem.links.part(name)]] for name, own in cells.items()}
    return np.flatnonzero(alive), *promise_of(problem.links.only(alive), problem.classes, kept)


def _check_classes(promise: LinkedPromise, events: Events) -> None:
    _, good = promise.judge_classes(events)
    if not good.all():
        raise NotFound(
            f"{np.count_nonzero(~good)} of {len(good)} classes of people fail a model even if no event is known.",
            hint="Raise 'crowd', or relax the model of a sensitive event column.",
        )


def _victims(events: Events, promise: LinkedPromise, size: int, touched: BoolArray | None, coins: Coins) -> BoolArray:
    """Return the rows to drop: in each failing combination, as many rows of its rarest item as it takes."""
    marked = np.zeros(len(events.item), dtype=np.bool_)
    rarity: IntArray | None = None
    for found in promise.judge_size(events, size, touched):
        rows = found.rows
        if not len(rows):
            continue
        if rarity is None:
            support = events.support()
            lots = coins.words(f"rarest {size}", len(support))
            rarity = inverted(np.lexsort((lots, support)))
        # among equal items, drop the last one, which keeps the others
        turned = rows[:, ::-1]
        marked[turned[np.arange(len(rows)), rarity[events.item[turned]].argmin(axis=1)]] = True
    if not marked.any():
        return marked
    # later copies of an event are dropped before earlier ones
    so_far = np.cumsum(marked)
    first = np.arange(len(marked)) - events.copy
    return np.asarray(so_far - so_far[first] + marked[first] > 0)


def _equalised(
    problem: LinkedProblem, cells: Mapping[str, IntArray], alive: BoolArray, rounds: int | None
) -> BoolArray:
    """Drop events of tables that are known completely until enough people have equal events, or equal numbers."""
    links, classes, coins = problem.links, problem.classes, problem.coins
    everything = [name for name in links.quasi if links.policy.known_events(name) == "all"]
    tables = [name for name in links.policy.events if name in everything or name in links.policy.counted]
    node = np.concatenate([links.offsets[n] + np.arange(links.tables[n].num_rows) for n in tables])
    person = np.concatenate([links.person[n] for n in tables])
    # if only the number is known, all events are alike
    kind = _paths(links, {n: cells[n] if n in everything else links.owner[n] * 0 for n in tables}, tables)
    if links.policy.counted:
        # the secret decides which of a person's events are dropped
        mixed = np.argsort(coins.words("equally many", links.n_events)[node], kind="stable")
        node, person, kind = node[mixed], person[mixed], kind[mixed]
    alive = _shared(problem, (node, person, kind), alive)
    while True:
        _, events, promise = part_of(problem, cells, alive)
        sizes, good = promise.judge_classes(events)
        if good.all():
            return alive
        unsettled = mask_of(events.people[~good[events.classes]], len(classes))
        if rounds:
            # if people remain unique, dropping all of their events is always enough
            alive[node[unsettled[person]]] = False
            return links.alive(~alive)
        open_rows = np.flatnonzero(alive[node] & unsettled[person])
        if not len(open_rows):
            unsettled = _reopened(events, classes, sizes, good, unsettled)
            open_rows = np.flatnonzero(alive[node] & unsettled[person])
            alive[node[open_rows]] = False
        else:
            label, what = classes[person[open_rows]], _numbered(person[open_rows], kind[open_rows])
            items = joint_codes([label, what])
            owner = np.zeros(int(items.max()) + 1, dtype=np.int64)
            owner[items] = label
            lots = coins.words("equal", len(owner))
            order = np.lexsort((lots, np.bincount(items), owner))
            rank = run_places(owner[order])[inverted(order)]
            most = np.bincount(owner)[owner] // AT_ONCE
            alive[node[open_rows[(rank <= most)[items]]]] = False
        alive = links.alive(~alive)


def _paths(links: Links, cells: Mapping[str, IntArray], tables: Sequence[str]) -> IntArray:
    """Return what each event and the events that it belongs to show, as numbers over several tables."""
    found: dict[str, IntArray] = {}
    shift = 0
    for name in tables:
        above = str(links.policy.tables[name].of)
        alone = above not in found or links.policy.known_events(name) != "all"
        own = [cells[name]] if alone else [found[above][links.owner[name]], cells[name]]
        found[name] = joint_codes(own) + shift
        shift = int(found[name].max(initial=shift - 1)) + 1
    return np.concatenate([found[name] for name in tables])


def _shared(problem: LinkedProblem, rows: tuple[IntArray, IntArray, IntArray], alive: BoolArray) -> BoolArray:
    """Form groups of people with similar events within a class, and keep the events that all of a group have.

    People are sorted by their events, the most frequent ones of the class first; adjacent people form groups. If tables
    belong to tables, people of a group may still differ in which event belongs to which.
    """
    links, classes, coins = problem.links, problem.classes, problem.coins
    node, person, kind = (one[alive[rows[0]]] for one in rows)
    n = len(classes)
    what = _numbered(person, kind)
    item = joint_codes([classes[person], what])
    if not len(item):
        return alive
    lots = coins.words("shared", int(item.max()) + 1)
    rank = inverted(np.lexsort((lots, -np.bincount(item))))
    order = np.lexsort((rank[item], person))
    place = np.arange(len(order)) - np.searchsorted(person[order], person[order])
    keys = np.full((COMPARED, n), len(lots), dtype=np.int64)
    first = order[place < COMPARED]
    keys[place[place < COMPARED], person[first]] = rank[item[first]]
    # the secret breaks ties between people with the same first events
    own = coins.purse("similar people").lots_of_combinations(links.key_ranks(links.policy.people))
    queue = np.lexsort((own, *keys[::-1], classes))
    begins = np.searchsorted(classes[queue], classes[queue])
    least = links.policy.model().min_group_size()
    many = np.bincount(classes)[classes[queue]]
    group = np.empty(n, dtype=np.int64)
    group[queue] = begins + np.minimum((np.arange(n) - begins) // least, np.maximum(many // least - 1, 0))
    together = joint_codes([group[person], what])
    alive = alive.copy()
    alive[node[np.bincount(together)[together] < np.bincount(group, minlength=n)[group[person]]]] = False
    return links.alive(~alive)


def _numbered(person: IntArray, kind: IntArray) -> IntArray:
    """Distinguish copies of a person's event: the first, the second, and so on."""
    order = np.lexsort((kind, person))
    return joint_codes([kind, run_places(person[order], kind[order])[inverted(order)]])


def _reopened(events: Events, classes: IntArray, sizes: IntArray, good: BoolArray, unsettled: BoolArray) -> BoolArray:
    """Return people whose events are dropped too: the smallest satisfied group of each class with people left over."""
    group = np.empty(len(classes), dtype=np.int64)
    group[events.people] = events.classes
    lacking = np.unique(classes[unsettled])
    found = unsettled.copy()
    for label in lacking.tolist():
        mine = np.unique(group[classes == label])
        others = mine[good[mine]]
        if not len(others):
            raise NotFound("A class of people fails a model even if no event is known.", hint="Raise 'crowd'.")
        found |= group == others[np.argmin(sizes[others])]
    return found
