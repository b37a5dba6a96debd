"""The contract of every privacy model, tested on random groups of a random table.

Each check takes one model and one case, raises ``AssertionError`` with a sentence, and returns how often it actually
tested something, so that a caller can distinguish a check that passed from one that had nothing to do.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hushtable import rng
from hushtable.arrays import BoolArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import Monotone, PrivacyModel, Stat, compare
from hushtable.models.compose import AllOf
from hushtable.table.encoded import EncodedTable
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats
from hushtable.testing.brute import groups_of
from hushtable.testing.cases import Case
from hushtable.testing.require import require

_LABELINGS = 12
Groups = list[list[int]]


@dataclass(frozen=True)
class _Ground:
    """One model, bound to one column of one case, and random ways to group the rows."""

    model: PrivacyModel
    table: EncodedTable
    reference: Reference
    seed: int

    def stats(self, groups: Sequence[Sequence[int]]) -> GroupStats:
        return groups_of(self.table, groups, self.model.histogram_keys())

    def good(self, groups: Sequence[Sequence[int]]) -> BoolArray:
        """Which groups satisfy the model on their own."""
        if not groups:
            return np.zeros(0, dtype=np.bool_)
        return np.asarray(self.model.satisfied(self.stats(groups), self.reference))

    def good_tables(self, tables: Sequence[Groups]) -> BoolArray:
        """Which candidate tables satisfy the model, judged in one call."""
        if not tables:
            return np.zeros(0, dtype=np.bool_)
        stats = self.stats([group for table in tables for group in table])
        offsets = np.cumsum([0, *(len(table) for table in tables)]).astype(np.int64)
        return np.asarray(self.model.table_satisfied(replace(stats, tables=offsets), self.reference))

    def has_people(self, group: Sequence[int]) -> bool:
        return any(row < self.table.n_sample for row in group)

    @cached_property
    def tables(self) -> list[Groups]:
        """Random partitions of most rows; every group has people.

        In the last ones, every group contains the whole table, some rows more than once: close to the table's own
        distribution, near the bounds of strict models.
        """
        found: list[Groups] = [[list(range(self.table.n_rows))]]
        for turn in range(_LABELINGS):
            n_groups = 2 + turn % 5
            labels = rng.integers(self.seed, f"labels/{turn}", self.table.n_rows, -1 if turn % 2 else 0, n_groups)
            groups = [np.flatnonzero(labels == g).tolist() for g in range(n_groups)]
            found.append([group for group in groups if self.has_people(group)])
        everybody = list(range(self.table.n_rows))
        for turn in range(0 if self.model.table_level else _LABELINGS // 3):
            more = rng.integers(self.seed, f"more/{turn}", 6, 0, self.table.n_sample).tolist()
            found.append([everybody * (1 + turn) + more[i : i + turn + 1] for i in range(4)])
        return [table for table in found if table]


def _grounds(model: PrivacyModel, case: Case) -> list[_Ground]:
    encoded = case.encoded([model])
    bound = case.bound([model])
    reference = encoded.reference(bound.histogram_keys())
    return [_Ground(member, encoded, reference, case.seed) for member in bound.members]


def check_declaration(model: PrivacyModel) -> None:
    """The model's parameters survive a round trip, and it has a name."""
    cls = type(model)
    require(cls.name and cls.name == cls.name.lower() and " " not in cls.name, f"{cls.__name__} has no kebab-case name")
    written = json.loads(json.dumps(model.values()))
    require(cls.build(written) == model, f"{model!r} differs from the model built from its values()")
    require(model.sense in (">=", "<=", "<"), f"{cls.__name__}.sense is {model.sense!r}")
    for param in cls.params():
        require(param.doc, f"the parameter {param.name!r} of {cls.__name__} has no description")
    json.dumps(cls.schema())


