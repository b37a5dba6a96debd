"""From linked tables and a policy to a verified release."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Progress, quietly
from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.engines import local
from hushtable.engines.release import Release
from hushtable.errors import NotFound
from hushtable.io.dictionaries import encode, to_codes, value_ranks
from hushtable.io.frames import is_spark_frame, to_arrow
from hushtable.io.text import to_labels
from hushtable.kernels.xxhash import hash_rows
from hushtable.linked.events import Events, joint_codes
from hushtable.linked.exact import least_loss
from hushtable.linked.greedy import choose_levels, recode_events
from hushtable.linked.links import Links, cell_codes, link, of_table
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.promise import check_countable
from hushtable.linked.recoding import EventColumn, Levels, LinkedProblem, RecodedEvents, event_columns
from hushtable.linked.release import LinkedRelease, publish_linked
from hushtable.linked.verify import sensitive_values, verify_linked
from hushtable.params import typed
from hushtable.schema.columns import Role
from hushtable.table.coins import Coins, policy_digest
from hushtable.table.encode import encode as encode_table

LARGEST = 10_000
"""Largest class size to try, unless the policy requires more: beyond it, attributes say nothing."""

_log = logging.getLogger(__package__)


@typed
def anonymize_linked(
    tables: Mapping[str, Any], policy: LinkedPolicy, *, progress: Progress | None = None
) -> LinkedRelease:
    """Anonymize people and their events under one policy.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        One for each table of the policy. Tables of Spark are collected on the driver, where the work is done, so the
        release is the same as for local tables.
    policy : LinkedPolicy
    progress : callable, optional

    Returns
    -------
    LinkedRelease

    Raises
    ------
    UsageError, NotFound, VerificationError
        Nothing is returned that was not verified.

    Examples
    --------
    >>> policy = LinkedPolicy(
    ...     tables={"people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
    ...             "visits": {"of": "people", "columns": {"reason": {"role": "quasi"}}}},
    ...     knows=1, models=[{"k-anonymity": {"k": 2}}], suppression=0.4)
    >>> people = {"id": [7, 8, 9, 10], "age": [30, 31, 52, 53]}
    >>> visits = {"id": [7, 8, 8, 9, 10], "reason": ["cold", "cold", "burn", "cold", "cold"]}
    >>> release = anonymize_linked({"people": pa.table(people), "visits": pa.table(visits)}, policy)
    >>> release.tables["visits"].num_rows, release.verification.smallest
    (4, 2)
    """
    report = progress or quietly
    report(0.0, "matching keys")
    links = link(_held(tables, report), policy)
    coins = _coins(links)
    links = _in_order(links, coins)
    columns = event_columns(links)
    _check_known(links, columns)
    report(0.1, "choosing how coarse people and events become")
    everybody = np.zeros(links.people.num_rows, dtype=np.int64)
    found = _tried(LinkedProblem(links, columns, everybody, coins), report)
    report(0.5, "generalizing events")
    recoded = found.recoded()
    _check_budget(links, recoded)
    report(0.8, "publishing")
    source_rows = np.asarray(found.release.source_rows)
    published, origin = publish_linked(found.problem, found.release.table, source_rows, recoded)
    report(0.9, "verifying")
    verification = verify_linked(published, policy)
    verification.raise_if_violated()
    measures = {"crowd": found.crowd, "people": {"ncp": found.people_loss}, **losses(links, columns, recoded)}
    _log.info("Anonymized %d people with %d events", links.people.num_rows, links.n_events,
              extra={"people": links.people.num_rows, "events": links.n_events})  # fmt: skip
    return LinkedRelease(published, policy, verification, measures, links, origin)


def _held(tables: Mapping[str, Any], progress: Progress) -> dict[str, pa.Table]:
    """Return the tables as Arrow; those of Spark are collected on the driver."""
    frames = {name: table for name, table in tables.items() if is_spark_frame(table)}
    if not frames:
        return {name: to_arrow(table) for name, table in tables.items()}
    from hushtable.engines.spark.engine import collected

    brought = collected(frames, progress)
    return {name: brought[name] if name in brought else to_arrow(table) for name, table in tables.items()}


@dataclass(frozen=True)
class _Tried:
    """One class size, and its loss on a sample."""

    crowd: int
    release: Release
    problem: LinkedProblem
    levels: Levels
    people_loss: float
    loss: float

    def recoded(self) -> RecodedEvents:
        """Return all events, generalized in this way."""
        links = self.problem.links
        if links.policy.algorithm == "exact":
            lots = _lots(links, self.problem.coins, links.policy.events)
            return least_loss(self.problem, np.concatenate([np.empty(0, dtype=np.int64), *lots.values()]))
        return recode_events(self.problem, self.levels)


def _tried(problem: LinkedProblem, report: Callable[[float, str], object]) -> _Tried:
    """Return the class size with the least loss: larger ones are tried until the loss grows."""
    policy, n = problem.links.policy, problem.links.people.num_rows
    least = policy.model().min_group_size()
    best: _Tried | None = None
    crowd = max(least, policy.crowd or min(10 * least, n // 20))
    # from both ends: sometimes only several steps together help
    tops = {(name, c.column.name): c.height - 1 for name, own in problem.columns.items() for c in own}
    levels, coarse = Levels({}, 2 * least), Levels(tops, 2 * least)
    while True:
        report(0.3, f"trying classes of {crowd:,} people")
        found = _with_crowd(problem, crowd, (levels, coarse))
        if best is None or found.loss < best.loss:
            best = found
        elif found.loss > best.loss:
            return best
        if policy.crowd is not None or 4 * crowd > min(LARGEST, n):
            return best
        crowd, levels = 4 * crowd, found.levels


def _with_crowd(problem: LinkedProblem, crowd: int, starts: Sequence[Levels]) -> _Tried:
    links, policy = problem.links, problem.links.policy
    own = _attributes(links)
    plan = policy.of_people(crowd).plan()
    # what is fresh for each release depends on the events too
    plan = replace(plan, document={**plan.document, "events": problem.coins.purse("people").key.hex()})
    with of_table(policy.people):
        release = local.run(own, plan)
    quasi = policy.tables[policy.people].named(Role.QUASI)
    classes = np.empty(own.num_rows, dtype=np.int64)
    classes[release.source_rows] = cell_codes([release.table[name] for name in quasi], own.num_rows)
    problem = replace(problem, classes=classes)
    people_loss = float(release.measure("ncp"))
    tried = [choose_levels(problem, start) for start in starts]
    levels, events_loss = min(tried, key=lambda found: found[1])
    weight = policy.tables[policy.people].weight
    others = sum(policy.tables[name].weight for name in links.quasi)
    loss = (weight * people_loss + others * events_loss) / (weight + others)
    return _Tried(crowd, release, problem, levels, people_loss, loss)


def _attributes(links: Links) -> pa.Table:
    """Return the table of people without its key."""
    columns = links.policy.tables[links.policy.people].columns
    return links.people.select([c for c in links.people.column_names if c in columns])


def _check_budget(links: Links, recoded: RecodedEvents) -> None:
    policy = links.policy
    if recoded.suppressed > policy.suppression:
        raise NotFound(
            f"{recoded.suppressed:.1%} of the events would be suppressed; the policy allows {policy.suppression:.1%}.",
            hint="Raise 'suppression' or 'crowd', lower 'knows', give event columns more levels of hierarchy, or give "
            "tables of events more weight.",
        )


def _check_known(links: Links, columns: Mapping[str, list[EventColumn]]) -> None:
    """Refuse policies that would take hours to count, before any work."""
    policy = links.policy
    known = {name: policy.known_events(name) for name in links.quasi}
    some = [name for name in links.quasi if known[name] != "all"]
    if not some or policy.knows == "all":
        return
    caps = np.array([int(known[name]) for name in some], dtype=np.int64)
    cells, shift = [], 0
    for name in some:
        codes = [c.column.codes.astype(np.int64) for c in columns[name]]
        own = joint_codes(codes) if codes else np.empty(0, dtype=np.int64)
        cells.append(own + shift)
        shift += int(own.max(initial=-1)) + 1
    person = np.concatenate([links.person[name] for name in some])
    table = np.concatenate([np.full(len(own), i, dtype=np.int8) for i, own in enumerate(cells)])
    everybody = np.zeros(links.people.num_rows, dtype=np.int64)
    above = (np.arange(len(person)),) if links.nested else ()
    place = np.arange(len(person))
    events = Events.build(everybody, person, np.concatenate(cells), table, place, everybody, above)
    check_countable(events, caps, int(policy.knows))


def _coins(links: Links) -> Coins:
    """Return coins that depend on the records, in any order, the policy and the secret."""
    # these change cells, and two releases with different cells must not share keys
    digest = hashlib.sha256(repr(sorted(links.policy.missing_values)).encode())
    for name in links.policy.tables:
        with of_table(name):
            digest.update(repr(sorted(links.policy.table_plan(name).files().items())).encode())
    for name in (links.policy.people, *links.policy.events):
        table = links.tables[name]
        codes = [_ranks(table[column], digest) for column in table.column_names]
        total = int(hash_rows(codes, table.num_rows).view(np.uint64).sum(dtype=np.uint64))
        digest.update(repr((name, table.column_names, total)).encode())
    return Coins.of_release(digest.digest(), policy_digest(links.policy.document()))


def _lots(links: Links, coins: Coins, names: Sequence[str]) -> dict[str, IntArray]:
    """Return a secret number for each event, from its cells and its person, whatever the order of rows."""
    people = [_ranks(links.people[key]) for key in links.policy.tables[links.policy.people].key]
    found = {}
    for name in names:
        table, person = links.tables[name], links.person[name]
        codes = [key[person] for key in people] + [_ranks(table[column]) for column in table.column_names]
        found[name] = coins.purse(f"events of {name}").lots_of_combinations(codes)
    return found


def _ranks(column: pa.ChunkedArray, digest: hashlib._Hash | None = None) -> IntArray:
    """Return the rank of each cell among the column's texts, 0 for empty cells; hash the texts into a digest."""
    one = encode(column)
    texts = to_labels(one.dictionary).cast(pa.large_string())
    ranks = value_ranks(texts)
    if digest is not None:
        ordered = texts.take(pa.array(np.argsort(ranks, kind="stable")))
        for buffer in ordered.buffers():
            digest.update(b"" if buffer is None else buffer)
    return np.append(ranks, 0)[to_codes(one)]


