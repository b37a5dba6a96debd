from __future__ import annotations

import io

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


def test_stages_follow_each_other():
    stages = [(0.0, "reading"), (0.0, "encoding"), (0.0, "x"), (0.4, "x"), (1.0, "x"), (1.0, "recoding")]
    stages += [(1.0, "publishing"), (1.0, "verifying"), (1.0, "writing")]
    shares = [progress.share_of_run(*stage) for stage in stages]
    assert shares == sorted(shares)


def test_compiling_is_announced_once(monkeypatch, capsys):
    monkeypatch.setattr(kernels, "announce", None)
    progress.announce_compiling()
    kernels.announce("Compiling.")
    kernels.announce("Compiling.")
    assert capsys.readouterr().err == "Compiling.\n"
