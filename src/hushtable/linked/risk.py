"""Risks of linked tables: who can be found by attributes and the events that an adversary may know.

A person's risk is 1 / (people who match), for those events of the person that fewest people match: up to ``knows`` of
them, at most as many of each table as that table's ``knows`` says. Repeated and related events have the same meaning as
in the promise. Original tables are judged by their own values, the release by its published cells. An adversary who
knows fewer or less revealing events finds fewer people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.linked.links import Links
from hushtable.linked.promise import combination_ids, people_once
from hushtable.linked.verify import promise_of, shown_cells
from hushtable.release.exposure import Exposure
from hushtable.risk.base import Finding
from hushtable.risk.before_after import BeforeAfter, RiskSummary
from hushtable.risk.linkage import LinkageRisks, summarise

if TYPE_CHECKING:
    from hushtable.linked.release import LinkedRelease

MEANINGS = {
    "attributes": "Chance of finding a person if only attributes are known: 1 / (people in the class).",
    "events": "Chance of finding a person by attributes and the most revealing events: 1 / (people who match).",
    "combinations": "Combinations of attributes and events that may be known, and how many only one person has.",
}
"""Description of each risk."""


@dataclass(frozen=True)
class KnownEvents(Finding):
    """The combinations that adversaries may know, and how many of them only one person has.

    Attributes
    ----------
    combinations : int
        Distinct combinations of attributes and known events.
    of_one_person : int
        Those that only one person has.
    share_of_one_person : float
    people_found : int
        People who have one of those.
    """

    combinations: int
    of_one_person: int
    share_of_one_person: float
    people_found: int


@dataclass(frozen=True)
class Exposed:
    """How many people match each person.

    Attributes
    ----------
    classes : int64 array
        Number of people with the same attributes as each person.
    crowds : int64 array
        Fewest people who match what may be known about each person.
    n_classes, combinations, unique : int
    """

    classes: IntArray
    crowds: IntArray
    n_classes: int
    combinations: int
    unique: int

    def known_events(self) -> KnownEvents:
        """Return the counts of combinations."""
        return KnownEvents(
            self.combinations, self.unique, self.unique / self.combinations, int(np.count_nonzero(self.crowds == 1))
        )

    def linkage(self, people: IntArray, threshold: float, comparison: str) -> LinkageRisks:
        """Return the chances of finding people, given the number of people who match each."""
        chance: FloatArray = 1 / people
        each = Exposure((), (), (), np.ones(len(people), dtype=np.int64))
        return replace(summarise(each, chance, "table", threshold, comparison), classes=self.n_classes)


def exposed(links: Links) -> Exposed:
    """Return how many people match each person of linked tables."""
    classes, cells = shown_cells(links)
    events, promise = promise_of(links, classes, cells)
    # with 'knows: all' events are part of the class
    sizes = np.bincount(events.classes)
    fewest = sizes[events.classes].astype(np.int64)
    many, unique = len(sizes), int(np.count_nonzero(sizes == 1))
    for rows in promise.rows(events):
        ids, person = combination_ids(events, rows)
        people = np.bincount(people_once(ids, person)[0])
        np.minimum.at(fewest, person, people[ids])
        many += len(people)
        unique += int(np.count_nonzero(people == 1))
    crowds = np.empty(len(fewest), dtype=np.int64)
    crowds[events.people] = fewest
    own = np.bincount(classes)
    return Exposed(own[classes].astype(np.int64), crowds, len(own), many, unique)


def linked_risks(release: LinkedRelease, threshold: float, comparison: str) -> RiskSummary:
    """Assess a release and its original."""
    before, after = exposed(release.original()), exposed(release.published())
    settings = {"threshold": threshold, "comparison": comparison}
    sides = {"attributes": [s.linkage(s.classes, threshold, comparison) for s in (before, after)],
             "events": [s.linkage(s.crowds, threshold, comparison) for s in (before, after)]}  # fmt: skip
    found = {name: BeforeAfter(name, settings, *both) for name, both in sides.items()}
    return RiskSummary(
        {**found, "combinations": BeforeAfter("combinations", {}, before.known_events(), after.known_events())}
    )
