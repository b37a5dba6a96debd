"""Random small tables and policies, as somebody might write them."""

from __future__ import annotations

import datetime
import random
from typing import Any

__all__ = ["random_case"]

TREE = {"north": ["Norway", "Sweden"], "south": ["Spain", "Italy", "Malta"], "far": ["Peru"]}
CATEGORIES = {"secret": ["HIV", "cancer"], "private": ["asthma"], "open": ["flu", "cold"]}
DISEASES = ["HIV", "cancer", "asthma", "flu", "cold"]
FIRST = datetime.date(2024, 2, 27)

QUASI: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "age": (
        lambda r: r.choice([18, 19, 25, 26, 40, 41, 41, 77]),
        [
            {"kind": "numeric"},
            {"kind": "numeric", "hierarchy": {"intervals": [5, 20]}},
            {"kind": "numeric", "hierarchy": {"intervals": [10]}, "weight": 2},
        ],
    ),
    "income": (lambda r: r.choice([0.5, 1.25, 1.25, 3e3, -7.5]), [{"kind": "numeric"}]),
    "postcode": (
        lambda r: r.choice(["01234", "01239", "99", "9", "01300"]),
        [{"kind": "nominal", "hierarchy": {"prefix": "*"}}, {"kind": "nominal", "hierarchy": {"flat": {}}}],
    ),
    "country": (
        lambda r: r.choice([c for cs in TREE.values() for c in cs]),
        [{"kind": "nominal", "hierarchy": {"tree": TREE}}, {"kind": "nominal"}],
    ),
    "born": (
        lambda r: FIRST + datetime.timedelta(days=r.choice([0, 1, 2, 40, 400])),
        [{"kind": "date", "hierarchy": {"dates": {}}}, {"kind": "date"}],
    ),
    "sex": (lambda r: r.choice("fm"), [{"kind": "nominal"}]),
}

MODELS: dict[str, Any] = {
    "k-anonymity": lambda r: {"k": r.randint(2, 5)},
    "p-sensitive": lambda r: {"p": r.randint(2, 4), "on": "disease"},
    "p-plus-sensitive": lambda r: {"p": r.randint(2, 3), "on": "disease"},
    "p-alpha-sensitive": lambda r: {"p": r.randint(2, 3), "alpha": r.choice([0, 0.5, 1, 2]), "on": "disease"},
    "alp-dif": lambda r: {
        "alp": {v: r.choice([0.2, 0.4, 0.7, 1]) for v in r.sample(DISEASES, 2)},
        "dif": {},
        "on": "disease",
    },
    "distinct-l": lambda r: {"l": r.randint(2, 4), "on": r.choice(["disease", "cost"])},
    "probabilistic-l": lambda r: {"l": r.choice([1, 1.5, 2, 3]), "on": "disease"},
    "entropy-l": lambda r: {"l": r.choice([1, 1.5, 2, 2.7]), "on": "disease"},
    "recursive-cl": lambda r: {"c": r.choice([0.5, 1, 2.5]), "l": r.randint(2, 3), "on": "disease"},
    "negation-recursive-cl": lambda r: {"c": r.choice([1, 3]), "l": 2, "n": r.randint(1, 2), "on": "disease"},
    "l-alpha": lambda r: {
        "l": r.randint(2, 3),
        "alpha": r.choice([0.5, 1]),
        "diversity": r.choice(["probabilistic", "distinct", "entropy"]),
        "on": "disease",
    },
    "alpha-k": lambda r: {"alpha": r.choice([0.4, 0.5, 0.75, 1]), "k": r.randint(2, 4), "on": "disease"},
    "alpha-beta-k": lambda r: {
        "alpha": r.randint(1, 2),
        "beta": r.randint(2, 3),
        "k": r.randint(2, 4),
        "on": "disease",
    },
    "a-d": lambda r: {"a": r.choice([0.5, 0.8, 1]), "d": r.randint(2, 3), "on": "disease"},
    "eps-m": lambda r: {
        "eps": r.choice([0, 1, 10, 0.5]),
        "m": r.randint(2, 3),
        "relative": r.random() < 0.3,
        "on": "cost",
    },
    "t-closeness": lambda r: r.choice(
        [
            {"t": r.choice([0.1, 0.3, 0.5]), "distance": "equal", "on": "disease"},
            {"t": r.choice([0.1, 0.3, 0.5]), "distance": "ordered", "on": "cost"},
        ]
    ),
    "beta-likeness": lambda r: {
        "beta": r.choice([0.5, 1, 3]),
        "variant": r.choice(["basic", "enhanced"]),
        "on": "disease",
    },
    "delta-disclosure": lambda r: {"delta": r.choice([0.7, 1.5, 3]), "on": "sex2"},
    "bayes-optimal": lambda r: {"theta": r.choice([0.2, 0.4, 0.8]), "on": "disease"},
    "m-confidentiality": lambda r: {"m": 2, "k": r.randint(2, 4), "on": "disease"},
    "value-bounds": lambda r: {"bounds": {v: r.choice([0.2, 0.5, 1]) for v in r.sample(DISEASES, 2)}, "on": "disease"},
    "m-invariance": lambda r: {"m": r.randint(2, 3), "on": "disease"},
    "average-risk": lambda r: r.choice([{"average": 0.4}, {"maximum": 0.34}, {"average": 0.5, "maximum": 0.5}]),
}

