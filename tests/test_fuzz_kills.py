"""A few kills of every pass of the suite, and the campaign notices what a kill must not leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.kills import SCENES, campaign
from fuzz.workbench import Bench


@pytest.mark.parametrize("name", ["replace", "ledger"])
def test_a_killed_command_leaves_all_or_nothing(name):
    ends, wrong = campaign(name, kills=2, seconds=60, seed=1)
    assert wrong == []
    assert ends["kills"] + ends["too late"] >= 2


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path / "bench")
    for place in (made.folder / "complete", made.work / "release"):
        place.mkdir()
        (place / "release.csv").write_text("a\n1\n")
    return made


def test_half_a_release_is_noticed(bench):
    assert SCENES["run"].state(bench) == "complete"
    (bench.work / "release" / "release.csv").write_text("a\n")
    with pytest.raises(AssertionError, match="neither absent nor complete"):
        SCENES["run"].state(bench)
    SCENES["run"].prepare(bench)
    assert SCENES["run"].state(bench) == "absent"
    with pytest.raises(AssertionError, match="the earlier release is gone"):
        SCENES["replace"].state(bench)


def test_what_is_left_open_to_others_is_noticed(bench):
    from fuzz.kills import _check_modes, leftovers

    left = bench.work / ".release.0123456789ab.tmp"
    left.mkdir(mode=0o700)
    _check_modes(bench)
    left.chmod(0o755)
    with pytest.raises(AssertionError, match="open to others"):
        _check_modes(bench)
    assert leftovers(bench) == [left]


def test_commands_run_with_nothing_of_this_machines(bench):
    assert Path(bench.environment["HOME"]).parent == bench.folder
    assert Path(bench.environment["TMPDIR"]).parent == bench.folder
