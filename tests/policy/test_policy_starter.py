from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.errors import DataError
from hushtable.policy.policy import Policy
from hushtable.policy.preflight import check_table
from hushtable.policy.starter import starter_policy
from hushtable.schema.columns import Role
from hushtable.schema.profile import profile


def start(table: pa.Table, filename: str = "t.csv") -> tuple[str, Policy]:
    text = starter_policy(profile(table), filename)
    return text, Policy.from_yaml(text)


def test_patients(patients: pa.Table) -> None:
    text, policy = start(patients, "patients.csv")
    assert list(policy.columns) == patients.column_names
    found = profile(patients)
    for column in found.columns:
        assert policy.columns[column.name].role is column.role
        assert f"# {column.role}: {column.role_reason}" in text
    assert policy.columns["postcode"].hierarchy == "prefix"
    assert policy.columns["admission"].hierarchy == "dates"
    assert policy.columns["age"].hierarchy == {"standard": "ages"}
    assert policy.columns["country"].hierarchy == {"standard": "countries"}
    assert policy.models == ({"k-anonymity": {"k": 5}}, {"distinct-l": {"l": 3}})
    assert text.startswith("# A starter policy for patients.csv: 1,000 rows, 11 columns.\n")
    assert "% of the records are unique on" in text
    policy.plan()


def test_hierarchies_by_kind() -> None:
    many = [f"v{i % 60}" for i in range(240)]
    table = pa.table(
        {
            "zip code": [str(10000 + i % 7) for i in range(240)],
            "town": many,
            "hair": ["a", "b"] * 120,
            "visit date": ["2020-01-01", "2021-02-03"] * 120,
            "salary": ["1", "2"] * 120,
        }
    )
    _, policy = start(table)
    assert policy.columns["zip code"].kind == "nominal"
    assert policy.columns["zip code"].hierarchy == {"standard": "us-zip3"}
    assert policy.columns["town"].hierarchy == "frequency"
    assert policy.columns["hair"].hierarchy == "flat"
    assert policy.columns["visit date"].hierarchy == "dates"
    assert policy.columns["salary"].hierarchy is None
    assert policy.models[1:] == ({"distinct-l": {"l": 2}},)


def test_suspicious_tokens() -> None:
    text, policy = start(pa.table({"age": ["1", "?", "2", "1"], "city": ["NA", "x", "x", "NA"]}))
    assert policy.missing_values == ("?",)
    assert "# 'NA' (2 rows) may represent a missing value" in text
    assert policy.columns["age"].kind == "numeric"


def test_no_model_that_cannot_hold() -> None:
    _, policy = start(pa.table({"age": [1, 2, 1], "disease": [None, None, "flu"], "income": ["a", "b", None]}))
    assert policy.models[1:] == ({"distinct-l": {"l": 2, "on": "income"}},)


def test_skewed_sensitive_columns_get_a_bound_on_rare_values_or_a_word() -> None:
    n = 400
    table = pa.table(
        {
            "age": [i % 50 for i in range(n)],
            "union member": ["yes" if i % 10 == 0 else "no" for i in range(n)],
            "capital": [i if i % 40 == 0 else 0 for i in range(n)],
            "diagnosis": [f"d{i % 6}" for i in range(n)],
        }
    )
    text, policy = start(table)
    assert policy.models[1:] == (
        {"beta-likeness": {"beta": 4.0, "on": "union member"}},
        {"distinct-l": {"l": 3, "on": "diagnosis"}},
    )
    assert "no model protects it: 98% of its values are the same, and the others are rare" in text


def test_dates_in_one_format_get_it_and_ambiguous_ones_are_asked_for() -> None:
    table = pa.table(
        {
            "born": ["04/22/1906", "12/31/1910", "01/02/1950"],
            "visit date": ["04/02/2001", "01/02/2003", "05/06/2004"],
            "cost share": ["1,234.50", "12", "3,000,000"],
        }
    )
    text, policy = start(table)
    assert (policy.columns["born"].kind, policy.columns["born"].format) == ("date", "month-first")
    assert (policy.columns["visit date"].kind, policy.columns["visit date"].format) == ("date", None)
    assert "set format: day-first or format: month-first" in text
    assert policy.columns["cost share"].format == "thousands"


@pytest.mark.parametrize(
    "values", [["19060422", "", "19501231"], [19060422, None, 19501231], [19060422.0, None, 20000101.0]]
)
def test_dates_without_separators_are_no_numbers(values) -> None:
    table = pa.table({"dob": 2 * values, "amount": 2 * [19060422, 19061331, 20000101]})
    text, policy = start(table)
    assert (policy.columns["dob"].kind, policy.columns["dob"].format) == ("date", "compact")
    assert policy.columns["dob"].hierarchy == "dates" and "dates such as 19991231" in text
    assert policy.columns["amount"].format is None
    assert check_table(table, policy).ok


def test_missing_tokens_are_counted_as_they_will_be_read() -> None:
    text, policy = start(pa.table({"town": ["?", "x", "x", "?"], "age": [1, 2, 1, 2]}))
    assert "2 missing" in text
    assert policy.missing_values == ("?",)


def test_a_table_without_a_likely_quasi_identifier_still_gives_a_policy() -> None:
    text, policy = start(pa.table({"name": ["a", "b"], "constant": ["x", "x"]}))
    assert policy.named(Role.QUASI) == ("constant",)
    assert "no column looks like a quasi-identifier" in text
    assert start(pa.table({"name": ["a", "b"]}))[1].named(Role.QUASI) == ("name",)


def test_no_columns() -> None:
    with pytest.raises(DataError, match="no columns"):
        starter_policy(profile(pa.table({})), "t.csv")


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=10)


@given(st.lists(names, min_size=1, max_size=5, unique=True), names)
def test_any_names_parse_back(columns: list[str], filename: str) -> None:
    _, policy = start(pa.table({name: ["?", "x", "x", None] for name in columns}), filename)
    assert list(policy.columns) == columns


def test_people_with_several_rows_are_counted_once() -> None:
    table = pa.table({"patient_no": [str(i % 80) for i in range(200)], "age": [i % 7 for i in range(200)]})
    text, policy = start(table)
    assert policy.entity == "patient_no"
    assert "# Each row's person: 80 values in 200 rows" in text


def test_tokens_that_are_listed_are_told_once() -> None:
    text, _ = start(pa.table({"age": ["1", "?", "2", "1"], "town": ["?", "x", "none", "x"]}))
    assert "'?' (1 row)" not in text
    assert "# 'none' (1 row) may represent a missing value: if so, list it in missing_values" in text
