from __future__ import annotations

import json
from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.schema.columns import Kind, Role
from hushtable.schema.hints import DIRECT, KEYS, QUASI, SENSITIVE, name_hint
from hushtable.schema.infer import ColumnFacts, suggest_role
from hushtable.schema.prepare import prepare
from hushtable.schema.profile import Profile, Token, find_tokens, profile, suggest_missing
from hushtable.schema.subsets import count_duplicates, unique_rows, unique_shares

CANARY = "CANARY-7731"


def _unique(rows: list[tuple[int, ...]]) -> int:
    counts = Counter(rows)
    return sum(counts[r] == 1 for r in rows)


tables = st.integers(1, 5).flatmap(lambda d: st.lists(st.tuples(*[st.integers(0, 3)] * d), min_size=1, max_size=30))


@given(tables)
def test_counts_agree_with_counting_tuples(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array(c, dtype=np.int64) for c in zip(*rows, strict=True)]
    counts = Counter(rows)
    assert unique_rows(columns).tolist() == [counts[r] == 1 for r in rows]
    assert count_duplicates(columns) == len(rows) - len(counts)
    shares = dict(unique_shares(columns))
    wanted = [s for n in (1, 2, 3) for s in combinations(range(len(columns)), n)]
    assert list(shares) == wanted
    for subset in wanted:
        assert shares[subset] == _unique([tuple(r[i] for i in subset) for r in rows]) / len(rows)


def test_sparse_codes_give_the_same_counts() -> None:
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 50, (400, 3)) * 1_000_003
    columns = [rows[:, i].astype(np.int64) for i in range(3)]
    for subset, share in unique_shares(columns):
        assert share == _unique([tuple(r) for r in rows[:, list(subset)].tolist()]) / 400
    assert count_duplicates([columns[0]]) == 400 - len(set(rows[:, 0].tolist()))


def test_subsets_are_bounded_and_the_most_revealing_are_extended() -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2 + i, 500) for i in range(30)]
    shares = dict(unique_shares(columns, limit=100))
    assert len(shares) == 100
    assert sum(len(s) == 1 for s in shares) == 30
    assert all(list(s) == sorted(set(s)) for s in shares)
    # Column 29 has the most values, so its pairs are counted before those of column 0, and half the room is kept.
    pairs = [s for s in shares if len(s) == 2]
    assert len(pairs) == 35
    assert sum(29 in p for p in pairs) == 29
    assert unique_shares([]) == []


def _table() -> pa.Table:
    n = 60
    return pa.table(
        {
            "name": [f"{CANARY}-{i}" for i in range(n)],
            "Age": [str(20 + i % 30) if i else "?" for i in range(n)],
            "ZIP code": [f"0{1000 + i % 7}" for i in range(n)],
            "diagnosis": [[CANARY, "b", "c"][i % 3] for i in range(n)],
            "income": [1000.5 + i for i in range(n)],
            "comment": [f"{CANARY} said at length that it was {i}" for i in range(n)],
            "constant": ["x"] * n,
            "group": ["N/A" if i % 20 == 0 else f"g{i % 4}" for i in range(n)],
            "nested": [[i] for i in range(n)],
            "bad": [float("inf") if i == 5 else i / 2 for i in range(n)],
        }
    )


def test_profile_of_a_table() -> None:
    found = profile(_table())
    by = {c.name: c for c in found.columns}
    assert {n: c.role.value for n, c in by.items()} == {
        "name": "identifier",
        "Age": "quasi",
        "ZIP code": "quasi",
        "diagnosis": "sensitive",
        "income": "sensitive",
        "comment": "identifier",
        "constant": "insensitive",
        "group": "quasi",
        "nested": "identifier",
        "bad": "identifier",
    }
    assert by["name"].role_reason == "its name suggests a person's name"
    assert by["comment"].role_reason == "it looks like free text, which may name people"
    assert by["Age"].kind is Kind.NUMERIC
    assert by["Age"].kind_reason == "every value is a plain number, once '?' counts as missing"
    assert by["Age"].tokens == (Token("?", 1),)
    assert by["ZIP code"].kind is Kind.NOMINAL
    assert (by["ZIP code"].distinct, by["ZIP code"].unique, by["ZIP code"].missing) == (7, 0, 0)
    assert by["group"].tokens == (Token("N/A", 3),)
    assert by["nested"].problem.startswith("Column 'nested' contains values of type list or struct")
    assert by["bad"].problem.startswith("Column 'bad' has infinite numbers (1 distinct).")
    assert by["nested"].kind is None
    assert suggest_missing(found) == ("?", "N/A")
    assert found.rows == 60
    assert found.duplicates == 0
    assert {s.columns for s in found.subsets} >= {("Age",), ("Age", "ZIP code"), ("Age", "ZIP code", "group")}
    assert found.all_subsets
    assert found.subset_rows == 60
    assert found.named(Role.SENSITIVE) == ("diagnosis", "income")


