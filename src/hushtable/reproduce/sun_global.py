"""Table 9 and section 7.1.2.1 of Sun et al.: how many minimal full-domain tables are open to the similarity attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice.incognito import minimal_nodes
from hushtable.arrays import IntArray
from hushtable.engines.local import problem_of
from hushtable.kernels.grouping import number_rows
from hushtable.registry import algorithms
from hushtable.release.plan import Plan
from hushtable.reproduce.items import Cell, Item, PaperReading, Table, item_of, nearest, row, statement
from hushtable.reproduce.sun_runs import NAMES, Bench, models_of, open_to_similarity
from hushtable.reproduce.sun_tables import ADULT, HEIGHTS, RACES, adult_plan, adult_table

__all__ = ["at_risk", "global_tables"]

SEEDS = 5
"""Number of draws of the conditions."""


@dataclass(frozen=True)
class MinimalTables:
    """The minimal tables of one draw and model: how many, how many are open, and the most records at risk in one."""

    tables: int
    open: int
    most: int


def at_risk(problem: Problem, node: IntArray) -> int:
    """Return how many records of the table at a node of the lattice lie in classes of one category."""
    table = problem.table
    levels = [c.coded.levels[h] for c, h in zip(table.quasi, node.tolist(), strict=True)]
    columns = [level[c.codes] for c, level in zip(table.quasi, levels, strict=True)]
    labels, first = number_rows(columns, [int(level.max()) + 1 for level in levels])
    key = (table.sensitive[0].name,)
    stats = table.stats_of(labels, len(first), [key])
    return int(stats.units[open_to_similarity(stats, problem.reference.attribute(key))].sum())


def _minimal(race: str, seeds: Sequence[int], size: int, n: int | None) -> dict[tuple[int, int], MinimalTables]:
    """(model, seed) -> what was found."""
    plan = adult_plan(size, race)
    found = {}
    for seed in seeds:
        table = adult_table(seed, n).select([c.name for c in plan.columns])
        for number, models in enumerate(models_of(k=2, p=2, alpha=1)):
            problem = problem_of(table, Plan(plan, models, algorithms.build("incognito")))
            nodes = minimal_nodes(problem)
            risks = np.array([at_risk(problem, node) for node in nodes], dtype=np.int64)
            found[number, seed] = MinimalTables(len(nodes), int(np.count_nonzero(risks)), int(risks.max(initial=0)))
    return found


def global_tables(seed: int, quick: bool) -> list[Item]:
    """Table 9, then the minimal tables; quick: 600 records, three quasi-identifiers, one draw."""
    size, n = (3, 600) if quick else (len(ADULT), None)
    seeds = range(seed, seed + (1 if quick else SEEDS))
    tried = {race: _minimal(race, seeds, size, n) for race in RACES} if size > 5 else {
        next(iter(RACES)): _minimal(next(iter(RACES)), seeds, size, n)}  # fmt: skip
    return [_table_9(size, n), _similarity(tried, seed, quick)]


def _table_9(size: int, n: int | None) -> Item:
    name = "Table 9"
    plan = adult_plan(size)
    models = models_of(k=2, p=2, alpha=1)[0]
    table = adult_table(1, n).select([c.name for c in plan.columns])
    problem = problem_of(table, Plan(plan, models, algorithms.build("incognito")))
    rows = [row(name, c.name, HEIGHTS[c.name], c.coded.height + 1) for c in problem.table.quasi]
    cells = tuple((Cell(published=r.published, ours=r.ours),) for r in rows)
    picture = Table(caption="Levels, leaves included", head=("attribute", "height"),
                    names=tuple(r.setting for r in rows), cells=cells)  # fmt: skip
    reason = (
        "Heights count the leaves. Race gets its three levels by grouping white and other; the paper names no groups. "
        "What other groupings change is shown with the similarity attack."
    )
    return item_of(name, "levels of the quasi-identifiers' hierarchies", rows, reason, pictures=[picture])


def _similarity(tried: Mapping[str, Mapping[tuple[int, int], MinimalTables]], seed: int, quick: bool) -> Item:
    name = "Similarity attack"
    main = next(iter(tried.values()))

    def middle(number: int, what: str) -> int:
        return int(median(getattr(f, what) for (m, _), f in main.items() if m == number))

    rows = [
        row(name, f"minimal tables, {NAMES[0]}", 21, middle(0, "tables")),
        row(name, f"open tables, {NAMES[0]}", 13, middle(0, "open")),
        row(name, f"records at risk in one open table, {NAMES[0]}", 916, middle(0, "most")),
        row(name, f"minimal tables, {NAMES[2]}", 30, middle(2, "tables")),
        row(name, f"open tables, {NAMES[2]}", 4, middle(2, "open")),
    ]
    share = {m: sum(f.open for (at, _), f in main.items() if at == m) for m in range(3)}
    rows.append(statement(name, "fewer open tables under (p, alpha) than under p", share[2] < share[0]))
    rows.append(statement(name, "fewer open tables under p+ than under p", share[1] < share[0]))
    more = [
        row(f"{name}, {what}", f"{race}, {NAMES[m]}, seed {s}", None, getattr(f, what))
        for race, found in tried.items() for (m, s), f in found.items() for what in ("tables", "open", "most")
    ]  # fmt: skip
    readings = nearest(
        "levels of race: minimal tables under p and (p, alpha), published 21 and 30",
        [(race, _spread(found), _off(found)) for race, found in tried.items()],
    )
    readings += _records_at_risk(seed, quick)
    cells = tuple((Cell(published=r.published, ours=r.ours),) for r in rows[:5])
    picture = Table(caption="Medians over the draws of the conditions", head=("", "number"),
                    names=tuple(r.setting for r in rows[:5]), cells=cells)  # fmt: skip
    reason = (
        "Under every draw only a few minimal tables are open, with two or three records at risk each: a minimal "
        "full-domain table has large classes, and a class of n random conditions lies in one category with probability "
        "4 (1/4)^n. So 13 open tables of 21, and 916 records in one of them, do not come from conditions drawn evenly "
        "and full-domain recoding. Hundreds of records at risk are what local recoding gives: see the readings."
    )
    return item_of(name, "minimal 2-sensitive 2-anonymous tables and those open to the attack", rows, reason,
                   readings=readings, pictures=[picture], more=more)  # fmt: skip


def _values(found: Mapping[tuple[int, int], MinimalTables], number: int, what: str) -> list[int]:
    return [getattr(f, what) for (m, _), f in found.items() if m == number]


def _spread(found: Mapping[tuple[int, int], MinimalTables]) -> str:
    def span(number: int, what: str) -> str:
        values = _values(found, number, what)
        return f"{min(values)} to {max(values)}"

    return (
        f"{span(0, 'tables')} and {span(2, 'tables')} minimal tables; open: {span(0, 'open')} and {span(2, 'open')}; "
        f"most records at risk: {span(0, 'most')}"
    )


def _off(found: Mapping[tuple[int, int], MinimalTables]) -> float:
    """The difference of the mean numbers of minimal tables from the published 21 and 30."""
    return sum(abs(float(np.mean(_values(found, m, "tables"))) - value) for m, value in ((0, 21), (2, 30)))


def _records_at_risk(seed: int, quick: bool) -> list[PaperReading]:
    """Records in classes of one category under local recoding, as readings of 916."""
    size, n = (3, 600) if quick else (len(ADULT), None)
    bench = Bench(adult_table(seed, n), {size: adult_plan(size)})
    results = []
    for k in (2, 3):
        for algorithm in ("localpk", "k-member"):
            got = bench.run(size, models_of(k=k, p=2, alpha=1)[0], algorithm).disclosures
            title = f"one table of {algorithm}, k = {k}, p = 2"
            results.append((title, f"{got.records:,} records in {got.one:,} classes", float(abs(got.records - 916))))
    return nearest("what the 916 records at risk are", results)
