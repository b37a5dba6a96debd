"""Judge a table that was just published, or has its original: from its cells, and from what they do not show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Problem
from hushtable.arrays import IntArray
from hushtable.io.text import to_labels
from hushtable.release.reading_back import sensitive_codes
from hushtable.release.recode import Recoded
from hushtable.release.verify import Published, Verification, verify
from hushtable.table.plan import TablePlan

__all__ = ["judge", "judge_counted"]


def judge(problem: Problem, plan: TablePlan, recoded: Recoded, published: pa.Table, rows: IntArray) -> Verification:
    """Verify a published table from its cells.

    What its cells do not show (which person each row belongs to, which people of the population it covers) comes from
    the encoded table: ``rows`` has the source of each published row (or of its sensitive values, if these are
    separate), and population and background rows are recoded like the others. If records are concealed among others,
    the original's quasi-identifiers show who may have which record. If quasi-identifiers are exact, classes are the
    published groups; if groups have cells and a number, both distinguish classes.
    """
    table = problem.table
    if plan.shown_weight is not None and table.survey is not None:
        from hushtable.release.class_weights import check_class_weights  # most tables are not surveys

        check_class_weights(published, plan, table.survey.weights, rows)
    if recoded.concealed:
        from hushtable.release.matching import judge_matching

        return judge_matching(problem, published, rows)
    hidden = np.flatnonzero(recoded.labels[table.n_sample :] >= 0) + table.n_sample
    everyone = np.concatenate([rows, hidden]) if len(hidden) else rows
    quasi = []
    for j, column in enumerate(table.quasi):
        shown = published.column(column.name)
        if len(hidden):
            shown = pa.chunked_array([*map(_wide, shown.chunks), _alike(recoded.column(j, hidden), shown.type)])
        quasi.append(shown)
    if recoded.buckets is not None or recoded.numbers is not None:
        from hushtable.release.bucket import bucket_column

        number = published.column(bucket_column(plan))
        quasi = [number] if recoded.buckets is not None else [*quasi, number]
    kinds = {c.name: c.coded.kind for c in table.sensitive}
    codes = sensitive_codes(published, plan, problem.reference, kinds)
    padding = np.zeros(len(hidden), dtype=np.int64)
    background = np.empty(0, dtype=np.int64)
    if len(table.background_rows):
        within = (everyone >= table.background_rows.start) & (everyone < table.background_rows.stop)
        background = np.flatnonzero(within)
    mass = everyone[background] - table.background_rows.start
    weights = table.row_units
    if len(weights):
        # a counterfeit has no source row; its values count, but the verifier does not count it as a person
        weights = np.where(everyone < 0, table.unit, weights[everyone])
    population = np.empty(0, dtype=np.bool_)
    if len(table.population_rows):
        population = (everyone >= table.population_rows.start) & (everyone < table.population_rows.stop)
    return verify(
        Published(
            quasi=tuple(quasi),
            sensitive={name: np.concatenate([c, padding]) if len(hidden) else c for name, c in codes.items()},
            sizes={c.name: c.coded.size for c in table.sensitive},
            unit=table.unit,
            row_units=weights,
            population=population,
            background_rows=background,
            background_mass=table.background_mass[mass],
            background_codes=table.background_codes[mass],
            background_unit=table.background_unit,
            counterfeits=np.flatnonzero(rows < 0),
            names=tuple(c.name for c in table.quasi) if recoded.buckets is None else (),
        ),
        problem.model,
        problem.reference,
        plan.missing,
    )


def judge_counted(problem: Problem, plan: TablePlan, published: pa.Table, times: IntArray) -> Verification:
    """Verify a published table in which equal rows were counted.

    ``times`` says how many rows each stands for; all rows are people of the sample.
    """
    table = problem.table
    kinds = {c.name: c.coded.kind for c in table.sensitive}
    found = verify(
        Published(
            quasi=tuple(published.column(column.name) for column in table.quasi),
            sensitive=sensitive_codes(published, plan, problem.reference, kinds),
            sizes={c.name: c.coded.size for c in table.sensitive},
            row_units=times,
            names=tuple(c.name for c in table.quasi),
        ),
        problem.model,
        problem.reference,
        plan.missing,
    )
    return replace(found, rows=int(times.sum()))


def _alike(cells: pa.DictionaryArray, kind: pa.DataType) -> pa.DictionaryArray:
    """Return cells as they would have been read back: from CSV, numbers come as text."""
    if cells.dictionary.type == kind.value_type:
        return cells
    return pa.DictionaryArray.from_arrays(cells.indices, to_labels(cells.dictionary).cast(kind.value_type))


def _wide(chunk: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the chunk with the indices of ``Recoded.column``: publishing may have narrowed them."""
    return pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary)
