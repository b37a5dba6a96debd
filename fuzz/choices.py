"""Models and algorithms with parameters as somebody might choose them, and the sensitive columns they are about.

Models are drawn if ``fuzz.definitions`` has their plain definition; the contract suite judges the others. Algorithms
are drawn if the registry has them and they publish classes that can be repeated: with default parameters, unless
``PARAMETERS`` says how to draw them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hushtable.algorithms.base import Recoding
from hushtable.registry import algorithms

__all__ = ["DISEASES", "MODELS", "NODES", "PARAMETERS", "RECODINGS", "SENSITIVE"]

CATEGORIES = {"secret": ["HIV", "cancer"], "private": ["asthma", None], "open": ["flu", "cold"]}
DISEASES = ["HIV", "cancer", "asthma", "flu", "cold"]
ILLS = {"grave": ["HIV", "cancer"], "mild": {"lungs": ["asthma"], "nose": ["flu", "cold"]}}
NODES = ["", "grave", "mild", "lungs", "HIV", "flu", "*"]

SENSITIVE: dict[str, dict[str, Any]] = {
    "disease": {"role": "sensitive", "kind": "nominal", "categories": CATEGORIES, "hierarchy": {"tree": ILLS}},
    "cost": {"role": "sensitive", "kind": "numeric"},
    "class": {"role": "sensitive", "kind": "nominal"},
    "guard": {"role": "sensitive", "kind": "nominal"},
}


def _any(r: random.Random) -> Any:
    return r.choice(["disease", "disease", "cost", "class", ["disease", "class"]])


MODELS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "k-anonymity": lambda r: {"k": r.randint(2, 5)},
    "p-sensitive": lambda r: {"p": r.randint(2, 3), "on": _any(r)},
    "p-plus-sensitive": lambda r: {"p": 2, "on": "disease"},
    "p-alpha-sensitive": lambda r: {"p": r.randint(2, 3), "alpha": r.choice([0.5, 1, 2]), "on": "disease"},
    "alp-dif": lambda r: {
        "alp": {v: r.choice([0.4, 0.7, 1]) for v in r.sample(DISEASES, 2)},
        "dif": {v: r.choice([0.1, 0.5]) for v in r.sample(DISEASES, r.randint(0, 2))},
        "on": "disease",
    },
    "distinct-l": lambda r: {"l": r.randint(2, 3), "on": _any(r)},
    "probabilistic-l": lambda r: {"l": r.choice([1, 1.5, 2]), "on": _any(r)},
    "entropy-l": lambda r: {"l": r.choice([1, 1.5, 2, 2.7]), "on": _any(r)},
    "recursive-cl": lambda r: {"c": r.choice([1, 2.5, 5]), "l": 2, "on": _any(r)},
    "negation-recursive-cl": lambda r: {"c": r.choice([2, 5]), "l": 2, "n": 1, "on": _any(r)},
    "l-alpha": lambda r: {
        "l": 2,
        "alpha": r.choice([0.5, 1]),
        "diversity": r.choice(["probabilistic", "distinct", "entropy"]),
        "on": "disease",
    },
    "alpha-k": lambda r: {
        "alpha": r.choice([0.5, 0.75, 1]),
        "k": r.randint(2, 4),
        "on": "disease",
        **({"only": r.sample(DISEASES, 2)} if r.random() < 0.3 else {}),
    },
    "alpha-beta-k": lambda r: {"alpha": r.randint(1, 2), "beta": 2, "k": r.randint(2, 4), "on": "disease"},
    "a-d": lambda r: {"a": r.choice([0.6, 0.8, 1]), "d": 2, "on": "disease"},
    "eps-m": lambda r: {"eps": r.choice([0, 0.1, 1, 10]), "m": 2, "relative": r.random() < 0.3, "on": "cost"},
    "t-closeness": lambda r: {
        "t": r.choice([0.2, 0.3, 0.5]),
        **r.choice(
            [
                {"distance": "equal", "on": _any(r)},
                {"distance": "ordered", "on": "cost"},
                {"distance": "hierarchical", "on": "disease"},
                {"distance": "weights", "on": "disease"},
            ]
        ),
    },
    "beta-likeness": lambda r: {"beta": r.choice([1, 3]), "variant": r.choice(["basic", "enhanced"]), "on": _any(r)},
    "delta-disclosure": lambda r: {"delta": r.choice([1.5, 3]), "on": "class"},
    "bayes-optimal": lambda r: {"theta": r.choice([0.4, 0.8]), "on": "disease", "background": r.random() < 0.3},
    "m-confidentiality": lambda r: {"m": 2, "k": r.randint(3, 5), "on": _any(r)},
    "value-bounds": lambda r: {"bounds": {v: r.choice([0.4, 0.7, 1]) for v in r.sample(DISEASES, 2)}, "on": "disease"},
    "m-invariance": lambda r: {"m": 2, "on": r.choice(["disease", "cost"])},
    "average-risk": lambda r: r.choice([{"average": 0.4}, {"maximum": 0.34}, {"average": 0.5, "maximum": 0.5}]),
    "guarding-nodes": lambda r: {"guard": "guard", "breach": r.choice([0.4, 0.6, 0.9]), "on": "disease"},
    "k-map": lambda r: {"k": r.randint(2, 6)},
    "delta-presence": lambda r: {"low": r.choice([0, 0.1]), "high": r.choice([0.5, 0.8, 1])},
}


def _microaggregation(r: random.Random, **more: Any) -> dict[str, Any]:
    drawn: dict[str, Any] = {"round": r.random() < 0.3, **more}
    if r.random() < 0.3:
        drawn |= {"scale": r.choice(["standard", "range", "none"]), "nominal": r.choice(["hierarchy", "equal"])}
    drawn["quality"] = r.choice(["fast", "balanced", "balanced", "best"])
    if drawn["quality"] == "best" and r.random() < 0.99:
        drawn["refine_seconds"] = 0.05
    return drawn


def _objective(r: random.Random) -> str:
    return r.choice(["loss", "discernibility", "average-class-size", "height", "prec", "ncp", "entropy", "payout"])


PARAMETERS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "mondrian": lambda r: {
        "mode": r.choice(["strict", "strict", "relaxed"]),
        "refine": r.random() < 0.2,
        "nominal": r.choice(["cuts", "cuts", "children"]),
    },
    "information-cuts": lambda r: {"refine": r.random() < 0.2},
    "localpk": lambda r: {"refine": r.random() < 0.2},
    "top-down-specialization": lambda r: {
        "beneficial": r.random() < 0.5,
        **({"target": "class"} if r.random() < 0.3 else {}),
    },
    "bottom-up-generalization": lambda r: {"target": "class"} if r.random() < 0.3 else {},
    "optimal": lambda r: {"objective": _objective(r)},
    "incognito": lambda r: {"objective": _objective(r)},
    "greedy-loss": lambda r: {"as_printed": r.random() < 0.3},
    "lattice-sweep": lambda r: {"refine": r.random() < 0.2, "bands": r.choice([1, 4, 48])},
    "mdav": lambda r: _microaggregation(r),
    "cbfs": lambda r: _microaggregation(r),
    "v-mdav": lambda r: _microaggregation(r, gamma=r.choice([0, 0.2, 2])),
    "k-first": lambda r: _microaggregation(r),
    "p-first": lambda r: _microaggregation(r, contributes=r.choice(["any", "short"])),
    "optimal-univariate": lambda r: {"round": r.random() < 0.3},
    "k-member": lambda r: {"exact": r.random() < 0.5, "block": r.choice([2, 5, 1024])},
    "anti-unification": lambda r: {
        "rest": r.choice(["join", "join", "refuse"]),
        "conditions": r.choice([["<"], [">"], [">", "<"]]),
        "unknown": r.choice(["value", "indifferent"]),
        **r.choice([{}, {"indifferent": r.randint(0, 3)}, {"long": r.randint(1, 2)}, {"within": "class"}]),
    },
}

RECODINGS: dict[str, str] = {
    name: cls.recoding.value
    for name, cls in algorithms.items()
    if cls.recoding is not Recoding.CONCEALED and not cls.samples
}
"""The algorithms that are drawn, and how each publishes its groups, as its class declares."""
