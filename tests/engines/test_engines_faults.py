"""Streaming under faults: the right release, or a clear error and nothing left behind."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from support_files import contents

import hushtable as ht
from hushtable.engines import combined
from hushtable.engines.stream import run_files
from hushtable.errors import DataError, OutputError
from hushtable.io import workspace as work_folders

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "numeric"},
    "town": {"role": "quasi"},
    "ill": {"role": "sensitive"},
    "note": {"role": "insensitive"},
}
POLICY = ht.Policy(columns=COLUMNS, models=[{"k-anonymity": {"k": 5}}], output={"format": "parquet"})

RUN = """
import os, signal, sys
import hushtable as ht
from hushtable.engines import combined
from hushtable.engines.stream import run_files
from hushtable.policy.files import load_policy
combined.RUN_ROWS = 500
stage, seen = sys.argv[1], []
def die(share, what):
    seen.append(what)
    if what == stage and seen.count(stage) > 1 - (stage != "reading"):
        os.kill(os.getpid(), signal.SIGKILL)
run_files([sys.argv[2]], load_policy(sys.argv[3]).plan(), sys.argv[4], format="parquet", progress=die)
"""


def people(rows: int, seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draw.integers(0, 90, rows),
            "town": draw.choice(["a", "b", "c"], rows),
            "ill": draw.choice(["flu", "cold"], rows),
            "note": [f"note {x}" for x in draw.integers(0, 10**9, rows)],
        }
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with three good files."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(3):
        pq.write_table(people(1000, number), folder / f"{number}.parquet", row_group_size=200)
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the release goes: alone in its folder, so that whatever is left shows."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "release"


def nothing_left(out: Path) -> bool:
    return list(out.parent.iterdir()) == []


def test_a_broken_file_among_good_ones_is_named(data: Path, out: Path) -> None:
    whole = (data / "1.parquet").read_bytes()
    (data / "1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"1\.parquet' is not a complete Parquet file"):
        run_files([data], POLICY.plan(), out)
    assert nothing_left(out)


def test_a_file_with_damaged_pages_is_named(data: Path, out: Path) -> None:
    whole = bytearray((data / "2.parquet").read_bytes())
    # the footer is good, so the damage shows in the middle of the first pass
    middle = len(whole) // 4
    whole[middle : middle + 200] = b"\xff" * 200
    (data / "2.parquet").write_bytes(bytes(whole))
    with pytest.raises(DataError, match=r"2\.parquet' is not a complete Parquet file"):
        run_files([data], POLICY.plan(), out)
    assert nothing_left(out)


def test_a_file_that_goes_away_is_named(data: Path, out: Path) -> None:
    def remove(share: float, what: str) -> None:
        if what == "encoding":
            (data / "1.parquet").unlink()

    with pytest.raises(DataError, match=r"1\.parquet' cannot be read"):
        run_files([data], POLICY.plan(), out, progress=remove)
    assert nothing_left(out)


@pytest.mark.parametrize("stage", ["reading", "partitioning", "verifying"])
def test_input_that_changes_is_refused(stage: str, data: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combined, "RUN_ROWS", 300)
    calls: list[str] = []

    def change(share: float, what: str) -> None:
        calls.append(what)
        # the second call of "reading" comes when the first file is being read
        if what == stage and calls.count(what) == (2 if stage == "reading" else 1):
            pq.write_table(people(1001, 9), data / "0.parquet")

    with pytest.raises(DataError, match=r"0\.parquet' changed while it was read"):
        run_files([data], POLICY.plan(), out, progress=change)
    assert nothing_left(out)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user cannot mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    pq.write_table(people(20_000), tmp_path / "t.parquet")
    with pytest.raises(OutputError, match="the disk is full") as caught:
        run_files([tmp_path / "t.parquet"], POLICY.plan(), small_disk / "release")
    assert str(caught.value).startswith(f"'{small_disk}/release")
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("kilobytes", [8, 100, 160, 300])
def test_a_file_that_may_not_grow(kilobytes: int, tmp_path: Path, out: Path) -> None:
    pq.write_table(people(20_000), tmp_path / "t.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY.to_yaml())
    program = "from hushtable.cli.main import main; main()"
    words = ["run", tmp_path / "policy.yaml", "--stream", "-d", tmp_path / "t.parquet", "-o", out]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, kilobytes << 10))

    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
    )
    assert done.returncode == 2, done.stderr
    assert "larger than a limit of this system" in done.stderr
    assert done.stderr.startswith(f"Error: '{out}")  # what the user named, whatever it is called meanwhile
    assert nothing_left(out)


@pytest.fixture
def one_file(tmp_path: Path) -> tuple[Path, Path]:
    pq.write_table(people(3000), tmp_path / "t.parquet", row_group_size=700)
    (tmp_path / "policy.yaml").write_text(POLICY.to_yaml())
    return tmp_path / "t.parquet", tmp_path / "policy.yaml"


def killed(stage: str, one_file: tuple[Path, Path], out: Path) -> Path:
    """Run in a process of its own that is killed at a stage; return its work folder."""
    done = subprocess.run([sys.executable, "-c", RUN, stage, *map(str, one_file), str(out)], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not out.exists()
    return out.with_name(f".{out.name}.work")


@pytest.mark.parametrize("stage", ["reading", "ranking", "encoding", "writing", "verifying", "measuring"])
def test_a_killed_run_is_taken_up(
    stage: str, one_file: tuple[Path, Path], out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(combined, "RUN_ROWS", 500)
    run_files(one_file[:1], POLICY.plan(), tmp_path / "whole", format="parquet")
    work = killed(stage, one_file, out)
    assert work.stat().st_mode & 0o077 == 0
    taken: list[str] = []
    finished = work_folders.Workspace.finished

    def seen(self: work_folders.Workspace, name: str) -> Any:
        found = finished(self, name)
        taken.extend([name] if found is not None else [])
        return found

    monkeypatch.setattr(work_folders.Workspace, "finished", seen)
    if stage not in ("reading", "ranking"):
        monkeypatch.setattr(combined, "each_run", lambda *_: pytest.fail("the input was read again"))
    run_files(one_file[:1], POLICY.plan(), out, format="parquet", overwrite=True)
    late = stage in ("writing", "verifying", "measuring")
    assert taken == ([] if stage in ("reading", "ranking") else ["encoded", "spilled"] if late else ["encoded"])
    assert contents(out) == contents(tmp_path / "whole")
    assert not work.exists()
    assert sorted(p.name for p in out.parent.iterdir()) == ["release", "release.private"]


def test_what_a_killed_run_left_is_used_for_the_same_run_only(
    one_file: tuple[Path, Path], out: Path, tmp_path: Path
) -> None:
    killed("encoding", one_file, out)
    other = POLICY.changed(models=[{"k-anonymity": {"k": 7}}])
    run_files(one_file[:1], other.plan(), tmp_path / "whole")
    run_files(one_file[:1], other.plan(), out)
    assert contents(out) == contents(tmp_path / "whole")
    killed("encoding", one_file, out.with_name("second"))
    pq.write_table(people(2000, 5), one_file[0])
    run_files(one_file[:1], POLICY.plan(), tmp_path / "changed")
    run_files(one_file[:1], POLICY.plan(), out.with_name("second"))
    assert contents(out.with_name("second")) == contents(tmp_path / "changed")


def test_a_damaged_work_folder_is_not_used(
    one_file: tuple[Path, Path], out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_files(one_file[:1], POLICY.plan(), tmp_path / "whole")
    for damage in ("0.codes", "3.values", "3.ranks", "schema"):
        work = killed("encoding", one_file, out)
        file = work / "encoded" / damage
        file.write_bytes(file.read_bytes()[:-1])
        run_files(one_file[:1], POLICY.plan(), out)
        assert contents(out) == contents(tmp_path / "whole")
        for folder in (out, out.with_name("release.private")):
            shutil.rmtree(folder)
    work = killed("encoding", one_file, out)
    (work / "manifest.json").write_text("{")
    run_files(one_file[:1], POLICY.plan(), out)
    assert contents(out) == contents(tmp_path / "whole")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_nothing(number: int, code: int, tmp_path: Path, out: Path) -> None:
    pq.write_table(people(600_000), tmp_path / "t.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY.to_yaml())
    program = "from hushtable.cli.main import main; main()"
    words = ["run", tmp_path / "policy.yaml", "--stream", "-d", tmp_path / "t.parquet", "-o", out]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    work = out.with_name(f".{out.name}.work")
    while not (work / "encoded").is_dir() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    said, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    assert said == ""
    assert err.endswith("Canceled.\nNothing was written.\n")
    assert nothing_left(out)
