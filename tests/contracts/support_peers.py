"""A table and a policy for the promises that other tools break."""

from __future__ import annotations

import numpy as np
import pandas as pd

import hushtable as ht
from hushtable import rng

__all__ = ["K2", "people", "policy"]

K2 = ht.KAnonymity(k=2)


def people(n=60, seed=1):
    values = np.array(["flu", "cold", "HIV", "cancer"])
    return pd.DataFrame(
        {
            "age": rng.integers(seed, "age", n, 20, 60),
            "zip": rng.integers(seed, "zip", n, 14000, 14020).astype(str),
            "disease": values[rng.choice(seed, "disease", n, [4, 3, 2, 1])],
        }
    )


def policy(*models, **settings):
    return ht.Policy(**{"quasi": ["age", "zip"], "sensitive": ["disease"], "models": list(models)} | settings)
