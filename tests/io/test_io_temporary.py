"""Temporaries: gone after success and failure, swept after a kill, and never taken from somebody who is writing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hushtable.errors import OutputError
from hushtable.io.atomic import atomic_file, atomic_folder, atomic_write_text
from hushtable.io.temporary import held_temporary, private_folder, sweep

WRITER = """
import sys
from hushtable.io.atomic import atomic_file, atomic_folder
how = {"file": atomic_file, "folder": atomic_folder}[sys.argv[1]]
with how(sys.argv[2]) as place:
    place.write(b"half") and place.flush() if sys.argv[1] == "file" else (place / "half").write_text("half")
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["file", "folder"])
def writer(request, tmp_path):
    """A process in the middle of writing ``out``."""
    command = [sys.executable, "-c", WRITER, request.param, str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.kind = request.param
        assert process.stdout.readline() == b"writing\n"
        yield process
        process.kill()


def temporaries(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith(".")]


def test_what_a_killed_process_left_is_swept_by_the_next(writer, tmp_path):
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert len(temporaries(tmp_path)) == 1
    assert not (tmp_path / "out").exists()
    if writer.kind == "file":
        atomic_write_text(tmp_path / "out", "whole")
    else:
        with atomic_folder(tmp_path / "out") as folder:
            (folder / "whole").touch()
    assert os.listdir(tmp_path) == ["out"]


def test_what_somebody_is_writing_stays(writer, tmp_path):
    sweep(tmp_path / "out")
    assert len(temporaries(tmp_path)) == 1
    writer.stdin.close()
    assert writer.wait() == 0
    assert os.listdir(tmp_path) == ["out"]


def test_one_that_was_swept_before_it_was_held_is_made_again(tmp_path):
    made = []

    def make(path: Path) -> None:
        made.append(path)
        if len(made) > 1:
            path.mkdir()

    with held_temporary(tmp_path / "out", make) as path:
        assert path == made[1]
    assert os.listdir(tmp_path) == []


def test_only_temporaries_of_the_target_are_swept(tmp_path):
    others = [".out.csv.0123456789ab.tmp", ".out.tmp", "out.0123456789ab.tmp", ".out.0123456789ab.old", ".out.work"]
    for name in others:
        (tmp_path / name).touch()
    sweep(tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == sorted(others)


def test_the_work_folder_of_a_killed_run_is_swept(tmp_path):
    (tmp_path / ".out.work").mkdir()
    (tmp_path / ".out.work" / "lock").touch()
    sweep(tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "a").touch()
    (tmp_path / ".out.0123456789ab.tmp").symlink_to(tmp_path / "precious")
    sweep(tmp_path / "out")
    assert (tmp_path / "precious" / "a").exists()


def test_inside_a_temporary_nothing_is_looked_for(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(os, "listdir", lambda folder: looked.append(folder) or [])
    with atomic_folder(tmp_path / "out") as folder, atomic_file(folder / "a") as out:
        out.write(b"1")
    assert looked == [tmp_path]


def test_private_folders_are_swept_too(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with private_folder() as first:
        (first / "x").write_text("1")
        with private_folder() as second:
            assert first.exists() and second.exists() and first != second
    left = tmp_path / first.name
    left.mkdir(mode=0o700)
    with private_folder() as third:
        assert os.listdir(tmp_path) == [third.name]


def test_nothing_stands_beside_a_root():
    made = []
    with pytest.raises(OutputError, match="root of a file system"), held_temporary(Path("/"), made.append):
        pass
    assert made == []
