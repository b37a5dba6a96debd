"""The lattice in plain Python: every node counted from the records, every objective from its formula."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from hypothesis import reject

from hushtable.algorithms.base import Problem
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.engines import local
from hushtable.errors import IncompatibleError
from hushtable.hierarchy.base import Coded
from hushtable.models.compose import AllOf
from hushtable.models.k_anonymity import KAnonymity
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.encoded import EncodedTable
from hushtable.testing.cases import random_case


@dataclass(frozen=True)
class Seen:
    """What a node looks like to the twin."""

    node: tuple[int, ...]
    fits: bool
    lost: int
    labels: list[int]
    gone: set[int]


def problem_of(models, seed: int, rows: int = 16, suppression: float = 0.0, **options) -> Problem:
    """A random problem under these models; hypothesis draws again where they need what the case has not."""
    case = random_case(seed, rows, **options)
    try:
        return local.problem_of(case.table, case.plan(models, Mondrian(), suppression=suppression))
    except IncompatibleError:
        reject()


def all_nodes(problem: Problem, fixed=None) -> list[tuple[int, ...]]:
    ranges = []
    for column in problem.table.quasi:
        level = (fixed or {}).get(column.name)
        ranges.append(range(column.coded.height + 1) if level is None else [level])
    return list(itertools.product(*ranges))


def look(problem: Problem, node: tuple[int, ...]) -> Seen:
    """Group every row at a node and judge the groups."""
    table = problem.table
    columns = [c.coded.levels[level][c.codes] for c, level in zip(table.quasi, node, strict=True)]
    keys = [tuple(int(v) for v in key) for key in zip(*columns, strict=True)]
    # of two groups that are equally bad, the one with the first record in canonical order goes
    order = sorted(range(table.n_rows), key=lambda r: [int(c.codes[r]) for c in table.quasi])
    numbers: dict[tuple[int, ...], int] = {}
    for r in order:
        numbers.setdefault(keys[r], len(numbers))
    labels = [numbers[key] for key in keys]
    stats = table.stats_of(np.array(labels), len(numbers), sorted(problem.model.histogram_keys()))
    shown = sorted(numbers, key=numbers.get)
    stats = replace(stats, cells={c.name: np.array([key[j] for key in shown]) for j, c in enumerate(table.quasi)})
    groupwise, tablewise = problem.model.part(table_level=False), problem.model.part(table_level=True)
    there = [g for g in range(len(numbers)) if stats.units[g] > 0]
    good = groupwise.satisfied(stats.take(there), problem.reference)
    gone = {g for g, ok in zip(there, good, strict=True) if not ok}
    kept = [g for g in there if g not in gone]
    while kept and not all(m.table_satisfied(stats.take(kept), problem.reference)[0] for m in tablewise.members):
        failing = next(m for m in tablewise.members if not m.table_satisfied(stats.take(kept), problem.reference)[0])
        score = failing.score(stats.take(kept), problem.reference).tolist()
        worst = kept[score.index(min(score) if failing.sense == ">=" else max(score))]
        if sum(int(stats.units[g]) for g in gone | {worst}) > problem.budget:
            return Seen(node, False, problem.budget + 1, labels, gone)
        gone.add(worst)
        kept.remove(worst)
    lost = sum(int(stats.units[g]) for g in gone)
    return Seen(node, bool(kept) and lost <= problem.budget, lost, labels, gone)


def brute(problem: Problem, fixed=None) -> list[Seen]:
    """Every node that fits."""
    return [seen for node in all_nodes(problem, fixed) if (seen := look(problem, node)).fits]


def forgone(table, seen, weights, rows, sizes, amounts=(1200, 300, 300, 4), crowds=None) -> float:
    """What a game brings less than everything, record by record; benefit, loss, gain and cost are the amounts."""
    benefit, loss, gain, price = amounts
    domain = math.log(math.prod(c.coded.size for c in table.quasi)) or 1.0
    payout = 0.0
    for r in rows:
        group = seen.labels[r]
        if group in seen.gone:
            continue
        spread = 0.0
        for column, level in zip(table.quasi, seen.node, strict=True):
            nodes = column.coded.levels[level]
            spread += math.log(sum(1 for c in range(column.coded.size) if nodes[c] == nodes[column.codes[r]]))
        people = (crowds or {}).get(group) or sizes[group] / table.unit
        harm = loss / people if gain / people > price + 1e-9 else 0.0
        payout += weights[r] / table.unit * (benefit * (1 - spread / domain) - harm)
    return benefit * sum(weights[r] for r in rows) / table.unit - payout


def cost(problem: Problem, seen: Seen, objective: str) -> float:
    """An objective, record by record."""
    table = problem.table
    weights = table.row_units.tolist() if len(table.row_units) else [1] * table.n_rows
    rows = [r for r in range(table.n_rows) if weights[r] > 0]
    people = sum(weights[r] for r in rows)
    sizes: dict[int, int] = defaultdict(int)
    for r in rows:
        sizes[seen.labels[r]] += weights[r]
    if objective == "discernibility":
        kept = sum(s * s for g, s in sizes.items() if g not in seen.gone)
        return (kept + seen.lost * people) / table.unit**2
    if objective == "average-class-size":
        classes = sum(1 for g in sizes if g not in seen.gone) + (1 if seen.lost else 0)
        return people / table.unit / classes
    if objective == "payout":
        return forgone(table, seen, weights, rows, sizes)
    means = []
    for column, level in zip(table.quasi, seen.node, strict=True):
        coded = column.coded
        count = defaultdict(int)
        for r in rows:
            count[int(column.codes[r])] += weights[r]

        def charge(leaf: int, at: int, coded=coded, count=count) -> float:
            under = [c for c in range(coded.size) if coded.levels[at][c] == coded.levels[at][leaf]]
            if objective in ("loss", "ncp"):
                return (len(under) - 1) / max(coded.size - 1, 1)
            if objective == "prec":
                return at / max(coded.height, 1)
            if objective == "height":
                return at
            return math.log2(sum(count[c] for c in under) / count[leaf])

        def suppressed(leaf: int, coded=coded, charge=charge) -> float:
            return 1.0 if objective in ("loss", "ncp", "prec") else charge(leaf, coded.height)

        total = 0.0
        for r in rows:
            leaf = int(column.codes[r])
            total += weights[r] * (suppressed(leaf) if seen.labels[r] in seen.gone else charge(leaf, level))
        most = sum(weights[r] * charge(int(column.codes[r]), coded.height) for r in rows)
        means.append((total / people, most / people))
    importance = [c.weight / sum(q.weight for q in table.quasi) for c in table.quasi]
    if objective == "loss":
        return math.prod((1 + m) ** w for (m, _), w in zip(means, importance, strict=True)) - 1
    mean = sum(m * w for (m, _), w in zip(means, importance, strict=True))
    if objective == "height":
        return mean * len(means)
    if objective == "entropy":
        most = sum(m * w for (_, m), w in zip(means, importance, strict=True))
        return mean / most if most > 0 else mean
    return mean


def minimal(nodes: list[tuple[int, ...]]) -> list[list[int]]:
    """The nodes of a set that are coarser than no other of it."""
    finer = lambda a, b: a != b and all(x <= y for x, y in zip(a, b, strict=True))  # noqa: E731
    return sorted(list(n) for n in nodes if not any(finer(m, n) for m in nodes))


def wide(columns: int = 20, rows: int = 400, height: int = 4) -> EncodedTable:
    """A table with 5^columns nodes."""
    generator = np.random.default_rng(1)
    leaves = 2**height
    levels = tuple(np.arange(leaves, dtype=np.int64) >> h for h in range(height + 1))
    labels = tuple(tuple(str(n) if h < height else "*" for n in range(leaves >> h)) for h in range(height + 1))
    values = pa.array([str(i) for i in range(leaves)])
    coded = Coded(Kind.NOMINAL, values, False, levels, labels)
    quasi_columns = tuple(
        QuasiColumn(f"q{j}", generator.integers(0, leaves, rows).astype(np.uint8), coded) for j in range(columns)
    )
    return EncodedTable(quasi_columns, (), rows, rows)


def wide_problem(progress=lambda share, what: None, suppression=0.05, k=3) -> Problem:
    table = wide()
    model = AllOf((KAnonymity(k=k),))
    return Problem(table, model, table.reference(), suppression, progress=progress)
