"""Microaggregation from its descriptions, on lists; and the Census data as the papers prepare them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hushtable.datasets import load_census
from hushtable.engines import local
from hushtable.engines.release import Release
from hushtable.errors import DataError
from hushtable.models.base import PrivacyModel
from hushtable.registry import algorithms
from hushtable.release.comparison import RowComparison
from hushtable.schema.columns import Kind
from hushtable.utility.sse import SquaredError
from support_core import plan_of, quasi, sensitive


def census() -> pa.Table:
    try:
        return load_census()
    except DataError:
        pytest.skip("the Census data are not here")


def census_run(name: str, models: list[PrivacyModel], keys: int = 6, bins: int = 0, **parameters: Any) -> Release:
    """Run on the first ``keys`` attributes; the next three, cut into ``bins`` categories, are sensitive."""
    whole = census()
    names = whole.column_names
    table = whole.select(names[:keys])
    columns = [quasi(c, Kind.NUMERIC) for c in names[:keys]]
    for c in names[keys : keys + 3] if bins else []:
        v = whole[c].to_numpy().astype(float)
        cut = np.minimum(((v - v.min()) / (v.max() - v.min()) * bins).astype(int), bins - 1)
        table = table.append_column(c, pa.array(cut.astype(str)))
        columns.append(sensitive(c))
    return local.run(table, plan_of(models, columns, algorithms.build(name, parameters)))


def sse(outcome: Release) -> float:
    table = outcome.problem.table
    labels = outcome.recoded.labels[: table.n_sample]
    return SquaredError().compute(RowComparison(table, labels, outcome.recoded.cells))


def points_run(rows: list, models: list[PrivacyModel], name: str, **parameters: Any) -> Release:
    """Run on rows of numbers as they are (scale: none)."""
    columns = {f"x{j}": pa.array([r[j] for r in rows], pa.float64()) for j in range(len(rows[0]))}
    plans = [quasi(c, Kind.NUMERIC) for c in columns]
    algorithm = algorithms.build(name, {"scale": "none", **parameters})
    return local.run(pa.table(columns), plan_of(models, plans, algorithm))


def far(a: list[float], b: list[float]) -> float:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def mean(rows: list[list[float]]) -> list[float]:
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def pull(rows: list, left: list[int], seed: int, k: int) -> list[int]:
    """Take the seed and its nearest out of those left."""
    left.remove(seed)
    near = sorted(left, key=lambda i: (far(rows[i], rows[seed]), i))[: k - 1]
    for i in near:
        left.remove(i)
    return [seed, *near]


def extreme(rows: list, left: list[int], origin: list[float]) -> int:
    return min(left, key=lambda i: (-far(rows[i], origin), i))


def mdav_twin(rows: list, k: int) -> set[frozenset[int]]:
    """MDAV-generic on rows in canonical order."""
    left, groups = list(range(len(rows))), []
    while len(left) >= 3 * k:
        r = extreme(rows, left, mean([rows[i] for i in left]))
        groups.append(pull(rows, left, r, k))
        groups.append(pull(rows, left, extreme(rows, left, rows[r]), k))
    if len(left) >= 2 * k:
        groups.append(pull(rows, left, extreme(rows, left, mean([rows[i] for i in left])), k))
    groups.append(left)
    return {frozenset(g) for g in groups if g}


def cbfs_twin(rows: list, k: int) -> set[frozenset[int]]:
    left, groups = list(range(len(rows))), []
    while len(left) >= k:
        groups.append(pull(rows, left, extreme(rows, left, mean([rows[i] for i in left])), k))
    middle = [mean([rows[i] for i in g]) for g in groups]
    for i in left:
        nearest = min(range(len(groups)), key=lambda g: (far(rows[i], middle[g]), g))
        groups[nearest].append(i)
    return {frozenset(g) for g in groups}


def v_mdav_twin(rows: list, k: int, gamma: float) -> set[frozenset[int]]:
    left, groups = list(range(len(rows))), []
    centre = mean(rows)
    while len(left) >= k:
        group = pull(rows, left, extreme(rows, left, centre), k)
        while left and len(group) < 2 * k - 1:
            inside, best = min((min(far(rows[i], rows[m]) for m in group), i) for i in left)
            outside = min((far(rows[i], rows[best]) for i in left if i != best), default=float("inf"))
            if not inside < gamma**2 * outside:
                break
            left.remove(best)
            group.append(best)
        groups.append(group)
    middle = [mean([rows[i] for i in g]) for g in groups]
    for i in left:
        nearest = min(range(len(groups)), key=lambda g: (far(rows[i], middle[g]), g))
        groups[nearest].append(i)
    return {frozenset(g) for g in groups}
