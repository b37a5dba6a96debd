"""Parts run in processes of their own, and the result is the same as in one."""

from __future__ import annotations

from types import ModuleType

import pytest

from hushtable.parallel import THREADS
from hushtable.reproduce.items import item_of, row
from hushtable.reproduce.papers import Paper, find_paper, reproduce_papers


def test_two_processes_give_what_one_gives(monkeypatch):
    paper = find_paper("allard2023")
    done = []
    monkeypatch.setenv(THREADS, "2")
    both = reproduce_papers([paper], done=lambda *task: done.append(task))
    monkeypatch.setenv(THREADS, "1")
    assert both == reproduce_papers([paper])
    assert sorted(done) == sorted(("allard2023", part) for part in paper.parts)
    assert [item.name for item in both[0].items][:1] == ["2-anonymous release"]


def test_it_can_be_stopped(monkeypatch):
    monkeypatch.setenv(THREADS, "1")
    ran = []

    def work(seed, quick):
        ran.append(seed)
        return [item_of("Table 1", "", [row("Table 1", "", 1, 1)], "")]

    module = ModuleType("toy2000", "A toy.")
    module.PARTS = {"one": work, "two": work}

    def check():
        if ran:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce_papers([Paper("toy2000", module)], check=check)
    assert ran == [0]
