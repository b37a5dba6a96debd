"""Uploads that unpack to more than the machine can bear are refused early."""

from __future__ import annotations

import contextlib
import gzip
import struct
import time
import tracemalloc
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather
from pyarrow import parquet as pq

from hushtable.errors import DataError, UsageError
from hushtable.studio.uploads import UNPACKED, check_content, check_limit, check_unpacked, check_upload_name


def packed(path, mib):
    """A table of one value, packed: some 400 KB for 400 MiB."""
    with gzip.open(path, "wb", compresslevel=9) as stream:
        stream.write(b"a\n")
        for _ in range(mib):
            stream.write(b"1\n" * 2**19)
    return path


def test_a_gz_file_that_unpacks_to_too_much_is_refused_at_the_limit(tmp_path):
    bomb = packed(tmp_path / "t.csv.gz", 120)
    assert bomb.stat().st_size < 2**18
    begin = time.process_time()
    with pytest.raises(DataError, match="unpacks to more than 64 MiB") as caught:
        check_unpacked(bomb, "t.csv.gz")
    assert "raise the limit of this project" in caught.value.hint and time.process_time() - begin < 20
    check_content(bomb, "t.csv.gz")  # it is what its name says


def test_the_limit_can_be_set(tmp_path, monkeypatch):
    file = packed(tmp_path / "t.csv.gz", 3)
    check_unpacked(file, "t.csv.gz")
    monkeypatch.setenv(UNPACKED, "2")
    with pytest.raises(DataError, match="more than 2 MiB"):
        check_unpacked(file, "t.csv.gz")
    monkeypatch.setenv(UNPACKED, "3000")
    check_unpacked(file, "t.csv.gz")
    monkeypatch.setenv(UNPACKED, "many")
    with pytest.raises(UsageError, match="whole number of MiB"):
        check_unpacked(file, "t.csv.gz")


def book_of(path, rows, *, shared=""):
    """A workbook whose sheet has these rows, written as XML."""
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.save(path)
    with zipfile.ZipFile(path) as plain:
        parts = {name: plain.read(name) for name in plain.namelist()}
    head, tail = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>',
        b"</sheetData>",
    )
    parts["xl/worksheets/sheet1.xml"] = head + rows + tail + b"</worksheet>"
    if shared:
        parts["xl/sharedStrings.xml"] = shared.encode()
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
        listed = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'.encode()
        parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", listed)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return path


_NAMES = b'<row><c t="inlineStr"><is><t>a</t></is></c></row>'
_LONG = (
    '<!DOCTYPE sst [{}]><sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="1" '
    'uniqueCount="1"><si><t>{}</t></si></sst>'
)
_LAUGHS = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))
_SHARED = b'<row><c t="s"><v>0</v></c></row>'


@pytest.mark.parametrize(
    ("rows", "shared", "seconds"),
    [
        (b"<row><c><v>1</v></c></row>" * 2_000_000, "", 20),
        (b'<row r="2"><c r="A2"><v>1</v></c></row><row r="900000000"><c><v>1</v></c></row>', "", 20),
        (b'<row><c r="A2"><v>1</v></c><c r="ZZZ2"><v>1</v></c></row>' * 2000, "", 20),
        (b"<row>" + b"<c/>" * 3_000_000 + b"</row>", "", 20),
        (b"<x/>" * 3_000_000, "", 20),
        (_SHARED * 20_000, _LONG.format("", "x" * 30_000), 20),
    ],
    ids=["rows", "last row", "last column", "one row", "unknown", "long text"],
)
def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path, rows, shared, seconds):
    book = book_of(tmp_path / "t.xlsx", _NAMES + rows, shared=shared)
    assert book.stat().st_size < 1 << 20
    begin = time.process_time()
    with pytest.raises(DataError, match=r"unpacks to more than (64|73) MiB"):
        check_unpacked(book, "t.xlsx")
    assert time.process_time() - begin < seconds


def test_entities_that_grow_are_refused(tmp_path):
    book = book_of(
        tmp_path / "t.xlsx", _NAMES + _SHARED * 10, shared=_LONG.format('<!ENTITY e0 "ha">' + _LAUGHS, "&e9;")
    )
    with pytest.raises(DataError, match="damaged or not complete"):
        check_unpacked(book, "t.xlsx")


def test_an_ordinary_workbook_is_taken(tmp_path):
    book = openpyxl.Workbook()
    for i in range(500):
        book.active.append([i, "name", 1.5])
    book.save(tmp_path / "t.xlsx")
    check_unpacked(tmp_path / "t.xlsx", "t.xlsx", 1)
    with pytest.raises(DataError, match="more than 1 MiB"):
        check_unpacked(book_of(tmp_path / "u.xlsx", _NAMES + b"<row><c><v>1</v></c></row>" * 30_000), "u.xlsx", 1)


def _same(n, text="x" * 10_000):
    return pa.table({"a": pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), [text])})


def _nested(n, text):
    inner = pa.StructArray.from_arrays([pa.array([text] * n)], ["b"])
    return pa.table({"a": pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), inner)})


def _runs(path):
    long = pa.RunEndEncodedArray.from_arrays(pa.array([2**31 - 1], pa.int32()), ["x"])
    with pa.ipc.new_file(str(path), pa.schema({"a": long.type})) as out:
        out.write_batch(pa.record_batch([long], names=["a"]))


