from __future__ import annotations

import csv
import gzip
import io
import os
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.errors import DataError
from hushtable.io.csv import csv_names, iter_csv, read_csv

CANARY = "CANARY-7731"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "t.csv"


def fails(path: Path, message: str, code: str, **options: object) -> None:
    with pytest.raises(DataError) as caught:
        read_csv(path, **options)  # type: ignore[arg-type]
    assert str(caught.value) == message.replace("FILE", repr(str(path)))
    assert caught.value.code == code
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert CANARY not in str(caught.value.__context__)
    if code not in ("column-name", "duplicate-column"):
        with pytest.raises(DataError):
            list(iter_csv(path, **options))  # type: ignore[arg-type]


def test_every_column_is_dictionary_text(file: Path) -> None:
    file.write_text("zip,age,note\n01234,22,\n01234,NA,x\n")
    table = read_csv(file)
    assert table.to_pydict() == {"zip": ["01234", "01234"], "age": ["22", "NA"], "note": ["", "x"]}
    assert all(t == pa.dictionary(pa.int32(), pa.string()) for t in table.schema.types)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("delimiter", [b",", b";", b"\t", b"|"])
def test_marks_line_ends_and_delimiters(file: Path, mark: bytes, end: bytes, delimiter: bytes) -> None:
    rows = [b"a\xc3\xa9 b", b'"x"'], [b"1", b'"p' + delimiter + b"q" + b'\nr"'], [b"2", b'"say ""hi"""']
    file.write_bytes(mark + end.join(delimiter.join(r) for r in rows) + end)
    expected = {"aé b": ["1", "2"], "x": [f"p{delimiter.decode()}q\nr", 'say "hi"']}
    assert read_csv(file).to_pydict() == expected
    assert csv_names(file) == ["aé b", "x"]


def test_semicolons_with_decimal_commas(file: Path) -> None:
    file.write_text("age;income\n22;1,5\n23;2,5\n")
    assert read_csv(file).to_pydict() == {"age": ["22", "23"], "income": ["1,5", "2,5"]}


def test_difficult_names(file: Path) -> None:
    file.write_text('first name,marital-status,"say ""x""",年齢,"a,b"\n1,2,3,4,5\n')
    names = ["first name", "marital-status", 'say "x"', "年齢", "a,b"]
    assert read_csv(file).column_names == names
    assert read_csv(file, columns=["年齢", "a,b"]).to_pydict() == {"年齢": ["4"], "a,b": ["5"]}


def test_one_row_and_no_last_line_end(file: Path) -> None:
    file.write_text("a,b\n1,2")
    assert read_csv(file).to_pydict() == {"a": ["1"], "b": ["2"]}


def test_empty_lines(file: Path) -> None:
    file.write_text("\n\na,b\n1,2\n\n3,4\n\n")
    assert read_csv(file).to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}
    file.write_text("a\n1\n\n2\n")
    assert read_csv(file).to_pydict() == {"a": ["1", "", "2"]}


