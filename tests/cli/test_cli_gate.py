from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support_cli import CANARY, POLICY, rows, write_csv

ROOT = Path(__file__).resolve().parents[2]
# where the command is, for whatever calls it by name
ENV = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]), "COLUMNS": "300"}


def verdicts(answer) -> dict[tuple[str, str | None], str]:
    return {(one["table"], one["policy"]): one["verdict"] for one in answer.data["tables"]}


def test_every_table_is_held_against_the_nearest_policy(call, release, people, policy):
    answer = call("gate", "--json")
    assert answer.code == 1
    assert verdicts(answer) == {
        ("people.csv", "policy.yaml"): "violated",
        ("release/release.csv", "release/policy.yaml"): "holds",
    }
    answer = call("gate", "release")
    assert (answer.code, "holds" in answer.out) == (0, True)
    answer = call("gate", people)
    assert (answer.code, "'name'" in answer.out) == (1, True)
    # a stronger policy further up does not count, one in the same folder does
    policy.write_text(POLICY.replace("k: 3", "k: 30"))
    assert call("gate", "release").code == 0
    (release / "public.yaml").write_text(policy.read_text())
    assert call("gate", "release").code == 1


def test_linked_tables_are_verified_together(call, tmp_path):
    (tmp_path / "policy.yaml").write_text(
        "tables:\n  people: {key: id, columns: {age: {role: quasi, kind: numeric, hierarchy: {intervals: [20, 40]}}}}\n"
        "  visits: {of: people, columns: {reason: {role: quasi}}}\nmodels: [k-anonymity: {k: 3}]\nsuppression: 0.5\n"
    )
    (tmp_path / "raw").mkdir()
    write_csv(tmp_path / "raw" / "people.csv", [[str(i), str(20 + i)] for i in range(12)], "id,age")
    write_csv(tmp_path / "raw" / "visits.csv", [[str(i), "cold" if i else "burn"] for i in range(12)], "id,reason")
    assert call("run", "policy.yaml", "--data", "raw", "--output", "release").code == 0
    answer = call("gate", "--json")
    assert answer.code == 1
    assert verdicts(answer) == {
        **{(f"raw/{name}.csv", "policy.yaml"): "violated" for name in ("people", "visits")},
        **{(f"release/{name}.csv", "release/policy.yaml"): "holds" for name in ("people", "visits")},
    }
    (tmp_path / "raw" / "people.csv").unlink()
    answer = call("gate", "raw")
    assert answer.code == 2 and "There is no table 'people', which the policy names" in answer.words


def test_policies_elsewhere_count_where_none_is_near(call, release, tmp_path):
    (tmp_path / "policies").mkdir()
    shutil.rmtree(tmp_path / "release.private")
    (release / "policy.yaml").unlink()
    (tmp_path / "policy.yaml").rename(tmp_path / "policies" / "public.yaml")
    assert verdicts(call("gate", "release", "--json")) == {("release/release.csv", "policies/public.yaml"): "holds"}
    assert call("gate", "release", "--policies", "release", "--json").data["tables"] == []


def test_which_tables_a_policy_is_about(call, policy, tmp_path):
    cells = [row[1:] for row in rows()]
    write_csv(tmp_path / "no-names.csv", cells, "age,zip,disease")
    write_csv(tmp_path / "no-zip.csv", [[row[0], row[2]] for row in cells], "age,disease")
    write_csv(tmp_path / "names.csv", [["person 1", "30"]], "name,age")
    write_csv(tmp_path / "only-names.csv", [["person 1", "1"]], "name,price")
    write_csv(tmp_path / "no-values.csv", [row[:2] for row in cells], "age,zip")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / ".hidden").mkdir()
    shutil.copy(tmp_path / "names.csv", tmp_path / ".hidden")
    (tmp_path / "other.yaml").write_text("models: [a]\n")
    answer = call("gate", "--json")
    assert verdicts(answer) == {
        ("names.csv", "policy.yaml"): "violated",
        ("no-names.csv", "policy.yaml"): "violated",
        ("no-values.csv", "policy.yaml"): "unverified",
    }
    assert call("gate", "no-values.csv").code == 2
    assert call("gate", "no-zip.csv", "only-names.csv").code == 0
    assert "nothing to check" in call("gate", "no-zip.csv").out


def test_a_file_of_a_companion_is_refused_when_it_is_named(call, release, tmp_path):
    named = sorted((tmp_path / "release.private").iterdir())
    answer = call("gate", *named, "--json")
    assert (answer.code, {one["verdict"] for one in answer.data["tables"]}) == (1, {"violated"})
    assert len(answer.data["tables"]) == len(named)


def test_what_cannot_be_read_is_not_passed_and_nothing_is_quoted(call, policy, tmp_path):
    (tmp_path / "bad.parquet").write_text(CANARY)
    write_csv(tmp_path / "cells.csv", [["30", CANARY, "flu"]], "age,zip,disease")
    answer = call("gate")
    assert answer.code == 1
    assert CANARY not in answer.out + answer.err
    assert call("gate", "bad.parquet").code == 2
    policy.write_text("columns: {age: {rolle: quasi}}\nmodels: []\n")
    assert call("gate").code == 2


