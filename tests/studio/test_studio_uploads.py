"""Uploads that unpack to more than the machine can bear are refused early."""

from __future__ import annotations

import gzip
import time
import zipfile

import pytest

from hushtable.errors import DataError, UsageError
from hushtable.studio.uploads import UNPACKED, check_content, check_unpacked, check_upload_name


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
    assert UNPACKED in caught.value.hint and time.process_time() - begin < 20
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


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path):
    book = tmp_path / "t.xlsx"
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        made.writestr("xl/worksheets/sheet1.xml", b"<row><c><v>1</v></c></row>" * 3_000_000)
    with pytest.raises(DataError, match="unpacks to more than 64 MiB"):
        check_unpacked(book, "t.xlsx")


@pytest.mark.parametrize(("name", "content"), [("t.csv.gz", b"\x1f\x8b damaged"), ("t.xlsx", b"PK damaged")])
def test_damaged_files_are_said_to_be(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="damaged or not complete"):
        check_unpacked(tmp_path / name, name)


def test_files_that_are_not_packed_have_no_limit(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    check_unpacked(tmp_path / "t.csv", check_upload_name("t.csv"))
