"""What the naive checker reads from a published cell."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.cells import covers
from fuzz.engines import unguarded
from hushtable.io.formulas import unescape_formulas

TREE = {"grave": ["HIV"], "mild": ["flu"]}
COVERED: list[tuple[Any, Any, dict[str, Any], bool]] = [
    (None, None, {}, True),
    (None, 3, {}, False),
    ("*", None, {}, True),
    ("\\*", "*", {}, True),
    ("*", "x", {}, True),
    ("\\*", "x", {}, False),
    ("{a\\, b, null}", "a, b", {}, True),
    ("{a\\, b, null}", None, {}, True),
    ("{a\\, b, \\null}", None, {}, False),
    ("[1, 9]", 9, {}, True),
    ("[1, 9]", 10, {}, False),
    ("[0.1, 0.3]", 0.1 + 0.2, {}, False),
    ("[0.1, 0.30000000000000004]", 0.1 + 0.2, {}, True),
    ("12.05", Decimal("12.05"), {}, True),
    ("9223372036854775807", 2**63 - 1, {}, True),
    ("9223372036854775806", 2**53, {}, False),
    ("[low, high]", "mid", {"order": ["low", "mid", "high"]}, True),
    ("[low, mid]", "high", {"order": ["low", "mid", "high"]}, False),
    ("[20, 25)", 25, {"hierarchy": {"intervals": [5]}}, False),
    ("[20, 25)", 20, {"hierarchy": {"intervals": [5]}}, True),
    ("< 20", 20, {"hierarchy": {"intervals": [5]}}, False),
    (">= 20", 20, {"hierarchy": {"intervals": [5]}}, True),
    ("142**", "14248", {"hierarchy": {"prefix": "*"}}, True),
    ("142**", "14348", {"hierarchy": {"prefix": "*"}}, False),
    ("**248", "14248", {"hierarchy": {"prefix": {"from_end": False}}}, True),
    ("2024-Q1", datetime.date(2024, 3, 31), {"hierarchy": "dates"}, True),
    ("2024-Q1", datetime.date(2024, 4, 1), {"hierarchy": "dates"}, False),
    ("2020s", datetime.date(2029, 12, 31), {"hierarchy": "dates"}, True),
    ("1900-1999", datetime.date(2000, 1, 1), {"hierarchy": "dates"}, False),
    ("aachen..bonn", "berlin", {"hierarchy": "frequency"}, True),
    ("aachen..bonn", "celle", {"hierarchy": "frequency"}, False),
    ("grave", "HIV", {"hierarchy": {"tree": TREE}}, True),
    ("grave", "flu", {"hierarchy": {"tree": TREE}}, False),
    ("north", "Spain", {"hierarchy": {"taxonomy": {"rows": [["Spain", "south"]]}}}, False),
    ("south", "Spain", {"hierarchy": {"taxonomy": {"rows": [["Spain", "south"]]}}}, True),
]


@pytest.mark.parametrize(("cell", "value", "column", "wanted"), COVERED)
def test_what_a_cell_covers(cell, value, column, wanted):
    assert covers(cell, value, column) is wanted


def test_listed_tokens_are_missing():
    assert covers(None, "?", {}, ["?"])
    assert covers(None, -999.0, {}, ["-999"])
    assert not covers(None, -999.0, {})


@given(st.text("='+-@\t\r\n \x0b\x1c\x85\u00a0\u2028\ufeff\uff1d1.eé", max_size=6))
def test_the_checker_takes_the_same_guards_off_as_the_reader(text: str) -> None:
    assert unguarded(text) == unescape_formulas(pa.array([text])).to_pylist()[0]