@pytest.fixture
def repository(release, tmp_path) -> Path:
    """A git repository with a release and its policy; its first commit is yet to come."""
    place = tmp_path / "repository"
    place.mkdir()
    shutil.move(release, place / "release")
    shutil.move(tmp_path / "policy.yaml", place / "policy.yaml")
    for words in (["init", "-q"], ["config", "user.name", "T"], ["config", "user.email", "t@example.invalid"]):
        subprocess.run(["git", *words], cwd=place, check=True)
    return place


def commit(place: Path) -> subprocess.CompletedProcess:
    subprocess.run(["git", "add", "-A"], cwd=place, check=True)
    return subprocess.run(["git", "commit", "-m", "x"], cwd=place, env=ENV, capture_output=True, text=True, timeout=60)


def test_pre_commit_refuses_a_commit_with_a_table_that_violates(repository, people, monkeypatch):
    pytest.importorskip("pre_commit")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(repository.parent / "cache"))
    monkeypatch.setitem(ENV, "PRE_COMMIT_HOME", str(repository.parent / "cache"))
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    # the environment that pre-commit would install from our repository is the one that these tests run in
    config = {"repos": [{"repo": "local", "hooks": [{**hook, "language": "system"}]}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "pre_commit", "install"], cwd=repository, env=ENV, check=True)
    first = commit(repository)
    assert first.returncode == 0, first.stdout + first.stderr
    shutil.copy(people, repository / "people.csv")
    second = commit(repository)
    assert second.returncode == 1
    assert "people.csv under policy.yaml: violated" in second.stderr
    assert "release.csv" not in second.stderr
    (repository / "people.csv").unlink()
    shutil.copytree(repository.parent / "release.private", repository / "release.private")
    assert "private companion" in commit(repository).stderr


def test_the_manifest_of_the_hook_is_what_pre_commit_expects():
    manifest = pytest.importorskip("pre_commit.clientlib").load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))
    assert [hook["id"] for hook in manifest] == ["hushtable-verify"]


def run_step(step: dict, inputs: dict[str, str], place: Path) -> subprocess.CompletedProcess:
    """A step of the composite action, as the runner calls it."""
    env = {**ENV, "RUNNER_TEMP": str(place.parent), "GITHUB_ACTION_PATH": str(ROOT)}
    for name, value in step["env"].items():
        env[name] = re.sub(r"\$\{\{ inputs\.(\w+) }}", lambda match: inputs[match[1]], value)
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(words, cwd=place, env=env, capture_output=True, text=True, timeout=600)


@pytest.fixture
def action() -> dict:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def defaults(action: dict) -> dict[str, str]:
    return {name: given["default"] for name, given in action["inputs"].items()}


def test_the_action_fails_where_a_table_violates(action, repository, people):
    assert action["runs"]["using"] == "composite"
    _, check = action["runs"]["steps"]
    installed = repository.parent / "hushtable" / "bin"
    installed.mkdir(parents=True)
    (installed / "hushtable").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hushtable "$@"\n')
    (installed / "hushtable").chmod(0o755)
    given = defaults(action)
    shutil.copy(people, repository / "people.csv")
    answer = run_step(check, given, repository)
    assert (answer.returncode, "violated" in answer.stdout) == (1, True)
    assert run_step(check, {**given, "paths": "release policy.yaml"}, repository).returncode == 0
    # nothing that an input says is run
    run_step(check, {**given, "paths": "$(touch ran) ;touch ran"}, repository)
    assert not (repository / "ran").exists()


@pytest.mark.slow
def test_the_action_installs_itself_and_the_hook_its_own_environment(action, repository, people, monkeypatch):
    install, check = action["runs"]["steps"]
    given = defaults(action)
    assert run_step(install, given, repository).returncode == 0
    assert run_step(check, given, repository).returncode == 0
    monkeypatch.setitem(ENV, "PRE_COMMIT_HOME", str(repository.parent / "cache"))
    subprocess.run(["git", "add", "-A"], cwd=repository, check=True)
    shutil.copy(people, repository / "people.csv")
    subprocess.run(["git", "add", "-A"], cwd=repository, check=True)
    words = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "hushtable-verify", "--all-files"]
    answer = subprocess.run(words, cwd=repository, env=ENV, capture_output=True, text=True, timeout=900)
    assert (answer.returncode, "violated" in answer.stdout) == (1, True), answer.stdout + answer.stderr


def test_the_documented_gitlab_job_fails_where_a_table_violates(repository, people):
    page = (ROOT / "docs" / "howto" / "ci-gate.md").read_text(encoding="utf-8")
    (text,) = (block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "image:" in block)
    (job,) = (job for job in yaml.safe_load(text).values() if "script" in job)
    install, *lines = job["script"]
    assert install.startswith("pip install ")
    script = ["bash", "-eo", "pipefail", "-c", "\n".join(lines)]
    assert subprocess.run(script, cwd=repository, env=ENV, capture_output=True, timeout=60).returncode == 0
    shutil.copy(people, repository / "people.csv")
    assert subprocess.run(script, cwd=repository, env=ENV, capture_output=True, timeout=60).returncode == 1


def test_a_path_that_is_not_there_does_not_pass(call, tmp_path):
    """A gate with a misspelled folder found nothing to check, and opened."""
    answer = call("gate", tmp_path / "no-such-folder")
    assert answer.code == 2
    assert "There is no file" in answer.err
    assert call("gate", tmp_path, "--policies", tmp_path / "nowhere").code == 2
