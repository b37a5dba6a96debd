"""Linked tables in the studio: opened with their policy, run, verified, attacked, reported and downloaded."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import zipfile

import pytest
from support_studio import finished

from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.errors import HushtableError, UsageError
from hushtable.io.files import write_table
from hushtable.linked.policy import LinkedPolicy
from hushtable.studio.exports import bundle, code_of, export_file, export_files
from hushtable.studio.projects import run_of
from hushtable.studio.service import done_steps

POLICY = LinkedPolicy(**{**hospital_policy(), "crowd": 60, "suppression": 1.0, "models": [{"k-anonymity": {"k": 3}}]})


def packed(tmp_path, policy=POLICY, **changes):
    """A ZIP file of the hospital's tables."""
    folder = tmp_path / "clinic"
    folder.mkdir()
    for name, table in hospital(120).items():
        write_table(table, folder / f"{name}.csv")
    (folder / "policy.yaml").write_text(policy.to_yaml())
    for name, content in changes.items():
        (folder / name.replace("_", ".")).write_text(content)
    file = tmp_path / "clinic.zip"
    with zipfile.ZipFile(file, "w") as out:
        for path in folder.iterdir():
            out.write(path, f"clinic/{path.name}")
    return file


def uploaded(studio, file, name="clinic.zip"):
    project = studio.create("Clinic")
    path = studio.new_upload(project, name)
    shutil.copyfile(file, path)
    return project, studio.opened(project, path, name)


@pytest.fixture(scope="module")
def clinic(studio, tmp_path_factory):
    project, job = uploaded(studio, packed(tmp_path_factory.mktemp("packed")))
    finished(studio, job)
    finished(studio, studio.run(project))
    return project


def test_opened_and_run(studio, clinic, client):
    assert clinic.linked
    assert clinic.facts["tables"]["people"] == 120
    run = run_of(clinic, 1)
    models = run.facts["summary"]["models"]
    assert [(m["model"], m["achieved"] >= 3, m["satisfied"]) for m in models] == [("k-anonymity", True, True)]
    assert {"data", "run"} <= done_steps(studio, clinic)
    shown = client.get(f"/api/projects/{clinic.id}/runs/1").json()
    assert shown["published"] == ["people", "stays", "prescriptions", "labs", "diagnoses"]


def test_errors_name_the_uploaded_file(studio, tmp_path):
    _, job = uploaded(studio, packed(tmp_path, people_csv='person,age\n1,"2\n'))
    failed = studio.jobs.wait(job.id, 60)
    assert failed.error["message"] == "The file 'clinic.zip/tables/people.csv' ends inside a quoted field."


def test_verified_attacked_assessed_and_reported(studio, clinic):
    for job in (studio.verify(clinic, 1), studio.attack(clinic, 1), studio.assess(clinic, 1), studio.report(clinic, 1)):
        finished(studio, job)
    run = run_of(clinic, 1)
    assert run.json("verified")["satisfied"] is True
    attacks = run.json("attacks")
    assert set(attacks["attacks"]) == {"event-linkage", "event-sweep", "event-inference"}
    assert "real people who are not in the release" in attacks["not_run"]["event-membership"]
    assert run.json("risk")["events"]["after"]["highest"] <= 1 / 3
    assert "SHA-256 of every released file" in (run.folder / "evidence.html").read_text()
    with pytest.raises(UsageError, match="no such attack"):
        studio.attack(clinic, 1, ["homogeneity"])


def test_downloaded_and_repeated(clinic, tmp_path):
    run = run_of(clinic, 1)
    names = set(export_files(run))
    assert {"people.csv", "labs.csv", "policy.yaml", "release.json", "repeat.py", "microdata.zip"} <= names
    with zipfile.ZipFile(io.BytesIO(export_file(run, "microdata.zip"))) as drawn:
        assert json.loads(drawn.read("sample.json"))["drawn"] is True
    with bundle(run) as file, zipfile.ZipFile(file) as out:
        assert "clinic.zip" not in out.namelist()
        out.extractall(tmp_path)
    assert (tmp_path / "repeat.py").read_text() == code_of(run)
    shutil.copytree(clinic.tables, tmp_path / "tables")
    said = subprocess.run([sys.executable, "repeat.py"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "5 tables are published, about 120 people." in said.stdout
    for name in ("people.csv", "labs.csv", "release.json"):
        assert (tmp_path / "repeated" / name).read_bytes() == (run.release / name).read_bytes()


def test_the_policy_is_changed_as_text(studio, clinic):
    before = clinic.policy_file.read_text()
    studio.set_policy(clinic, POLICY.changed(knows=1).to_yaml())
    assert clinic.document()["knows"] == 1
    fewer = POLICY.changed(tables={n: t for n, t in POLICY.document()["tables"].items() if n != "labs"}).to_yaml()
    with pytest.raises(UsageError, match="tables differ"):
        studio.set_policy(clinic, fewer)
    studio.set_policy(clinic, before)


def test_steps_of_one_table_are_refused(studio, clinic, client):
    for refused in (
        lambda: studio.check(clinic), lambda: studio.compare(clinic, {}), lambda: studio.look_at_all(clinic),
        lambda: studio.set_models(clinic, []), lambda: studio.apply(clinic, 1, {}),
    ):  # fmt: skip
        with pytest.raises(UsageError, match="linked tables"):
            refused()
    for what in ("classes", "rows", "space"):
        assert client.get(f"/api/projects/{clinic.id}/runs/1/{what}").status_code == 422


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"people_csv": "person,age\n"}, "'sex'"), ({"policy_yaml": "tables: {}"}, "table of people")],
)
def test_what_does_not_fit_leaves_the_project_empty(studio, tmp_path, changes, sentence):
    project, job = uploaded(studio, packed(tmp_path, **changes))
    over = studio.jobs.wait(job.id, 60)
    assert over.state == "failed"
    assert sentence in over.error["message"] + over.error["hint"]
    assert "data" not in project.facts
    assert list((project.folder / "data").iterdir()) == []


