from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hushtable.errors import OutputError, UsageError
from hushtable.io.secret import SECRET, keyed_hash, load_secret, secret_path


def test_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    place = tmp_path / "new" / "secret"
    made = load_secret(place)
    assert len(made) == 32
    assert load_secret(place) == made == place.read_bytes()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [p.name for p in place.parent.iterdir()] == ["secret"]


def test_two_places_have_two_secrets(tmp_path: Path) -> None:
    assert load_secret(tmp_path / "a") != load_secret(tmp_path / "b")


def test_many_at_once_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: load_secret(tmp_path / "secret"), range(32)))
    assert len(set(found)) == 1


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_secret_that_others_can_read_is_none(tmp_path: Path) -> None:
    place = tmp_path / "secret"
    load_secret(place)
    place.chmod(0o640)
    with pytest.raises(UsageError, match="can be read by others"):
        load_secret(place)


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_another_file_is_not_taken_for_it(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "secret"
    place.write_bytes(content)
    place.chmod(0o600)
    with pytest.raises(UsageError, match="not a secret of 32 bytes"):
        load_secret(place)


def test_a_folder_and_a_place_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_secret(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises((UsageError, OutputError), match="secret"):
        load_secret(tmp_path / "file" / "secret")


def test_place_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SECRET, str(tmp_path / "mine"))
    assert secret_path() == tmp_path / "mine"
    monkeypatch.delenv(SECRET)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert secret_path() == tmp_path / "hushtable" / "secret"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert secret_path().parts[-2:] == ("hushtable", "secret")


def test_hash_depends_on_secret_purpose_parts_and_their_boundaries() -> None:
    one = keyed_hash([b"ab", b"c"], b"s" * 32, "input")
    assert one == keyed_hash(iter([b"ab", b"c"]), b"s" * 32, "input")
    others = [
        keyed_hash([b"ab", b"c"], b"t" * 32, "input"),
        keyed_hash([b"ab", b"c"], b"s" * 32, "person"),
        keyed_hash([b"a", b"bc"], b"s" * 32, "input"),
        keyed_hash([b"abc"], b"s" * 32, "input"),
        keyed_hash([b"ab", b"c", b""], b"s" * 32, "input"),
    ]
    assert len({one, *others}) == 6
    assert len(one) == 64
