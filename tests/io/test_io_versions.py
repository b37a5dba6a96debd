"""Files of every published version are opened; files of later ones are refused with the version that reads them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import hushtable as ht
from hushtable.errors import DataError, HushtableError, PolicyError
from hushtable.io.versions import (
    FORMATS,
    WrittenFile,
    check_format,
    disclosed_by_0_1,
    first_reader,
    look_at,
    migrated,
)
from hushtable.report.content import FORMAT
from hushtable.report.signature import check_report
from hushtable.schema.columns import Role

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests" / "formats"
VERSIONS = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


@pytest.fixture(params=VERSIONS)
def kept(request, tmp_path, monkeypatch):
    """What a published version wrote; tests/formats/make.py makes it."""
    folder = tmp_path / request.param
    shutil.copytree(KEPT / request.param, folder)
    for path in (*folder.glob("*.key"), *folder.glob("secret"), *folder.glob("release.private/*")):
        path.chmod(0o600)
    for path in folder.glob("release.private"):
        path.chmod(0o700)
    if (folder / "secret").exists():
        monkeypatch.setenv("HUSHTABLE_SECRET", str(folder / "secret"))
    return folder


def test_files_of_every_published_version_are_opened(kept):
    policy = ht.load_policy(kept / "policy.yaml")
    assert policy.named(Role.SENSITIVE) == ("disease",)
    release = ht.open_release(kept / "release")
    assert release.verify().ok and release.table.num_rows > 30
    assert ht.verify(kept / "release" / "release.csv", ht.load_policy(kept / "release" / "policy.yaml")).ok
    ledger = ht.Ledger(kept / "releases.ledger")
    assert [entry.name for entry in ledger.entries()] == ["spring"]
    again = ht.anonymize(_read(kept), policy)
    assert ledger.add(again, name="summer").earlier == 1
    assert look_at(kept / "evidence.json").kind == "evidence"
    if look_at(kept / "evidence.json").format > 1:
        assert check_report(kept / "evidence.json", kept / "release" / "release.csv")["files"] >= 3


def _read(folder):
    from hushtable.io.files import read_table

    return read_table(folder / "people.csv")


def test_policies_keep_their_meaning(kept):
    found = look_at(kept / "policy.yaml")
    text, changes = migrated(found)
    new = ht.Policy.from_yaml(text)
    assert look_at(kept / "policy.yaml").format < FORMATS["policy"] or not changes
    if found.format == 1:
        assert new.cells == "intervals", "the default of 0.1, which made the release"
    assert "# what this version was asked for" in text and f"format: {FORMATS['policy']}" in text
    saved = ht.load_policy(kept / "release" / "policy.yaml")
    assert saved == new


def test_what_0_1_gave_away_is_removed():
    found = look_at(KEPT / "0.1.0" / "release" / "release.json")
    assert found[:2] == ("release", 1)
    text, changes = migrated(found)
    told = json.loads(text)
    assert told["format"] == FORMATS["release"] and told["suppressed"] == 1
    assert not {"reference", "measures", "kinds", "people", "class_counts"} & told.keys()
    assert {model["achieved"] for model in told["models"]} == {None}
    assert any("reference" in change for change in changes)
    old = json.loads(found.text)
    forged = {**old, "models": [{**old["models"][0], "worst": "anything"}]}
    assert "anything" not in migrated(WrittenFile("release", 1, json.dumps(forged)))[0]
    forged = {**old, "counterfeits": {"total": 2, "classes": [2]}}
    told = json.loads(migrated(WrittenFile("release", 1, json.dumps(forged)))[0])
    assert told["rows_may_be_counterfeits"] and not {"records", "suppressed", "counterfeits"} & told.keys()


@pytest.mark.parametrize(
    ("edit", "policy", "said"),
    [
        ({"suppressed": 0}, "hierarchy: prefix", []),
        ({"suppressed": 3}, "hierarchy: {frequency: {fanout: 2}}", ["labels of its hierarchies (frequency)"]),
        ({"algorithm": {"anatomy": {}}, "suppressed": 0}, "", ["a table made by anatomy"]),
        ({"algorithm": {"m-invariant": {}}, "suppressed": 0}, "", ["a table made by m-invariant"]),
        ({"suppressed": 0}, "guard:\n- minimality\n", ["its guards can be undone"]),
        ({"suppressed": 0}, "guard: []\n", []),
        ({"hushtable": "0.2.0", "suppressed": 3}, "hierarchy: prefix", []),
    ],
    ids=str,
)
def test_what_tables_of_0_1_may_disclose(edit, policy, said):
    old = json.loads((KEPT / "0.1.0" / "release" / "release.json").read_text())
    found = disclosed_by_0_1(WrittenFile("release", 1, json.dumps({**old, **edit})), policy)
    assert len(found) == len(said) and all(part in whole for part, whole in zip(said, found, strict=True))


def test_every_kind_says_its_format_and_refuses_newer_ones(tmp_path):
    people = _read(KEPT / "0.1.0")
    policy = ht.load_policy(KEPT / "0.1.0" / "policy.yaml")
    release = ht.anonymize(people, policy)
    release.save(tmp_path / "release")
    ht.Ledger(tmp_path / "ledger").add(release)
    (tmp_path / "policy.yaml").write_text(policy.to_yaml())
    private = tmp_path / "release.private" / "companion.json"
    files = {tmp_path / "release" / "release.json": "release", private: "companion", tmp_path / "ledger": "ledger",
             tmp_path / "policy.yaml": "policy", tmp_path / "release" / "policy.yaml": "policy"}  # fmt: skip
    for path, kind in files.items():
        assert look_at(path)[:2] == (kind, FORMATS[kind])
        newer = {"ledger": b"hushtable ledger 7\n", "policy": b"format: 7\n"}.get(kind, b'"format": 7,')
        pattern = {"ledger": rb"hushtable ledger \d+\n", "policy": rb"format: \d+\n"}.get(kind, rb'"format": \d+,')
        path.write_bytes(re.sub(pattern, newer, path.read_bytes(), count=1))
        with pytest.raises(DataError, match=r"reads\s+formats up to") as refused:
            look_at(path)
        assert refused.value.code == f"newer-{kind}" and "Install hushtable 0.7 or later" in refused.value.hint
    for opened in (
        lambda: ht.load_policy(tmp_path / "policy.yaml"),
        lambda: ht.open_release(tmp_path / "release"),
        lambda: ht.Ledger(tmp_path / "ledger").entries(),
    ):
        with pytest.raises(HushtableError, match="newer hushtable"):
            opened()
    key = tmp_path / "ledger.key"
    key.write_bytes(key.read_bytes().replace(b"ledger key 1", b"ledger key 9"))
    with pytest.raises(DataError, match="its format is 9"):
        ht.Ledger(tmp_path / "ledger").entries()
    assert f"hushtable-report/{FORMATS['evidence']}" == FORMAT
    (tmp_path / "evidence.json").write_text('{"format": "hushtable-report/8"}')
    with pytest.raises(DataError, match="its format is 8"):
        check_report(tmp_path / "evidence.json", tmp_path / "release" / "release.csv")


@pytest.mark.parametrize("said", ["two", 0, -1, True, None, 2.0, "hushtable-report/x"])
def test_a_format_is_a_whole_number(said):
    with pytest.raises(DataError, match="does not say which format"):
        check_format("evidence", said, "It")


def test_a_policy_says_where_its_format_is_wrong():
    text = "columns: {age: {role: quasi}}\nmodels: [k-anonymity: {k: 2}]\nformat: two\n"
    with pytest.raises(PolicyError, match=r"policy\.yaml: line 3: format: The policy does not say"):
        ht.Policy.from_yaml(text, file="policy.yaml")
    assert ht.Policy.from_yaml(text.replace("two", "2")) == ht.Policy.from_yaml(text.replace("format: two", ""))
    assert first_reader(100) == "1.0"


@pytest.mark.parametrize(
    "text",
    ["{columns: {age: {role: quasi}}, models: [k-anonymity: {k: 2}]}\n",
     "columns: {age: {role: quasi}}\nmodels: [k-anonymity: {k: 2}]\n...\n"],
)  # fmt: skip
def test_what_cannot_be_edited_by_lines_is_left_to_people(text):
    with pytest.raises(DataError, match="line by line"):
        migrated(WrittenFile("policy", 1, text))


def test_other_files_are_nobodys(tmp_path):
    for name, text in {"a.json": "[1]", "b.json": "{", "c.yaml": "- 1", "d.yaml": "a: [", "e.csv": "a\n1\n"}.items():
        (tmp_path / name).write_text(text)
        assert look_at(tmp_path / name) is None
