from __future__ import annotations

import errno
import os
import types
from pathlib import Path

import pytest

from hushtable.errors import DataError, OutputError
from hushtable.io import atomic
from hushtable.io.atomic import atomic_file, atomic_folder, atomic_write_text
from hushtable.io.sql_base import check_writable_file
from hushtable.release.targets import check_target


def _break(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(number, "CANARY")

    monkeypatch.setattr(os, name, broken)


def test_the_target_appears_at_the_end_and_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    atomic_write_text(path, "old")
    with atomic_file(path) as out:
        out.write(b"new")
        out.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_any_failure_leaves_the_target_as_it_was(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def half_a_file() -> None:
        with atomic_file(path) as out:
            out.write(b"half")
            raise error

    def half_a_folder() -> None:
        with atomic_folder(tmp_path / "f") as folder:
            (folder / "x").write_text("half")
            raise error

    with pytest.raises(error):
        half_a_file()
    with pytest.raises(error):
        half_a_folder()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EROFS, "the file system is read-only. Choose another folder."),
        (errno.EACCES, "permission is denied. Choose a folder that you may write to."),
        (errno.ENOSPC, "the disk is full. Free some space or choose another folder."),
        (errno.EIO, "Input/output error."),
    ],
)
def test_a_target_that_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    _break(monkeypatch, "replace", number)
    path = tmp_path / "a.txt"
    with pytest.raises(OutputError) as caught:
        atomic_write_text(path, "x")
    assert str(caught.value) == f"{str(path)!r} cannot be written: {reason}"
    with pytest.raises(OutputError) as caught, atomic_folder(tmp_path / "f") as folder:
        (folder / "x").write_text("y")
    assert reason in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_paths_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path, reason in (
        (tmp_path / "none" / "a.txt", "its folder does not exist. Create the folder first."),
        (tmp_path / "file" / "a.txt", "a part of its path is a file, not a folder. Choose another path."),
        (tmp_path, "it is a folder. Choose a file name."),
        (Path("/dev/full"), "it is a device or pipe. Choose a file name."),
    ):
        with pytest.raises(OutputError) as caught:
            atomic_write_text(path, "x")
        assert str(caught.value) == f"{str(path)!r} cannot be written: {reason}"
    with pytest.raises(OutputError, match="a part of its path is a file"), atomic_folder(tmp_path / "file" / "out"):
        pass
    with pytest.raises(OutputError, match="is a file, not a folder"), atomic_folder(tmp_path / "file"):
        pass


def test_folders_that_nothing_can_take_the_place_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for path in ("/", "/proc", Path("/"), ".", tmp_path / "here"):
        with pytest.raises(OutputError) as caught, atomic_folder(path, overwrite=True):
            pytest.fail("it was to be filled")
        assert str(caught.value).startswith(f"{os.fspath(path)!r} cannot be written: ")
        assert caught.value.hint == "Choose a folder inside it."
    with atomic_folder("out") as folder:
        (folder / "x").write_text("1")
    assert os.listdir(".") == ["out"]
    assert os.listdir(tmp_path) == ["here"]


def test_a_folder_that_the_system_holds_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, "rmdir", errno.EBUSY)  # as a mount that ismount does not tell
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match="the system uses it"), atomic_folder(tmp_path / "out") as folder:
        (folder / "x").write_text("1")
    assert os.listdir(tmp_path / "out") == []


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    atomic_write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_file_modes_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        atomic_write_text(tmp_path / "a", "x")
    finally:
        os.umask(old)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["out", "it's", "line\nend", ".out.0123456789ab.tmp"])
