"""Explaining one record of a release."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.arrays import AnyArray, IntArray
from hushtable.errors import UsageError
from hushtable.models.base import PrivacyModel
from hushtable.release.explain.explanation import ColumnStory, Explanation, people_of
from hushtable.release.forms.base import Cells
from hushtable.release.verify import Evidence, needed_and_achieved
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

if TYPE_CHECKING:
    from hushtable.release.released import Released


def explain(release: Released, row: int) -> Explanation:
    """Explain why a record was published as it was, or suppressed.

    Parameters
    ----------
    release : Release
    row : int
        The record's number in the input, from 0.

    Raises
    ------
    UsageError
        If there is no such record.
    """
    n = release.encoded.n_sample
    if isinstance(row, bool) or not isinstance(row, numbers.Integral) or not 0 <= row < n:
        raise UsageError(f"The input has no row {row!r}.", code="no-row", hint=f"Rows are numbered from 0 to {n - 1}.")
    row = int(row)
    if release.recoded.labels[row] < 0:
        return _suppressed(release, row)
    return _released(release, row) if release.recoded.buckets is None else _bucket(release, row)


def _released(release: Released, row: int) -> Explanation:
    labels = release.recoded.labels
    g = int(labels[row])
    own = Class(release.problem, labels, row, np.flatnonzero(np.asarray(labels) == g))
    verdict = _as_verified(release, row)
    return Explanation(
        row=row,
        released=True,
        people=verdict.people,
        sentences=(
            f"Row {row} is in a class of {people_of(verdict.people)}{_counterfeits(release, g)}.",
            *_achieved(verdict),
            *_guarded(release),
        ),
        columns=tuple(_story(own, cells, g) for cells in release.recoded.cells),
    )


def _as_verified(release: Released, row: int) -> GroupVerdict:
    """What the verifier found in the published class of a record."""
    shown = int(np.flatnonzero(release.source_rows == row)[0])
    label = release.verification.labels[shown : shown + 1]
    (verdict,) = judge_stats(release.problem, release.verification.stats.take(label))
    return verdict


def _counterfeits(release: Released, g: int) -> str:
    fakes = release.recoded.counterfeits
    count = 0 if fakes is None else int(np.count_nonzero(fakes.groups == g))
    return f", with {count} published {'counterfeit' if count == 1 else 'counterfeits'}" if count else ""


def _achieved(verdict: GroupVerdict) -> tuple[str, ...]:
    if not verdict.scores:
        return ()
    found = [(named(m), *verdict.compared(m, score)) for m, score, _ in verdict.scores]
    words = "; ".join(f"{name}: {has} (required: {needed})" for name, needed, has in found)
    return (f"The class achieves: {words}.",)


def _guarded(release: Released) -> tuple[str, ...]:
    """Say that cells may be coarser than the models require."""
    names = " and ".join(release.guards)
    if not names:
        return ()
    subject = f"The guard {names} makes" if len(release.guards) == 1 else f"The guards {names} make"
    return (f"{subject} some cells coarser than the models require.",)


def _story(own: Class, cells: Cells, g: int) -> ColumnStory:
    column = cells.column
    if cells.is_exact(g):
        return ColumnStory(column.name, "published exactly")
    level = cells.finer(g)
    if level is None:
        why = cut_reason(own, column)
    elif cells.same_for_all:
        why = same_for_all_reason(own, column, level, whole=cells.same_for_all == "column")
    else:
        why = level_reason(own, column, level)
    return ColumnStory(column.name, cells.said(g), why)


def _bucket(release: Released, row: int) -> Explanation:
    verdict = _as_verified(release, row)
    (alone,) = judge(release.problem, [np.array([row])])
    why = "" if alone.ok else f" On its own, its sensitive values would be certain: {alone.broken()}."
    return Explanation(
        row=row,
        released=True,
        people=verdict.people,
        sentences=(
            f"Row {row} keeps its exact quasi-identifiers. Its sensitive values are published among those of a group "
            f"of {people_of(verdict.people)}, without revealing which value belongs to whom.{why}",
            *_achieved(verdict),
        ),
        columns=tuple(ColumnStory(c.name, "published exactly") for c in release.encoded.quasi),
    )


def _suppressed(release: Released, row: int) -> Explanation:
    table = release.encoded
    limit = float(release.policy.get("suppression", 0.0))
    allowed = release.problem.budget / table.unit
    first = (
        f"Row {row} was suppressed, as were {release.n_suppressed} of {table.n_sample} records; the policy allows "
        f"{100 * limit:.6g}% of the people ({allowed:.6g}) to be suppressed."
    )
    return Explanation(row, False, 0.0, (first, *_why_left_out(release, row)))


def _why_left_out(release: Released, row: int) -> tuple[str, ...]:
    partition, table, problem = release.partition, release.encoded, release.problem
    levels: Any = partition.cuts or partition.levels
    if levels is not None:
        alike = np.ones(table.n_rows, dtype=np.bool_)
        for column, level in zip(table.quasi, levels, strict=True):
            height = int(level) if isinstance(level, int) else int(level[int(column.codes[row])])
            node = column.coded.levels[height]
            alike &= node[column.codes] == node[int(column.codes[row])]
        (verdict,) = judge(problem, [np.flatnonzero(alike)])
        if verdict.ok and release.plan.algorithm.samples:
            return ("It was not drawn: which records are published is decided by chance.",)
        if verdict.ok:
            return (
                "At the published levels, its class would satisfy the models of single classes: it was suppressed for "
                "models of the whole table, or to preserve detail in others.",
            )
        return (f"At the published levels, its class would have {people_of(verdict.people)}: {verdict.broken()}.",)
    said = []
    if release.recoded.buckets is None:
        equal = np.ones(table.n_rows, dtype=np.bool_)
        for column in table.quasi:
            equal &= np.asarray(column.codes == column.codes[row])
        (alone,) = judge(problem, [np.flatnonzero(equal)])
        if not alone.ok:
            said.append(
                f"Its combination of quasi-identifiers belongs to {people_of(alone.people)}; as a separate class: "
                f"{alone.broken()}."
            )
        said.append(_joining(release, row))
    else:
        (alone,) = judge(problem, [np.array([row])])
        said.append(f"No group could accept it without violating a model; on its own: {alone.broken()}.")
    return tuple(said)


def _joining(release: Released, row: int) -> str:
    """Return how the published classes that cover the record would be affected."""
    recoded, table = release.recoded, release.encoded
    if any(cells.own_records for cells in recoded.cells):
        return (
            "Joining a class would have changed the published cells of all its records, which the algorithm did not do."
        )
    covering = np.ones(recoded.n_groups, dtype=np.bool_)
    classes = np.arange(recoded.n_groups)
    for cells, column in zip(recoded.cells, table.quasi, strict=True):
        covering &= cells.covers(classes, np.full(len(classes), int(column.codes[row])))
    found = np.flatnonzero(covering)
    if not len(found):
        return "No published class covers it; joining one would have widened the cells of everyone in it."
    labels = np.asarray(recoded.labels)
    verdicts = judge(release.problem, [np.append(np.flatnonzero(labels == g), row) for g in found.tolist()])
    bad = next((v for v in verdicts if not v.ok), None)
    if bad is not None and all(not v.ok for v in verdicts):
        return f"A published class covers it, but with this record: {bad.broken()}."
    return "A published class covers it and could accept it, but the algorithm suppressed it."


# Why a cell is no finer: the class cut along one column, judged by the models' own scores.


_MOST_CUTS = 256
"""Maximum number of cuts that are tried; if there are more, evenly spaced ones."""


@dataclass(frozen=True)
class Class:
    """The class of a record.

    Attributes
    ----------
    problem : Problem
    labels : integer array
        The class of every row of the encoded table.
    row : int
        The record.
    members : int64 array
        The rows of its class, including population and background.
    """

    problem: Problem
    labels: AnyArray
    row: int
    members: IntArray


def level_reason(own: Class, column: QuasiColumn, height: int) -> str:
    """Why the cell is not at the level below ``height``: judge the class's parts there, this record's first."""
    step = _step(column, height)
    nodes = column.coded.levels[height - 1][column.codes[own.members]]
    mine = own.members[nodes == column.coded.levels[height - 1][int(column.codes[own.row])]]
    (verdict,) = judge(own.problem, [mine])
    if not verdict.ok:
        return f"{step}, its class would have {people_of(verdict.people)}: {verdict.broken()}."
    parts = [own.members[nodes == node] for node in np.unique(nodes)]
    others = [v for v in judge(own.problem, parts) if v.people and not v.ok]
    if others:
        worst = min(others, key=lambda v: v.people)
        return (
            f"{step}, its own part of the class would be fine, but another part would have {people_of(worst.people)}: "
            f"{worst.broken()}."
        )
    return _unbroken(own, mine, f"{step}, its class would have {people_of(verdict.people)}")


def same_for_all_reason(own: Class, column: QuasiColumn, height: int, *, whole: bool) -> str:
    """Why a value is not published at the level below ``height`` everywhere: its own class there, then the others'.

    Parameters
    ----------
    own : Class
    column : QuasiColumn
    height : int
    whole : bool
        Whether the whole column would have to become finer, or only the values under this record's node.
    """
    step, levels = _step(column, height), column.coded.levels
    finer = levels[height - 1][column.codes] + 1
    if not whole:
        node = levels[height][column.codes]
        finer = np.where(node == node[own.row], finer, 0)
    mine = own.members[finer[own.members] == finer[own.row]]
    (verdict,) = judge(own.problem, [mine])
    if not verdict.ok:
        return f"{step}, its class would have {people_of(verdict.people)}: {verdict.broken()}."
    lost, gone = _lost(own, finer)
    allowed = own.problem.budget / own.problem.table.unit
    keeps = f"{step}, its class would have {people_of(verdict.people)} and satisfy the models"
    if lost + gone > allowed:
        return (
            f"{keeps}, but values are published in the same way for all: {people_of(lost)} elsewhere would be in "
            f"classes that do not. With the {gone:.6g} already suppressed, that is more than the {allowed:.6g} that "
            f"the policy allows."
        )
    if lost:
        keeps += f", and the {people_of(lost)} elsewhere whose classes would not could be suppressed under the policy"
    return _unbroken(own, mine, keeps)


def _lost(own: Class, finer: AnyArray) -> tuple[float, float]:
    """People whose classes would break a model if divided by ``finer``, and people already suppressed."""
    problem, labels = own.problem, np.asarray(own.labels, dtype=np.int64)
    kept = labels >= 0
    label = np.where(kept, labels * (int(finer.max()) + 1) + finer, -1)
    _, numbers = np.unique(label[kept], return_inverse=True)
    label[kept] = numbers
    stats = problem.table.stats_of(label, int(label.max()) + 1, problem.model.histogram_keys())
    stats = stats.take(stats.units > 0)
    good = problem.model.part(table_level=False).satisfied(stats, problem.reference)
    everybody = problem.table.sample_units / problem.table.unit
    return float(stats.sizes[~good].sum()), everybody - float(stats.sizes.sum())


def cut_reason(own: Class, column: QuasiColumn) -> str:
    """Why the range is no narrower: every cut of the class in two along the column."""
    codes = np.asarray(column.codes[own.members], dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    rows, codes = own.members[order], codes[order]
    places = np.flatnonzero(np.diff(codes)) + 1
    n_all = len(places)
    if n_all > _MOST_CUTS:
        places = places[np.linspace(0, n_all - 1, _MOST_CUTS).astype(np.int64)]
    n = len(places)
    starts = np.concatenate([np.zeros(n, dtype=np.int64), places])
    ends = np.concatenate([places, np.full(n, len(rows), dtype=np.int64)])
    verdicts = judge_ranges(own.problem, rows, starts, ends)
    pairs = [pair for pair in zip(verdicts[:n], verdicts[n:], strict=True) if pair[0].people and pair[1].people]
    tried = "anywhere" if n == n_all else f"at any of {n} places"
    if not pairs:
        return f"Its class has only one value of {column.name!r}; its cell covers others too."
    good = [i for i, (low, high) in enumerate(zip(verdicts[:n], verdicts[n:], strict=True)) if low.ok and high.ok]
    good = [i for i in good if verdicts[i].people and verdicts[n + i].people]
    if good:
        best = max(good, key=lambda i: min(verdicts[i].people, verdicts[n + i].people))
        words = (
            f"Cut in two along {column.name!r}, its class could have parts of {people_of(verdicts[best].people)} and "
            f"{people_of(verdicts[n + best].people)}"
        )
        return _unbroken(own, rows[: places[best]], words)
    even = max(pairs, key=lambda pair: min(pair[0].people, pair[1].people))
    bad = min((v for v in even if not v.ok), key=lambda v: v.people)
    return (
        f"Cut in two {tried} along {column.name!r}, a part of its class would violate a model; cut most evenly, one "
        f"part would "
        f"have {people_of(bad.people)}: {bad.broken()}."
    )


def _unbroken(own: Class, part: AnyArray, words: str) -> str:
    """No model of single classes forbids it; perhaps one of the whole table does."""
    table = table_breaks(own.problem, own.labels, part)
    if table:
        return f"{words}, but then {table} would not hold."
    return f"{words}, and no model would be violated: the algorithm stopped here, since it weighs all columns."


def _step(column: QuasiColumn, height: int) -> str:
    return f"With its exact {column.name!r}" if height == 1 else f"At the next finer level of {column.name!r}"


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

    def compared(self, model: PrivacyModel, score: float) -> tuple[str, str]:
        """Return what a model requires and what the group has, in its own quantities if the score is a margin."""
        return _compared(model, self.stats.take(np.array([self.place])), self.table, score)

    @property
    def ok(self) -> bool:
        """Whether every model is satisfied."""
        return all(good for _, _, good in self.scores)

    def broken(self) -> str:
        """The violated models in words; empty if there are none."""
        found = [(model, *self.compared(model, score)) for model, score, good in self.scores if not good]
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
    needed = [_compared(m, stats, problem.reference, m.achieved(stats, problem.reference))[0] for m in broken]
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
    words = ", ".join([*numbers, *where])
    return f"{model.name} ({words})" if words else model.name


def _compared(model: PrivacyModel, stats: GroupStats, table: Reference, score: float) -> tuple[str, str]:
    """What a model needs and what groups have, in words."""
    shown = tuple((q.symbol, q.sense, float(q.bound), q.worst) for q in model.quantities(stats, table))
    return needed_and_achieved(Evidence(model.name, {}, model.sense, float(model.bound), score, 0, shown).as_dict())
