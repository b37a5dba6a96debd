from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

OLD = Path(__file__).resolve().parents[1] / "formats" / "0.1.0"


@pytest.fixture
def old(tmp_path):
    return Path(shutil.copytree(OLD, tmp_path / "old"))


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_changes_nothing_and_writing_keeps_the_originals(call, old):
    before = contents(old)
    answer = call("migrate", old, old / "release")
    assert answer.code == 0 and "Nothing was written. Add --write." in answer.out
    assert "part of a release: unchanged" in answer.out and contents(old) == before
    data = call("migrate", old, old / "release", "--write", "--json").data
    assert data["written"] and {f["kind"] for f in data["files"]} == {"policy", "release", "evidence", "ledger"}
    after = contents(old)
    assert after.pop("policy.yaml.format-1") == before["policy.yaml"]
    # not inside the folder that is handed over
    assert after.pop("release.release.json.format-1") == before["release/release.json"]
    assert {name for name in after if after[name] != before[name]} == {"policy.yaml", "release/release.json"}
    assert (old / "policy.yaml.format-1").stat().st_mode & 0o077 == 0
    assert "Nothing to do." in call("migrate", old, old / "release", "--write").out
    verified = call("verify", old / "release" / "release.csv", "--policy", old / "release" / "policy.yaml")
    assert verified.code == 0


def test_nothing_is_changed_where_one_file_cannot_be(call, old):
    (old / "policy.yaml.format-1").write_text("somebody else's")
    before = contents(old)
    assert "exists with different content" in call("migrate", old / "release", old, "--write").err
    assert contents(old) == before
    assert "is not a policy" in call("migrate", old / "people.csv").err
    assert call("migrate", old / "nowhere").code == 2
    (old / "policy.yaml").write_text("format: 9\ncolumns: {}\nmodels: []\n")
    assert "Install hushtable 0.9 or later" in call("migrate", old).err


def test_what_a_table_of_0_1_may_still_disclose_is_said_before_and_after(call, old):
    release = old / "release"
    (release / "evidence.json").write_text((old / "evidence.json").read_text())
    said = []
    for more in ([], ["--write"], []):
        answer = call("migrate", release, *more)
        said.append(answer.out.partition("Do not hand over")[2])
        assert answer.code == 0
    assert said[0] == said[1] == said[2]
    assert "labels of its hierarchies (prefix) may show values of suppressed records" in " ".join(said[0].split())
    assert "a report compares with the original" in " ".join(said[0].split())
    files = call("migrate", release, "--json").data["files"]
    assert {one["kind"]: bool(one["cautions"]) for one in files} == {"release": True, "evidence": True, "policy": False}


@pytest.mark.parametrize(
    "edit", [{"models": ["k"]}, {"models": None}, {"notes": []}, {"algorithm": "mondrian"}, {"columns": {}}], ids=str
)
def test_a_forged_release_json_is_refused(call, old, edit):
    place = old / "release" / "release.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **edit}))
    answer = call("migrate", old / "release", "--write")
    assert answer.code == 2 and f"its {next(iter(edit))!r} has the wrong type" in answer.err