def check_score(model: PrivacyModel, case: Case) -> int:
    """One number per group (possibly infinite), in any order of groups; ``satisfied`` compares it with the bound.

    Also: the displayed quantities agree with it, no satisfied group is below ``min_group_size``, several candidate
    tables get the same verdicts in one call as one by one, and ``contributes`` has one row per group.
    """
    tried = 0
    for ground in _grounds(model, case):
        member, reference = ground.model, ground.reference
        for groups in ground.tables:
            stats = ground.stats(groups)
            score, good = member.score(stats, reference), member.satisfied(stats, reference)
            require(
                score.shape == (len(groups),), f"{member.name}: there must be one score per group, not {score.shape}"
            )
            require(not np.isnan(score).any(), f"{member.name}: a score is NaN")
            expected = compare(score, member.sense, member.bound)
            require(np.array_equal(good, expected), f"{member.name}: satisfied is not score {member.sense} bound")
            backwards = member.score(stats.take(np.arange(len(groups))[::-1]), reference)[::-1]
            require(np.allclose(score, backwards, rtol=1e-12), f"{member.name}: the order of groups changes a score")
            # a minimum of 1 says nothing: with an entity column, a group may contain part of a person
            small = good & (stats.sizes < member.min_group_size() - 1e-9)
            require(member.min_group_size() <= 1 or not small.any(),
                    f"{member.name}: a satisfied group is smaller than min_group_size")  # fmt: skip
            shown = member.quantities(stats, reference)
            held = all(bool(compare(np.array([q.worst]), q.sense, q.bound)[0]) for q in shown)
            require(not shown or held == bool(good.all()), f"{member.name}: its quantities contradict its verdict")
            helps = member.contributes(stats, reference)
            require(helps.dtype == np.bool_ and helps.shape[0] == len(groups), f"{member.name}: contributes' shape")
            if not member.table_level:
                alone = [bool(ground.good([group])[0]) for group in groups]
                require(alone == good.tolist(), f"{member.name}: groups influence each other's verdict")
            tried += len(groups)
        single = [bool(ground.good_tables([groups])[0]) for groups in ground.tables]
        require(single == ground.good_tables(ground.tables).tolist(), f"{member.name}: candidate tables are mixed up")
        nothing = ground.stats(ground.tables[0]).take(np.zeros(0, dtype=np.int64))
        require(member.score(nothing, reference).shape == (0,), f"{member.name}: there is a score without groups")
    return tried


def check_root(model: PrivacyModel, case: Case) -> int:
    """``feasible`` agrees with the whole table as one group; a refusal has a reason and a remedy."""
    tried = 0
    for ground in _grounds(model, case):
        member = ground.model
        reason = member.feasible(ground.reference)
        root = bool(ground.good_tables([ground.tables[0]])[0])
        # with a population, the whole table as one class covers more people than the classes of a release need to
        if Monotone.MERGE in member.monotone and Stat.POPULATION not in member.stats_needed():
            require((reason is None) == root, f"{member}: feasible and the whole table as one group disagree")
        if reason is not None:
            require(not root, f"{member}: called infeasible, but the whole table as one group satisfies it")
            require(reason.message and reason.hint, f"{member}: infeasible without stating a reason or a hint")
            said = str(reason)
            names = [p.name for p in member.params() if p.name != "on"]
            require(any(name in said or name.removesuffix("s") in said for name in names),
                    f"{member}: the reason names none of its parameters ({', '.join(names)})")  # fmt: skip
            tried += 1
    return tried


def check_all_of(models: Sequence[PrivacyModel], case: Case) -> int:
    """``AllOf`` holds exactly if all its members do."""
    bound, encoded = case.bound(models), case.encoded(models)
    reference = encoded.reference(bound.histogram_keys())
    ground = _Ground(bound, encoded, reference, case.seed)
    tried = 0
    for groups in ground.tables:
        stats = ground.stats(groups)
        each = [m.satisfied(stats, reference) for m in bound.members]
        require(
            np.array_equal(bound.satisfied(stats, reference), np.all(each, axis=0)),
            f"{bound}: some members are missing",
        )
        require(
            np.array_equal(bound.score(stats, reference), np.sum(each, axis=0)), f"{bound}: the score is not a count"
        )
        tables = [bool(m.table_satisfied(stats, reference)[0]) for m in bound.members]
        require(bool(bound.table_satisfied(stats, reference)[0]) == all(tables), f"{bound}: table verdict")
        tried += len(groups)
    reasons = [m.feasible(reference) for m in bound.members]
    require((bound.feasible(reference) is None) == all(r is None for r in reasons), f"{bound}: feasible")
    require(bound.min_group_size() == max(m.min_group_size() for m in bound.members), f"{bound}: min_group_size")
    for part in (True, False):
        members = bound.part(table_level=part).members
        require(all(m.table_level is part for m in members), f"{bound}: a part mixes levels")
    require(isinstance(bound, AllOf), "models are bound to an AllOf")
    return tried