def test_compressed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a;b\n1;2\n"))
    assert read_csv(path).to_pydict() == {"a": ["1"], "b": ["2"]}
    whole = gzip.compress(("a;b\n" + "".join(f"{i};{os.urandom(20).hex()}\n" for i in range(20_000))).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cannot be read to its end|damaged or truncated"):
        read_csv(path)


def test_empty_file(file: Path) -> None:
    for content in (b"", b"\n\n", b"\xef\xbb\xbf"):
        file.write_bytes(content)
        fails(file, "The file FILE is empty. Check that the export ran to its end.", "empty-file")


@pytest.mark.parametrize("content", ["a,b", "a,b\n", "a,b\r\n\r\n"])
def test_header_only(file: Path, content: str) -> None:
    file.write_text(content, newline="")
    fails(file, "The file FILE has a header but no rows. Check that the export ran to its end.", "no-rows")
    assert csv_names(file) == ["a", "b"]


def test_duplicate_names(file: Path) -> None:
    file.write_text(f"age,sex,age\n1,2,{CANARY}\n")
    fails(
        file,
        "The file FILE has more than one column named 'age'. Rename the columns so that each name occurs once.",
        "duplicate-column",
    )


def test_a_column_without_name(file: Path) -> None:
    for header in (",,a", "a,,b", '"",a,'):
        file.write_text(f"{header}\n0,{CANARY},1\n")
        where = 1 if header[0] != "a" else 2
        fails(file, f"The file FILE has a column (number {where}) without a name. Name it or remove it.", "column-name")
    file.write_text(f"a,b,\n0,{CANARY},\n")
    fails(
        file,
        "The file FILE ends every line, also the header, with a delimiter, so its last column has no name. Remove the "
        "delimiter at the ends of the lines.",
        "column-name",
    )


def test_row_names_of_r_and_pandas_get_a_name(file: Path) -> None:
    file.write_text('"";"age";"row"\n"a";22;x\n"b";23;y\n')
    assert csv_names(file) == ["row_", "age", "row"]
    assert read_csv(file).to_pydict() == {"row_": ["a", "b"], "age": ["22", "23"], "row": ["x", "y"]}
    assert read_csv(file, columns=["row", "row_"]).column_names == ["row", "row_"]
    batches = list(iter_csv(file, 1, columns=["row_"]))
    assert [batch.column(0).to_pylist() for batch in batches] == [["a"], ["b"]]
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"age": [22, 23]}).to_csv(file)
    assert read_csv(file).to_pydict() == {"row": ["0", "1"], "age": ["22", "23"]}


@pytest.mark.parametrize(
    ("content", "line", "fields"),
    [
        (f"a,b\n1,2\n{CANARY},2,3\n", 3, "3 fields"),
        (f"a,b\n{CANARY}\n", 2, "1 field"),
        (f'a,b\n"x\ny\nz",2\n\n1,{CANARY},3\n', 6, "3 fields"),
        (f"a,b\r\n1,2\r\n1,2,{CANARY},4\r\n", 3, "4 fields"),
    ],
)
def test_ragged_rows_give_line_and_counts_only(file: Path, content: str, line: int, fields: str) -> None:
    file.write_text(content, newline="")
    fails(
        file,
        f"Line {line} of the file FILE has {fields}, but the header has 2. "
        + (
            "Add the missing fields, or quote fields that contain a line break."
            if fields == "1 field"
            else "Quote fields that contain the delimiter, or remove the extra delimiter."
        ),
        "ragged-rows",
    )


def test_a_ragged_row_far_down(file: Path) -> None:
    file.write_text("a,b\n" + "1,2\n" * 400_000 + f"{CANARY},2,3\n")
    fails(
        file,
        "Line 400002 of the file FILE has 3 fields, but the header has 2. Quote fields that contain the delimiter, "
        "or remove the extra delimiter.",
        "ragged-rows",
    )


def test_wrong_delimiter(file: Path) -> None:
    file.write_text(f"age;sex\n1;{CANARY}\n")
    fails(
        file,
        "The file FILE has one column when split at the comma, but its header contains a semicolon. "
        "Use delimiter=';', or omit the delimiter to detect it.",
        "wrong-delimiter",
        delimiter=",",
    )
    assert read_csv(file).num_columns == 2


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n"])
def test_impossible_delimiter(file: Path, delimiter: str) -> None:
    file.write_text("a,b\n1,2\n")
    if delimiter:
        message = "The delimiter must be one character other than a quote or a line ending."
        fails(file, message, "delimiter", delimiter=delimiter)
    else:
        with pytest.raises(DataError, match="one character"):
            read_csv(file, delimiter=delimiter)


def test_not_utf8(file: Path) -> None:
    hint = "Save it as UTF-8: in Excel as 'CSV UTF-8', or with: iconv -f LATIN1 -t UTF-8."
    message = f"The file FILE is not UTF-8 text. {hint}"
    file.write_bytes(f"name\n{CANARY}é\n".encode("latin-1"))
    fails(file, message, "not-utf8")
    file.write_bytes(b"a,b\n" + b"1,2\n" * 100_000 + f"{CANARY},é\n".encode("latin-1"))
    fails(file, message, "not-utf8")


