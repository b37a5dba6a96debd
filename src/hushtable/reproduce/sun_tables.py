"""The tables of Sun et al.: Adult with a health condition drawn at random, and a CENSUS-like table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.datasets import adult_hierarchies, load_adult
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.spec import parse_hierarchy
from hushtable.release.forms.nodes import Nodes
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan, TablePlan

CATEGORIES: dict[str, tuple[str, ...]] = {
    "top secret": ("HIV", "Cancer"),
    "secret": ("Phthisis", "Hepatitis"),
    "less secret": ("Obesity", "Asthma"),
    "non secret": ("Flu", "Indigestion"),
}
"""Table 4."""

ADULT = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex")
"""The quasi-identifiers in the order of Table 9."""

HEIGHTS = dict(zip(ADULT, (5, 3, 4, 3, 3, 3, 2), strict=True))
"""Table 9."""

RACES: dict[str, Mapping[str, Sequence[str]] | None] = {
    "3 levels: white and other": {
        "White": ["White"], "not white": ["Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
    },
    "3 levels: white, black and other": {
        "White": ["White"], "Black": ["Black"], "other": ["Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
    },
    "2 levels": None,
}  # fmt: skip
"""Possible groupings of race; Table 9 gives three levels without names."""

INCOMES: dict[str, tuple[int, int]] = {
    "lower income": (1, 20),
    "average income": (21, 40),
    "above average": (41, 70),
    "higher income": (71, 100),
}
"""Table 11, in thousands; upper ends are inclusive."""

_CENSUS = {"age": (16, 93, 10), "birthplace": (1, 710, 50), "occupation": (1, 983, 50)}


def adult_table(seed: int, n: int | None = None) -> pa.Table:
    """Return the first n of Adult's 45,222 complete records (by default all) with a column ``condition``."""
    table = load_adult("complete45222").select(ADULT)
    table = table if n is None else table.slice(0, n)
    names = [name for values in CATEGORIES.values() for name in values]
    drawn = rng.integers(seed, "sun2011/condition", table.num_rows, 0, len(names))
    return table.append_column("condition", pa.array(names).take(pa.array(drawn)))


def adult_plan(size: int = len(ADULT), race: str = next(iter(RACES))) -> TablePlan:
    """Return the plan for the first ``size`` quasi-identifiers of Table 9, with race grouped as in ``RACES``."""
    files: dict[str, Any] = {name: str(file) for name, file in adult_hierarchies().items()}
    grouped = RACES[race]
    if grouped is not None:
        files["race"] = {"tree": grouped}
    columns = [
        ColumnPlan(
            name,
            Role.QUASI,
            Kind.NUMERIC if name == "age" else Kind.NOMINAL,
            hierarchy=parse_hierarchy(files[name], name),
        )
        for name in ADULT[:size]
    ]
    columns.append(ColumnPlan("condition", Role.SENSITIVE, Kind.NOMINAL, categories=CATEGORIES))
    return TablePlan(tuple(columns), cells=Nodes())


def census_like(n: int, seed: int) -> pa.Table:
    """Return a table with the paper's CENSUS domains: age, birthplace, occupation, and income in thousands.

    Ages fall off linearly; a few birthplaces and occupations are frequent, most are rare; low incomes are more frequent
    than high ones. The columns are independent.

    Examples
    --------
    >>> census_like(2, seed=1).column_names
    ['age', 'birthplace', 'occupation', 'income']
    """
    columns = {}
    for name, (low, high, _) in _CENSUS.items():
        rank = np.arange(high - low + 1, dtype=np.float64)
        weights = high + 1 - low - rank if name == "age" else 1.0 / (rank + 5.0)
        columns[name] = pa.array(low + rng.choice(seed, f"sun2011/{name}", n, weights))
    columns["income"] = pa.array(1 + rng.choice(seed, "sun2011/income", n, 1.0 / (np.arange(100.0) + 20.0)))
    return pa.table(columns)


def census_plan() -> TablePlan:
    """Return the plan for the CENSUS-like table: numeric hierarchies of value, interval and ``*``."""
    columns = [
        ColumnPlan(name, Role.QUASI, Kind.NUMERIC, hierarchy=Intervals(widths=(width,)))
        for name, (_, _, width) in _CENSUS.items()
    ]
    categories = {name: tuple(str(i) for i in range(low, high + 1)) for name, (low, high) in INCOMES.items()}
    columns.append(ColumnPlan("income", Role.SENSITIVE, Kind.NUMERIC, categories=categories))
    return TablePlan(tuple(columns), cells=Nodes())