def test_a_profile_is_json_without_cells() -> None:
    found = profile(_table())
    text = json.dumps(found.as_dict())
    assert CANARY not in text
    assert "g1" not in text
    data = json.loads(text)
    assert data["columns"][1]["role"] == "quasi"
    assert data["columns"][1]["tokens"] == [{"text": "?", "rows": 1, "number": False}]
    assert data["subsets"][0].keys() == {"columns", "unique_share"}


def test_shares_of_unique_records() -> None:
    table = pa.table({"sex": ["m", "m", "f", "m"], "age": [1, 2, 2, 2]})
    shares = {s.columns: s.unique_share for s in profile(table).subsets}
    assert shares == {("sex",): 0.25, ("age",): 0.25, ("sex", "age"): 0.5}


def test_duplicates_and_missing_values_count_as_values() -> None:
    found = profile(pa.table({"a": [1, 1, None, None], "b": ["x", "x", "", None]}))
    assert found.duplicates == 2
    assert [c.missing for c in found.columns] == [2, 2]


def test_sampling_is_stated() -> None:
    table = pa.table({"age": [i % 5 for i in range(1000)], "sex": ["m", "f"] * 500})
    found = profile(table, sample_rows=100)
    assert (found.rows, found.subset_rows) == (1000, 100)
    assert not profile(pa.table({f"c{i}": [0, 3, 3] for i in range(9)}), max_subsets=50).all_subsets


@pytest.mark.parametrize("rows", [0, 1])
def test_tiny_tables(rows: int) -> None:
    found = profile(pa.table({"age": pa.array([5] * rows, pa.int64()), "t": pa.array(["x"] * rows, pa.string())}))
    assert isinstance(found, Profile)
    assert found.rows == rows
    assert found.duplicates == 0
    assert [s.unique_share for s in found.subsets] == [1.0] * (3 * rows)


@pytest.mark.parametrize(
    ("facts", "role", "reason"),
    [
        (ColumnFacts("Patient ID", Kind.NUMERIC, 100, 100, 100, 0), Role.IDENTIFIER,
         "its name suggests a key or name, and 100% of its values occur once"),
        (ColumnFacts("hospital_name", Kind.NOMINAL, 100, 4, 0, 0), Role.QUASI, "others might know this"),
        (ColumnFacts("homePhone", Kind.NOMINAL, 100, 4, 0, 0), Role.IDENTIFIER, "its name suggests a phone number"),
        (ColumnFacts("dateOfBirth", Kind.DATE, 100, 100, 100, 0), Role.QUASI,
         "its name suggests birth, which others may know"),
        (ColumnFacts("salary", Kind.NUMERIC, 100, 100, 100, 0), Role.SENSITIVE, "its name suggests money"),
        (ColumnFacts("v1", Kind.NUMERIC, 100, 95, 91, 0, fractions=True), Role.QUASI,
         "91% of its numbers occur once, so anyone who knows one finds the person"),
        (ColumnFacts("v1", Kind.NOMINAL, 100, 90, 80, 0, length=80.0), Role.IDENTIFIER,
         "it looks like free text, which may name people"),
        (ColumnFacts("v1", Kind.NOMINAL, 100, 90, 80, 0, length=5.0), Role.IDENTIFIER, "80% of its values occur once"),
        (ColumnFacts("visit_id", Kind.NOMINAL, 100, 98, 96, 0), Role.IDENTIFIER,
         "its name suggests a key or name, and 96% of its values occur once"),
        (ColumnFacts("visit", Kind.NOMINAL, 100, 98, 96, 0), Role.QUASI,
         "its name suggests a date, which others may know"),
        (ColumnFacts("patient_no", Kind.NOMINAL, 900, 300, 9, 0), Role.IDENTIFIER,
         "its name suggests the number of a person"),
        (ColumnFacts("ward_no", Kind.NUMERIC, 900, 9, 0, 0), Role.QUASI, "others might know this"),
        (ColumnFacts("Vorname", Kind.NOMINAL, 900, 24, 0, 0), Role.IDENTIFIER, "its name suggests a person's name"),
        (ColumnFacts("notes", Kind.NOMINAL, 900, 200, 90, 0, length=12.0), Role.IDENTIFIER,
         "it looks like free text, which may name people"),
        (ColumnFacts("notes", Kind.NOMINAL, 900, 8, 0, 0, length=12.0), Role.QUASI,
         "others might know this"),
        (ColumnFacts("v1", Kind.NOMINAL, 900, 200, 90, 0, length=40.0), Role.IDENTIFIER,
         "it looks like free text, which may name people"),
        (ColumnFacts("icd text", Kind.NOMINAL, 900, 200, 90, 0, length=40.0), Role.SENSITIVE,
         "its name suggests health"),
        (ColumnFacts("v1", Kind.DATE, 100, 90, 80, 0), Role.QUASI, "it contains dates, which others may know"),
        (ColumnFacts("v1", Kind.NOMINAL, 100, 0, 0, 100), Role.INSENSITIVE, "it has no values"),
        (ColumnFacts("age", Kind.NUMERIC, 100, 1, 0, 0), Role.INSENSITIVE, "every row has the same value"),
    ],
)  # fmt: skip
def test_roles_with_reasons(facts: ColumnFacts, role: Role, reason: str) -> None:
    assert suggest_role(facts) == (role, reason)


