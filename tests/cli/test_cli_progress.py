from __future__ import annotations

import io

import pytest
from rich.console import Console

from hushtable.cli import progress
from hushtable.kernels import compile as kernels


def terminal(monkeypatch, *, is_terminal):
    stream = io.StringIO()
    made = Console(file=stream, force_terminal=is_terminal, width=80, color_system=None)
    monkeypatch.setattr(progress, "console", lambda stderr: made)
    return stream


def test_a_terminal_sees_stages_and_the_time_left(monkeypatch):
    stream = terminal(monkeypatch, is_terminal=True)
    with progress.progress_bar() as report:
        report(0.0, "encoding")
        report(0.5, "partitioning")
        report(1.0, "writing")
    assert "writing" in stream.getvalue()
    assert "82%" in stream.getvalue()
    assert "left" in stream.getvalue()


def test_a_pipe_sees_nothing(monkeypatch):
    stream = terminal(monkeypatch, is_terminal=False)
    with progress.progress_bar() as report:
        report(0.5, "partitioning")
    assert stream.getvalue() == ""


def test_waiting_is_seen_on_a_terminal_and_nowhere_else(monkeypatch):
    for is_terminal in (True, False):
        stream = terminal(monkeypatch, is_terminal=is_terminal)
        with progress.waiting("reading the table"):
            pass
        assert ("reading the table" in stream.getvalue()) is is_terminal


@pytest.mark.parametrize("words", [["init", "people.csv"], ["check", "policy.yaml", "-d", "people.csv"],
                                   ["risk", "people.csv", "-p", "policy.yaml"],
                                   ["verify", "release/release.csv", "-p", "policy.yaml"]], ids=str)  # fmt: skip
def test_no_command_reads_a_table_in_silence(call, policy, people, monkeypatch, words):
    assert call("run", policy, "-d", people).code == 0
    policy.unlink() if words[0] == "init" else None
    stream = terminal(monkeypatch, is_terminal=True)
    assert call(*words).code == 0
    assert "reading" in stream.getvalue()


def test_compiling_is_announced_once(caplog):
    kernels._announce.cache_clear()
    for _ in range(2):
        assert kernels._missed(None, lambda types, returns: "compiled", (), None) == "compiled"
    kernels._announce.cache_clear()
    assert [r.getMessage() for r in caplog.records] == ["Compiling kernels for this machine; this happens once."]
