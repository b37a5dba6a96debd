"""What a run prints of a search that reached its limit."""

from __future__ import annotations

import io

from rich.console import Console

from hushtable.cli.summary import _print_gap

NOTES = {"nodes_judged": 2000, "nodes": 10**13, "value": 0.75, "lower_bound": 0.25, "gap": 0.5, "objective": "loss"}


def printed(notes) -> str:
    to = Console(file=io.StringIO(), width=200)
    _print_gap(to, notes)
    return to.file.getvalue()


def test_a_gap_is_printed_with_both_ends():
    told = printed({**NOTES, "optimum_proven": False})
    assert "2,000 of 10,000,000,000,000 nodes" in told
    assert "costs 0.75 (loss); no node costs less than 0.25." in told


def test_a_proved_optimum_needs_no_words():
    assert printed({**NOTES, "optimum_proven": True}) == ""
    assert printed({"levels": {}}) == ""
