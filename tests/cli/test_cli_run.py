from __future__ import annotations

import errno
import os

import pyarrow.parquet as pq
import pytest
from support_cli import CANARY, POLICY, rows, write_csv

from hushtable import api
from hushtable.algorithms.cluster import descent
from hushtable.io.files import read_table


def left_behind(folder):
    return sorted(p.name for p in folder.iterdir() if p.name.startswith("."))


def test_run_writes_a_release_that_verifies(call, policy, people, tmp_path):
    answer = call("run", policy, "--data", people)
    assert answer.code == 0
    assert answer.err == ""
    assert sorted(p.name for p in (tmp_path / "release").iterdir()) == ["policy.yaml", "release.csv", "release.json"]
    table = read_table(tmp_path / "release" / "release.csv")
    assert table.column_names == ["age", "zip", "disease"]
    assert "40 of 40 records are published" in answer.out
    assert "k-anonymity (k=3)" in answer.out
    assert call("verify", "release/release.csv", "--policy", policy).code == 0


def test_run_json(call, policy, people, tmp_path):
    answer = call("run", policy, "--data", people, "--json", "-o", "out")
    data = answer.data
    assert data["satisfied"] is True
    assert data["released"] == 40
    assert [m["model"] for m in data["models"]] == ["k-anonymity", "distinct-l"]
    assert data["files"]["table"] == os.path.join("out", "release.csv")
    assert (tmp_path / "out" / "release.csv").is_file()


@pytest.mark.parametrize(
    ("algorithm", "extra"), [("anatomy", "release-sensitive.csv"), ("anti-unification", "patterns.csv")]
)
def test_files_that_only_some_algorithms_write_are_told(call, people, tmp_path, algorithm, extra):
    policy = tmp_path / "other.yaml"
    policy.write_text(POLICY.replace("- k-anonymity: {k: 3}\n", "") + f"algorithm: {algorithm}\n")
    answer = call("run", policy, "--data", people)
    assert answer.code == 0
    assert f"  {extra} " in answer.out
    assert (tmp_path / "release" / extra).is_file()
    assert call("verify", "release/release.csv", "--policy", policy).code == 0


def test_parquet_and_seed_override_the_policy(call, policy, people, tmp_path):
    assert call("run", policy, "-d", people, "--format", "parquet", "--seed", "9").code == 0
    assert pq.read_table(tmp_path / "release" / "release.parquet").num_rows == 40
    saved = (tmp_path / "release" / "policy.yaml").read_text()
    assert "seed: 9" in saved
    assert "parquet" in saved


def test_a_table_in_several_files(call, policy, people, tmp_path):
    first, second = write_csv(tmp_path / "a.csv", rows()[:25]), write_csv(tmp_path / "b.csv", rows()[25:])
    assert call("run", policy, "-d", first, "-d", second, "-o", "parts").code == 0
    assert call("run", policy, "-d", people, "-o", "whole").code == 0
    assert (tmp_path / "parts/release.csv").read_bytes() == (tmp_path / "whole/release.csv").read_bytes()


def test_files_with_other_columns_are_refused(call, policy, people, tmp_path):
    other = write_csv(tmp_path / "b.csv", [[CANARY]], header="pay")
    answer = call("run", policy, "-d", people, "-d", other)
    assert answer.code == 2
    assert "do not have the same columns" in answer.err
    assert CANARY not in answer.err


def test_an_existing_folder_is_refused_before_the_work(call, policy, people, tmp_path):
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "thesis.doc").write_text("mine")
    answer = call("run", policy, "--data", people)
    assert answer.code == 2
    assert "is not empty" in answer.err
    assert "--overwrite" in answer.err
    answer = call("run", policy, "--data", people, "--overwrite")
    assert answer.code == 2
    assert "would be lost" in answer.err
    assert (tmp_path / "release" / "thesis.doc").read_text() == "mine"
    assert left_behind(tmp_path) == []


def test_a_release_inside_another_is_refused(call, policy, people, tmp_path):
    """The outer folder is handed over, and the private companion would be in it."""
    assert call("run", policy, "--data", people, "-o", "outer", "--no-verdict").code == 0
    for place in ("outer/inner", "outer/deep/inner", "outer.private/inner"):
        answer = call("run", policy, "--data", people, "-o", place)
        assert (
            answer.code == 2 and f"{place}' is in the folder of a release, but another release is not" in answer.words
        )
    assert sorted(p.name for p in (tmp_path / "outer").iterdir()) == ["policy.yaml", "release.csv", "release.json"]
    assert call("run", policy, "--data", people, "-o", "outer", "--overwrite", "--no-verdict").code == 0


