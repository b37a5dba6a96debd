"""The work folder: gone after a run, however it ends, and taken up after a kill by the same run only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hushtable.errors import OutputError
from hushtable.io.workspace import Workspace, workspace

KEY = {"policy": "p", "files": [["a", 1]]}


def left(target: Path, key: dict[str, object] = KEY) -> Path:
    """What a killed run leaves: one finished stage."""
    folder = target.with_name(f".{target.name}.work")
    folder.mkdir(parents=True)
    work = Workspace(folder, key)
    (work.begin("read") / "x").write_text("123")
    work.finish("read", {"rows": 3})
    return folder


def test_it_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    with workspace(tmp_path / "a" / "out", KEY) as work:
        assert work.folder.stat().st_mode & 0o777 == 0o700
        (work.begin("read") / "x").write_text("1")
        assert (work.begin("read") / "x").exists() is False
    assert list((tmp_path / "a").iterdir()) == []
    with pytest.raises(ZeroDivisionError), workspace(tmp_path / "a" / "out", KEY):
        1 / 0  # noqa: B018 - any error
    assert list((tmp_path / "a").iterdir()) == []


def test_what_was_finished_is_taken_up(tmp_path: Path) -> None:
    left(tmp_path / "out")
    with workspace(tmp_path / "out", KEY) as work:
        assert work.finished("read") == {"rows": 3}
        assert work.finished("write") is None


@pytest.mark.parametrize("change", ["key", "size", "missing", "manifest", "shape"])
def test_anything_else_starts_over(tmp_path: Path, change: str) -> None:
    folder = left(tmp_path / "out")
    key = {**KEY, "policy": "q"} if change == "key" else KEY
    if change == "size":
        (folder / "read" / "x").write_text("12")
    if change == "missing":
        (folder / "read" / "x").unlink()
    if change == "manifest":
        (folder / "manifest.json").write_bytes(b"\xff")
    if change == "shape":
        (folder / "manifest.json").write_text(json.dumps({"key": KEY, "stages": []}))
    with workspace(tmp_path / "out", key) as work:
        assert work.finished("read") is None


def test_temporaries_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    left(tmp_path / "out")
    half = tmp_path / ".out.0123456789ab.tmp"
    half.mkdir()
    (half / "half").write_text("1")
    with workspace(tmp_path / "out", {"other": 1}):
        assert not half.exists()


def test_two_runs_do_not_share_it(tmp_path: Path) -> None:
    with workspace(tmp_path / "out", KEY):
        with pytest.raises(OutputError, match="Another run"), workspace(tmp_path / "out", KEY):
            pass
        assert (tmp_path / ".out.work").exists()


def test_a_place_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="a part of its path is a file"), workspace(tmp_path / "file" / "out", KEY):
        pass
    with pytest.raises(OutputError, match="root of a file system"), workspace(Path("/"), KEY):
        pass