def test_nul_bytes(file: Path) -> None:
    head = "contains NUL bytes, so it is not UTF-8 text. It may be UTF-16 (save it as UTF-8) or a binary file with "
    for content in (f"a,b\n1,{CANARY}\0\n".encode(), f"a,b\n1,{CANARY}\n".encode("utf-16")):
        file.write_bytes(content)
        fails(file, f"The file FILE {head}the wrong ending.", "nul-bytes")
    file.write_bytes(b"a,b\n" + b"1,2\n" * 100_000 + f"1,{CANARY}\0\n".encode())
    fails(file, "Column 'b' of the file FILE contains NUL bytes. Export it again as UTF-8 text.", "nul-bytes")


def test_a_quote_that_is_never_closed_does_not_swallow_rows(file: Path) -> None:
    message = (
        "The file FILE ends inside a quoted field. Look for a quotation mark that is not closed; the text after it "
        "was read as one cell."
    )
    file.write_text(f'a,b\n1,"{CANARY}\n2,3\n4,5\n')
    fails(file, message, "unclosed-quote")
    file.write_text(f'a,b\n1,"{CANARY}\n' + "2,3\n" * 100_000)
    fails(file, message, "unclosed-quote")


def test_a_lone_quote_inside_a_cell_is_a_cell(file: Path) -> None:
    file.write_text('a,b\n5" pipe,1\n')
    assert read_csv(file).to_pydict() == {"a": ['5" pipe'], "b": ["1"]}


def test_no_such_file_and_folder(tmp_path: Path) -> None:
    fails(tmp_path / "x.csv", "There is no file FILE. Check the path.", "no-file")
    fails(tmp_path, "FILE is a folder, not a file. Give the path of one table.", "not-a-file")


def test_unknown_column(file: Path) -> None:
    file.write_text("age,sex\n1,2\n")
    message = "The file FILE has no column 'agee'. Did you mean 'age'?"
    fails(file, message, "unknown-column", columns=["agee"])


def test_batches_have_the_size_asked_for(file: Path) -> None:
    file.write_text("a,b\n" + "".join(f"{i},{i % 3}\n" for i in range(1000)))
    batches = list(iter_csv(file, 300, columns=["b"]))
    assert [b.num_rows for b in batches] == [300, 300, 300, 100]
    assert [v for b in batches for v in b["b"].to_pylist()] == [str(i % 3) for i in range(1000)]


def test_formulas_are_unescaped_on_request(file: Path) -> None:
    file.write_text("'=a,b\n'=1+1,'ok\n''=x,-5\n")
    assert read_csv(file).to_pydict() == {"'=a": ["'=1+1", "''=x"], "b": ["'ok", "-5"]}
    expected = {"=a": ["=1+1", "'=x"], "b": ["'ok", "-5"]}
    assert read_csv(file, unescape_formulas=True).to_pydict() == expected
    assert [b.to_pydict() for b in iter_csv(file, unescape_formulas=True)] == [expected]
    assert read_csv(file, columns=["=a"], unescape_formulas=True).column_names == ["=a"]
    assert csv_names(file, unescape_formulas=True) == ["=a", "b"]


field = st.text(st.sampled_from('ab ,;"\n\té'), max_size=5)


@given(
    st.lists(st.tuples(field, field), min_size=1, max_size=6),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_reads_what_the_csv_module_writes(rows: list[tuple[str, str]], delimiter: str, end: str) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(["x", "y"])
    writer.writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_text(out.getvalue(), newline="")
        table = read_csv(path, delimiter=delimiter)
    assert list(zip(*table.to_pydict().values(), strict=True)) == rows


@pytest.mark.parametrize("apart", [False, True])
def test_cells_with_and_without_the_guard_are_not_made_one(tmp_path, apart):
    path = tmp_path / "t.csv"
    between = "ok,1\n" * (1_200_000 if apart else 1)
    path.write_text(f"a,b\n'=x,1\n{between}=x,1\n")
    with pytest.raises(DataError, match="both with the apostrophe"):
        list(iter_csv(path, unescape_formulas=True))
    with pytest.raises(DataError, match="both with the apostrophe"):
        read_csv(path, unescape_formulas=True)
    assert read_csv(path)["a"][0].as_py() == "'=x"
