"""Random small tables and policies, as somebody might write them, and the engine that is to run them.

A case is drawn from its number alone, so a finding is repeated by that number.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fuzz.choices import DISEASES, MODELS, NODES, PARAMETERS, RECODINGS, SENSITIVE
from fuzz.columns import FORMS, QUASI, draw_column
from fuzz.definitions import MERGING
from hushtable.algorithms.base import check_compatible
from hushtable.errors import IncompatibleError
from hushtable.models.compose import AllOf
from hushtable.registry import algorithms, models
from hushtable.schema.columns import Missing

__all__ = ["ENGINES", "Case", "random_case", "refuses"]

Row = dict[str, Any]

TICKET = "ticket"
"""An insensitive column with another value in every row: it tells whose a published row is, to the checker alone."""

PERSON = "person"


ENGINES = {"spark": 0.001, "stream": 0.035, "increment": 0.06, "local": 1.0}
"""What runs a case, with the share of the cases that it and those before it get."""


@dataclass
class Case:
    """A table, a policy and who is to run it.

    Attributes
    ----------
    rows : list of dict
    types : dict of str to str
        The Arrow type of each column, by name.
    policy : dict
        The policy as data; ``population`` and ``background`` are given as files where there are such tables.
    engine : str
        One of ``ENGINES``.
    options : dict
        Of the engine: formats, parts, Spark's settings; ``shuffled`` and ``saved`` ask for more checks.
    population, background : list of dict, optional
    """

    seed: int
    rows: list[Row]
    types: dict[str, str]
    policy: dict[str, Any]
    engine: str = "local"
    options: dict[str, Any] = field(default_factory=dict)
    population: list[Row] | None = None
    background: list[Row] | None = None


def random_case(seed: int, engine: str | None = None) -> Case:
    """Draw the case with this number; on an engine of its own choice, or on the one that is asked for."""
    r = random.Random(f"hushtable {seed}")
    engine, options = _engine(r, engine)
    quasi = r.sample(list(QUASI), r.choice([1, 1, 2, 2, 3, 4]))
    drawn = {name: draw_column(name, r) for name in quasi}
    chosen = r.sample(list(MODELS), r.choice([1, 1, 1, 2, 2, 3]))
    wanted_models = [{name: MODELS[name](r)} for name in chosen]
    types = {PERSON: "string", **{name: column.type for name, column in drawn.items()}}
    if engine == "spark":
        # Spark has no unsigned numbers and no dictionaries
        types = {n: {"uint8": "int16", "uint64": "int64", "dictionary": "string"}.get(t, t) for n, t in types.items()}
    prices: list[tuple[list[Any], str]] = [([1, 2, 10, 11, 100], "int64"), ([0.5, -0.0, 0.0, 2.0, 1e9], "float64")]
    costs, cost_type = r.choice(prices)
    columns: dict[str, Any] = {PERSON: {"role": "identifier"}}
    for name, column in drawn.items():
        columns[name] = {"role": "quasi", **column.settings}
    wanted = {name for model in wanted_models for given in model.values() for name in _looked_at(given)}
    for name, settings in SENSITIVE.items():
        if name in wanted or (name != "guard" and r.random() < 0.15):
            columns[name] = settings
            types[name] = {"cost": cost_type}.get(name, "string")
    if r.random() < 0.5:
        columns["note"] = {"role": "insensitive"}
        types["note"] = "string"
    entity = r.random() < 0.15
    if entity or r.random() < 0.75:
        columns[TICKET] = {"role": "insensitive"}
        types[TICKET] = "string"
    if r.random() < 0.3:
        # the order of columns breaks ties
        columns = dict(r.sample(list(columns.items()), len(columns)))
    gaps, secret_gaps = r.choice([0, 0, 0.2]), r.choice([0, 0, 0, 0.2])
    diseases = r.sample(DISEASES, r.choice([1, 3, 4, 4, 5, 5, 5]))
    pools = {
        **{name: column.pool for name, column in drawn.items()},
        "disease": diseases, "cost": r.sample(costs, r.choice([1, 3, 4, 5])), "class": ["x", "y"],
        "note": ["", "a", "=1+1", None], "guard": r.sample(NODES, 3),
    }  # fmt: skip
    holes = {**dict.fromkeys(quasi, gaps), "cost": secret_gaps, "disease": secret_gaps}
    n = r.choice([1, 3, 6, 10, 12, 20, 20, 30, 40, 40])
    people = max(1, n // r.choice([1, 2, 3])) if entity else n

    def row(i: int) -> Row:
        found: Row = {}
        for name in types:
            if name == PERSON:
                found[name] = f"person {i % people}"
            elif name == TICKET:
                found[name] = f"t{i}"
            else:
                found[name] = None if r.random() < holes.get(name, 0) else r.choice(pools[name])
        return found

    rows = [row(i) for i in range(n)]
    refused = r.random() < 0.15
    algorithm = r.choice([name for name in RECODINGS if refused or not refuses(name, wanted_models, len(quasi))])
    policy = {
        "columns": columns,
        "models": wanted_models,
        "algorithm": {algorithm: _given(algorithm, columns, r)},
        "suppression": r.choice([0, 0, 0.1, 0.25, 0.5, 1]),
        "cells": r.choice(FORMS),
        "missing": r.choice(["own_category", "own_category", "own_category", "wildcard", "error"])
        if gaps and (refused or set(chosen) <= MERGING)
        else "own_category",
        "seed": r.randint(0, 3),
    }
    if entity:
        policy["entity"] = PERSON
    if r.random() < 0.1:
        policy["missing_values"] = r.choice([["?"], ["null", "0"], ["18", "x"], ["-0.50", "01234"]])
    if r.random() < 0.2 and (refused or (set(chosen) <= MERGING and RECODINGS[algorithm] != "centroid")):
        policy["guard"] = r.sample(["minimality", "downcoding"], r.choice([1, 1, 2]))
    if engine == "increment":
        # newcomers join a class under the name that it has, which need not be their middle
        for settings in (policy, *columns.values()):
            if settings.get("cells") == "midpoint":
                settings["cells"] = "intervals"
    if r.random() < 0.3:
        policy["output"] = {"reader": "spreadsheet"}
    if "note" in columns and r.random() < 0.2:
        columns["note"] = {"role": "drop"}
    case = Case(seed, rows, types, policy, engine, options)
    if {"k-map", "delta-presence"} & set(chosen) or r.random() < 0.02:
        case.population = _population(case, row, r)
        policy["population"] = "population.parquet"
    if any(p.get("background") for model in wanted_models for p in model.values()):
        case.background = _background(case, quasi, r)
        policy["background"] = {"file": "background.parquet", "on": "disease"}
    return case


def _given(algorithm: str, columns: dict[str, Any], r: random.Random) -> dict[str, Any]:
    """The algorithm's parameters; those that name a column where there is such."""
    drawn = PARAMETERS[algorithm](r) if algorithm in PARAMETERS else {}
    return {name: value for name, value in drawn.items() if name not in ("target", "within") or value in columns}


