"""The promise, recomputed from published tables alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, IntArray, inverted, places_among, run_places, run_starts
from hushtable.errors import VerificationError, counted
from hushtable.linked.events import Events, Lists, joint_codes
from hushtable.linked.links import Links, cell_codes, link, of_table
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.promise import LinkedPromise, Sensitive
from hushtable.params import typed
from hushtable.schema.columns import Role
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.encode import sensitive_column
from hushtable.table.reference import Attribute, Reference


@dataclass(frozen=True)
class CombinationFindings:
    """The result for all combinations of events of the same tables."""

    tables: tuple[str, ...]
    combinations: int
    failing: int
    smallest: int

    def words(self) -> str:
        """The result in a sentence."""
        what = " + ".join(self.tables) or "no event known"
        fail = f"of {counted(self.combinations, 'combination fails', 'combinations fail')}"
        return f"{what}: {self.failing:,} {fail}; smallest crowd {self.smallest:,}"


@dataclass(frozen=True)
class LinkedVerification:
    """Whether published linked tables keep the promise.

    Attributes
    ----------
    people, classes, events : int
    found : tuple of CombinationFindings
        One entry for each set of tables that the known events come from; the first is for no known event.
    """

    people: int
    classes: int
    events: int
    found: tuple[CombinationFindings, ...]

    @property
    def ok(self) -> bool:
        """Whether no combination fails."""
        return not any(one.failing for one in self.found)

    @property
    def smallest(self) -> int:
        """The fewest people who match what an adversary may know."""
        return min(one.smallest for one in self.found)

    def as_dict(self) -> dict[str, Any]:
        """Return it as data, without any value of the tables."""
        return {
            "satisfied": self.ok,
            "people": self.people,
            "classes": self.classes,
            "events": self.events,
            "smallest_crowd": self.smallest,
            "combinations": [
                {"tables": list(c.tables), "combinations": c.combinations, "failing": c.failing, "smallest": c.smallest}
                for c in self.found
            ],
        }

    def raise_if_violated(self) -> None:
        """Raise unless every combination satisfies every model."""
        if not self.ok:
            failing = [one for one in self.found if one.failing]
            worst = "; ".join(one.words() for one in failing[:3]) + ("; and others" if len(failing) > 3 else "")
            raise VerificationError(f"The linked tables do not keep their promise: {worst}.")


@typed
def verify_linked(tables: Mapping[str, pa.Table], policy: LinkedPolicy) -> LinkedVerification:
    """Recompute the promise from published tables and the policy alone.

    Parameters
    ----------
    tables : mapping of str to pyarrow.Table
        All tables of the release.
    policy : LinkedPolicy

    Examples
    --------
    >>> policy = LinkedPolicy(
    ...     tables={"people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
    ...             "visits": {"of": "people", "columns": {"reason": {"role": "quasi"}}}},
    ...     knows=1, models=[{"k-anonymity": {"k": 2}}])
    >>> people = pa.table({"id": ["1", "2"], "age": ["30-39", "30-39"]})
    >>> visits = pa.table({"id": ["1", "2", "2"], "reason": ["cold", "cold", "burn"]})
    >>> found = verify_linked({"people": people, "visits": visits}, policy)
    >>> found.ok, found.found[1].words()
    (False, 'visits: 1 of 2 combinations fail; smallest crowd 1')
    """
    links = link(tables, policy, published=True)
    return judge_links(links, *shown_cells(links))


def shown_cells(links: Links) -> tuple[IntArray, dict[str, IntArray]]:
    """Return the class of each person, and for each table that others may know what each event shows, as numbers."""

    def codes(name: str) -> IntArray:
        table = links.tables[name]
        return cell_codes([table[c] for c in links.policy.tables[name].named(Role.QUASI)], table.num_rows)

    return codes(links.policy.people), {name: codes(name) for name in links.quasi}


def judge_links(links: Links, classes: IntArray, cells: Mapping[str, IntArray]) -> LinkedVerification:
    """Judge tables with their classes and cells given as numbers, equal for equal published cells."""
    events, promise = promise_of(links, classes, cells)
    sizes, good = promise.judge_classes(events)
    found: dict[tuple[str, ...], list[int]] = {(): [len(sizes), int(np.count_nonzero(~good)), int(sizes.min())]}
    for one in promise.judge(events):
        size = one.rows.shape[1]
        for code in np.flatnonzero(one.kinds[:, 0]).tolist():
            digits = [code // len(promise.caps) ** i % len(promise.caps) for i in range(size)]
            names = tuple(sorted(links.quasi[digit] for digit in digits))
            entry = found.setdefault(names, [0, 0, 2**62])
            combinations, failing, smallest = one.kinds[code].tolist()
            entry[:] = entry[0] + combinations, entry[1] + failing, min(entry[2], smallest)
    kinds = sorted(found.items(), key=lambda item: (len(item[0]), item[0]))
    people, n_classes = len(classes), len(np.unique(classes))
    return LinkedVerification(people, n_classes, links.n_events, tuple(CombinationFindings(k, *v) for k, v in kinds))


def promise_of(links: Links, classes: IntArray, cells: Mapping[str, IntArray]) -> tuple[Events, LinkedPromise]:
    """Return the events of linked tables, and the promise about their combinations.

    Parameters
    ----------
    links : Links
    classes : int64 array
        The class of each person.
    cells : mapping of str to int64 array
        For each table of events that others may know, what each event shows.
    """
    policy = links.policy
    everything = tuple(name for name in links.quasi if policy.known_events(name) == "all")
    if everything:
        classes = joint_codes([classes, signatures(links, cells, everything)])
    if policy.counted:
        counts = [np.bincount(links.person[name], minlength=len(classes)) for name in policy.counted]
        classes = joint_codes([classes, *counts])
    order = np.argsort(classes, kind="stable")
    place = inverted(order)
    person, table, cell, source, above = [], [], [], [], []
    shift = 0
    for i, name in enumerate(links.quasi):
        many = links.tables[name].num_rows
        person.append(place[links.person[name]])
        table.append(np.full(many, i, dtype=np.int8))
        cell.append(cells[name] + shift)
        source.append(links.offsets[name] + np.arange(many, dtype=np.int64))
        if links.nested:
            above.append(links.above(name))
        shift += int(cells[name].max(initial=-1)) + 1
    levels = tuple(np.concatenate(level) for level in zip(*above, strict=True))
    ranked = np.unique(classes[order], return_inverse=True)[1].astype(np.int64)
    rows = [_concatenated(parts) for parts in (person, cell, table, source)]
    events = Events.build(ranked, rows[0], rows[1], rows[2], rows[3], order, levels)
    caps = [1 if known == "all" else int(known) for known in map(policy.known_events, links.quasi)]
    total = max(caps, default=0) if policy.knows == "all" else int(policy.knows)
    keys = sorted(policy.model().histogram_keys())
    columns = {key: _sensitive(links, key[0], place, events) for key in keys}
    reference = Reference(
        units=len(classes), unit=1, attributes={key: attribute for key, (_, attribute) in columns.items()}
    )
    sensitive = {key: values for key, (values, _) in columns.items()}
    return events, LinkedPromise(policy.model(), reference, total, np.array(caps, dtype=np.int64), sensitive)


def signatures(links: Links, cells: Mapping[str, IntArray], names: Collection[str]) -> IntArray:
    """Return a number for each person, equal for people with equal events in some tables.

    Events are equal if they show the same cells and equal events belong to them.
    """
    lists: dict[str, list[tuple[IntArray, IntArray]]] = {}
    for name in reversed((links.policy.people, *links.policy.events)):
        rows = links.tables[name].num_rows
        below = equal_lists(lists.get(name, []), rows)
        number = joint_codes([cells[name], below]) if name in names else below
        above = links.policy.tables[name].of
        if above is None:
            return number
        # an unknown event with no known events below it reveals nothing
        revealing = np.ones(rows, dtype=np.bool_) if name in names else below > 0
        lists.setdefault(above, []).append((links.owner[name][revealing], number[revealing]))
    raise AssertionError


def equal_lists(pairs: Sequence[tuple[IntArray, IntArray]], n: int) -> IntArray:
    """Return a number for each owner, equal for owners with equal values in any order; 0 for none.

    Parameters
    ----------
    pairs : sequence of (owners, values)
        Values of different entries are different, whatever their numbers.
    n : int
        The number of owners.

    Examples
    --------
    >>> equal_lists([(np.array([0, 2, 0, 2, 3]), np.array([5, 7, 7, 5, 5]))], 4).tolist()
    [2, 0, 2, 1]
    """
    found = np.zeros(n, dtype=np.int64)
    owner = _concatenated([one for one, _ in pairs])
    kind = _concatenated([np.full(len(one), i, dtype=np.int64) for i, (one, _) in enumerate(pairs)])
    if not len(owner):
        return found
    value = joint_codes([kind, _concatenated([values for _, values in pairs])]) + 1
    order = np.lexsort((value, owner))
    owner, value = owner[order], value[order]
    # adjacent values merge into one number, round by round, until every owner has one
    while True:
        new = run_starts(owner)
        if new.all():
            found[owner] = value
            return found
        first = np.flatnonzero(run_places(owner) % 2 == 0)
        alone = np.append(new, True)[first + 1]
        second = np.where(alone, 0, np.append(value, 0)[first + 1])
        value, owner = joint_codes([value[first], second]) + 1, owner[first]


def _concatenated(parts: Sequence[AnyArray]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _sensitive(links: Links, name: str, place: IntArray, events: Events) -> tuple[Sensitive, Attribute]:
    """Return the values of a sensitive column, as numbers, and the column over all people."""
    policy = links.policy
    n = links.people.num_rows
    own, codes, coded = sensitive_values(links, name)
    if own == policy.people:
        lists = Lists.of(place, codes, n)
        return Sensitive(lists), coded.attribute(np.bincount(codes, minlength=coded.coded.size), 1)
    none = coded.coded.size
    person = place[links.person[own]]
    without = np.setdiff1d(np.arange(n), person)
    owners, values = np.concatenate([person, without]), np.concatenate([codes, np.full(len(without), none)])
    lists = Lists.of(owners, values, n)
    counts = np.bincount(lists.values, minlength=none + 1)
    attribute = coded.attribute(counts[:none], 1).with_further(1)
    units = np.append(counts[:none], counts[none])
    return Sensitive(lists, _of_events(links, own, codes, events)), replace(attribute, key=(name,), units=units)


def sensitive_values(links: Links, name: str) -> tuple[str, IntArray, SensitiveColumn]:
    """Return the table of a model's sensitive column, its values as numbers, and the values themselves."""
    policy = links.policy
    table, _, column = name.partition(".")  # names of tables have no dot
    own = policy.people if name in policy.tables[policy.people].columns else table
    plan = policy.table_plan(own)
    found = next(c for c in plan.columns if c.name == (name if own == policy.people else column))
    with of_table(own):
        coded = sensitive_column(found, links.tables[own], plan, links.tables[own].num_rows)
    return own, coded.codes.astype(np.int64), coded


def _of_events(links: Links, own: str, codes: IntArray, events: Events) -> Lists:
    """Return the values that are visible with each event: those of the rows that share its nearest common event.

    These are its own row, the rows below it, the row that it belongs to, and rows of other tables that belong to the
    same event.
    """
    node = places_among(events.source, links.n_events)
    holding = _events_above(links, own)
    owners, values = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for name in links.quasi:
        knowing = _events_above(links, name)
        nearest = next((table for table in knowing if table in holding), None)
        if nearest is not None:
            seen = Lists.of(holding[nearest], codes, links.tables[nearest].num_rows)
            place, value = seen.of_each(knowing[nearest])
            owners.append(node[links.offsets[name] + place])
            values.append(value)
    return Lists.of(np.concatenate(owners), np.concatenate(values), len(events.source))


def _events_above(links: Links, name: str) -> dict[str, IntArray]:
    """Return the rows that each row of a table is or belongs to, table by table, the nearest first, without people."""
    found, at = {}, name
    rows = np.arange(links.tables[name].num_rows, dtype=np.int64)
    while at != links.policy.people:
        found[at] = rows
        rows, at = links.owner[at][rows], str(links.policy.tables[at].of)
    return found
