from __future__ import annotations

import json
from pathlib import Path

import pytest

from hushtable.engines.release import Release


@pytest.fixture
def demo(call, tmp_path):
    answer = call("demo", "--rows", 400)
    assert answer.code == 0
    return answer


def test_demo_is_readable_and_leaves_files_that_the_other_commands_take(call, demo, tmp_path):
    names = sorted(str(p.relative_to(tmp_path)) for p in (tmp_path / "demo").rglob("*") if p.is_file())
    assert names == [
        "demo/patients.csv",
        "demo/policy.yaml",
        "demo/release.private/classes.arrow",
        "demo/release.private/companion.json",
        "demo/release.private/found.json",
        "demo/release.private/rows.arrow",
        "demo/release/policy.yaml",
        "demo/release/release.csv",
        "demo/release/release.json",
        "demo/report.html",
        "demo/report.json",
    ]
    told = json.loads((tmp_path / "demo" / "report.json").read_text(encoding="utf-8"))
    assert [f["name"] for f in told["facts"]["files"]] == ["policy.yaml", "release.csv", "release.json"]
    assert "Costliest settings" in demo.words or "single changes to the policy" in demo.words
    commands = [line.split()[1:] for line in demo.out.splitlines() if line.startswith("  hushtable ")]
    assert {words[0] for words in commands} >= {"verify", "measure", "init"}
    for words in commands:
        assert call(*words).code == 0, words
    assert call("run", "demo/policy.yaml", "--data", "demo/patients.csv").code == 0
    again = (tmp_path / "release" / "release.csv").read_bytes()
    assert again == (tmp_path / "demo" / "release" / "release.csv").read_bytes()
    assert max(map(len, demo.out.splitlines())) <= 80
    assert "(removed)" in demo.out
    assert "published as" in demo.out


def test_demo_again_replaces_its_files_but_no_work(call, tmp_path, monkeypatch):
    # what a report holds is tested elsewhere; its attacks take most of the time
    monkeypatch.setattr(Release, "report", lambda release, path, **options: Path(path).write_text("report"))
    first = call("demo", "--rows", 300, "--json").data
    assert (first["records"], first["satisfied"]) == (300, True)
    policy, patients = (tmp_path / "demo" / name for name in ("policy.yaml", "patients.csv"))
    before = patients.read_bytes()
    assert call("demo", "--rows", 300, "--seed", 8).code == 0
    assert patients.read_bytes() != before
    policy.write_text(policy.read_text() + "# mine\n")
    answer = call("demo", "--rows", 300)
    assert answer.code == 2
    assert "has been edited" in answer.err
    assert policy.read_text().endswith("# mine\n")
    assert call("demo", "--rows", 300, "--overwrite").code == 0
    (tmp_path / "demo" / "notes.txt").write_text("mine")
    assert call("demo", "--rows", 300, "--overwrite").code == 2
    assert (tmp_path / "demo" / "notes.txt").read_text() == "mine"
