from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.io.formulas import escape_formulas, guard_table, unescape_formulas


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-cmd", "'-cmd"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\nx", "'\nx"),
        ("\n=1+1", "'\n=1+1"),
        ("\r\n@SUM(A1)", "'\r\n@SUM(A1)"),
        (" =1+1", "' =1+1"),
        ("\u00a0\u3000 =1+1", "'\u00a0\u3000 =1+1"),
        ("\ufeff=1+1", "'\ufeff=1+1"),
        ("\x0b\x0c\x85=1+1", "'\x0b\x0c\x85=1+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        (" -5", "' -5"),
        ("-5\n", "'-5\n"),
        (" x=1", " x=1"),
        (" '=1", " '=1"),
        ("' =1", "'' =1"),
        ("-5", "-5"),
        ("+5.5e-3", "+5.5e-3"),
        ("-5 + 3", "'-5 + 3"),
        ("-.5", "-.5"),
        ("-", "'-"),
        ("'=1", "''=1"),
        ("'ok", "'ok"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_what_a_spreadsheet_would_run_is_written_as_text(cell: str, written: str) -> None:
    assert escape_formulas(pa.array([cell])).to_pylist() == [written]
    assert unescape_formulas(pa.array([written])).to_pylist() == [cell]


@given(st.lists(st.one_of(st.none(), st.text("='+-@\t\r\n \u00a0\ufeff\uff1d1.eé", max_size=6)), max_size=20))
def test_unescaping_undoes_escaping_exactly(cells: list[str | None]) -> None:
    array = pa.array(cells, pa.string())
    escaped = escape_formulas(array)
    assert unescape_formulas(escaped).to_pylist() == cells
    for cell in escaped.to_pylist():
        if cell and (cell[0] in "\t\r\n" or cell.strip("\ufeff \t\r\n\u00a0")[:1] in tuple("=+-@\uff1d")):
            assert str(float(cell)).strip("+-") and cell == cell.strip()  # only plain numbers may begin so


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.large_string())], ids=str)
def test_text_of_every_type_is_guarded(kind: pa.DataType) -> None:
    # polars has large strings only
    assert guard_table(pa.table({"a": pa.array(["=1", None, "b"]).cast(kind)})).to_pydict() == {"a": ["'=1", None, "b"]}
