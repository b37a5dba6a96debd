from __future__ import annotations


def test_from_a_run_to_a_checked_signature(call, policy, people, tmp_path):
    assert call("run", policy, "--data", people, "--no-verdict").code == 0
    (tmp_path / "about.yaml").write_text("dataset: People\nsigner: A. Steward\n")
    answer = call("report", "release", "--data", people, "--no-attacks", "--about", "about.yaml")
    assert answer.code == 0
    made = call("sign", "--new-key", "--key", "steward.key", "--json").data
    signed = call("sign", "evidence.json", "--key", "steward.key", "--json").data
    assert signed["fingerprint"] == made["fingerprint"] and signed["signer"] == "A. Steward"
    told = ("verify", "release/release.csv", "--policy", "release/policy.yaml", "--evidence", "evidence.json")
    answer = call(*told)
    assert answer.code == 0 and made["fingerprint"] in answer.words and "'A. Steward' as its signer" in answer.words
    table = tmp_path / "release" / "release.json"
    table.write_text(table.read_text() + " ")
    answer = call(*told)
    assert answer.code == 1 and "does not match the evidence" in answer.words
    table.unlink()
    assert "its folder lacks the file 'release.json'" in call(*told).words


def test_evidence_without_a_signer_that_was_moved(call, policy, people, tmp_path):
    assert call("run", policy, "--data", people, "--no-verdict").code == 0
    assert call("report", "release", "--data", people, "--no-attacks").code == 0
    call("sign", "--new-key", "--key", "steward.key")
    call("sign", "evidence.json", "--key", "steward.key")
    (tmp_path / "elsewhere").mkdir()
    for name in ("evidence.json", "evidence.json.sig", "evidence.html"):
        (tmp_path / name).rename(tmp_path / "elsewhere" / name)
    (tmp_path / "release").rename(tmp_path / "moved")
    words = ("moved/release.csv", "--policy", "moved/policy.yaml", "--evidence", "elsewhere/evidence.json")
    answer = call("verify", *words)
    assert answer.code == 0 and "Signed with the key" in answer.words and "names nobody as its signer" in answer.words


def test_nothing_to_sign(call):
    answer = call("sign")
    assert answer.code == 2 and "No file to sign" in answer.words
    answer = call("sign", "evidence.json", "--key", "absent.key")
    assert answer.code == 2 and "There is no signing key 'absent.key'. Name yours with --key" in answer.words


def test_the_report_says_what_is_wrong_with_its_words_before_the_work(call, policy, people, tmp_path):
    call("run", policy, "--data", people, "--no-verdict")
    (tmp_path / "about.yaml").write_text("purpos: x\n")
    answer = call("report", "release", "--data", people, "--about", "about.yaml")
    assert answer.code == 2 and "purpos" in answer.words and not (tmp_path / "evidence.html").exists()
