"""Sun, Sun and Wang 2011: p-, p+ and (p, alpha)-sensitive k-anonymity, Tables 1 to 11 and Figures 2 to 5.

Data: Adult's 45,222 complete records with one of eight conditions drawn at random for each, and 500,000 generated
records with the domains of the paper's CENSUS table (numeric hierarchies of value, interval and ``*``). Model 1 is
p-sensitive, model 2 p+-sensitive, model 3 (p, alpha)-sensitive k-anonymity; by default k = 3, p = 2, alpha = 1.

The curves of Figures 2 to 5 have no numbers in the text, so what the paper says about them in words is checked.
Localpk, Incognito and Clustering (k-member) run on the same encoded table. Time is CPU seconds of the algorithm alone,
the fastest of three runs (k-member: one); the band ends at the slowest, and a statement about times counts only where
bands do not overlap. The minimal table of Incognito with the least distortion is shown, since distortion is what is
measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import median

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice.incognito import minimal_nodes
from hushtable.api import run_plan
from hushtable.arrays import IntArray
from hushtable.engines.local import problem_of
from hushtable.hierarchy.prefix import Prefix
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import PrivacyModel
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_alpha_sensitive import PAlphaSensitive
from hushtable.models.p_plus_sensitive import PPlusSensitive
from hushtable.models.p_sensitive import PSensitive
from hushtable.registry import algorithms
from hushtable.release.forms.nodes import Nodes
from hushtable.release.plan import Plan
from hushtable.reproduce.items import (
    Cell,
    Item,
    Line,
    Lines,
    PaperReading,
    Row,
    Table,
    item_of,
    nearest,
    row,
    statement,
)
from hushtable.reproduce.sun_figures import adult_figures, census_figures
from hushtable.reproduce.sun_runs import ALGORITHMS, NAMES, Bench, models_of, open_to_similarity
from hushtable.reproduce.sun_tables import ADULT, CATEGORIES, HEIGHTS, INCOMES, RACES, adult_plan, adult_table
from hushtable.schema.columns import Kind, Role
from hushtable.table.coins import Coins
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats

_RAW = {
    1: (27, "USA", "14248", "HIV"), 2: (28, "Canada", "14207", "HIV"), 3: (26, "USA", "14206", "Cancer"),
    4: (25, "Canada", "14249", "Cancer"), 5: (41, "China", "13053", "Hepatitis"),
    6: (48, "Japan", "13074", "Phthisis"), 7: (45, "India", "13064", "Asthma"), 8: (42, "India", "13062", "Obesity"),
    9: (33, "USA", "14248", "Flu"), 10: (37, "Canada", "14204", "Flu"), 11: (36, "Canada", "14205", "Flu"),
    12: (35, "USA", "14248", "Indigestion"),
}  # fmt: skip
"""Table 1."""

_AMERICA, _ASIA = ("USA", "Canada"), ("China", "Japan", "India")

_CLASSES: dict[str, dict[str, tuple[int, ...]]] = {
    "Table 2": {"(27-28) America 142**": (1, 2), "(25-26) America 142**": (3, 4), ">40 Asia 130**": (5, 6, 7, 8),
                "(33-35) America 142**": (9, 12), "(36-37) America 142**": (10, 11)},
    "Table 5": {"<30 America 142**": (1, 2, 3, 4), ">40 Asia 130**": (5, 6, 7, 8), "3* America 142**": (9, 10, 11, 12)},
    "Table 6": {"<40 America 1424*": (1, 4, 9, 12), ">40 Asia 130**": (5, 6, 7, 8),
                "<40 America 1420*": (2, 3, 10, 11)},
    "Table 7": {"<40 America 142**": (1, 2, 3, 10), ">40 Asia 130**": (5, 6, 7, 8),
                "<40 America 14***": (4, 9, 11, 12)},
}  # fmt: skip
"""The classes of the paper's releases, by the records of Table 1."""

_DISEASES = tuple(value for values in CATEGORIES.values() for value in values)