ALGORITHMS: dict[str, Any] = {
    "mondrian": lambda r: {
        "mode": r.choice(["strict", "relaxed"]),
        "refine": r.random() < 0.3,
        "nominal": r.choice(["cuts", "children"]) if r.random() < 0.3 else "cuts",
    },
    "localpk": lambda r: {"refine": r.random() < 0.3},
    "top-down-specialization": lambda r: {"beneficial": r.random() < 0.5},
    "bottom-up-generalization": lambda r: {},
    "optimal": lambda r: {
        "objective": r.choice(["loss", "discernibility", "average-class-size", "height", "prec", "ncp", "entropy"])
    },
    "incognito": lambda r: {},
    "samarati": lambda r: {},
    "datafly": lambda r: {},
    "greedy-loss": lambda r: {"as_printed": r.random() < 0.3},
    "lattice-sweep": lambda r: {"refine": r.random() < 0.3},
    "mdav": lambda r: {"quality": r.choice(["fast", "balanced", "best"]), "round": r.random() < 0.3},
    "cbfs": lambda r: {},
    "v-mdav": lambda r: {},
    "k-first": lambda r: {},
    "p-first": lambda r: {},
    "optimal-univariate": lambda r: {},
    "k-member": lambda r: {"exact": r.random() < 0.5},
    "anti-unification": lambda r: {"rest": r.choice(["join", "refuse"])},
    "anatomy": lambda r: {},
}


def random_case(seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the rows of a table and the policy, as data."""
    r = random.Random(f"hushtable {seed}")
    n = r.choice([1, 2, 3, 5, 8, 12, 20, 40])
    quasi = r.sample(list(QUASI), r.choice([1, 1, 2, 3, 4]))
    gaps = r.choice([0, 0, 0.2])
    diseases = r.sample(DISEASES, r.randint(1, 5))
    rows = []
    for i in range(n):
        row: dict[str, Any] = {"name": f"person {i}"}
        for name in quasi:
            row[name] = None if r.random() < gaps else QUASI[name][0](r)
        row["disease"] = r.choice(diseases)
        row["cost"] = r.choice([1, 2, 10, 11, 100])
        row["sex2"] = r.choice("xy")
        row["note"] = r.choice(["", "a", "=1+1"])
        rows.append(row)
    columns: dict[str, Any] = {"name": {"role": "identifier"}}
    for name in quasi:
        columns[name] = {"role": "quasi", **r.choice(QUASI[name][1])}
    columns["disease"] = {"role": "sensitive", "kind": "nominal", "categories": CATEGORIES}
    columns["cost"] = {"role": "sensitive", "kind": "numeric"}
    columns["sex2"] = {"role": "sensitive", "kind": "nominal"}
    columns["note"] = {"role": "insensitive"}
    chosen = r.sample(list(MODELS), r.choice([1, 1, 2, 3]))
    algorithm = r.choice(list(ALGORITHMS))
    policy = {
        "columns": columns,
        "models": [{name: MODELS[name](r)} for name in chosen],
        "algorithm": {algorithm: ALGORITHMS[algorithm](r)},
        "suppression": r.choice([0, 0, 0.1, 0.5, 1]),
        "cells": r.choice(["nodes", "intervals", "sets", "midpoint"]),
        "missing": "own_category",
        "seed": r.randint(0, 3),
    }
    if r.random() < 0.1:
        policy["guard"] = r.sample(["minimality", "downcoding"], r.choice([1, 2]))
    return rows, policy
