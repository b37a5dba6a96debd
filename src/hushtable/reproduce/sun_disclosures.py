"""Table 10 of Sun et al.: attribute disclosures under the three models, by the readings that the words allow.

The paper does not define what it counts, nor with which algorithm, so classes are counted that lie wholly in one
category, wholly in the top secret one, and that have one category over half, under all three algorithms and for several
draws of the conditions. By definition p+ (p >= 2) has none of the first kind, and alpha > 0 none of the second.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from hushtable.reproduce.items import Cell, Item, Line, Lines, Table, item_of, nearest, row, statement
from hushtable.reproduce.sun_runs import ALGORITHMS, NAMES, Bench, models_of
from hushtable.reproduce.sun_tables import ADULT, adult_plan, adult_table

__all__ = ["PUBLISHED", "READINGS", "table_10"]

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
    """Whether a model never has more disclosures than model 1, and somewhere fewer."""
    pairs = [(counts[k, p, number], counts[k, p, 0]) for k, p in PUBLISHED]
    return all(ours <= plain for ours, plain in pairs) and any(ours < plain for ours, plain in pairs)


def _distance(counts: Counts) -> float:
    """Mean distance from the published numbers, by ratio: one more than each, since many are 0."""
    gaps = [
        abs(math.log((counts[k, p, m] + 1) / (value + 1)))
        for (k, p), values in PUBLISHED.items() for m, value in enumerate(values)
    ]  # fmt: skip
    return sum(gaps) / len(gaps)
