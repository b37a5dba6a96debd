"""The command line as a process of its own: signals, pipes and exit codes as a shell sees them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from support_cli import POLICY

from hushtable.datasets import patients, patients_policy
from hushtable.io.files import write_table
from hushtable.policy.policy import Policy

COMMAND = [sys.executable, "-c", "from hushtable.cli.main import main; main()"]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    write_table(patients(400_000), folder / "patients.parquet")
    write_table(patients(20_000), folder / "some.parquet")
    (folder / "policy.yaml").write_text(Policy(**patients_policy()).to_yaml(), encoding="utf-8")
    # compile the kernels now, so that a signal finds the run at work and not at compiling
    words = ["run", folder / "policy.yaml", "--data", folder / "some.parquet", "-o", folder / "first"]
    subprocess.run([*COMMAND, *map(str, words)], capture_output=True, check=True)
    return folder


@pytest.mark.parametrize(
    ("number", "code", "seconds"), [(signal.SIGINT, 130, 1.0), (signal.SIGINT, 130, 1.8), (signal.SIGTERM, 143, 1.5)]
)
def test_a_signal_leaves_nothing_half_written(large, tmp_path, number, code, seconds):
    words = ["run", large / "policy.yaml", "--data", large / "patients.parquet", "-o", tmp_path / "release"]
    process = subprocess.Popen([*COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    if process.poll() is not None:
        pytest.skip("this machine finished before the signal came")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    # llvmlite may print that an interrupt met one of its callbacks; the last word is ours
    assert err.endswith("Canceled.\nNothing was written.\n")
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_is_no_error():
    process = subprocess.Popen(
        [*COMMAND, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "COLUMNS": "80"}
    )
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 141
    assert err == b""


def test_a_terminal_without_unicode(tmp_path):
    (tmp_path / "p.csv").write_text("größe,x\n" + "1,a\n2,b\n" * 10, encoding="utf-8")
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for words in (["init", "p.csv"], ["init", "p.csv", "--force", "--json"]):
        done = subprocess.run([*COMMAND, *words], capture_output=True, env=env, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()


def test_exit_codes_for_ci(tmp_path):
    (tmp_path / "policy.yaml").write_text(POLICY.replace("k: 3", "k: 99"))
    (tmp_path / "p.csv").write_text("name,age,zip,disease\n" + "".join(f"n{i},{i},1{i},d{i}\n" for i in range(9)))
    done = subprocess.run(
        [*COMMAND, "run", "policy.yaml", "--data", "p.csv"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 3
    assert done.stdout == ""
    assert "k=99 but the table has 9 people" in done.stderr
