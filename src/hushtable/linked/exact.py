"""The exact algorithm: the levels and suppressed events with the least loss, by search. For very small tables.

Within a class, every value of a column is published at one level of its hierarchy, as in the greedy algorithm, which is
tested against this one. The search begins with all events unchanged, and always continues with the choice that has the
least loss so far. If a combination fails, a solution must either publish a value of the class at a higher level, or
drop one of the combination's events from a person who matches it: as long as all of them keep these events, the same
people match. Each of these steps is tried. A step never lowers the loss, so the first choice that keeps the promise is
optimal.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.errors import NotFound
from hushtable.linked.events import joint_codes
from hushtable.linked.recoding import LinkedProblem, RecodedEvents
from hushtable.linked.settle import part_of

MOST_STATES = 20_000
"""Number of choices that are examined before giving up."""


def least_loss(problem: LinkedProblem, lots: IntArray) -> RecodedEvents:
    """Generalize and drop events with the least loss so that the promise holds, in given classes of people.

    Parameters
    ----------
    problem : LinkedProblem
    lots : int64 array
        A secret number for each event. They break ties: with models of sensitive values, nobody may be able to predict
        the choice.

    Raises
    ------
    NotFound
        If the tables are too large to try, or more events would be suppressed than the policy allows.
    """
    links, classes, values = problem.links, problem.classes, _Values.of(problem)
    search = _Search(problem, values, lots)
    # classes are independent, unless values are compared with those of all people or suppression is limited
    apart = range(int(classes.max()) + 1) if not links.policy.model().histogram_keys() else ()
    start = np.zeros(len(values.top), dtype=np.int8), np.zeros(links.n_events, dtype=np.bool_)
    found = start
    for one in apart:
        found = search.best(found, classes == one)
    allowed = links.policy.suppression * links.n_events
    if not apart or search.recoded(*found).dropped.sum() > allowed:
        found = search.best(start, np.ones(len(classes), dtype=np.bool_), allowed)
    return search.recoded(*found)


@dataclass(frozen=True)
class _Values:
    """The distinct values of each class and column.

    Attributes
    ----------
    of_event : mapping of str to list of int64 arrays
        For each column, the number of each event's value.
    top : int64 array
        The highest level of each value.
    label : int64 array
        The class of each value.
    """

    of_event: Mapping[str, list[IntArray]]
    top: IntArray
    label: IntArray

    @classmethod
    def of(cls, problem: LinkedProblem) -> _Values:
        found: dict[str, list[IntArray]] = {}
        top: list[int] = []
        label: list[int] = []
        for name, own in problem.columns.items():
            found[name] = []
            for column in own:
                mine = problem.classes[problem.links.person[name]]
                number = joint_codes([mine, column.column.codes.astype(np.int64)]) + len(top)
                shared = np.zeros(int(number.max()) + 1 - len(top), dtype=np.int64)
                shared[number - len(top)] = mine
                found[name].append(number)
                top += [column.height] * len(shared)
                label += shared.tolist()
        return cls(found, np.array(top, dtype=np.int64), np.array(label, dtype=np.int64))


@dataclass(frozen=True)
class _Search:
    problem: LinkedProblem
    values: _Values
    lots: IntArray

    def recoded(self, levels: AnyArray, dropped: BoolArray) -> RecodedEvents:
        """Return the events at these levels, and all dropped events: one at the top of all columns says nothing."""
        of_event = {name: [levels[one] for one in own] for name, own in self.values.of_event.items()}
        recoded = RecodedEvents.at(self.problem, of_event)
        return replace(recoded, dropped=~self.problem.links.alive(dropped | recoded.dropped))

    def best(
        self, start: tuple[AnyArray, BoolArray], people: BoolArray, most: float = np.inf
    ) -> tuple[AnyArray, BoolArray]:
        """Return the choice with the least loss that keeps the promise for some classes, beginning at a start."""
        number = count()
        queue: list[tuple[float, int, AnyArray, BoolArray]] = []
        seen: set[bytes] = set()

        def push(levels: AnyArray, dropped: BoolArray) -> None:
            recoded = self.recoded(levels, dropped)
            gone = recoded.dropped
            key = levels.tobytes() + gone.tobytes()
            if key not in seen and gone.sum() <= most:
                seen.add(key)
                heapq.heappush(queue, (self._lost(recoded), next(number), levels, gone))

        push(*start)
        while queue:
            _, _, levels, dropped = heapq.heappop(queue)
            failing = self._failing(levels, dropped, people)
            if failing is None:
                return levels, dropped
            for raised, event in self._steps(levels, *failing):
                if raised >= 0:
                    higher = levels.copy()
                    higher[raised] += 1
                    push(higher, dropped)
                else:
                    more = dropped.copy()
                    more[event] = True
                    push(levels, more)
            if len(seen) > MOST_STATES:
                raise NotFound(
                    f"{self.problem.links.n_events} events are too many to try all choices.",
                    hint="Write 'algorithm: greedy'.",
                )
        raise NotFound(
            "No choice of levels and suppressed events keeps the promise within the policy's 'suppression'.",
            hint="Raise 'suppression' or 'crowd'.",
        )

    @property
    def _costs(self) -> FloatArray:
        """The cost of dropping each event, by the weights of the tables."""
        links = self.problem.links
        found = np.zeros(links.n_events)
        for name in links.quasi:
            found[links.part(name)] = links.policy.tables[name].weight / max(links.tables[name].num_rows, 1)
        return found

    def _lost(self, recoded: RecodedEvents) -> float:
        # the same steps in another order must not differ by rounding
        return round(float(self._costs @ np.where(recoded.dropped, 1.0, recoded.loss)), 12)

    def _steps(self, levels: AnyArray, events: IntArray, labels: IntArray) -> Iterator[tuple[int, int]]:
        """Yield values to raise and events to drop, in an order that depends on the secret."""
        raised = np.flatnonzero(np.isin(self.values.label, labels) & (levels < self.values.top))
        own = np.full(len(self.values.top), np.iinfo(np.int64).max)
        for name, numbers in self.values.of_event.items():
            for one in numbers:
                np.minimum.at(own, one, self.lots[self.problem.links.part(name)])
        steps = [(int(own[v]), 0, int(v)) for v in raised] + [(int(self.lots[e]), 1, int(e)) for e in events]
        for _, drop, what in sorted(steps):
            yield (-1, what) if drop else (what, -1)

    def _failing(self, levels: AnyArray, dropped: BoolArray, people: BoolArray) -> tuple[IntArray, IntArray] | None:
        """Return a failing combination's events, of all who match it, and its classes; None if none fails."""
        classes = self.problem.classes
        nodes, events, promise = part_of(self.problem, self.recoded(levels, dropped).cells, ~dropped)
        mine = people[events.people]
        _, good = promise.judge_classes(events)
        bad = mine & ~good[events.classes]
        everybody = nodes[events.source[mine[events.person]]], np.unique(classes[people])
        if bad.any():
            # people with unique events in tables that are known completely: drop any of their events, or of those who
            # could become equal to them
            return everybody
        for found in promise.judge(events):
            rows = found.rows[mine[events.person[found.rows[:, 0]]]] if len(found.rows) else found.rows
            if not len(rows):
                continue
            if events.nested or not promise.fixed:
                # events that belong to the known ones matter too
                return everybody
            # the same one for any order of rows
            lots = np.sort(self.lots[nodes[events.source[rows]]], axis=1)
            first = rows[np.lexsort(lots.T[::-1])[0]]
            person = events.person
            same = rows[(events.item[rows] == events.item[first]).all(axis=1)]
            label = classes[events.people[person[first[:1]]]]
            matching = np.isin(events.item, events.item[first]) & np.isin(person, person[same[:, 0]])
            # with sensitive values of people, those of one class are compared with all
            return nodes[events.source[matching]], label
        return None
