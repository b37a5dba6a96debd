"""Vocabularies, weights and trees of the generated patients, all invented."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from hushtable.arrays import FloatArray


class Country(NamedTuple):
    """A country, how often its people are treated here, and the first two digits of its postcodes."""

    name: str
    weight: float
    areas: tuple[int, ...]


COUNTRIES = (
    Country("Germany", 70.0, (1, 4, 10, 14, 20, 22, 30, 40, 50, 60, 70, 80)),
    Country("Austria", 7.0, (11, 12, 51)),
    Country("Switzerland", 4.5, (31, 81)),
    Country("France", 5.0, (6, 13, 59, 67, 75)),
    Country("Poland", 5.0, (0, 2, 61)),
    Country("Czechia", 2.5, (16, 37)),
    Country("Italy", 2.5, (0, 9, 20)),
    Country("Spain", 1.2, (8, 28)),
    Country("Denmark", 1.0, (21,)),
    Country("Portugal", 0.6, (40,)),
    Country("Turkey", 0.5, (6, 34)),
    Country("Iceland", 0.12, (10,)),
    Country("Malta", 0.08, (0,)),
)

COUNTRY_TREE: dict[str, Any] = {
    "Europe": {
        "Central Europe": ["Germany", "Austria", "Switzerland", "Poland", "Czechia"],
        "Western Europe": ["France"],
        "Northern Europe": ["Denmark", "Iceland"],
        "Southern Europe": ["Italy", "Spain", "Portugal", "Malta"],
    },
    "Outside Europe": {"Western Asia": ["Turkey"]},
}

SEXES = ("female", "male", "other")

# first age, last age, weight
AGE_BANDS = (
    (0, 5, 4.0),
    (6, 15, 6.0),
    (16, 24, 10.0),
    (25, 39, 18.0),
    (40, 54, 21.0),
    (55, 66, 18.0),
    (67, 79, 14.0),
    (80, 96, 8.7),
    (97, 108, 0.3),
)

EDUCATION = (
    "none",
    "primary",
    "lower secondary",
    "upper secondary",
    "vocational",
    "bachelor",
    "master",
    "doctorate",
)

EDUCATION_TREE: dict[str, Any] = {
    "school": {"basic school": ["none", "primary"], "secondary school": ["lower secondary", "upper secondary"]},
    "beyond school": {"trade": ["vocational"], "university": ["bachelor", "master", "doctorate"]},
}

OCCUPATION_TREE: dict[str, Any] = {
    "paid work": {
        "office": ["clerk", "manager", "lawyer", "engineer", "scientist"],
        "care and teaching": ["nurse", "physician", "teacher"],
        "manual": ["builder", "driver", "farmer", "mechanic", "cook"],
        "trade": ["sales", "self-employed"],
    },
    "no paid work": {"learning": ["child", "student"], "other": ["home maker", "unemployed", "retired"]},
}

# weight of each occupation for the eight levels of education, and yearly pay; where age decides, the weight is 0
_OCCUPATIONS: dict[str, tuple[tuple[float, ...], int]] = {
    "clerk": ((0, 1, 4, 14, 14, 12, 4, 1), 34_000),
    "manager": ((0, 0, 1, 3, 6, 12, 16, 10), 74_000),
    "lawyer": ((0, 0, 0, 0, 0, 1, 10, 8), 82_000),
    "engineer": ((0, 0, 0, 1, 4, 16, 18, 12), 62_000),
    "scientist": ((0, 0, 0, 0, 0, 2, 8, 30), 58_000),
    "nurse": ((0, 0, 2, 5, 12, 8, 2, 0), 36_000),
    "physician": ((0, 0, 0, 0, 0, 0, 8, 28), 88_000),
    "teacher": ((0, 0, 0, 1, 2, 14, 18, 6), 48_000),
    "builder": ((14, 18, 16, 8, 12, 1, 0, 0), 31_000),
    "driver": ((8, 14, 14, 10, 6, 2, 0, 0), 29_000),
    "farmer": ((10, 8, 6, 4, 5, 1, 1, 0), 27_000),
    "mechanic": ((2, 4, 8, 8, 16, 2, 0, 0), 35_000),
    "cook": ((6, 10, 10, 8, 6, 1, 0, 0), 24_000),
    "sales": ((4, 8, 14, 18, 10, 10, 4, 1), 30_000),
    "self-employed": ((2, 3, 4, 6, 7, 8, 8, 4), 46_000),
    "child": ((0, 0, 0, 0, 0, 0, 0, 0), 0),
    "student": ((0, 0, 0, 0, 0, 0, 0, 0), 9_000),
    "home maker": ((22, 16, 9, 5, 3, 2, 1, 0), 6_000),
    "unemployed": ((32, 18, 10, 5, 3, 2, 1, 1), 11_000),
    "retired": ((0, 0, 0, 0, 0, 0, 0, 0), 21_000),
}
OCCUPATIONS = tuple(_OCCUPATIONS)
OCCUPATION_BY_EDUCATION: FloatArray = np.array([row for row, _ in _OCCUPATIONS.values()], dtype=np.float64).T
OCCUPATION_PAY: FloatArray = np.array([pay for _, pay in _OCCUPATIONS.values()], dtype=np.float64)

# the most sensitive category first (Sun et al. 2011)
DIAGNOSIS_CATEGORIES: dict[str, list[str]] = {
    "top secret": ["HIV", "Cancer", "Schizophrenia"],
    "secret": ["Hepatitis", "Depression", "Addiction", "Dementia"],
    "less secret": ["Diabetes", "Heart disease", "Stroke", "Asthma"],
    "non secret": ["Flu", "Fracture", "Appendicitis", "Gastritis", "Pneumonia"],
}

# weight of each diagnosis for the nine bands of age
_DIAGNOSES: dict[str, tuple[float, ...]] = {
    "HIV": (0.1, 0.1, 1.5, 3, 2, 1, 0.3, 0.1, 0.1),
    "Cancer": (1, 1, 1, 3, 8, 13, 15, 12, 8),
    "Schizophrenia": (0.1, 0.2, 2, 2, 1, 0.7, 0.4, 0.2, 0.1),
    "Hepatitis": (0.5, 0.5, 2, 4, 4, 3, 2, 1, 1),
    "Depression": (0.1, 3, 9, 9, 8, 6, 4, 3, 2),
    "Addiction": (0.1, 0.5, 6, 6, 5, 3, 1, 0.5, 0.1),
    "Dementia": (0.1, 0.1, 0.1, 0.1, 0.3, 2, 7, 16, 22),
    "Diabetes": (1, 2, 3, 5, 9, 13, 13, 11, 8),
    "Heart disease": (1, 1, 1, 3, 9, 16, 19, 19, 19),
    "Stroke": (0.1, 0.1, 0.3, 1, 3, 6, 9, 11, 11),
    "Asthma": (12, 12, 7, 5, 4, 4, 3, 2, 2),
    "Flu": (30, 22, 14, 11, 9, 7, 6, 6, 7),
    "Fracture": (14, 26, 22, 16, 10, 8, 9, 12, 14),
    "Appendicitis": (6, 16, 12, 8, 4, 2, 1, 0.5, 0.5),
    "Gastritis": (12, 8, 12, 14, 12, 8, 5, 3, 3),
    "Pneumonia": (18, 8, 6, 5, 5, 6, 7, 9, 12),
}
DIAGNOSES = tuple(_DIAGNOSES)
DIAGNOSIS_BY_AGE: FloatArray = np.array(list(_DIAGNOSES.values()), dtype=np.float64).T

GIVEN_NAMES = {
    "female": ("Ada", "Bela", "Carla", "Dora", "Elin", "Frida", "Gesa", "Hanna", "Ida", "Jule", "Klara", "Lotte"),
    "male": ("Arno", "Bruno", "Carl", "Dirk", "Emil", "Fritz", "Gero", "Hugo", "Ivo", "Jan", "Kurt", "Leo"),
    "other": ("Alex", "Bo", "Charlie", "Deniz", "Eike", "Finn", "Gerry", "Helge", "Ike", "Jona", "Kim", "Luca"),
}
FAMILY_NAMES = tuple(
    a + b
    for a, b in product(
        ("Alm", "Birk", "Dorn", "Eich", "Falk", "Grün", "Hasel", "Kalt", "Lang", "Moos", "Nord", "Stein", "Wolf"),
        ("acker", "bach", "berg", "brück", "feld", "hagen", "hof", "mann", "rieder", "thal"),
    )
)