def test_hierarchy_files_travel_and_other_tables_are_refused(studio, tmp_path):
    tables = POLICY.document()["tables"]
    tests = sorted(set(hospital(120)["labs"]["test"].to_pylist()))
    tables["labs"]["columns"]["test"]["hierarchy"] = "tests.csv"
    policy = POLICY.changed(tables=tables)
    (tmp_path / "a").mkdir()
    tree = "".join(f"{test};some\n" for test in tests)
    project, job = uploaded(studio, packed(tmp_path / "a", policy, tests_csv=tree))
    finished(studio, job)
    run = run_of(project, finished(studio, studio.run(project)).result["run"])
    with bundle(run) as file, zipfile.ZipFile(file) as out:
        assert "files/tests.csv" in out.namelist()
    (tmp_path / "b").mkdir()
    project, job = uploaded(studio, packed(tmp_path / "b", policy, tests_csv=tree, neighbours_csv="person\n1\n"))
    over = studio.jobs.wait(job.id, 60)
    assert (over.state, over.error["code"]) == ("failed", "not-joined")
    assert list((project.folder / "files").iterdir()) == []
    # an upload that does not fit replaces no file of the project; one without the file uses the project's
    (tmp_path / "c").mkdir()
    (project.folder / "files" / "tests.csv").write_text(tree)
    for number, (more, state) in enumerate([({"tests_csv": "other;some\n"}, "failed"), ({}, "done")]):
        (tmp_path / "c" / str(number)).mkdir()
        path = studio.new_upload(project, "clinic.zip")
        shutil.copyfile(packed(tmp_path / "c" / str(number), policy, **more), path)
        assert studio.jobs.wait(studio.opened(project, path, "clinic.zip").id, 60).state == state
        assert (project.folder / "files" / "tests.csv").read_text() == tree


def test_one_kind_of_data_takes_the_place_of_the_other(studio, tmp_path):
    project = studio.create("Both")
    finished(studio, studio.example(project, rows=200))
    path = studio.new_upload(project, "clinic.zip")
    shutil.copyfile(packed(tmp_path), path)
    finished(studio, studio.opened(project, path, "clinic.zip"))
    assert (project.linked, project.profile) == (True, None)
    assert [p.name for p in (project.folder / "data").iterdir()] == ["tables"]
    finished(studio, studio.example(project, rows=200))
    assert (project.linked, project.facts["rows"]) == (False, 200)
    assert [p.name for p in (project.folder / "data").iterdir()] == ["patients.csv"]


def test_a_zip_without_a_policy_or_with_other_content_is_refused(studio, tmp_path):
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("people.csv", "a\n1\n")
    over = studio.jobs.wait(uploaded(studio, file)[1].id, 60)
    assert (over.state, over.error["code"]) == ("failed", "no-policy")
    file.write_bytes(b"not a zip")
    with pytest.raises(HushtableError, match=r"not that of a \.zip file"):
        uploaded(studio, file)


def test_files_outside_the_project_are_not_read(studio, tmp_path):
    tables = POLICY.document()["tables"]
    tables["labs"]["columns"]["test"]["hierarchy"] = "../../secret.csv"
    project, job = uploaded(studio, packed(tmp_path, POLICY.changed(tables=tables)))
    over = studio.jobs.wait(job.id, 60)
    assert over.state == "failed"
    assert "outside the project" in over.error["message"]
    assert not project.linked


def test_a_zip_that_unpacks_to_too_much_is_refused(studio, tmp_path):
    file = packed(tmp_path)
    project = studio.create("Bomb")
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as out:
        out.writestr("labs.tsv", "x" * (3 << 20))
    studio.limit_unpacked(project, 2)
    path = studio.new_upload(project, "clinic.zip")
    shutil.copyfile(file, path)
    over = studio.jobs.wait(studio.opened(project, path, "clinic.zip").id, 60)
    assert (over.state, over.error["code"]) == ("failed", "too-large")


def test_the_zip_file_of_a_release_is_called_one(studio, tmp_path):
    """It was read as linked tables, with five faults in its policy."""
    project = studio.create("a release")
    path = studio.new_upload(project, "bundle.zip")
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("release/policy.yaml", "columns: {age: {role: quasi}}\nmodels: [{k-anonymity: {k: 2}}]\n")
        out.writestr("release/release.json", "{}")
    over = studio.jobs.wait(studio.opened(project, path, "bundle.zip").id, 90)
    assert (over.state, over.error["code"]) == ("failed", "a-release")
    assert "original table" in over.error["hint"]
