"""Why a cell is no finer: the class cut along one column, judged by the models' own scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.arrays import AnyArray, IntArray
from hushtable.release.explain.explanation import people_of
from hushtable.release.explain.what_if import Verdict, judge, judge_ranges, table_breaks
from hushtable.table.encoded import QuasiColumn

__all__ = ["Class", "cut_reason", "level_reason", "same_for_all_reason"]

_MOST_CUTS = 256
"""Cuts that are tried; of more possible ones, as many spread evenly."""


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
        The rows of its class, population and background included.
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
            f"{step}, its own part of the class would do, but another part would have {people_of(worst.people)}: "
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
        Whether the whole column would have to become finer, or the values under this record's node only.
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
    keeps = f"{step}, its class would have {people_of(verdict.people)} and keep the models"
    if lost + gone > allowed:
        return (
            f"{keeps}, but values are published alike for all: {people_of(lost)} elsewhere would be in classes that do "
            "not. "
            f"With the {gone:.6g} left out already that is more than the {allowed:.6g} whom the policy lets be left "
            "out."
        )
    if lost:
        keeps += f", and the {people_of(lost)} elsewhere whose classes would not might be left out under the policy"
    return _unbroken(own, mine, keeps)


def _lost(own: Class, finer: AnyArray) -> tuple[float, float]:
    """People whose classes would break a model if they were told apart by ``finer``, and people left out already."""
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
        return f"Its class holds one value of {column.name!r} only; its cell covers others too."
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
    bad = _worse(even)
    return (
        f"Cut in two {tried} along {column.name!r}, a part of its class would break a model; cut most evenly, one part "
        "would "
        f"have {people_of(bad.people)}: {bad.broken()}."
    )


def _worse(pair: tuple[Verdict, Verdict]) -> Verdict:
    return min((v for v in pair if not v.ok), key=lambda v: v.people)


def _unbroken(own: Class, part: AnyArray, words: str) -> str:
    """No class-wise model forbids it; perhaps one of the whole table does."""
    table = table_breaks(own.problem, own.labels, part)
    if table:
        return f"{words}, but then {table} would not hold."
    return f"{words}, and no model would be broken: what stopped here is the algorithm, which weighs all columns."


def _step(column: QuasiColumn, height: int) -> str:
    return f"With its exact {column.name!r}" if height == 1 else f"At the next finer level of {column.name!r}"
