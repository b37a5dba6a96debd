"""Section 7.1.2.1 of Sun et al.: how many minimal full-domain tables are open to the similarity attack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice.incognito import minimal_nodes
from hushtable.arrays import IntArray
from hushtable.engines.local import problem_of
from hushtable.kernels.grouping import number_rows
from hushtable.registry import algorithms
from hushtable.release.plan import Plan
from hushtable.reproduce.papers import Row, row
from hushtable.reproduce.sun_runs import NAMES, models_of, open_to_similarity
from hushtable.reproduce.sun_tables import ADULT, HEIGHTS, adult_plan, adult_table

__all__ = ["at_risk", "rows"]

SEEDS = 5
"""How many draws of the conditions."""

_PUBLISHED = ((21, 13, 916), (None, "similar to model 3", None), (30, 4, None))
"""Minimal tables, open ones, and records at risk in one of them, under models 1 to 3."""


def at_risk(problem: Problem, node: IntArray) -> int:
    """Return how many records of the table at a node of the lattice lie in classes of one category."""
    table = problem.table
    levels = [c.coded.levels[h] for c, h in zip(table.quasi, node.tolist(), strict=True)]
    columns = [level[c.codes] for c, level in zip(table.quasi, levels, strict=True)]
    labels, first = number_rows(columns, [int(level.max()) + 1 for level in levels])
    key = (table.sensitive[0].name,)
    stats = table.stats_of(labels, len(first), [key])
    return int(stats.units[open_to_similarity(stats, problem.reference.attribute(key))].sum())


def rows(seed: int, *, quick: bool) -> Iterator[Row]:
    """Yield the heights beside Table 9, then per seed and model the minimal tables and the open ones."""
    size = 3 if quick else len(ADULT)
    plan = adult_plan(size)
    for draw in range(seed, seed + (1 if quick else SEEDS)):
        table = adult_table(draw, 600 if quick else None).select([c.name for c in plan.columns])
        for number, models in enumerate(models_of(k=2, p=2, alpha=1)):
            problem = problem_of(table, Plan(plan, models, algorithms.build("incognito")))
            if draw == seed and not number:
                for column in problem.table.quasi:
                    yield row("Table 9, levels", column.name, HEIGHTS[column.name], column.coded.height + 1)
            nodes = minimal_nodes(problem)
            risks = np.array([at_risk(problem, node) for node in nodes], dtype=np.int64)
            published = _PUBLISHED[number]
            setting = f"k=2, p=2, alpha=1, {NAMES[number]}, seed {draw}"
            yield row("Similarity attack, minimal tables", setting, published[0], len(nodes))
            yield row("Similarity attack, open tables", setting, published[1], int(np.count_nonzero(risks)))
            yield row("Similarity attack, most records at risk", setting, published[2], int(risks.max(initial=0)))