def _in_order(links: Links, coins: Coins) -> Links:
    """Shuffle events secretly if the remaining ones could show which of a person's equal events was dropped.

    Neither the order of rows nor the events' cells may decide that: an adversary who knows the rule would learn about
    the dropped event from the remaining ones.
    """
    policy = links.policy
    names = [n for n in policy.events if links.nested or policy.counted or _shows_more(policy, n)]
    lots = _lots(links, coins, names)
    tables, owner = dict(links.tables), dict(links.owner)
    # people stay where they are; their events are sorted by their keys, whatever the order of rows
    keys = joint_codes(links.key_ranks(policy.people))
    place: dict[str, IntArray] = {policy.people: np.arange(links.people.num_rows)}
    for name in names:
        above = str(policy.tables[name].of)
        own = place[above][links.owner[name]]
        order = np.lexsort((lots[name], keys[own] if above == policy.people else own))
        place[name] = np.empty(len(order), dtype=np.int64)
        place[name][order] = np.arange(len(order))
        tables[name], owner[name] = links.tables[name].take(pa.array(order)), own[order]
    return Links(policy, tables, owner)


def _shows_more(policy: LinkedPolicy, name: str) -> bool:
    """Whether equal events of a table may differ in other published cells."""
    return any(c.role.published and c.role is not Role.QUASI for c in policy.tables[name].columns.values())