def check_monotone(model: PrivacyModel, case: Case) -> int:
    """No change that the model declares harmless turns a satisfied group (or table) into a violated one."""
    tried = 0
    for ground in _grounds(model, case):
        attack = _attack_tables if ground.model.table_level else _attack_groups
        for flag in (Monotone.ADD, Monotone.MERGE, Monotone.SUPPRESS):
            if flag in ground.model.monotone:
                tried += attack(ground, flag)
        if Monotone.COARSEN in ground.model.monotone:
            tried += _attack_columns(ground)
    return tried


def _attack_columns(ground: _Ground) -> int:
    """Publish whole columns at random levels, and then at higher ones."""
    table, tried = ground.table, 0
    heights = np.array([c.coded.height for c in table.quasi])

    def judged(levels: IntArray) -> bool:
        shown = [c.coded.levels[level][c.codes] for c, level in zip(table.quasi, levels.tolist(), strict=True)]
        labels, first = number_rows(shown, [int(codes.max()) + 1 for codes in shown])
        stats = table.stats_of(labels, len(first), ground.model.histogram_keys())
        cells = {c.name: codes[first].astype(np.int64) for c, codes in zip(table.quasi, shown, strict=True)}
        real = replace(stats, cells=cells).take(stats.units > 0)
        return bool(ground.model.table_satisfied(real, ground.reference)[0])

    for turn in range(_LABELINGS):
        low = rng.integers(ground.seed, f"levels/{turn}", len(heights), 0, 1 + int(heights.max())) % (heights + 1)
        more = rng.integers(ground.seed, f"higher/{turn}", len(heights), 0, 1 + int(heights.max()))
        high = np.minimum(np.maximum(low, more), heights)
        if judged(low):
            require(judged(high), f"{ground.model} declares COARSEN, but coarser columns break it")
            tried += 1
    return tried


def _changes(ground: _Ground, groups: Groups, flag: Monotone, among: Sequence[int]) -> list[tuple[Groups, list[int]]]:
    """All results of one harmless change: the groups that it replaces, and their replacement."""
    sample = ground.table.n_sample
    if flag is Monotone.MERGE:
        pairs = [(a, b) for at, a in enumerate(among) for b in among[at + 1 :]]
        return [([groups[a], groups[b]], groups[a] + groups[b]) for a, b in pairs]
    changes: list[tuple[Groups, list[int]]] = []
    for g in among:
        if flag is Monotone.ADD:
            changes += [([groups[g]], [*groups[g], row]) for row in range(sample)]
        else:
            people = [row for row in groups[g] if row < sample]
            for row in people if len(people) > 1 else []:
                changes.append(([groups[g]], [other for other in groups[g] if other != row]))
    return changes


def _attack_groups(ground: _Ground, flag: Monotone) -> int:
    tried: Groups = []
    for groups in ground.tables:
        among = np.flatnonzero(ground.good(groups)).tolist()
        tried += [changed for _, changed in _changes(ground, groups, flag, among)]
    broken = np.flatnonzero(~ground.good(tried))
    require(not len(broken), f"{ground.model} declares {flag.name}, but {len(broken)} of {len(tried)} changes break it")
    return len(tried)


def _attack_tables(ground: _Ground, flag: Monotone) -> int:
    tried: list[Groups] = []
    for groups in ground.tables:
        if not ground.good_tables([groups])[0]:
            continue
        placed = {row for group in groups for row in group}
        for old, changed in _changes(ground, groups, flag, range(len(groups))):
            if flag is Monotone.ADD and changed[-1] in placed:
                continue
            tried.append([group for group in groups if group not in old] + [changed])
    broken = np.flatnonzero(~ground.good_tables(tried))
    require(not len(broken), f"{ground.model} declares {flag.name}, but {len(broken)} of {len(tried)} changes break it")
    return len(tried)