def _stream(path):
    table, packed = pa.table({"a": np.zeros(9 << 20)}), pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(str(path), table.schema, options=packed) as out:
        out.write_table(table)


def _views(path):
    """Each shows the same text."""
    view = struct.pack("<i4sii", 10_000, b"xxxx", 0, 0)
    buffers = [None, pa.py_buffer(view * 10_000), pa.py_buffer(b"x" * 10_000)]
    views = pa.Array.from_buffers(pa.string_view(), 10_000, buffers)
    with pa.ipc.new_file(str(path), pa.schema({"a": views.type})) as out:
        out.write_batch(pa.record_batch([views], names=["a"]))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.parquet", lambda path: pq.write_table(_same(50_000), path)),
        ("t.parquet", lambda path: pq.write_table(_nested(3000, "x" * 30_000), path)),
        ("t.parquet", lambda path: pq.write_table(pa.table({"a": [b"x" * 30_000] * 3000}), path)),
        ("t.pq", lambda path: pq.write_table(pa.table({"a": pa.nulls(70 << 20, pa.int8())}), path)),
        ("t.parquet", lambda path: pq.write_table(pa.table({"a": ["x" * (80 << 20)]}), path, compression="zstd")),
        (
            "t.arrow",
            lambda path: feather.write_feather(pa.table({"a": np.zeros(9 << 20)}), str(path), compression="zstd"),
        ),
        ("t.feather", lambda path: feather.write_feather(_same(50_000), str(path), compression="zstd")),
        ("t.arrow", _runs),
        ("t.arrow", _stream),
        ("t.arrow", _views),
    ],
    ids=["same text", "nested", "bytes", "nulls", "one text", "zeros", "dictionary", "run", "stream", "views"],
)
def test_columns_that_unpack_to_too_much_are_refused(tmp_path, name, write):
    write(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 1 << 18
    with pytest.raises(DataError, match="unpacks to more than 64 MiB"):
        check_unpacked(tmp_path / name, name)
    check_unpacked(tmp_path / name, name, 1 << 16)


@pytest.mark.parametrize("stream", [False, True])
@settings(max_examples=300)
@given(data=st.data())
def test_arrow_files_that_are_cut_off_or_changed_are_refused_or_counted(tmp_path_factory, stream, data):
    """Whatever the bytes say, it ends, and in words."""
    file, table = tmp_path_factory.mktemp("arrow") / "t.arrow", _same(5, "x")
    packed = pa.ipc.IpcWriteOptions(compression="zstd")
    made = (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(file), table.schema, options=packed)
    with made as out:
        out.write_table(table)
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 9))
        content[at : at + 8] = data.draw(st.binary(min_size=0, max_size=9) | st.just(b"\xff" * 8) | st.just(bytes(8)))
    file.write_bytes(content)
    with contextlib.suppress(DataError):
        check_unpacked(file, "t.arrow")


def test_a_row_with_a_long_list_is_refused_before_it_is_read(tmp_path):
    n = 5 << 20
    row = pa.ListArray.from_arrays(pa.array([0, n], pa.int32()), pa.array(np.zeros(n, np.int8)))
    pq.write_table(pa.table({"a": row}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="more than 4 MiB"):
        check_unpacked(tmp_path / "t.parquet", "t.parquet", 4)
    check_unpacked(tmp_path / "t.parquet", "t.parquet", 40)


def test_a_project_sets_its_limit(tmp_path, monkeypatch):
    file = packed(tmp_path / "t.csv.gz", 3)
    with pytest.raises(DataError, match="more than 2 MiB"):
        check_unpacked(file, "t.csv.gz", 2)
    monkeypatch.setenv(UNPACKED, "2")
    with pytest.raises(DataError, match="more than 2 MiB"):
        check_unpacked(file, "t.csv.gz", 1000)
    with pytest.raises(UsageError, match=f"from 1 to 2 MiB. {UNPACKED} sets"):
        check_limit(1000)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv.gz", b"\x1f\x8b damaged"),
        ("t.xlsx", b"PK damaged"),
        ("t.parquet", b"PAR1 damaged"),
        ("t.arrow", b"ARROW1 damaged"),
    ],
)
def test_damaged_files_are_said_to_be(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="damaged or not complete"):
        check_unpacked(tmp_path / name, name)


@pytest.mark.parametrize("name", ["t.xlsx", "t.zip"])
def test_parts_that_unpack_without_a_limit_are_refused(tmp_path, name):
    # 64 MiB in a hundred bytes; a reader that asks for one of them gets all in memory, whatever size is stated
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_BZIP2) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", bytes(2**26))
    content = bytearray((tmp_path / name).read_bytes())
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    (tmp_path / name).write_bytes(content)
    tracemalloc.start()
    with pytest.raises(DataError, match="another method than Deflate"):
        check_unpacked(tmp_path / name, name)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_a_parquet_file_whose_rows_refer_to_absent_texts_is_damaged(tmp_path):
    pq.write_table(pa.table({"a": [f"n{i}" for i in range(200)]}), tmp_path / "t.parquet", compression="none")
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    page = pq.read_metadata(tmp_path / "t.parquet").row_group(0).column(0).data_page_offset
    content[page + 100] = 255  # the text of a row, by its number
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(DataError, match="damaged or not complete"):
        check_unpacked(tmp_path / "t.parquet", "t.parquet")


def test_files_that_are_not_packed_have_no_limit(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    check_unpacked(tmp_path / "t.csv", check_upload_name("t.csv"))