_SAID: dict[str, dict[str, tuple[tuple[PrivacyModel, ...], bool]]] = {
    "Table 2": {"2-anonymous": ((KAnonymity(k=2),), True), "2-sensitive": ((PSensitive(p=2, on="d"),), False)},
    "Table 5": {"2-sensitive 4-anonymous": ((KAnonymity(k=4), PSensitive(p=2, on="d")), True),
                "2+-sensitive": ((PPlusSensitive(p=2, on="d"),), False)},
    "Table 6": {"2+-sensitive 4-anonymous": ((KAnonymity(k=4), PPlusSensitive(p=2, on="d")), True)},
    "Table 7": {"(3, 1)-sensitive 4-anonymous": ((KAnonymity(k=4), PAlphaSensitive(p=3, alpha=1, on="d")), True)},
}  # fmt: skip


def examples(seed: int, quick: bool) -> list[Item]:
    """All small tables."""
    return [_table_1(), _release("Table 2"), _table_3(), _table_4(), _release("Table 5"), _release("Table 6"),
            _release("Table 7"), _table_8(), _table_11()]  # fmt: skip


def _groups(name: str) -> tuple[GroupStats, Reference]:
    counts = [[sum(_RAW[i][3] == d for i in members) for d in _DISEASES] for members in _CLASSES[name].values()]
    whole = [sum(r[3] == d for r in _RAW.values()) for d in _DISEASES]
    disease = Attribute.of("d", _DISEASES, whole, categories=[i // 2 for i in range(len(_DISEASES))])
    return GroupStats.of(sizes=[sum(c) for c in counts], d=counts), Reference.of(12, disease)


def _table_1() -> Item:
    name = "Table 1"
    # the releases below are checked against this: every class must cover its records
    fits = {
        (table, cells, i): _covers(cells, _RAW[i]) for table, found in _CLASSES.items()
        for cells, members in found.items() for i in members
    }  # fmt: skip
    rows = [
        row(name, "records", 12, len(_RAW)),
        row(name, "cells of Tables 2, 5, 6 and 7 that cover their record", 48, sum(fits.values())),
    ]
    head = ("ID", "age", "country", "zip code", "disease")
    cells = tuple(tuple(Cell(ours=value) for value in record) for record in _RAW.values())
    picture = Table(caption="The raw table", head=head, names=tuple(str(i) for i in _RAW), cells=cells)
    reason = "The raw table, checked against the four releases made from it: each published class covers its records."
    return item_of(name, "raw microdata of twelve people", rows, reason, pictures=[picture])


def _covers(cells: str, record: tuple[int, str, str, str]) -> bool:
    age, region, code = cells.split()
    years, country, postcode, _ = record
    inside = {"<": lambda: years < int(age[1:]), ">": lambda: years > int(age[1:]), "3": lambda: 30 <= years < 40}
    if age.startswith("("):
        low, high = (int(end) for end in age.strip("()").split("-"))
        fits = low <= years <= high
    else:
        fits = inside[age[0]]()
    place = country in (_AMERICA if region == "America" else _ASIA)
    return fits and place and postcode.startswith(code.rstrip("*"))


def _release(name: str) -> Item:
    groups, table = _groups(name)
    rows = [row(name, "classes", len(_CLASSES[name]), len(groups))]
    for promise, (models, holds) in _SAID[name].items():
        ours = all(bool(m.satisfied(groups, table).all()) for m in models)
        rows.append(row(name, promise, "holds" if holds else "does not hold", "holds" if ours else "does not hold"))
    if name == "Table 7":
        totals = [sum(_weight(_RAW[i][3]) for i in members) for members in _CLASSES[name].values()]
        rows += [row(name, f"total weight of class {i}", value, int(total))
                 for i, (value, total) in enumerate(zip((1, 2, 3), totals, strict=True), 1)]  # fmt: skip
    if name == "Table 5":
        first = {_category(_RAW[i][3]) for i in next(iter(_CLASSES[name].values()))}
        rows.append(row(name, "categories of the first class", "top secret", ", ".join(sorted(first))))
    cells = tuple((Cell(ours=", ".join(_RAW[i][3] for i in members)),) for members in _CLASSES[name].values())
    head = ("class", "diseases")
    picture = Table(caption=name, head=head, names=tuple(_CLASSES[name]), cells=cells)
    return item_of(name, "a release of Table 1 and its promises", rows, "What the paper says about this table holds.",
                   pictures=[picture])  # fmt: skip


def _category(disease: str) -> str:
    return next(name for name, values in CATEGORIES.items() if disease in values)


def _weight(disease: str) -> Fraction:
    """Equation 1: (i - 1) / (m - 1) for category i of m."""
    return Fraction(list(CATEGORIES).index(_category(disease)), len(CATEGORIES) - 1)


def _table_3() -> Item:
    name = "Table 3"
    known = {"Rick": (26, "USA", "14246"), "Hassen": (45, "India", "13064"), "Rudy": (25, "Canada", "14249"),
             "Yamazaki": (48, "Japan", "13074")}  # fmt: skip
    published = {"Rick": "Cancer", "Rudy": "Cancer"}
    ours = {}
    for who, facts in known.items():
        members = next(m for cells, m in _CLASSES["Table 2"].items() if _covers(cells, (*facts, "")))
        ours[who] = ", ".join(sorted({_RAW[i][3] for i in members}))
    rows = [row(name, f"{who}'s disease by Table 2", theirs, ours[who]) for who, theirs in published.items()]
    more = [row(name, f"{who}'s disease by Table 2", None, ours[who]) for who in ours if who not in published]
    cells = tuple((*(Cell(ours=f) for f in facts), Cell(published=published.get(who), ours=ours[who]))
                  for who, facts in known.items())  # fmt: skip
    head = ("name", "age", "country", "zip code", "diseases by Table 2")
    picture = Table(caption="What an intruder knows, and learns", head=head, names=tuple(known), cells=cells)
    return item_of(name, "linking four known people with Table 2", rows, "Both disclosures come out.",
                   pictures=[picture], more=more)  # fmt: skip


def _table_4() -> Item:
    name = "Table 4"
    weights: Mapping[str, Fraction] = {c: _weight(values[0]) for c, values in CATEGORIES.items()}
    chosen = ("Cancer", "Phthisis", "Asthma", "Flu")
    rows = [row(name, f"weight of {c}", theirs, str(weights[c]))
            for c, theirs in zip(CATEGORIES, ("0", "1/3", "2/3", "1"), strict=True)]  # fmt: skip
    rows.append(row(name, f"total weight of {', '.join(chosen)}", 2, int(sum(_weight(d) for d in chosen))))
    cells = tuple((Cell(ours=", ".join(values)), Cell(published=r.published, ours=r.ours))
                  for values, r in zip(CATEGORIES.values(), rows[:4], strict=True))  # fmt: skip
    picture = Table(caption="Categories and their weights", head=("category", "values", "weight"),
                    names=tuple(CATEGORIES), cells=cells)  # fmt: skip
    return item_of(name, "categories of diseases, and their weights by equation 1", rows, "All weights come out.",
                   pictures=[picture])  # fmt: skip


def _localpk(coins: bytes) -> list[tuple[str, str]]:
    people = pa.table({"zip": ["14248", "14248", "14248", "14247"], "disease": ["HIV", "Indigestion", "Flu", "Cancer"]})
    columns = (
        ColumnPlan("zip", Role.QUASI, Kind.NOMINAL, hierarchy=Prefix()),
        ColumnPlan("disease", Role.SENSITIVE, Kind.NOMINAL, categories=CATEGORIES),
    )
    models = (KAnonymity(k=2), PAlphaSensitive(p=2, alpha=1))
    plan = Plan(TablePlan(columns, cells=Nodes()), models, algorithms.build("localpk"), coins=Coins(coins))
    return sorted((r["zip"], r["disease"]) for r in run_plan(people, plan).table.to_pylist())


def _table_8() -> Item:
    name = "Table 8"
    published = [("1424*", "Cancer"), ("1424*", "Flu"), ("14248", "HIV"), ("14248", "Indigestion")]
    # Flu and Indigestion weigh the same: a coin decides which of them goes back up
    outcomes = {tuple(_localpk(bytes([key]))) for key in range(12)}
    ours = list(min(outcomes, key=lambda found: found != tuple(published)))
    places = {d: z for z, d in ours}
    rows: list[Row] = [row(name, f"zip code of {d}", z, places[d]) for z, d in published]
    readings: Sequence[PaperReading] = [
        PaperReading(question="which of two equally heavy values goes back up (a tie)",
                     reading=f"{_moved(found)} goes back",
                     result="; ".join(f"{z} {d}" for z, d in found), favoured=list(found) == published)
        for found in sorted(outcomes)
    ]  # fmt: skip
    raw = {"HIV": "14248", "Indigestion": "14248", "Flu": "14248", "Cancer": "14247"}
    cells = tuple((Cell(ours=raw[d]), Cell(published=z, ours=rows[i].ours)) for i, (z, d) in enumerate(published))
    picture = Table(caption="Localpk on one column", head=("disease", "zip code", "published by Localpk"),
                    names=tuple(d for _, d in published), cells=cells)  # fmt: skip
    reason = (
        "Localpk gives the published table, or its mirror image: Flu and Indigestion weigh the same, and hushtable "
        "draws which of them goes back, since a fixed rule could be undone."
    )
    return item_of(name, "Algorithm 1 on four records, (2, 1)-sensitive 2-anonymity", rows, reason, readings=readings,
                   pictures=[picture])  # fmt: skip


def _moved(found: Sequence[tuple[str, str]]) -> str:
    return next(d for z, d in found if z == "1424*" and d != "Cancer")


def _table_11() -> Item:
    name = "Table 11"
    published = {"lower income": "1 to 20", "average income": "21 to 40", "above average": "41 to 70",
                 "higher income": "71 to 100"}  # fmt: skip
    ours = {c: f"{low} to {high}" for c, (low, high) in INCOMES.items()}
    rows = [row(name, c, published[c], ours[c]) for c in published]
    ends = list(INCOMES.values())
    whole = ends[0][0] == 1 and ends[-1][1] == 100 and all(a[1] + 1 == b[0] for a, b in pairwise(ends))
    rows.append(row(name, "incomes covered, each once", 100, sum(h - l + 1 for l, h in ends) if whole else 0))
    cells = tuple((Cell(published=published[c], ours=ours[c]),) for c in published)
    picture = Table(caption="Thousands", head=("category", "income"), names=tuple(published), cells=cells)
    return item_of(name, "categories of income, in thousands", rows, "The categories divide the domain.",
                   pictures=[picture])  # fmt: skip


GLOBAL_SEEDS = 5
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
    seeds = range(seed, seed + (1 if quick else GLOBAL_SEEDS))
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


# Table 10 of Sun et al.: attribute disclosures under the three models, by the readings that the words allow.
#
# The paper does not define what it counts, nor with which algorithm, so classes are counted that lie wholly in one
# category, wholly in the top secret one, and that have one category over half, under all three algorithms and for
# several draws of the conditions. By definition p+ (p >= 2) has none of the first kind, and alpha > 0 none of the
# second.


SEEDS = 3
"""Number of draws of the conditions."""

PUBLISHED = {(3, 2): (25, 3, 2), (4, 2): (30, 4, 6), (3, 3): (15, 2, 3), (4, 3): (21, 1, 2)}
"""(k, p) -> published disclosures under models 1 to 3."""

READINGS = {
    "one": "classes wholly in one category",
    "top": "classes wholly top secret",
    "half": "classes with one category over half",
    "records": "records in classes wholly in one category",
}
"""What is counted -> in words."""

Counts = dict[tuple[int, int, int], float]
"""(k, p, model) -> mean over the draws."""


def table_10(seed: int, quick: bool) -> list[Item]:
    """Count by every reading and algorithm; quick: 600 records, three quasi-identifiers, one draw."""
    size, n, draws = (3, 600, 1) if quick else (len(ADULT), None, SEEDS)
    found: dict[tuple[str, str], dict[tuple[int, int, int], list[int]]] = {}
    classes: dict[str, list[int]] = {}
    for draw in range(seed, seed + draws):
        bench = Bench(adult_table(draw, n), {size: adult_plan(size)})
        for k, p in PUBLISHED:
            for number, models in enumerate(models_of(k=k, p=p, alpha=1)):
                for algorithm in ALGORITHMS:
                    got = bench.run(size, models, algorithm)
                    classes.setdefault(algorithm, []).append(got.classes)
                    for reading in READINGS:
                        at = found.setdefault((reading, algorithm), {})
                        at.setdefault((k, p, number), []).append(getattr(got.disclosures, reading))
    means = {way: {at: float(np.mean(v)) for at, v in counts.items()} for way, counts in found.items()}
    return [_item(means, {a: float(np.mean(v)) for a, v in classes.items()})]


def _item(means: Mapping[tuple[str, str], Counts], classes: Mapping[str, float]) -> Item:
    name = "Table 10"
    far = {way: _distance(counts) for way, counts in means.items()}
    best = min(far, key=lambda way: far[way])
    ours = means[best]
    rows = [
        row(name, f"k={k}, p={p}, {NAMES[number]}", value, round(ours[k, p, number]))
        for (k, p), values in PUBLISHED.items() for number, value in enumerate(values)
    ]  # fmt: skip
    rows += [statement(name, f"{NAMES[m]} has fewer disclosures than {NAMES[0]}", _fewer(ours, m)) for m in (1, 2)]
    more = [
        row(f"{name}, {READINGS[reading]}", f"{algorithm}, k={k}, p={p}, {NAMES[number]}", None, round(value, 2))
        for (reading, algorithm), counts in means.items() for (k, p, number), value in counts.items()
    ]  # fmt: skip
    shown = [
        (f"{READINGS[reading]}, {algorithm} ({classes[algorithm]:,.0f} classes)",
         "; ".join(f"k={k}, p={p}: {', '.join(f'{counts[k, p, m]:,.0f}' for m in range(3))}" for k, p in PUBLISHED),
         far[reading, algorithm])
        for (reading, algorithm), counts in means.items()
    ]  # fmt: skip
    readings = nearest("what an attribute disclosure is, and by which algorithm (models 1, 2, 3)", shown)
    cells = tuple(
        tuple(Cell(published=v, ours=round(ours[k, p, m])) for m, v in enumerate(values))
        for (k, p), values in PUBLISHED.items()
    )
    about = f"attribute disclosures under the three models, by the nearest reading: {READINGS[best[0]]}, {best[1]}"
    table = Table(caption=about, head=("", *NAMES), names=tuple(f"k={k}, p={p}" for k, p in PUBLISHED), cells=cells)
    lines = []
    for number, model in enumerate(NAMES):
        at = tuple(enumerate(PUBLISHED, 1))
        lines.append(Line(name=model, points=tuple((i, round(ours[k, p, number], 2)) for i, (k, p) in at)))
        lines.append(Line(name=model, points=tuple((i, PUBLISHED[k, p][number]) for i, (k, p) in at), published=True))
    settings = ", ".join(f"{i}: k={k}, p={p}" for i, (k, p) in enumerate(PUBLISHED, 1))
    picture = Lines(caption=f"The same as lines ({settings})", x="setting", y="disclosures", lines=tuple(lines))
    reason = (
        "The paper does not say what it counts. By definition model 2 leaves no class wholly in one category and model "
        "3 none wholly top secret, and with p = 3 no class lies in a category of two values, so the published 15, 2, 3 "
        "and 21, 1, 2 are no such classes. Classes with one category over half are thousands under local recoding and "
        "almost none under Incognito, whose classes are few and large."
    )
    return item_of(name, about, rows, reason, readings=readings, pictures=[table, picture], more=more)


def _fewer(counts: Counts, number: int) -> bool:
    """Whether a model never has more disclosures than model 1, and has fewer in some setting."""
    pairs = [(counts[k, p, number], counts[k, p, 0]) for k, p in PUBLISHED]
    return all(ours <= plain for ours, plain in pairs) and any(ours < plain for ours, plain in pairs)


def _distance(counts: Counts) -> float:
    """Mean distance from the published numbers, by ratio: one more than each, since many are 0."""
    gaps = [
        abs(math.log((counts[k, p, m] + 1) / (value + 1)))
        for (k, p), values in PUBLISHED.items() for m, value in enumerate(values)
    ]  # fmt: skip
    return sum(gaps) / len(gaps)


SEED = 1
SLOW = ("figures-4-5", "table-10", "figures-2-3")
"""The parts to begin with."""

PARTS = {
    "examples": examples,
    "global": global_tables,
    "table-10": table_10,
    "figures-2-3": adult_figures,
    "figures-4-5": census_figures,
}
