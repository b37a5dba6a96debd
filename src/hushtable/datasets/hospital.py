"""A generated hospital: people, their stays, diagnoses, prescriptions and laboratory values, in five linked tables.

Illnesses come in groups with their own ICD-10 codes, ATC codes and tests, so a person's events are correlated. The
number of illnesses depends on age. A few people have most of the stays, and a few codes make up most of the diagnoses.
Person i of a seed does not depend on the number of people.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import FloatArray, IntArray
from hushtable.datasets.draw import GeneratedRows, labelled
from hushtable.errors import ParameterError

_FIRST_DAY = (datetime.date(2022, 1, 1) - datetime.date(1970, 1, 1)).days
_DAYS = 3 * 365

# share of people at 50, ICD-10 codes, ATC codes, tests; the first code of each is the most frequent
_ILLNESSES = (
    ("30", "I10.0 I11.9 I10.9", "C09AA05 C08CA01 C03AA03 C07AB02", "sodium potassium creatinine"),
    ("14", "E78.5 E78.0 E78.2", "C10AA05 C10AA01 C10AX09", "cholesterol triglycerides"),
    ("12", "E11.9 E11.6 E11.4 E11.2", "A10BA02 A10BK01 A10BH01 A10AE04", "glucose hba1c creatinine"),
    ("10", "M54.5 M54.4 M51.2", "M01AE01 N02BE01 M03BX02", "crp"),
    ("8", "I25.1 I20.9 I21.4 I25.5", "B01AC06 C07AB02 C10AA05 C01DA02", "troponin cholesterol"),
    ("8", "J45.0 J45.9 J44.1 J44.9", "R03AC02 R03AK06 R03BB04", "crp leukocytes"),
    ("7", "F32.1 F32.9 F33.1 F41.1", "N06AB06 N06AX11 N05BA06", "tsh"),
    ("6", "I48.0 I48.1 I48.9", "B01AF01 B01AF02 C07AB07", "inr potassium"),
    ("6", "M17.1 M16.1 M17.9", "M01AE01 N02BE01 N02AX02", "crp"),
    ("5", "K21.0 K21.9 K29.7", "A02BC01 A02BC02", "hemoglobin"),
    ("5", "I50.1 I50.9 I50.0", "C03CA01 C09DX04 C03DA01", "bnp potassium creatinine"),
    ("4", "E03.9 E03.8 E06.3", "H03AA01", "tsh"),
    ("4", "N18.3 N18.4 N18.9", "B03XA01 C03CA01", "creatinine potassium hemoglobin"),
    ("3", "N40 N39.0 N20.0", "G04CA02 J01XE01", "psa creatinine"),
    ("3", "K80.2 K80.0 K57.3", "A03FA01 N02BB02", "bilirubin crp"),
    ("2.5", "G40.3 G40.9 G43.1", "N03AX14 N02CC01", "sodium"),
    ("2", "C50.4 C50.9", "L02BG04 L02BA01", "leukocytes hemoglobin"),
    ("2", "C61", "L02AE02 L02BB04", "psa"),
    ("1.5", "C18.7 C34.1 C20", "L01BC02 A04AA01", "leukocytes hemoglobin"),
    ("1.5", "M05.8 M06.9", "L04AX03 H02AB06", "crp leukocytes"),
    ("1", "F20.0 F31.3", "N05AH04 N05AN01", "tsh sodium"),
    ("1", "K50.9 K51.9", "A07EC02 L04AB02", "crp hemoglobin"),
    ("0.6", "B20 B18.2", "J05AR13 J05AP55", "leukocytes bilirubin"),
    ("0.4", "G35.1 G20.1", "L03AB07 N04BA02", "leukocytes"),
)
_ACUTE = "R07.4 J18.9 S06.0 R10.4 A09.9 N39.0 J06.9 R55 S52.5 K35.8 I63.9 L03.1 T78.4 H81.1 S82.6 J20.9"
_COMMON = "N02BE01 A02BC02 J01CR02 M01AE01 N02BB02 B01AB05 J01CA04 R05CB01 A06AD15 H02AB06"
_TESTS = "hemoglobin leukocytes creatinine sodium potassium glucose crp"
_RESULTS = ("normal", "high", "low", "very high")


def hospital(n: int = 1000, seed: int = 7) -> dict[str, pa.Table]:
    """Return ``n`` people with about twenty events each.

    ``people`` (person, age, sex, postcode, insurance), ``stays`` (stay, person, admitted), ``diagnoses`` (stay, code),
    ``prescriptions`` (person, drug) and ``labs`` (person, test, result).

    Parameters
    ----------
    n : int
    seed : int

    Examples
    --------
    >>> tables = hospital(100)
    >>> {name: table.column_names for name, table in tables.items()}["diagnoses"]
    ['stay', 'code']
    >>> tables["people"].slice(0, 50).equals(hospital(50)["people"])
    True
    """
    if n < 1:
        raise ParameterError(f"The 'n' parameter of hospital must be at least 1. Got {n}.")
    rows = GeneratedRows(seed, 0, n)
    age = np.clip(18 + 70 * rows.uniform("age") ** 0.8 + 4 * rows.normal("age spread"), 18, 97).astype(np.int64)
    ill = _illnesses(rows, age)
    person = np.array([f"P{i:07d}" for i in range(n)])
    town = rows.choice("town", 1.0 / np.arange(1, 121))
    people = {
        "person": pa.array(person),
        "age": pa.array(age),
        "sex": labelled(["f", "m"], rows.choice("sex", [52, 48])),
        "postcode": labelled([f"{10 + 7 * (i % 12)}{100 + 13 * i % 900}" for i in range(120)], town),
        "insurance": labelled(["public", "private"], rows.choice("insurance", [9, 1])),
    }
    burden = 1.0 + 0.6 * ill[:, 1:].astype(bool).sum(axis=1)
    stays = _repeated(rows, "stays", 1.4 * burden)
    admitted = GeneratedRows(seed, 0, len(stays)).integers("admitted", 0, _DAYS) + _FIRST_DAY
    stay = np.array([f"S{i:08d}" for i in range(len(stays))])
    of_stay = _repeated(GeneratedRows(seed, 0, len(stays)), "diagnoses", np.full(len(stays), 2.2), least=1)
    codes = _draw_illness(GeneratedRows(seed, 0, len(of_stay)), "codes", ill[stays[of_stay]], 1, _ACUTE, 0.75)
    drugs = _repeated(rows, "prescriptions", 4.2 * burden)
    labs = _repeated(rows, "labs", 4.4 * burden)
    tests = _draw_illness(GeneratedRows(seed, 0, len(labs)), "tests", ill[labs], 3, _TESTS, 0.6)
    result = GeneratedRows(seed, 0, len(labs)).choice("results", [70, 17, 9, 4])
    return {
        "people": pa.table(people),
        "stays": pa.table({"stay": stay, "person": person[stays],
                           "admitted": pa.array(admitted.astype(np.int32)).cast(pa.date32())}),
        "diagnoses": pa.table({"stay": stay[of_stay], "code": codes}),
        "prescriptions": pa.table({
            "person": person[drugs],
            "drug": _draw_illness(GeneratedRows(seed, 0, len(drugs)), "drugs", ill[drugs], 2, _COMMON, 0.8)}),
        "labs": pa.table({"person": person[labs], "test": tests, "result": labelled(_RESULTS, result)}),
    }  # fmt: skip


def hospital_policy() -> dict[str, Any]:
    """Return a policy for the hospital, as it would appear in a YAML file.

    Examples
    --------
    >>> hospital_policy()["tables"]["diagnoses"]["of"]
    'stays'
    """
    return {
        "tables": {
            "people": {
                "key": "person",
                "columns": {
                    "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": [5, 10, 20, 40]}},
                    "sex": {"role": "quasi"},
                    "postcode": {"role": "quasi", "kind": "nominal", "hierarchy": {"prefix": {"steps": [3]}}},
                    "insurance": {"role": "sensitive"},
                },
            },
            "stays": {
                "of": "people",
                "key": "stay",
                "columns": {
                    "admitted": {"role": "quasi", "kind": "date", "hierarchy": {"dates": ["month", "quarter", "year"]}}
                },
            },
            "diagnoses": {
                "of": "stays",
                "weight": 2.0,
                "columns": {"code": {"role": "quasi", "hierarchy": {"standard": "icd-10"}}},
            },
            "prescriptions": {
                "of": "people",
                "columns": {"drug": {"role": "quasi", "hierarchy": {"prefix": {"steps": [2, 3, 4, 6]}}}},
            },
            "labs": {"of": "people", "columns": {"test": {"role": "quasi"}, "result": {"role": "sensitive"}}},
        },
        "knows": 2,
        "models": [{"k-anonymity": {"k": 5}}],
        "suppression": 0.3,
    }


def _illnesses(rows: GeneratedRows, age: IntArray) -> IntArray:
    """Return up to four illnesses of each person: numbers from 1, 0 for none; the first column is always 0."""
    shares = np.array([float(share) for share, *_ in _ILLNESSES])
    many = (rows.uniform("how ill") * 5.5 * (age / 90) ** 1.5).astype(np.int64)
    found = np.zeros((rows.n, 5), dtype=np.int64)
    for i in range(1, 5):
        drawn = rows.choice(f"illness {i}", shares) + 1
        found[:, i] = np.where(many >= i, drawn, 0)
    return found


def _repeated(rows: GeneratedRows, stream: str, mean: FloatArray, least: int = 0) -> IntArray:
    """Repeat each row's number once per event: a few rows have many."""
    share = 1 / (1 + np.maximum(mean - least, 0.01))
    times = np.floor(np.log(1 - rows.uniform(stream)) / np.log(1 - share)).astype(np.int64) + least
    return np.repeat(np.arange(rows.n, dtype=np.int64), np.minimum(times, 400))


def _draw_illness(rows: GeneratedRows, stream: str, ill: IntArray, part: int, others: str, own: float) -> pa.Array:
    """Return a code of one of the person's illnesses, or a common one."""
    lists = [others.split(), *(illness[part].split() for illness in _ILLNESSES)]
    labels = sorted({label for codes in lists for label in codes})
    longest = max(map(len, lists))
    table = np.array([[labels.index(codes[min(i, len(codes) - 1)]) for i in range(longest)] for codes in lists])
    sizes = np.array([len(codes) for codes in lists])
    which = np.where(rows.uniform(f"{stream}/own") < own, 1 + rows.integers(f"{stream}/which", 0, 4), 0)
    group = ill[np.arange(rows.n), which]
    # the first codes are drawn most often
    place = (sizes[group] * rows.uniform(f"{stream}/code") ** 2.2).astype(np.int64)
    return labelled(labels, table[group, place])
