"""The small tables of Sun et al.: Tables 1 to 8 and 11, with what the paper says about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import pyarrow as pa

from hushtable.api import run_plan
from hushtable.hierarchy.prefix import Prefix
from hushtable.models.base import PrivacyModel
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_alpha_sensitive import PAlphaSensitive
from hushtable.models.p_plus_sensitive import PPlusSensitive
from hushtable.models.p_sensitive import PSensitive
from hushtable.registry import algorithms
from hushtable.release.forms.nodes import Nodes
from hushtable.release.plan import Plan
from hushtable.reproduce.items import Cell, Item, PaperReading, Row, Table, item_of, row
from hushtable.reproduce.sun_tables import CATEGORIES, INCOMES
from hushtable.schema.columns import Kind, Role
from hushtable.table.coins import Coins
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats

__all__ = ["examples"]

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
