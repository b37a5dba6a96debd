"""Microaggregation from its descriptions, on lists; and the Census data as the papers prepare them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from hushtable.datasets import load_census
from hushtable.engines import local
from hushtable.engines.release import Release
from hushtable.errors import DataError
from hushtable.models.base import PrivacyModel
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import algorithms
from hushtable.release.comparison import RowComparison
from hushtable.schema.columns import Kind
from hushtable.utility.sse import SquaredError
from support_core import groups_of, plan_of, quasi, sensitive

# small integers, so that sums are exact and ties are ties in both programs
ROWS = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.lists(st.integers(-8, 8).map(float), min_size=d, max_size=d), min_size=4, max_size=40)
)


def ordered(rows: list) -> list:
    """Rows in canonical order, as far from each column's least value as the algorithms see them."""
    least = [min(column) for column in zip(*rows, strict=True)]
    return sorted([x - low for x, low in zip(row, least, strict=True)] for row in rows)


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


def groups(rows: list, k: int, name: str, **parameters: Any) -> set[frozenset[int]]:
    outcome = points_run(rows, [KAnonymity(k=k)], name, **parameters)
    return groups_of(outcome.partition.labels)


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


def reached(edges: list[tuple[int, int]], start: int) -> set[int]:
    """Everything that edges connect with a record."""
    found = {start}
    while more := {b for pair in edges for a, b in (pair, pair[::-1]) if a in found} - found:
        found |= more
    return found


def pieces(edges: list[tuple[int, int]], nodes: list[int]) -> list[list[int]]:
    return sorted({tuple(sorted(reached(edges, node))) for node in nodes})


def divided_twin(rows: list, group: list[int], k: int) -> list[frozenset[int]]:
    if len(group) < 2 * k:
        return [frozenset(group)]
    return [frozenset(group[i] for i in part) for part in mdav_twin([rows[i] for i in group], k)]


def mst_twin(rows: list, k: int) -> set[frozenset[int]]:
    """Grow the tree record by record; try to cut every edge, longest first, and count both sides each time."""
    inside, edges = [0], []
    while len(inside) < len(rows):
        outside = [i for i in range(len(rows)) if i not in inside]
        near = {i: min(far(rows[i], rows[m]) for m in inside) for i in outside}
        new = min(outside, key=lambda i: (near[i], i))
        edges.append((new, next(m for m in inside if far(rows[new], rows[m]) == near[new])))
        inside.append(new)
    for edge in sorted(edges, key=lambda e: (-far(rows[e[0]], rows[e[1]]), e[0])):
        rest = [e for e in edges if e != edge]
        if min(len(reached(rest, end)) for end in edge) >= k:
            edges = rest
    groups = pieces(edges, list(range(len(rows))))
    return {part for group in groups for part in divided_twin(rows, list(group), k)}


def mu_approx_twin(rows: list, k: int) -> set[frozenset[int]]:
    """Records choose until every tree has k; then every record of a tree is tried as the place to cut."""
    edges: list[tuple[int, int]] = []
    for first in range(len(rows)):
        while len(own := reached(edges, first)) < min(k, len(rows)):
            record = min(own - {chooser for chooser, _ in edges})
            outside = [i for i in range(len(rows)) if i not in own]
            edges.append((record, min(outside, key=lambda i: (far(rows[i], rows[record]), i))))
    found = [cut_twin([e for e in edges if e[0] in tree], tree, k) for tree in pieces(edges, list(range(len(rows))))]
    return {part for groups in found for group in groups for part in divided_twin(rows, group, k)}


def cut_twin(edges: list[tuple[int, int]], tree: list[int], k: int) -> list[list[int]]:
    """Nodes below 0 do not count."""
    real = sorted(node for node in tree if node >= 0)
    if len(real) < 2 * k:
        return [real]

    def branches(node: int) -> list[tuple[int, int, set[int]]]:
        rest = [e for e in edges if node not in e]
        near = [b if a == node else a for a, b in edges if node in (a, b)]
        found = [(first, reached(rest, first)) for first in near]
        return sorted((-sum(i >= 0 for i in branch), first, branch) for first, branch in found)

    centre = min(tree, key=lambda node: (-branches(node)[0][0], node))
    for keeps in (False, True):
        one: set[int] = {centre} if keeps else set()
        for _, _, branch in branches(centre):
            if sum(i >= 0 for i in one) < k:
                one |= branch
        other = set(tree) - one
        if min(sum(i >= 0 for i in part) for part in (one, other)) >= k:
            halves = []
            for part in (one, other):
                name = centre if centre in part else min(0, *tree) - 1 - len(edges)
                own = [tuple(name if i == centre else i for i in e) for e in edges if set(e) - {centre} <= part]
                halves += cut_twin(own, sorted((part - {centre}) | {name}), k)
            return halves
    return [real]
