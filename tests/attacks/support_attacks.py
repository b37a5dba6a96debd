"""Tables with planted weaknesses, and the papers' own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

import hushtable as ht
from hushtable.api import run_plan
from support_core import Given

CATEGORIES = {
    "top secret": ["HIV", "Cancer"],
    "secret": ["Phthisis", "Hepatitis"],
    "less secret": ["Obesity", "Asthma"],
    "non secret": ["Flu", "Indigestion"],
}
DISEASES = [disease for values in CATEGORIES.values() for disease in values]

SUN_TABLE_1 = pa.table(
    {
        "Age": [27, 28, 26, 25, 41, 48, 45, 42, 33, 37, 36, 35],
        "Country": "USA Canada USA Canada China Japan India India USA Canada Canada USA".split(),
        "Zip": "14248 14207 14206 14249 13053 13074 13064 13062 14248 14204 14205 14248".split(),
        "Disease": ("HIV HIV Cancer Cancer Hepatitis Phthisis Asthma Obesity Flu Flu Flu Indigestion".split()),
    }
)
SUN_TABLE_3 = pa.table(
    {
        "Name": ["Rick", "Hassen", "Rudy", "Yamazaki"],
        "Age": [26, 45, 25, 48],
        "Country": ["USA", "India", "Canada", "Japan"],
        "Zip": ["14246", "13064", "14249", "13074"],
    }
)


def sun_policy(**more: Any) -> ht.Policy:
    """Sun et al.'s hierarchies."""
    return ht.Policy(
        quasi={
            "Age": {"kind": "numeric", "cells": "intervals"},
            "Country": {
                "hierarchy": {"tree": {"America": ["USA", "Canada"], "Asia": ["China", "Japan", "India"]}},
                "cells": "nodes",
            },
            "Zip": {"hierarchy": {"prefix": "*"}, "cells": "nodes", "kind": "nominal"},
        },
        sensitive={"Disease": {"categories": CATEGORIES}},
        models=more.pop("models", [ht.KAnonymity(k=2)]),
        **more,
    )


def sun_table_2() -> ht.Release:
    """The five classes of Table 2, in the rows of Table 1."""
    plan = replace(sun_policy().plan(), algorithm=Given(labels=(0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4, 3)))
    return run_plan(SUN_TABLE_1, plan)


def policy(models: list[Any], categories: bool = False, **more: Any) -> ht.Policy:
    disease: dict[str, Any] = {"categories": CATEGORIES} if categories else {}
    return ht.Policy(quasi=["age", "zip"], sensitive={"disease": disease}, models=models, **more)


def people(n: int, seed: int = 1, diseases: list[str] | None = None) -> pa.Table:
    """People whose disease has nothing to do with the rest."""
    generator = np.random.default_rng(seed)
    return pa.table(
        {
            "age": generator.integers(18, 90, n),
            "zip": generator.integers(10000, 99999, n),
            "disease": generator.choice(diseases or DISEASES, n),
        }
    )


def correlated(n: int, seed: int = 1) -> pa.Table:
    """People whose disease follows from their age, in eight blocks."""
    generator = np.random.default_rng(seed)
    age = generator.integers(16, 96, n)
    return pa.table(
        {"age": age, "zip": generator.integers(10000, 99999, n), "disease": [DISEASES[(a - 16) // 10] for a in age]}
    )
