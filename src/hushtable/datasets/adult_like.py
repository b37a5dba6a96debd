"""A generated table with the shape of Adult (30,162 x 9), at any size, for benchmarks and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hushtable.arrays import FloatArray, IntArray
from hushtable.datasets.adult_facts import ADULT_TREES, ADULT_VALUES, COLUMNS_9
from hushtable.datasets.draw import GeneratedRows
from hushtable.errors import ParameterError

_BATCH = 1 << 18
_YOUNGEST, _OLDEST = 17, 90
_RISING = ("Bachelors", "Masters", "Prof-school", "Doctorate")
_DESK = frozenset(ADULT_TREES["occupation"]["desk"])


def adult_like_labels() -> dict[str, list[Any]]:
    """Return the value behind each code: ages as numbers, everything else as text in sorted order.

    Examples
    --------
    >>> adult_like_labels()["sex"]
    ['Female', 'Male']
    >>> {name: len(labels) for name, labels in adult_like_labels().items()}["education"]
    16
    """
    ages: list[Any] = list(range(_YOUNGEST, _OLDEST + 1))
    return {name: ages if name == "age" else list(ADULT_VALUES[name]) for name in COLUMNS_9}


def adult_like_codes(n: int, seed: int = 7, start: int = 0) -> dict[str, npt.NDArray[np.uint8]]:
    """Return the generated rows as codes, one byte per cell, without building any text.

    Marital status depends on the age, occupation on the education, and the salary class on all three. Row i of a seed
    does not depend on ``n``.

    Examples
    --------
    >>> codes = adult_like_codes(1000)
    >>> codes["age"].dtype, int(codes["native-country"].max()) < 41
    (dtype('uint8'), True)
    """
    if n < 0 or start < 0:
        raise ParameterError(f"n and start must not be negative. Got n={n}, start={start}.")
    out = {name: np.empty(n, dtype=np.uint8) for name in COLUMNS_9}
    for first in range(0, n, _BATCH):
        size = min(_BATCH, n - first)
        for name, codes in _batch(GeneratedRows(seed, start + first, size)).items():
            out[name][first : first + size] = codes
    return out


def adult_like(n: int, seed: int = 7, start: int = 0) -> pa.Table:
    """Return the generated rows as a table with Adult's nine columns.

    Examples
    --------
    >>> adult_like(5).column_names[:3]
    ['sex', 'age', 'race']
    """
    labels = adult_like_labels()
    codes = adult_like_codes(n, seed, start)
    return pa.table({name: pa.array(labels[name]).take(pa.array(codes[name])) for name in COLUMNS_9})


def adult_policy() -> dict[str, Any]:
    """Return a policy for Adult's nine columns with our own small hierarchies, as in a YAML file.

    Examples
    --------
    >>> list(adult_policy()["columns"]) == adult_like(1).column_names
    True
    """
    columns: dict[str, dict[str, Any]] = {}
    for name in COLUMNS_9:
        tree = ADULT_TREES.get(name)
        hierarchy: dict[str, Any] = {"tree": tree} if tree else {"flat": {}}
        columns[name] = {"role": "quasi", "kind": "nominal", "hierarchy": hierarchy}
    columns["age"] = {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": [5, 10, 20, 40]}}
    columns["salary-class"] = {"role": "sensitive", "kind": "nominal"}
    return {
        "columns": columns,
        "models": [{"k-anonymity": {"k": 5}}, {"distinct-l": {"l": 2, "on": "salary-class"}}],
        "algorithm": {"mondrian": {}},
        "suppression": 0.02,
        "missing": "own_category",
        "cells": "intervals",
        "seed": 7,
    }


def _batch(rows: GeneratedRows) -> dict[str, IntArray]:
    age = rows.choice("age", _age_weights())
    stage = np.searchsorted([8, 18, 38], age).astype(np.int64)
    married = rows.given("marital-status", stage, _marital_weights())
    education = rows.choice("education", _weights("education"))
    degree = np.isin(education, [_code("education", name) for name in _RISING]).astype(np.int64)
    occupation = rows.given("occupation", degree, _occupation_weights())
    sex = rows.choice("sex", _weights("sex"))
    middle = (age >= 13) & (age < 45)
    paired = married == _code("marital-status", "Married-civ-spouse")
    chance = 0.03 + 0.10 * middle + 0.20 * paired + 0.25 * degree
    return {
        "sex": sex,
        "age": age,
        "race": rows.choice("race", _weights("race")),
        "marital-status": married,
        "education": education,
        "native-country": rows.choice("native-country", _weights("native-country")),
        "workclass": rows.choice("workclass", _weights("workclass")),
        "occupation": occupation,
        "salary-class": rows.flags("salary-class", chance).astype(np.int64),
    }


def _weights(column: str) -> FloatArray:
    return np.array(list(ADULT_VALUES[column].values()), dtype=np.float64)


def _code(column: str, value: str) -> int:
    return list(ADULT_VALUES[column]).index(value)


def _age_weights() -> FloatArray:
    """Weights rise to 23, stay level to 47, then fall slowly; everyone above 89 is 90."""
    age = np.arange(_YOUNGEST, _OLDEST + 1, dtype=np.float64)
    weights = np.minimum(1.0, 0.4 + 0.1 * (age - _YOUNGEST))
    fall = np.clip((_OLDEST - age) / (_OLDEST - 47), 0.0, 1.0)
    weights *= fall * fall * fall + 0.002
    weights[-1] = 0.04
    return weights


def _marital_weights() -> FloatArray:
    """The weights of marital status at four stages of life: the young are single, the old widowed."""
    weights = np.tile(_weights("marital-status"), (4, 1))
    single, widowed = _code("marital-status", "Never-married"), _code("marital-status", "Widowed")
    weights[:, single] *= [14, 1.6, 0.4, 0.15]
    weights[:, widowed] *= [0.05, 0.2, 1, 8]
    return weights


def _occupation_weights() -> FloatArray:
    """The weights of occupation without and with a degree."""
    weights = np.tile(_weights("occupation"), (2, 1))
    desk = np.array([name in _DESK for name in ADULT_VALUES["occupation"]])
    weights[0] *= np.where(desk, 0.8, 1.2)
    weights[1] *= np.where(desk, 2.0, 0.3)
    return weights