def check_data(tables: Mapping[str, Any], policy: LinkedPolicy) -> dict[str, Any]:
    """Match keys and read columns without anonymizing, as at the beginning of a run."""
    links = link(_held(tables, quietly), policy)
    columns = event_columns(links)
    with of_table(policy.people):
        encode_table(_attributes(links), policy.table_plan(policy.people))
    for (name,) in policy.model().histogram_keys():
        sensitive_values(links, name)
    _check_known(links, columns)
    busy = np.zeros(links.people.num_rows, dtype=np.bool_)
    for name in policy.events:
        busy[links.person[name]] = True
    without = int(np.count_nonzero(~busy))
    return {"people": links.people.num_rows, "events": links.n_events, "people_without_events": without}


def losses(links: Links, columns: Mapping[str, list[EventColumn]], recoded: RecodedEvents) -> dict[str, Any]:
    """Return, table by table, how many events are kept, how general they are and how much of their order is left.

    ``kept``: share of the events that are published. ``generality``: mean over the published events, from 0 (exact) to
    1 (says nothing). ``levels``: share of the table's events that each column publishes at each level of its hierarchy,
    exact values first. ``order_kept``: share of a person's consecutive events with different dates for which the
    published dates still show which came first.
    """
    found: dict[str, Any] = {"suppressed": recoded.suppressed}
    tables = found["tables"] = {}
    for name in links.policy.events:
        rows, gone = links.tables[name].num_rows, recoded.dropped[links.part(name)]
        entry: dict[str, Any] = {"events": rows, "kept": 1 - float(gone.mean()) if rows else 1.0}
        tables[name] = entry
        own, levels = columns.get(name) or [], recoded.levels.get(name) or []
        if not rows or not own:
            continue
        loss = recoded.loss[links.part(name)]
        entry["generality"] = float(loss[~gone].mean()) if not gone.all() else 0.0
        entry["levels"] = {
            column.column.name: (np.bincount(level[~gone], minlength=column.height + 1) / rows).tolist()
            for column, level in zip(own, levels, strict=True)
        }
        for column, level in zip(own, levels, strict=True):
            if column.column.coded.kind.ordered:
                entry["order_kept"] = order_kept(links.person[name], column, level, gone)
                break
    return found


def order_kept(person: IntArray, column: EventColumn, levels: AnyArray, gone: BoolArray) -> float:
    """Return the share of consecutive events of a person whose order the published cells still show."""
    codes = column.column.codes.astype(np.int64)
    order = np.lexsort((codes, person))
    one, two = order[:-1], order[1:]
    pairs = (person[one] == person[two]) & (codes[one] != codes[two])
    # a month and the year around it differ, but do not say which came first: compare at the coarser level
    nodes, coarser = np.stack(column.labels_by_level[0]), np.maximum(levels[one], levels[two])
    ordered = pairs & (nodes[coarser, codes[one]] != nodes[coarser, codes[two]]) & ~gone[one] & ~gone[two]
    return float(ordered.sum() / pairs.sum()) if pairs.any() else 1.0
