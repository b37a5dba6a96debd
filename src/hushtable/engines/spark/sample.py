"""Attacks on samples: whole classes are drawn, so that what an adversary sees of a class is all of it.

The error that is stated takes the records of a class as one observation, the worst that drawing whole classes can do:
with classes of sizes m, a sample counts as its records times sum(m) / sum(m * m).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.arrays import IntArray
from hushtable.attacks.view import View
from hushtable.engines.spark.known import draw_classes
from hushtable.release.publish import publish
from hushtable.release.recode import Recoded
from hushtable.table.encoded import EncodedTable

if TYPE_CHECKING:
    from hushtable.engines.spark.engine import SparkOutcome

__all__ = ["sampled_view"]


def sampled_view(outcome: SparkOutcome, policy: Mapping[str, Any], most: int) -> tuple[View, int, float]:
    """Return a view on some classes and as large a share of the suppressed records, its records, and their weight."""
    problem, recoded = outcome.known.problem, outcome.known.recoded
    table = problem.table
    labels = np.asarray(recoded.labels[: table.n_sample], dtype=np.int64)
    sizes = np.bincount(labels[labels >= 0], minlength=recoded.n_groups)
    chosen, weight = draw_classes(sizes, most, problem.seed)
    if len(chosen) == len(sizes):
        weight = outcome.known.weight
    renumber = np.full(recoded.n_groups + 1, -1, dtype=np.int64)
    renumber[chosen] = np.arange(len(chosen))
    gone = np.flatnonzero(labels < 0)
    share = float(sizes[chosen].sum() / sizes.sum())
    gone = gone[rng.uniform(problem.seed, "spark/attacked-suppressed", len(gone)) < share]
    rows = np.sort(np.concatenate([np.flatnonzero(renumber[labels] >= 0), gone]))
    inside = renumber[labels[rows]]
    released = np.flatnonzero(inside >= 0)
    cells = tuple(cells.take(chosen) for cells in recoded.cells)
    shown = Recoded(inside, cells, tuple(column.take(pa.array(chosen)) for column in recoded.published))
    view = View(
        published=publish(outcome.known.source(outcome.content, rows), shown, outcome.content.table_plan, released),
        policy=policy,
        cells=cells,
        table=_rows_of(table, rows),
        labels=inside,
        rows=released,
        model=problem.model,
        seed=problem.seed,
    )
    return view, len(released), weight


def _rows_of(table: EncodedTable, rows: IntArray) -> EncodedTable:
    """Some rows of the sample, and all rows that travel with it."""
    others = np.arange(table.n_sample, table.n_rows)
    everything = np.concatenate([rows, others])
    gone = table.n_sample - len(rows)
    return replace(
        table,
        quasi=tuple(replace(c, codes=c.codes[everything]) for c in table.quasi),
        sensitive=tuple(replace(c, codes=c.codes[everything]) for c in table.sensitive),
        n_sample=len(rows),
        n_rows=len(everything),
        row_units=table.row_units[everything] if len(table.row_units) else table.row_units,
        population_rows=range(table.population_rows.start - gone, table.population_rows.stop - gone)
        if len(table.population_rows)
        else range(0),
        background_rows=range(table.background_rows.start - gone, table.background_rows.stop - gone)
        if len(table.background_rows)
        else range(0),
        tie_rank=None,
    )