def _looked_at(given: dict[str, Any]) -> list[str]:
    on = given.get("on", [])
    return [*([on] if isinstance(on, str) else on), *([given["guard"]] if "guard" in given else [])]


def refuses(algorithm: str, given: list[dict[str, Any]], columns: int) -> bool:
    """Whether a combination is refused before any data is read; such cases are drawn too, but not most of the time."""
    if algorithm == "optimal-univariate" and columns != 1:
        return True
    chosen = [models.build(name, parameters) for model in given for name, parameters in model.items()]
    try:
        bound = AllOf.bound_to(chosen, tuple(SENSITIVE))
        check_compatible(algorithms.build(algorithm), bound, Missing.OWN_CATEGORY, population=True)
    except IncompatibleError:
        return True
    return False


def _engine(r: random.Random, asked: str | None) -> tuple[str, dict[str, Any]]:
    drawn = r.random()
    engine = asked or next(name for name, below in ENGINES.items() if drawn < below)
    if engine == "spark":
        sizes = {} if r.random() < 0.5 else {"driverRows": r.choice([1, 5]), "groupRows": r.choice([1, 4, 100])}
        return engine, sizes
    if engine == "stream":
        return engine, {
            "read": r.choice(["csv", "parquet"]),
            "format": r.choice(["csv", "parquet"]),
            "part_rows": r.choice([None, None, 1, 7]),
            "files": r.choice([1, 1, 2]),
        }
    if engine == "increment":
        return engine, {"share": r.choice([0.2, 0.5, 0.8])}
    return engine, {"shuffled": r.random() < 0.05, "saved": r.random() < 0.03}


def _population(case: Case, row: Callable[[int], Row], r: random.Random) -> list[Row]:
    """The table's people, as a rule, and others like them."""
    quasi = [name for name, column in case.policy["columns"].items() if column["role"] == "quasi"]
    inside = case.rows if r.random() < 0.9 else case.rows[::2]
    others = [row(i) for i in range(r.choice([0, len(case.rows), 3 * len(case.rows)]))]
    return [{name: one[name] for name in quasi} for one in [*inside, *others]]


def _background(case: Case, quasi: list[str], r: random.Random) -> list[Row]:
    """What an adversary believes of some people: whole 64ths that sum to 1."""
    tuples = [[one[name] for name in quasi] for one in case.rows]
    values = sorted({one["disease"] for one in case.rows if one["disease"] is not None}) or [None]
    n = r.choice([1, 4, 16, 64])
    return [
        {**dict(zip(quasi, r.choice(tuples), strict=True)), "disease": r.choice(values), "probability": 1 / n}
        for _ in range(n)
    ]
