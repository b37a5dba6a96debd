"""Files of a small table, and a way to call the command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support_cli import POLICY, Answer, rows, write_csv

from hushtable.cli.main import main
from support_postgres import address as address
from support_postgres import postgres as postgres


@pytest.fixture
def call(capsys, monkeypatch, tmp_path) -> Callable[..., Answer]:
    """Call ``hushtable`` with these words, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")

    def answer(*words: object) -> Answer:
        with pytest.raises(SystemExit) as stopped:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        return Answer(int(stopped.value.code or 0), printed.out, printed.err)

    return answer


@pytest.fixture
def people(tmp_path) -> Path:
    """Forty people in a CSV file."""
    return write_csv(tmp_path / "people.csv", rows())


@pytest.fixture
def policy(tmp_path) -> Path:
    """A policy for them."""
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return path


@pytest.fixture
def release(call, policy, people, tmp_path) -> Path:
    """The folder of their release."""
    assert call("run", policy, "--data", people).code == 0
    return tmp_path / "release"
