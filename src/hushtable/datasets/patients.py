"""Generated patient microdata of any size: correlated, with missing values and outliers.

Row i of a seed does not depend on the size of the table, so a large table can be generated in parts, and a small one is
the beginning of a large one.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import BoolArray, IntArray
from hushtable.datasets import patient_facts as facts
from hushtable.datasets.draw import GeneratedRows, labelled
from hushtable.errors import ParameterError

_BATCH = 1 << 18
_FIRST_DAY = (datetime.date(2019, 1, 1) - datetime.date(1970, 1, 1)).days
_DAYS = 6 * 365 + 2


def patients(n: int = 1000, seed: int = 7, start: int = 0) -> pa.Table:
    """Return ``n`` patients: rows ``start .. start + n - 1`` of the endless table of this seed.

    The columns are name and patient_id (identifiers), age, sex, postcode (text, leading zeros matter), country,
    education, occupation, admission (a date), diagnosis and income. Age shapes education, education the
    occupation, all three the income, age the diagnosis, and the country the postcode. Postcode, education,
    occupation and income have missing values; a few people are very old, very rich or from a country with hardly
    any patients.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int
        A different seed gives different patients.
    start : int
        The first row.

    Examples
    --------
    >>> table = patients(1000)
    >>> table.num_rows, table.column_names[2:6]
    (1000, ['age', 'sex', 'postcode', 'country'])
    >>> patients(3, start=5).equals(table.slice(5, 3))
    True
    """
    return pa.Table.from_batches(patients_batches(n, seed, start), schema=_SCHEMA)


def patients_batches(n: int, seed: int = 7, start: int = 0) -> Iterator[pa.RecordBatch]:
    """Yield the same rows as ``patients`` in record batches, without holding the table in memory.

    Examples
    --------
    >>> [batch.num_rows for batch in patients_batches(300_000)]
    [262144, 37856]
    """
    if n < 0 or start < 0:
        raise ParameterError(f"n and start must not be negative. Got n={n}, start={start}.")
    for first in range(start, start + n, _BATCH):
        yield _batch(GeneratedRows(seed, first, min(_BATCH, start + n - first)))


def patients_hierarchies() -> dict[str, dict[str, Any]]:
    """Return a hierarchy for every quasi-identifier, as policy data.

    Examples
    --------
    >>> patients_hierarchies()["age"]
    {'intervals': [5, 10, 20, 40]}
    """
    return {
        "age": {"intervals": [5, 10, 20, 40]},
        "sex": {"flat": {}},
        "postcode": {"prefix": "*"},
        "country": {"tree": facts.COUNTRY_TREE},
        "education": {"tree": facts.EDUCATION_TREE},
        "occupation": {"tree": facts.OCCUPATION_TREE},
        "admission": {"dates": ["month", "quarter", "year"]},
    }


def patients_policy() -> dict[str, Any]:
    """Return a complete policy for the patients, as it would appear in a YAML file.

    Examples
    --------
    >>> policy = patients_policy()
    >>> policy["models"]
    [{'k-anonymity': {'k': 5}}, {'p-alpha-sensitive': {'p': 3, 'alpha': 1, 'on': 'diagnosis'}},
     {'distinct-l': {'l': 3, 'on': 'income'}}]
    >>> list(policy["columns"]) == patients(1).column_names
    True
    """
    kinds = {"age": "numeric", "admission": "date", "education": "ordinal"}
    columns: dict[str, dict[str, Any]] = {"name": {"role": "identifier"}, "patient_id": {"role": "identifier"}}
    for name, hierarchy in patients_hierarchies().items():
        columns[name] = {"role": "quasi", "kind": kinds.get(name, "nominal"), "hierarchy": hierarchy}
    columns["education"]["order"] = list(facts.EDUCATION)
    categories = {name: list(members) for name, members in facts.DIAGNOSIS_CATEGORIES.items()}
    columns["diagnosis"] = {"role": "sensitive", "kind": "nominal", "categories": categories}
    columns["income"] = {"role": "sensitive", "kind": "numeric"}
    return {
        "columns": columns,
        "models": [
            {"k-anonymity": {"k": 5}},
            {"p-alpha-sensitive": {"p": 3, "alpha": 1, "on": "diagnosis"}},
            {"distinct-l": {"l": 3, "on": "income"}},
        ],
        "algorithm": {"mondrian": {}},
        "suppression": 0.02,
        "missing": "own_category",
        "cells": "regions",
        "seed": 7,
    }


_SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("patient_id", pa.string()),
        ("age", pa.int64()),
        ("sex", pa.string()),
        ("postcode", pa.string()),
        ("country", pa.string()),
        ("education", pa.string()),
        ("occupation", pa.string()),
        ("admission", pa.date32()),
        ("diagnosis", pa.string()),
        ("income", pa.int64()),
    ]
)


def _batch(rows: GeneratedRows) -> pa.RecordBatch:
    band = rows.choice("age band", [weight for _, _, weight in facts.AGE_BANDS])
    age = _age(rows, band)
    sex = rows.choice("sex", [51.6, 48.1, 0.3])
    country = rows.choice("country", [c.weight for c in facts.COUNTRIES])
    education = _education(rows, age)
    occupation = _occupation(rows, age, education)
    income = _income(rows, age, education, occupation)
    diagnosis = rows.given("diagnosis", band, facts.DIAGNOSIS_BY_AGE)
    unknown_pay = rows.flags(
        "income missing", np.where(occupation == facts.OCCUPATIONS.index("self-employed"), 0.2, 0.06)
    )
    columns = [
        _name(rows, sex),
        _digits(np.arange(rows.start, rows.start + rows.n), "P", 9),
        pa.array(age),
        labelled(facts.SEXES, sex),
        _postcode(rows, country),
        labelled([c.name for c in facts.COUNTRIES], country),
        labelled(facts.EDUCATION, education, rows.flags("education missing", 0.04)),
        labelled(facts.OCCUPATIONS, occupation, rows.flags("occupation missing", 0.05)),
        _admission(rows),
        labelled(facts.DIAGNOSES, diagnosis),
        pa.array(income, mask=unknown_pay),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def _age(rows: GeneratedRows, band: IntArray) -> IntArray:
    first = np.array([low for low, _, _ in facts.AGE_BANDS])
    span = np.array([high - low + 1 for low, high, _ in facts.AGE_BANDS])
    return np.asarray(first[band] + (rows.uniform("age") * span[band]).astype(np.int64))


def _education(rows: GeneratedRows, age: IntArray) -> IntArray:
    # older people had less schooling; one threshold between each two of the eight levels
    standing = rows.normal("standing") - 0.012 * np.clip(age - 40, 0, 50)
    level = np.searchsorted([-2.3, -1.7, -0.9, -0.1, 0.55, 1.1, 2.0], standing).astype(np.int64)
    # nobody has a degree below the age at which it is possible
    limit = np.searchsorted([6, 11, 16, 18, 21, 23, 27], age, side="right")
    return np.minimum(level, limit)


def _occupation(rows: GeneratedRows, age: IntArray, education: IntArray) -> IntArray:
    drawn = rows.given("occupation", education, facts.OCCUPATION_BY_EDUCATION)
    named = facts.OCCUPATIONS.index
    chance = rows.uniform("life stage")
    drawn = np.where((age < 30) & (chance < 0.06 * (30 - age)), named("student"), drawn)
    drawn = np.where((age >= 67) | ((age >= 60) & (chance < 0.35)), named("retired"), drawn)
    return np.where(age < 16, named("child"), drawn)


def _income(rows: GeneratedRows, age: IntArray, education: IntArray, occupation: IntArray) -> IntArray:
    experience = 0.75 + 0.5 * np.clip(age - 20, 0, 30) / 30
    schooling = 0.85 + 0.05 * education
    # a fourth power is as lopsided as incomes are, and exact on every machine; an exponential is not
    luck = np.clip(1.0 + 0.09 * rows.normal("luck"), 0.5, None)
    pay = facts.OCCUPATION_PAY[occupation] * experience * schooling * (luck * luck) * (luck * luck)
    rich = rows.flags("rich", 0.005) & (age >= 25)
    pay = np.where(rich, 400_000 + pay * (5 + 45 * rows.uniform("riches")), pay)
    return np.floor(pay / 100 + 0.5).astype(np.int64) * 100


def _postcode(rows: GeneratedRows, country: IntArray) -> pa.Array:
    widest = max(len(c.areas) for c in facts.COUNTRIES)
    # the first area of a country is its largest
    weights = np.array([[1.0 / (i + 2) if i < len(c.areas) else 0.0 for i in range(widest)] for c in facts.COUNTRIES])
    areas = np.array([c.areas + (0,) * (widest - len(c.areas)) for c in facts.COUNTRIES])
    area = areas[country, rows.given("postcode area", country, weights)]
    crowding = rows.uniform("postcode district")
    district = (crowding * crowding * 60).astype(np.int64) * 16 + rows.integers("postcode street", 0, 3)
    return _digits(area * 1000 + district, "", 5, rows.flags("postcode missing", 0.005))


def _admission(rows: GeneratedRows) -> pa.Array:
    days = _FIRST_DAY + rows.integers("admission", 0, _DAYS)
    # a case that was opened long ago
    days = np.where(rows.flags("old file", 0.002), days - 20 * 365, days)
    return pa.array(days.astype(np.int32)).cast(pa.date32())


def _name(rows: GeneratedRows, sex: IntArray) -> pa.Array:
    given = [name for group in facts.SEXES for name in facts.GIVEN_NAMES[group]]
    each = len(given) // len(facts.SEXES)
    first = labelled(given, sex * each + rows.integers("given name", 0, each))
    last = labelled(facts.FAMILY_NAMES, rows.integers("family name", 0, len(facts.FAMILY_NAMES)))
    return pc.binary_join_element_wise(first, last, " ")


def _digits(numbers: IntArray, prefix: str, width: int, missing: BoolArray | None = None) -> pa.Array:
    text = pc.utf8_lpad(pa.array(numbers, mask=missing).cast(pa.string()), width, "0")
    return pc.binary_join_element_wise(prefix, text, "") if prefix else text
