"""Suppressing records that make even the whole table fail, within the suppression budget.

Most models hold for the whole table as one group. If they do not (for example, one diagnosis makes up half of all
records), no grouping helps, but suppressing some records with that value may.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.arrays import BoolArray
from hushtable.models.base import SensitiveModel
from hushtable.table.stats import GroupStats

STEPS = 256
"""The budget is spent in at most this many steps."""


def trim(problem: Problem) -> BoolArray | None:
    """Return the rows to keep so that the whole table satisfies the model, or None if the budget does not suffice.

    Greedy: as long as the table as one group fails, suppress some records with the sensitive value whose removal
    improves the first failing member's score most; ties go to the first value in sorted order. If no removal improves
    it (two values dominate together), take the most frequent value. Secret lots decide which records with a value are
    suppressed.
    """
    table, model = problem.table, problem.model
    kept = np.ones(table.n_rows, dtype=np.bool_)
    if bool(model.table_satisfied(problem.reference.whole(), problem.reference)[0]):
        return kept
    keys = model.histogram_keys()
    budget = problem.budget
    while True:
        stats = table.stats_of(np.where(kept, 0, -1), 1, keys)
        if bool(model.table_satisfied(stats, problem.reference)[0]):
            return kept
        failing = [
            m
            for m in model.members
            if isinstance(m, SensitiveModel) and not bool(m.table_satisfied(stats, problem.reference)[0])
        ]
        step = min(budget, max(table.unit, problem.budget // STEPS))
        if not failing or step < table.unit:
            return None
        value = _best_value(failing[0], stats, step, problem)
        codes, _ = table.code_column(failing[0].key)
        order = problem.secret_order
        rows = order[(codes[order] == value) & kept[order] & (order < table.n_sample)]
        weights = table.units_of(rows)
        taken = rows[np.cumsum(weights) <= step]
        if not len(taken):
            return None
        kept[taken] = False
        budget -= int(weights[: len(taken)].sum())


def _best_value(model: SensitiveModel, stats: GroupStats, step: int, problem: Problem) -> int:
    """Return the value whose records are best suppressed."""
    hist = stats.histogram(model.key)
    best, best_score = int(hist.values[np.argmax(hist.units)]), float(model.score(stats, problem.reference)[0])
    for at, value in enumerate(hist.values):
        units = hist.units.copy()
        removed = min(step, int(units[at]))
        units[at] -= removed
        fewer = type(hist).from_pairs(hist.groups, hist.values, units, 1, hist.unit)
        tried = replace(stats, units=stats.units - removed, histograms={**stats.histograms, model.key: fewer})
        score = float(model.score(tried, problem.reference)[0])
        better = score > best_score if model.sense == ">=" else score < best_score
        if better:
            best, best_score = int(value), score
    return best
