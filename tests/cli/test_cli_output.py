from __future__ import annotations

import io
import json
import math

import pytest
from rich.console import Console

from hushtable.cli import output


def printed(thing, width=80):
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False).print(thing)
    return stream.getvalue()


def test_json_has_no_nan(capsys):
    output.print_json({"a": [math.nan, math.inf, 1.5], "b": (1,), "c": True})
    assert json.loads(capsys.readouterr().out) == {"a": [None, None, 1.5], "b": [1], "c": True}


def test_a_column_name_is_neither_markup_nor_a_control_sequence():
    text = printed(output.grid(["column"], [["[red]x[/red]"], ["a\x1b[31mb"]]))
    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert "\\x1b[31m" in text


def test_a_long_cell_is_folded_and_not_cut():
    cell = " ".join(f"word{i}" for i in range(60))
    text = printed(output.grid(["name", "meaning"], [["x", cell]], fold=["meaning"]))
    assert all(f"word{i}" in text for i in range(60))
    assert max(map(len, text.splitlines())) <= 80


INSIDE = {
    "starter policy": "init people.csv --output release/starter.yaml",
    "comparison": "compare policy.yaml --data people.csv --k 2 --jobs 1 --output release/compared",
    "suggestion": "suggest compared --output release/suggested.yaml",
    "project's key": "pseudonyms new-key release/project.key",
    "signing key": "sign --new-key --key release/signing.key",
    "page": "cross --output release/cross",
    "report": "report release --data people.csv --output release/evidence.html",
    "ledger": "ledger add release --ledger release/ledger --data people.csv --person name",
    "release": "run policy.yaml --data people.csv --output release/again",
    "explored": "explore policy.yaml --data people.csv --output release/explored",
    "increment": "increment release --data people.csv --earlier people.csv --output release/more",
    "sample": "sample release --output release/drawn.csv",
    "condensed": "condense release --data people.csv --output release/drawn.csv",
}


@pytest.mark.parametrize("what", INSIDE)
def test_nothing_is_written_into_the_folder_of_a_release(call, release, what):
    """All of it is handed over, so keys, ledgers and comparisons with the original have no place there."""
    before = {path: path.read_bytes() for path in release.iterdir()}
    if what == "suggestion":
        assert call("compare", "policy.yaml", "--data", "people.csv", "--algorithms", "mondrian", "--k", "2",
                    "--jobs", "1", "--output", "compared").code == 0  # fmt: skip
    answer = call(*INSIDE[what].split(), "--json")
    assert answer.code == 2 and answer.data["code"] in ("in-release", "ledger-place")
    assert {path: path.read_bytes() for path in release.iterdir()} == before
