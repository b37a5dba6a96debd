from __future__ import annotations

import hashlib
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.datasets import patient_facts as facts
from hushtable.datasets.patients import patients, patients_batches, patients_hierarchies, patients_policy
from hushtable.errors import ParameterError
from hushtable.hierarchy.spec import parse_hierarchy
from hushtable.schema.columns import Kind


@pytest.fixture(scope="module")
def many() -> pa.Table:
    return patients(60_000)


def leaves(tree) -> list[str]:
    if isinstance(tree, dict):
        return [leaf for child in tree.values() for leaf in leaves(child)]
    return list(tree)


def test_golden_rows_never_change():
    text = repr(patients(500).to_pylist()).encode()
    assert hashlib.sha256(text).hexdigest() == "e358d3c4ac9b973705bba804b3e00a4fa83198054e9430d79f551adc2ae0747b"


@settings(max_examples=20)
@given(n=st.integers(0, 40), start=st.integers(0, 900), seed=st.sampled_from([7, 8]))
def test_rows_do_not_depend_on_the_size_of_the_table(n, start, seed):
    assert patients(n, seed, start).equals(patients(1000, seed).slice(start, n))


def test_batches_are_the_table(many):
    joined = pa.Table.from_batches(patients_batches(300_000))
    assert joined.slice(0, many.num_rows).equals(many)
    assert joined.slice(262_140, 10).equals(patients(10, start=262_140))


def test_seeds_differ():
    assert not patients(100, 1).equals(patients(100, 2))


def test_an_empty_table_has_its_columns():
    assert patients(0).schema.equals(patients(3).schema)


@pytest.mark.parametrize("wrong", [{"n": -1}, {"n": 1, "start": -1}])
def test_negative_sizes_are_refused(wrong):
    with pytest.raises(ParameterError, match="must not be negative"):
        patients(**wrong)


def test_types_and_formats(many):
    assert many.schema.field("admission").type == pa.date32()
    assert many.schema.field("income").type == pa.int64()
    codes = [c for c in many["postcode"].to_pylist() if c is not None]
    assert all(re.fullmatch(r"\d{5}", c) for c in codes)
    assert any(c.startswith("0") for c in codes)
    assert pc.count_distinct(many["patient_id"]).as_py() == many.num_rows


def test_missing_values_are_where_they_are_documented(many):
    nulls = {name: many[name].null_count / many.num_rows for name in many.column_names}
    expected = {"postcode": 0.005, "education": 0.04, "occupation": 0.05, "income": 0.065}
    for name, share in nulls.items():
        assert share == pytest.approx(expected.get(name, 0), abs=0.005), name
    assert all(nulls[name] > 0 for name in expected)


def test_even_the_default_table_has_outliers():
    table = patients()
    assert pc.max(table["age"]).as_py() > 100
    income = np.array([v for v in table["income"].to_pylist() if v is not None])
    assert income.max() > 10 * np.quantile(income, 0.9)
    assert pc.value_counts(table["country"]).field("counts").to_numpy().min() < 10


def test_correlations(many):
    frame = many.to_pandas()
    adults = frame[frame.age >= 30]
    median = adults.groupby("education").income.median()
    assert median["doctorate"] > 1.5 * median["vocational"] > 1.5 * median["primary"]
    by_age = frame.assign(old=frame.age >= 70).groupby("old").diagnosis.value_counts(normalize=True)
    assert by_age[True, "Dementia"] > 5 * by_age[False, "Dementia"]
    assert by_age[True, "HIV"] < by_age[False, "HIV"] / 3
    jobs = frame.groupby("occupation").education.value_counts(normalize=True)
    assert jobs["physician"].index.isin(["master", "doctorate"]).all()
    areas = frame.dropna(subset=["postcode"]).groupby("country").postcode.agg(lambda p: set(p.str[:2]))
    assert areas.to_dict() == {c.name: {f"{a:02d}" for a in c.areas} for c in facts.COUNTRIES}


def test_nobody_has_an_impossible_life(many):
    frame = many.to_pandas()
    assert set(frame[frame.age < 16].occupation.dropna()) == {"child"}
    assert "child" not in set(frame[frame.age >= 16].occupation)
    assert frame[frame.education == "doctorate"].age.min() >= 27
    assert set(frame[frame.age >= 67].occupation.dropna()) == {"retired"}
    assert frame.income.min() >= 0


def test_trees_and_categories_cover_exactly_the_vocabulary(many):
    hierarchies = patients_hierarchies()
    for name in ("country", "education", "occupation"):
        assert sorted(leaves(hierarchies[name]["tree"])) == sorted(pc.unique(many[name].drop_null()).to_pylist())
    categories = patients_policy()["columns"]["diagnosis"]["categories"]
    assert sorted(leaves(categories)) == sorted(pc.unique(many["diagnosis"]).to_pylist())


def test_the_policy_assigns_every_column():
    policy = patients_policy()
    assert list(policy["columns"]) == patients(1).column_names
    quasi = [name for name, column in policy["columns"].items() if column["role"] == "quasi"]
    assert quasi == list(patients_hierarchies())
    policy["columns"]["diagnosis"]["categories"]["secret"].clear()
    assert patients_policy()["columns"]["diagnosis"]["categories"]["secret"]


def test_every_hierarchy_covers_its_column(many):
    columns = patients_policy()["columns"]
    heights = {}
    for name, spec in patients_hierarchies().items():
        kind = Kind(columns[name]["kind"])
        counted = pc.value_counts(many[name].drop_null())
        values, counts = counted.field("values"), counted.field("counts").to_numpy()
        if kind is Kind.ORDINAL:
            values = pa.array(columns[name]["order"])
            counts = np.array([pc.sum(pc.equal(many[name], v)).as_py() for v in values])
        missing = many[name].null_count > 0
        coded = parse_hierarchy(spec, name).code(values, kind, missing=missing, column=name, counts=counts)
        assert coded.size == len(values) + missing
        heights[name] = coded.height
    assert heights == {
        "age": 5, "sex": 1, "postcode": 5, "country": 3, "education": 3, "occupation": 3, "admission": 4,
    }  # fmt: skip