def test_what_would_be_lost_is_told_before_the_work_is_done(call, policy, people, tmp_path, monkeypatch):
    assert call("run", policy, "--data", people).code == 0
    (tmp_path / "release" / "evidence.html").touch()
    monkeypatch.setattr(api, "anonymize", lambda *_, **__: pytest.fail("the work was done for nothing"))
    answer = call("run", policy, "--data", people, "--overwrite")
    assert (answer.code, "would be lost: 'evidence.html'" in answer.words) == (2, True)


@pytest.mark.parametrize("place", ["/", "."])
@pytest.mark.parametrize("command", ["run", "demo"])
def test_a_folder_that_cannot_be_replaced_is_refused_before_the_work(
    call, policy, people, tmp_path, monkeypatch, place, command
):
    monkeypatch.setattr(api, "anonymize", lambda *_, **__: pytest.fail("the work was done for nothing"))
    before = sorted(tmp_path.iterdir())
    words = ["run", policy, "--data", people] if command == "run" else ["demo"]
    answer = call(*words, "--output", place, "--overwrite")
    assert answer.code == 2
    assert f"Error: {place!r} cannot be written: " in answer.err
    assert answer.err.endswith("Choose a folder inside it.\n")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["run", "explore"])
@pytest.mark.parametrize("moved", ["people", "policy"])
def test_what_is_read_is_never_replaced(call, policy, people, tmp_path, command, moved):
    """Not even where it has a name that a release's file may have."""
    place = tmp_path / "study"
    place.mkdir()
    files = {"people": people, "policy": policy}
    names = {"people": "release.csv", "policy": "policy.yaml"}
    files[moved] = files[moved].rename(place / names[moved])
    before = files[moved].read_bytes()
    answer = call(command, files["policy"], "--data", files["people"], "--output", place, "--overwrite", "--json")
    assert (answer.code, answer.data["code"]) == (2, "is-input")
    assert f"{str(files[moved])!r}, and would be lost" in answer.data["message"]
    assert files[moved].read_bytes() == before


def test_overwrite_replaces_an_earlier_release(call, policy, people, tmp_path):
    assert call("run", policy, "--data", people).code == 0
    first = (tmp_path / "release" / "release.csv").read_bytes()
    assert call("run", policy, "--data", people, "--overwrite").code == 0
    assert (tmp_path / "release" / "release.csv").read_bytes() == first
    # also from the policy that was saved with it, which is written again
    assert call("run", "release/policy.yaml", "--data", people, "--overwrite").code == 0
    assert (tmp_path / "release" / "release.csv").read_bytes() == first