@pytest.mark.parametrize("topics", [DIRECT, KEYS, SENSITIVE, QUASI])
def test_every_hint_word_is_found_by_its_own_name(topics: dict[str, str]) -> None:
    for words in topics.values():
        for word in words.split():
            assert name_hint(word.removeprefix("="), topics)
            assert not name_hint(f"q{word.removeprefix('=')}q", topics)


def test_tokens() -> None:
    def tokens(values: list[object]) -> tuple[Token, ...]:
        return find_tokens(prepare(pa.array(values), name="x"))

    assert tokens(["?", "?", "unknown", "a"]) == (Token("?", 2), Token("unknown", 1))
    assert tokens([1, 2, 3, 999]) == (Token("999", 1, True),)
    assert tokens([998, 999, 1000, 500]) == ()
    assert tokens([-1, 0, 1]) == ()
    assert tokens(["a", "b"]) == ()
    # A number far away is shown, but only a person can say that it is no number.
    assert suggest_missing(profile(pa.table({"age": [31, 45, 28, -999]}))) == ()


def test_a_quarter_million_rows_are_profiled_at_once() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({f"c{i}": rng.integers(0, 5 + 10 * i, 250_000) for i in range(8)})
    found = profile(table)
    assert len(found.subsets) == 8 + 28 + 56
    assert found.subset_rows == 250_000


def test_the_column_that_says_whose_a_row_is() -> None:
    numbers = [str(i % 80) for i in range(200)]
    table = pa.table({"social_security": numbers, "patient_no": numbers, "visit_id": [str(i) for i in range(200)]})
    assert profile(table).entity == "patient_no"
    assert profile(table.select(["social_security", "visit_id"])).entity == "social_security"
    assert profile(table.select(["visit_id"])).entity == ""


@pytest.mark.parametrize("name", ["nr", "id", "pid", "subjid", "IDNUM"])
def test_a_key_without_a_noun_identifies_the_person(name: str) -> None:
    """A panel has a line for each year of a person, whose key is often just called ``nr``."""
    table = pa.table({name: [i // 8 for i in range(640)], "year": [i % 8 for i in range(640)]})
    found = profile(table)
    assert found.entity == name and found.columns[0].role is Role.IDENTIFIER


def test_one_row_is_not_several() -> None:
    found = profile(pa.table({"age": [30], "sex": ["f"]}))
    assert found.sizes() == "1 row, 2 columns, 0 repeated rows" and repr(found).startswith("1 row, 2 columns")


def test_repeated_rows_alone_are_no_people_with_several_rows() -> None:
    one = pa.table({"patient_no": [str(i) for i in range(100)], "age": list(range(100))})
    assert profile(pa.concat_tables([one, one.slice(0, 9)])).entity == ""


def test_a_person_without_a_number_cannot_be_counted() -> None:
    table = pa.table({"patient_no": [None, *(str(i % 80) for i in range(199))], "age": list(range(200))})
    assert profile(table).entity == ""
