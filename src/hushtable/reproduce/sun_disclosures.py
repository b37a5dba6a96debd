"""Table 10 of Sun et al.: attribute disclosures under the three models, by the readings that the words allow.

The paper does not define what it counts, nor with which algorithm, so classes are counted that lie wholly in one
category, wholly in the top secret one, and that have one category over half, under all three algorithms and for several
draws of the conditions. By definition p+ (p >= 2) has none of the first kind, and alpha > 0 none of the second.
"""

from __future__ import annotations

from collections.abc import Iterator

from hushtable.reproduce.papers import Row, row
from hushtable.reproduce.sun_runs import ALGORITHMS, NAMES, Bench, models_of
from hushtable.reproduce.sun_tables import ADULT, adult_plan, adult_table

__all__ = ["PUBLISHED", "READINGS", "SEEDS", "rows"]

SEEDS = 3
"""How many draws of the conditions."""

PUBLISHED = {(3, 2): (25, 3, 2), (4, 2): (30, 4, 6), (3, 3): (15, 2, 3), (4, 3): (21, 1, 2)}
"""(k, p) -> published disclosures under models 1 to 3."""

READINGS = {
    "one": "Table 10, classes wholly in one category",
    "top": "Table 10, classes wholly top secret",
    "half": "Table 10, classes with one category over half",
}
"""What is counted -> experiment."""


def rows(seed: int, *, quick: bool, first: Bench | None = None) -> Iterator[Row]:
    """Yield, per seed, (k, p), model and algorithm, each reading beside the published number.

    Parameters
    ----------
    seed : int
        The first.
    quick : bool
        600 records, three quasi-identifiers, one seed.
    first : Bench, optional
        The first seed's, if there is one already.
    """
    size = 3 if quick else len(ADULT)
    for draw in range(seed, seed + (1 if quick else SEEDS)):
        bench = first if first is not None and draw == seed else None
        if bench is None:
            bench = Bench(adult_table(draw, 600 if quick else None), {size: adult_plan(size)})
        for (k, p), published in PUBLISHED.items():
            for number, models in enumerate(models_of(k=k, p=p, alpha=1)):
                for algorithm in ALGORITHMS:
                    got = bench.run(size, models, algorithm)
                    setting = f"k={k}, p={p}, {NAMES[number]}, {algorithm}, seed {draw}, {got.classes} classes"
                    for reading, experiment in READINGS.items():
                        yield row(experiment, setting, published[number], getattr(got.disclosures, reading))
