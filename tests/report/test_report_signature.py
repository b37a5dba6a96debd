from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable._version import code_digest
from hushtable.errors import DataError, OutputError, UsageError, VerificationError
from hushtable.report.signature import (
    check_report,
    check_signature,
    file_digest,
    is_report,
    new_key,
    sign_report,
    signature_path,
)

PEOPLE = pa.table(
    {"age": list(range(20, 60)), "town": ["a", "b"] * 20, "illness": ["flu", "gout", "cold", "none"] * 10}
)
POLICY = ht.Policy(quasi=["age", "town"], sensitive=["illness"], models=[ht.KAnonymity(k=4), ht.DistinctL(l=2)])


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder with a release, its report and a key."""
    ht.anonymize(PEOPLE, POLICY).save(tmp_path / "release")
    release = ht.open_release(tmp_path / "release", PEOPLE)
    release.report(tmp_path / "evidence.html", attacks=False, about={"signer": "A. Steward"})
    new_key(tmp_path / "key")
    return tmp_path


def test_the_evidence_names_every_file_with_its_hash(saved: Path) -> None:
    files = json.loads((saved / "evidence.json").read_text())["facts"]["files"]
    assert {f["name"]: f["sha256"] for f in files} == {
        file.name: file_digest(file) for file in (saved / "release").iterdir()
    }
    assert is_report(saved / "evidence.json") and not is_report(saved / "release" / "release.json")


def test_the_evidence_names_the_code_that_made_the_release(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.loads((saved / "evidence.json").read_text())["facts"]["provenance"]
    assert (told["made_by"], told["made_by_code_sha256"]) == (ht.__version__, code_digest())
    # a report that other code writes later names both
    monkeypatch.setattr("hushtable.report.gather.provenance.code_digest", lambda: "other")
    ht.open_release(saved / "release", PEOPLE).report(saved / "later.html", attacks=False)
    told = json.loads((saved / "later.json").read_text())["facts"]["provenance"]
    assert (told["code_sha256"], told["made_by_code_sha256"]) == ("other", code_digest())


def test_a_signature_holds_until_something_changes(saved: Path) -> None:
    report, table = saved / "evidence.json", saved / "release" / "release.csv"
    assert check_signature(report) is None
    assert "not signed" in check_report(report, table)["words"]
    made = sign_report(report, saved / "key")
    assert check_signature(report) == made
    assert made.signer == "A. Steward"
    assert check_report(report, table)["fingerprint"] == made.fingerprint


@pytest.mark.parametrize("file", ["evidence.json", "evidence.html"])
def test_changed_evidence_is_refused(saved: Path, file: str) -> None:
    sign_report(saved / "evidence.json", saved / "key")
    with (saved / file).open("a") as stream:
        stream.write(" ")
    with pytest.raises(DataError, match=f"was made for another '{file}'"):
        check_signature(saved / "evidence.json")


@pytest.mark.parametrize("part", ["signer", "signed", "files"])
def test_a_changed_statement_is_refused(saved: Path, part: str) -> None:
    sign_report(saved / "evidence.json", saved / "key")
    place = signature_path(saved / "evidence.json")
    told = json.loads(place.read_text())
    told["statement"][part] = {} if part == "files" else "B. Other"
    place.write_text(json.dumps(told))
    with pytest.raises(DataError, match="is not a signature, or was changed"):
        check_signature(saved / "evidence.json")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", "[" * 100_000, '{"statement": {}, "public_key": "zz", "signature": ""}']
)
def test_what_is_no_signature(saved: Path, text: str) -> None:
    signature_path(saved / "evidence.json").write_text(text)
    with pytest.raises(DataError, match="is not a signature"):
        check_signature(saved / "evidence.json")


@pytest.mark.parametrize("harm", ["change", "remove", "add"])
def test_a_release_that_is_not_the_one_signed_for_is_refused(saved: Path, harm: str) -> None:
    table = saved / "release" / "release.csv"
    policy = saved / "release" / "policy.yaml"
    if harm == "change":
        policy.write_text(policy.read_text() + "\n")
    elif harm == "remove":
        policy.unlink()
    else:
        (saved / "release" / "more.csv").write_text("a\n1\n")
    with pytest.raises(VerificationError, match="evidence"):
        check_report(saved / "evidence.json", table)


def test_a_page_that_was_added_is_not_signed(saved: Path) -> None:
    page = saved / "evidence.html"
    page.rename(saved / "kept.html")
    sign_report(saved / "evidence.json", saved / "key")
    assert check_signature(saved / "evidence.json") is not None
    page.write_text("<h1>All is well</h1>")
    with pytest.raises(DataError, match=r"does not cover 'evidence\.html'"):
        check_signature(saved / "evidence.json")


def test_a_forged_signer_cannot_show_another_key(saved: Path) -> None:
    made = sign_report(saved / "evidence.json", saved / "key", "A. Steward with the key 0000 1111.\n\x1b[8m")
    words = check_report(saved / "evidence.json", saved / "release" / "release.csv")["words"]
    assert words.index(made.fingerprint) < words.index("0000 1111") and words.isprintable()


@pytest.mark.parametrize("facts", [None, 5, {}, {"files": 5}, {"files": [5]}, {"files": [{"name": "release.csv"}]}])
def test_forged_evidence_is_refused_in_a_sentence(saved: Path, facts: object) -> None:
    told = {**json.loads((saved / "evidence.json").read_text()), "facts": facts}
    (saved / "evidence.json").write_text(json.dumps(told))
    with pytest.raises(DataError, match="describes no files"):
        check_report(saved / "evidence.json", saved / "release" / "release.csv")


def test_forged_evidence_reads_no_other_file(saved: Path) -> None:
    told = json.loads((saved / "evidence.json").read_text())
    (saved / "other").write_text("x")
    told["facts"]["files"].append({"name": "../other", "sha256": file_digest(saved / "other")})
    (saved / "evidence.json").write_text(json.dumps(told))
    with pytest.raises(VerificationError, match="does not match"):
        check_report(saved / "evidence.json", saved / "release" / "release.csv")
    (saved / "deep.json").write_text("[" * 100_000)
    assert not is_report(saved / "deep.json")


def test_keys(saved: Path) -> None:
    assert (saved / "key").stat().st_mode & 0o077 == 0
    with pytest.raises(OutputError, match="exists"):
        new_key(saved / "key")
    (saved / "key").chmod(0o644)
    with pytest.raises(UsageError, match="can be read by others"):
        sign_report(saved / "evidence.json", saved / "key")
    (saved / "bad").write_text("no key")
    (saved / "bad").chmod(0o600)
    for key, why in (("bad", "is not a signing key"), ("absent", "There is no signing key")):
        with pytest.raises(UsageError, match=why):
            sign_report(saved / "evidence.json", saved / key)
    (saved / "key").chmod(0o600)
    with pytest.raises(DataError, match="is not the JSON file of a report"):
        sign_report(saved / "release" / "release.json", saved / "key")
