from __future__ import annotations

import io
import json
import math

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
