from __future__ import annotations

from pathlib import Path

import pytest

from hushtable.datasets.locate import cache_dir, data_dirs, find_data, require_data
from hushtable.errors import DataError


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """One folder of each kind, in order of preference; the working directory is beside 'shared'."""
    given, work, cache = tmp_path / "given", tmp_path / "top" / "work", tmp_path / "cache"
    work.mkdir(parents=True)
    monkeypatch.setenv("HUSHTABLE_DATA", str(given))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.chdir(work)
    return [given, tmp_path / "top" / "shared" / "data", cache / "hushtable"]


def test_the_first_folder_that_has_the_file_wins(folders):
    name = "set/only-in-this-test.csv"
    assert find_data(name) is None
    for folder in reversed(folders):
        (folder / "set").mkdir(parents=True)
        (folder / name).write_text("x")
        assert find_data(name) == folder / name
    assert [d for d in data_dirs() if d in folders] == folders


def test_the_checkout_is_searched_from_any_working_directory(folders):
    root = Path(__file__).resolve().parents[2]
    assert root.parent / "shared" / "data" in data_dirs()


def test_the_cache_follows_home_without_xdg(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "hushtable"


def test_absence_says_where_to_look_and_what_to_set(folders):
    with pytest.raises(DataError) as caught:
        require_data("set/absent.csv", "The moon publishes it.")
    assert caught.value.code == "data-not-found"
    for part in ("'set/absent.csv'", str(folders[0]), str(folders[2]), "The moon publishes it.", "HUSHTABLE_DATA"):
        assert part in str(caught.value)
