"""Number of people unique in the population, by each law, with the edge cases that all laws share.

Without sample uniques, the estimate is 0, and a table that is the whole population has its own uniques. An estimate
that does not exist (a law that cannot be fitted, a number outside [0, N]) is NaN and never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from hushtable.laws import pitman, snb, zayatz
from hushtable.laws.frequencies import Frequencies

Law = Literal["dankar", "pitman", "zayatz", "snb"]
"""The laws by name; ``dankar`` is the rule that chooses one of the others."""


def by_rule(table: Frequencies, population: int) -> tuple[str, float]:
    """Return the law that Dankar's rule chooses (see ``risk/dankar.py``), and its S_1."""
    least = zayatz.estimate(table, population)
    small = 10 * table.people <= population
    name = "pitman" if small else "snb"
    uniques = LAWS[name](table, population)
    if math.isnan(uniques) or not 0 <= uniques <= population or (not small and least < uniques):
        return "zayatz", least
    return name, uniques


LAWS: dict[str, Callable[[Frequencies, int], float]] = {
    "pitman": pitman.estimate,
    "zayatz": zayatz.estimate,
    "snb": snb.estimate,
    "dankar": lambda table, population: by_rule(table, population)[1],
}


def population_uniques(
    table: Frequencies, fraction: float, choose: Callable[[Frequencies, int], tuple[str, float]], name: str
) -> tuple[str, int, float]:
    """Return the law that was used, the size of the population and S_1 of a table that is ``fraction`` of it.

    Examples
    --------
    >>> import numpy as np
    >>> table = Frequencies.of_units(np.array([1, 2, 1]))
    >>> used, population, uniques = population_uniques(table, 0.5, lambda t, n: ("zayatz", LAWS["zayatz"](t, n)), "")
    >>> used, population, round(uniques, 3)
    ('zayatz', 8, 2.545)
    """
    n, alone = table.people, table.of(1)
    population = max(round(n / fraction), n)
    if not alone or population == n:
        return name, population, float(alone)
    used, uniques = choose(table, population)
    if not 0 <= uniques <= population * (1 + 1e-9):
        uniques = math.nan
    return used, population, min(uniques, float(population))
