"""The table of other tools speaks only of what is there, and of everything that was asked for."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from hushtable import registry
from hushtable.cli.main import COMMANDS

GENERATOR = Path(__file__).resolve().parents[1] / "docs" / "generator" / "peers.py"


@pytest.fixture(scope="module")
def peers():
    spec = importlib.util.spec_from_file_location("peers", GENERATOR)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_of_the_file(peers):
    """Make it again with: python docs/generator/peers.py."""
    assert peers.PAGE.read_text(encoding="utf-8") == peers.page()


def test_every_place_is_there(peers):
    wrong = [(row["what"], found) for _, row in peers.rows() for place in row.get("ours", ())
             if (found := peers.problem(place))]  # fmt: skip
    assert wrong == []
    assert peers.problem("models/no-such") and peers.problem("models/k-anonymity.no") and peers.problem("command/no")


def test_every_row_says_one_thing(peers):
    for _, row in peers.rows():
        assert len({"ours", "missing", "left"} & set(row)) == 1, row["what"]
        assert set(row) <= {"what", "arx", "sdcmicro", "ours", "missing", "left", "note", "show"}, row["what"]


def test_every_command_can_be_called(peers):
    for _, row in peers.rows():
        if "ours" in row:
            _, name, *rest = peers.command(row).split()
            assert name in COMMANDS, row["what"]
            if rest and rest[0] != "--help":
                assert rest[0] in getattr(registry, name), row["what"]


def test_all_treatments_are_compared(peers):
    named = {place.partition("/")[2].partition(".")[0] for _, row in peers.rows() for place in row.get("ours", ())}
    assert set(registry.treatments) <= named