def test_a_read_only_folder_is_refused_before_the_work(call, policy, people, tmp_path, monkeypatch):
    # permissions do not bind root, which tests may run as
    monkeypatch.setattr("hushtable.release.targets.os.access", lambda path, mode: not mode & os.W_OK)
    answer = call("run", policy, "--data", people)
    assert answer.code == 2
    assert "permission is denied" in answer.err
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "the file system is read-only"),
        (errno.EACCES, "permission is denied"),
    ],
)
def test_a_write_that_fails_leaves_nothing(call, policy, people, tmp_path, monkeypatch, number, reason):
    def failing(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("hushtable.release.files.write_table", failing)
    answer = call("run", policy, "--data", people)
    assert answer.code == 2
    assert reason in answer.err
    assert not (tmp_path / "release").exists()
    assert left_behind(tmp_path) == []


def test_a_target_below_a_file(call, policy, people):
    answer = call("run", policy, "--data", people, "-o", people / "release")
    assert answer.code == 2
    assert "is a file, not a folder" in answer.err


BAD = {
    "missing data file": (POLICY, None, 2, "nowhere.csv"),
    "misspelt setting": (POLICY.replace("seed:", "sede:"), rows(), 2, "Did you mean 'seed'?"),
    "misspelt model": (POLICY.replace("k-anonymity", "k-anonimity"), rows(), 2, "Did you mean 'k-anonymity'?"),
    "unassigned column": (
        POLICY.replace("  name: {role: identifier}\n", ""),
        rows(),
        2,
        "no role in the policy: 'name'",
    ),
    "absent column": (POLICY.replace("name:", "surname:"), rows(), 2, "no role in the policy: 'name'"),
    "too many values": (POLICY.replace("l: 2", "l: 5"), rows(), 3, "l=5 but 'disease' has 4 distinct values"),
    "too large a k": (POLICY.replace("k: 3", "k: 41"), rows(), 3, "k=41 but the table has 40 people"),
    "k of one": (POLICY.replace("k: 3", "k: 1"), rows(), 2, "must be an int >= 2"),
    "uncovered value": (
        POLICY.replace('{prefix: "*"}', "{tree: {any: [x]}}"),
        rows(),
        2,
        "The hierarchy of column 'zip' does not cover 40 of its values",
    ),
    "not a number": (POLICY, [[CANARY, CANARY, CANARY, CANARY], *rows()], 2, "'age'"),
    "one row": (POLICY, [[CANARY, "3", CANARY, CANARY]], 3, "k=3 but the table has 1 person"),
}


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("case", BAD)
def test_bad_input(call, tmp_path, case, as_json):
    policy, cells, code, message = BAD[case]
    (tmp_path / "policy.yaml").write_text(policy)
    data = tmp_path / "nowhere.csv"
    if cells is not None:
        marked = [[*row[:3], f"{row[3]}{CANARY}" if i % 4 else row[3]] for i, row in enumerate(cells)]
        data = write_csv(tmp_path / "people.csv", cells if "too many" in case else marked)
    answer = call("run", "policy.yaml", "--data", data, *(["--json"] if as_json else []))
    assert answer.code == code
    text = answer.data["message"] + answer.data["hint"] if as_json else answer.err
    assert message in text
    assert CANARY not in answer.out + answer.err
    assert not any(row[0] in answer.out + answer.err for row in (cells or []))
    assert (answer.err if as_json else answer.out) == ""
    assert not (tmp_path / "release").exists()
    assert left_behind(tmp_path) == []


def test_ctrl_c_inside_the_run(call, policy, people, tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("hushtable.release.files.write_table", interrupted)
    answer = call("run", policy, "--data", people)
    assert answer.code == 130
    assert "Nothing was written" in answer.err
    assert not (tmp_path / "release").exists()
    assert left_behind(tmp_path) == []
    assert call("run", policy, "--data", people, "--json").data["code"] == "cancelled"


@pytest.mark.parametrize("algorithm", ["mdav: {quality: best, refine_seconds: 0.000001}",
                                       "mondrian: {refine: true, refine_seconds: 0.000001}"])  # fmt: skip
def test_a_run_that_time_cut_short_says_so(call, people, tmp_path, algorithm, monkeypatch):
    monkeypatch.setattr(descent, "HOT_ROUNDS", 120)
    policy = tmp_path / "short.yaml"
    policy.write_text(f"{POLICY}algorithm: {{{algorithm}}}\n")
    answer = call("run", policy, "--data", people)
    assert answer.code == 0
    assert "stopped by its time limit" in answer.words
    assert '"stopped_by_time": true' in (tmp_path / "release.private" / "companion.json").read_text()
    policy.write_text(policy.read_text().replace("0.000001", "3600"))
    answer = call("run", policy, "--data", people, "--overwrite")
    assert "stopped by its time limit" not in answer.words
    assert '"stopped_by_time": false' in (tmp_path / "release.private" / "companion.json").read_text()


def test_metrics_of_a_run_are_written_even_if_it_fails(call, policy, people, tmp_path):
    words = ("run", policy, "--data", people, "--overwrite", "--metrics", "run.prom")
    assert call(*words).code == 0
    text = (tmp_path / "run.prom").read_text()
    assert 'hushtable_run_success{target="release"} 1\n' in text
    assert 'hushtable_run_records{target="release"} 40\n' in text
    policy.write_text(policy.read_text().replace("k: 3", "k: 3000"))
    assert call(*words).code == 3
    text = (tmp_path / "run.prom").read_text()
    assert 'hushtable_run_exit_code{target="release"} 3\n' in text
    assert "records" not in text
