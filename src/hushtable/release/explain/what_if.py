"""The models' scores on hypothetical classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.arrays import AnyArray, IntArray
from hushtable.models.base import PrivacyModel
from hushtable.release.verify import Evidence, needed_and_achieved
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["GroupVerdict", "judge", "judge_ranges", "judge_stats", "named", "table_breaks"]


@dataclass(frozen=True)
class GroupVerdict:
    """The models' verdict on one group of rows.

    Attributes
    ----------
    people : float
    scores : tuple of (PrivacyModel, float, bool)
        Each model that judges single classes, its score, and whether it is satisfied.
    stats : GroupStats
    place : int
        Which of the groups in ``stats`` it is.
    table : Reference
    """

    people: float
    scores: tuple[tuple[PrivacyModel, float, bool], ...]
    stats: GroupStats = field(repr=False, compare=False)
    place: int = field(repr=False, compare=False)
    table: Reference = field(repr=False, compare=False)

    def told(self, model: PrivacyModel, score: float) -> tuple[str, str]:
        """Return what a model requires and what the group has, in its own quantities if the score is a margin."""
        return _told(model, self.stats.take(np.array([self.place])), self.table, score)

    @property
    def ok(self) -> bool:
        """Whether every model is satisfied."""
        return all(good for _, _, good in self.scores)

    def broken(self) -> str:
        """The violated models in words; empty if there are none."""
        found = [(model, *self.told(model, score)) for model, score, good in self.scores if not good]
        return "; ".join(f"{named(model)} requires {needed}, but would have {has}" for model, needed, has in found)


def judge(problem: Problem, groups: Sequence[AnyArray]) -> list[GroupVerdict]:
    """Judge groups of rows as if each were a class; groups may overlap.

    Rows of population and background tables count as such.
    """
    rows = np.concatenate([np.asarray(g, dtype=np.int64) for g in groups]) if groups else np.empty(0, dtype=np.int64)
    ends = np.cumsum([len(g) for g in groups]).astype(np.int64)
    starts = ends - np.array([len(g) for g in groups], dtype=np.int64)
    return judge_ranges(problem, rows, starts, ends)


def judge_ranges(problem: Problem, rows: AnyArray, starts: IntArray, ends: IntArray) -> list[GroupVerdict]:
    """Judge the groups ``rows[starts[g]:ends[g]]``."""
    return judge_stats(problem, problem.table.stats(rows, starts, ends, problem.model.histogram_keys()))


def judge_stats(problem: Problem, stats: GroupStats) -> list[GroupVerdict]:
    """Judge groups by their statistics."""
    members = problem.model.part(table_level=False).members
    scores = [m.score(stats, problem.reference).tolist() for m in members]
    good = [m.satisfied(stats, problem.reference).tolist() for m in members]
    return [
        GroupVerdict(
            people,
            tuple((m, s[g], ok[g]) for m, s, ok in zip(members, scores, good, strict=True)),
            stats,
            g,
            problem.reference,
        )
        for g, people in enumerate(stats.sizes.tolist())
    ]


def table_breaks(problem: Problem, labels: AnyArray, moved: AnyArray) -> str:
    """Return which models of the whole table would fail if these rows became a class; empty for none."""
    members = problem.model.part(table_level=True).members
    if not members:
        return ""
    split = np.asarray(labels, dtype=np.int64).copy()
    split[moved] = split.max() + 1
    _, numbers = np.unique(split[split >= 0], return_inverse=True)
    split[split >= 0] = numbers
    stats = problem.table.stats_of(split, int(split.max()) + 1, problem.model.histogram_keys())
    # a class with only population rows is not in the release
    stats = stats.take(stats.units > 0)
    broken = [m for m in members if not bool(m.table_satisfied(stats, problem.reference)[0])]
    needed = [_told(m, stats, problem.reference, m.achieved(stats, problem.reference))[0] for m in broken]
    return "; ".join(f"{named(m)} requires {what} over the whole table" for m, what in zip(broken, needed, strict=True))


def named(model: PrivacyModel) -> str:
    """A model with its column and its numbers: ``k-anonymity (k=5)``.

    Examples
    --------
    >>> from hushtable.models.k_anonymity import KAnonymity
    >>> named(KAnonymity(k=5))
    'k-anonymity (k=5)'
    """
    on = getattr(model, "on", None)
    numbers = [
        f"{k}={v:g}" for k, v in model.values().items() if isinstance(v, int | float) and not isinstance(v, bool)
    ]
    where = [f"on {on!r}" if isinstance(on, str) else f"on {' + '.join(map(repr, on))}"] if on else []
    told = ", ".join([*numbers, *where])
    return f"{model.name} ({told})" if told else model.name


def _told(model: PrivacyModel, stats: GroupStats, table: Reference, score: float) -> tuple[str, str]:
    """What a model needs and what groups have, in words."""
    shown = tuple((q.symbol, q.sense, float(q.bound), q.worst) for q in model.quantities(stats, table))
    return needed_and_achieved(Evidence(model.name, {}, model.sense, float(model.bound), score, 0, shown).as_dict())
