"""Damaged files get an error of ours that shows no cell; what the fuzzer found once is not found again."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from fuzz.formats import CANARY, FORMATS
from fuzz.readers import Finding, mutated, read
from hushtable.comparison.outcomes import load_outcomes
from hushtable.comparison.run import Results
from hushtable.errors import DataError, HierarchyError, PolicyError
from hushtable.io.files import iter_batches, read_table
from hushtable.policy.files import load_policy

DEEP = b"[" * 100_000
STEPS = ("ab", "bc", "cd", "de", "ef", "fg", "gh")
BOMB = "a: &a [x]\n" + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in STEPS)


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_get_an_error_of_ours(name: str, tmp_path: Path) -> None:
    valid = FORMATS[name].valid()
    path = tmp_path / f"valid{FORMATS[name].ending}"
    path.write_bytes(valid)
    FORMATS[name].reader(path)
    r = random.Random(name)
    for _ in range(60):
        read(name, mutated(valid, r), tmp_path)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        *((name, DEEP) for name in ("yaml", "tree", "evidence", "key", "record", "comparison", "outcomes", "results")),
        ("companion", DEEP),
        ("companion", b'{"format":1,"x":' + b"[" * 900 + b"]" * 900 + b"}"),
        ("evidence", b'{"reference":' + DEEP),
        ("hierarchy", b"x" * 140_000 + b",y\n"),
        ("tree", b"a: 2020-13-01"),
        ("tree", b"a: !!timestamp x"),
        ("tree", BOMB.encode()),
        ("excel", b"PK\x03\x04" + bytes(40)),
    ],
)
def test_what_was_found_once(name: str, data: bytes, tmp_path: Path) -> None:
    read(name, data, tmp_path)


@pytest.mark.parametrize("gone", ["algorithm", "models", "status", "values", "policy", "seconds", "reason"])
def test_a_comparison_with_half_a_row(gone: str, tmp_path: Path) -> None:
    document = json.loads(FORMATS["outcomes"].valid())
    row = document["rows"][0]
    row[gone] = 7 if gone == "values" else None
    read("outcomes", json.dumps(document).encode(), tmp_path)
    with pytest.raises(DataError, match="not contain a finished comparison"):
        load_outcomes(tmp_path)
    lines = FORMATS["results"].valid().splitlines()
    if gone in ("status", "values", "seconds", "reason"):
        entry = json.loads(lines[0])
        del entry["row"][gone]
        (tmp_path / "results.jsonl").write_bytes(b"\n".join([json.dumps(entry).encode(), *lines[1:]]))
        assert len(Results(tmp_path / "results.jsonl")) == len(lines) - 1


def test_a_tree_of_anchors_is_not_written_out(tmp_path: Path) -> None:
    (tmp_path / "tree.yaml").write_text(BOMB)
    with pytest.raises(HierarchyError, match="expand too far"):
        FORMATS["tree"].reader(tmp_path / "tree.yaml")


def _changed(table: pa.Table, write: Any, old: bytes, new: bytes, path: Path) -> Path:
    sink = io.BytesIO()
    write(table, sink)
    assert old in sink.getvalue()
    path.write_bytes(sink.getvalue().replace(old, new))
    return path


def _plain_feather(table: pa.Table, sink: io.BytesIO) -> None:
    feather.write_feather(table, sink, compression="uncompressed")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("part", ["name", "cell"])
def test_text_that_is_not_utf8(ending: str, part: str, tmp_path: Path) -> None:
    write = pq.write_table if ending == "parquet" else _plain_feather
    table = pa.table({"abcdefgh": ["ijklmnop"]})
    old = {"name": b"abcdefgh", "cell": b"ijklmnop"}[part]
    path = _changed(table, write, old, b"\xe2\xff\xfe\xfd" * 2, tmp_path / f"t.{ending}")
    with pytest.raises(DataError, match="is not a complete"):
        read_table(path)
    with pytest.raises(DataError, match="is not a complete"):
        list(iter_batches(path))


def test_offsets_that_lead_out_of_an_arrow_file(tmp_path: Path) -> None:
    table = pa.table({"a": pa.array(["x" * 1001, "y" * 1002])})
    old, new = (1001).to_bytes(4, "little"), (2**31 - 5).to_bytes(4, "little")
    path = _changed(table, _plain_feather, old, new, tmp_path / "t.arrow")
    with pytest.raises(DataError, match="is not a complete Arrow file"):
        read_table(path)


def test_codes_that_lead_out_of_a_dictionary(tmp_path: Path) -> None:
    codes = pa.array([0, 1, 0, 1] * 300, pa.int32())
    table = pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y"]))})
    old = b"\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0"
    path = _changed(table, _plain_feather, old, old[:-4] + b"\1\1\1\1", tmp_path / "t.arrow")
    with pytest.raises(DataError, match="is not a complete Arrow file"):
        read_table(path)


def test_a_workbook_without_a_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_chartsheet()
    book.remove(book.active)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="is not a complete Excel workbook"):
        read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    "text",
    [
        f"columns: -*anony {{}}:![{CANARY}]",
        f"columns:\n  age: role quasi, order [{CANARY}]",
        f"columns: {{d: {{role: sensitive}}}}\nmodels: [{{value-bounds: {{bounds: {{{CANARY}: {CANARY}}}, on: d}}}}]",
        f"columns: {{d: {{role: sensitive}}}}\nmodels: [{{alp-dif: {{alp: {{{CANARY}: 7}}, on: d}}}}]",
    ],
)
def test_a_policy_with_values_where_none_belong(text: str, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path / "p.yaml")
    assert CANARY not in str(caught.value)


def test_the_fuzzer_notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reader(path: Path) -> None:
        raise DataError(path.read_text())

    monkeypatch.setitem(FORMATS, "yaml", type(FORMATS["yaml"])(".yaml", FORMATS["yaml"].valid, reader))
    read("yaml", b"nothing of anybody's", tmp_path)
    with pytest.raises(Finding, match="shows a cell"):
        read("yaml", f"the cell {CANARY}".encode(), tmp_path)
    monkeypatch.setitem(FORMATS, "yaml", type(FORMATS["yaml"])(".yaml", FORMATS["yaml"].valid, json.loads))
    with pytest.raises(TypeError):
        read("yaml", b"{}", tmp_path)