def test_errors_name_the_folder_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    _break(monkeypatch, "fsync", errno.ENOSPC)
    with pytest.raises(OutputError) as caught, atomic_folder(name) as outer, atomic_folder(outer / "release") as folder:
        atomic_write_text(folder / "release.csv", "x")
    said = f"{name + '/release/release.csv'!r} cannot be written: the disk is full."
    hint = "Free some space or choose another folder."
    assert str(caught.value) == f"{said} {hint}"
    assert (caught.value.message, caught.value.hint, caught.value.code) == (said, hint, "output")
    with pytest.raises(DataError) as unread, atomic_folder(name) as folder:
        raise DataError(f"There is no release.json in {folder}.", hint=f"Look into {str(folder)!r}.")
    assert str(unread.value) == f"There is no release.json in {name}. Look into {name!r}."


def test_a_folder_appears_at_once(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"
    with atomic_folder(target) as folder:
        (folder / "a").write_text("1")
        (folder / "sub").mkdir()
        (folder / "sub" / "b").write_text("2")
        assert not target.exists()
    assert sorted(p.name for p in target.rglob("*")) == ["a", "b", "sub"]
    assert os.listdir(target.parent) == ["out"]


def test_an_empty_folder_is_used_and_a_full_one_refused(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    with atomic_folder(target) as folder:
        (folder / "a").write_text("1")
    with pytest.raises(OutputError) as caught, atomic_folder(target):
        pass
    assert str(caught.value) == (
        f"The folder {str(target)!r} is not empty. Choose another folder, or allow overwriting."
    )
    assert (target / "a").read_text() == "1"


def test_overwriting_replaces_the_whole_folder(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "a").write_text("old")
    (target / "t.csv").write_text("old")
    with atomic_folder(target, overwrite=True, owned=["*.csv"]) as folder:
        (folder / "a").write_text("new")
    assert {p.name: p.read_text() for p in target.iterdir()} == {"a": "new"}
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("system", ["as it is", "without exchange"])
def test_overwriting_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    if system == "without exchange":
        monkeypatch.setattr(atomic, "_exchanged", lambda one, other: False)
    for text in ("old", "new"):
        with atomic_folder(tmp_path / "out", overwrite=True) as folder:
            (folder / "a").write_text(text)
    assert (tmp_path / "out" / "a").read_text() == "new"
    assert os.listdir(tmp_path) == ["out"]


def test_what_is_not_finished_is_for_its_owner_alone(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "out") as folder:
        assert folder.parent.stat().st_mode & 0o777 == 0o700
        assert folder.parent.parent == tmp_path
        usual = folder.stat().st_mode
    assert (tmp_path / "out").stat().st_mode == usual


def test_overwriting_never_loses_other_files(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "thesis.doc").write_text("years")
    with pytest.raises(OutputError) as caught, atomic_folder(target, overwrite=True, owned=["*.csv"]) as folder:
        (folder / "a").write_text("new")
    assert str(caught.value) == (
        f"The folder {str(target)!r} contains 1 other files or folders, which would be lost. Choose another folder, or "
        "move them away."
    )
    assert {p.name: p.read_text() for p in target.iterdir()} == {"thesis.doc": "years"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_swap_that_fails_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "a").write_text("old")
    real = os.replace
    calls = []

    def second_fails(source: object, goal: object) -> None:
        calls.append(goal)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "full")
        real(source, goal)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "replace", second_fails)
    monkeypatch.setattr(atomic, "_exchanged", lambda one, other: False)
    with pytest.raises(OutputError, match="the disk is full"), atomic_folder(target, overwrite=True) as folder:
        (folder / "a").write_text("new")
    assert (target / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("flag", "words"), [(os.ST_RDONLY, "the file system is read-only"), (0, "permission is denied")]
)
def test_a_place_that_cannot_be_written_is_told_apart_from_one_that_may_not(tmp_path, monkeypatch, flag, words):
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    monkeypatch.setattr(os, "statvfs", lambda place: types.SimpleNamespace(f_flag=flag))
    for check in (
        lambda: check_target(tmp_path / "out", overwrite=False),
        lambda: check_writable_file(tmp_path / "out"),
    ):
        with pytest.raises(OutputError, match=f"out' cannot be written: {words}. Choose"):
            check()
