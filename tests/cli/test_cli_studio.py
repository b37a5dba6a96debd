"""``hushtable studio``: what it refuses before it listens."""

from __future__ import annotations

import importlib.util
import json
import socket

import pytest

from hushtable.cli.main import main

pytest.importorskip("nicegui", reason="needs hushtable[studio]")


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("HUSHTABLE_STUDIO", str(tmp_path / "studio"))


def refused(capsys, *arguments: str) -> dict[str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["studio", "--no-browser", "--json", *arguments])
    assert ended.value.code == 2
    found: dict[str, str] = json.loads(capsys.readouterr().out)
    return found


def test_other_machines_need_a_token(capsys, monkeypatch):
    monkeypatch.delenv("HUSHTABLE_STUDIO_TOKEN", raising=False)
    for token in ((), ("--token", "short")):
        found = refused(capsys, "--host", "0.0.0.0", "--port", "0", *token)
        assert found["code"] == "no-token" and "--token" in found["hint"]


def test_a_taken_port_is_told(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert refused(capsys, "--port", str(taken.getsockname()[1]))["code"] == "port"


def test_a_table_that_is_not_there(capsys, tmp_path):
    assert refused(capsys, str(tmp_path / "nobody.csv"), "--port", "0")["code"] == "no-file"


def test_a_folder_that_another_studio_has(capsys, tmp_path):
    from hushtable.studio.projects import Claim

    claim = Claim(tmp_path / "studio")
    assert refused(capsys, "--port", "0")["code"] == "claimed"
    claim.release()


def test_without_nicegui_it_says_what_to_install(capsys, monkeypatch):
    """Whatever else is installed that nicegui builds on."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "nicegui" else find(name))
    found = refused(capsys)
    assert found["code"] == "needs-nicegui" and "pip install 'hushtable[studio]'" in found["hint"]


@pytest.mark.parametrize(("inside", "said"), [("release.json", "the folder of a release"), ("x.csv", "is a folder")])
def test_a_folder_is_not_called_a_missing_file(capsys, tmp_path, inside, said):
    (tmp_path / inside).write_text("{}")
    assert said in refused(capsys, str(tmp_path), "--port", "0")["message"]
