"""What leaves the studio: never more than the release, and code that gives the same bytes again."""

from __future__ import annotations

import errno
import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

import pytest
from support_studio import finished

from hushtable.errors import OutputError, UsageError
from hushtable.io.secret import load_secret
from hushtable.policy.policy import Policy
from hushtable.studio.exports import bundle, code_of, export_file, export_files, pieces
from hushtable.studio.projects import run_of, runs_of


def test_the_code_repeats_the_release_byte_for_byte(ran, tmp_path):
    run = runs_of(ran)[0]
    shutil.copy(ran.data, tmp_path / ran.data.name)
    (tmp_path / "repeat.py").write_text(code_of(run), encoding="utf-8")
    command = [sys.executable, "repeat.py", ran.data.name]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "records are published" in said.stdout
    for name in ("release.csv", "release.json"):
        assert (tmp_path / "repeated" / name).read_bytes() == (run.release / name).read_bytes()


def test_a_column_of_stars_offers_no_sample(studio):
    project = studio.create("stars")
    path = studio.new_upload(project, "stars.csv")
    path.write_text("job,ill\n" + "a,flu\nb,gout\n" * 10, encoding="utf-8")
    finished(studio, studio.opened(project, path, "stars.csv"))
    studio.set_column(project, "job", {"role": "quasi", "kind": "nominal"})
    studio.set_column(project, "ill", {"role": "insensitive", "hierarchy": None})
    studio.set_settings(project, {"cells": "nodes"})
    offered = []
    for k in (10, 20):
        studio.set_models(project, [{"k-anonymity": {"k": k}}])
        offered.append(
            "microdata.zip" in export_files(run_of(project, finished(studio, studio.run(project)).result["run"]))
        )
    assert offered == [True, False]


def test_one_column_of_stars_leaves_a_sample(studio):
    project = studio.create("one of stars")
    path = studio.new_upload(project, "t.csv")
    path.write_text("job,age\n" + "".join(f"j{i},{i % 2}\n" for i in range(20)), encoding="utf-8")
    finished(studio, studio.opened(project, path, "t.csv"))
    for name in ("job", "age"):
        studio.set_column(project, name, {"role": "quasi", "kind": "nominal", "hierarchy": "flat"})
    studio.set_settings(project, {"cells": "nodes"})
    studio.set_models(project, [{"k-anonymity": {"k": 5}}])
    run = run_of(project, finished(studio, studio.run(project)).result["run"])
    assert "microdata.zip" in export_files(run)
    with zipfile.ZipFile(io.BytesIO(export_file(run, "microdata.zip"))) as packed:
        assert b'"empty": [\n  "job"\n ]' in packed.read("microdata.json")


def test_the_bundle_tells_neither_the_name_of_the_original_nor_how_often_it_was_tried(studio):
    """It may be handed over, and a name such as 'ward-3-Mueller.csv' is in no published cell and no policy."""
    packed = []
    for name, runs in (("people.csv", 1), ("ward-3-Mueller.csv", 2)):
        project = studio.create(f"tried {runs} times")
        path = studio.new_upload(project, name)
        path.write_text("age,ill\n" + "".join(f"{20 + i % 9},flu\n" for i in range(60)), encoding="utf-8")
        finished(studio, studio.opened(project, path, name))
        studio.set_column(project, "age", {"role": "quasi"})
        studio.set_column(project, "ill", {"role": "insensitive"})
        studio.set_models(project, [{"k-anonymity": {"k": 4}}])
        for _ in range(runs):
            run = run_of(project, finished(studio, studio.run(project)).result["run"])
        with bundle(run) as file:
            packed.append(file.read())
    assert packed[0] == packed[1]


def test_the_code_repeats_from_the_bundle(studio, tmp_path):
    """With a hierarchy file, Parquet output, and names that need quoting."""
    project = studio.create("quoted")
    head = 'who,"a ""quoted"" \\ name",city\n'
    rows = "".join(f"p{i},{20 + i % 9},c{i % 4}\n" for i in range(80))
    path = studio.new_upload(project, "odd name.csv")
    path.write_text(head + rows, encoding="utf-8")
    finished(studio, studio.opened(project, path, "odd name.csv"))
    file = studio.add_file(project, "city.csv", b"c0;west\nc1;west\nc2;east\nc3;east\n")
    studio.set_column(project, "who", {"role": "identifier"})
    studio.set_column(project, 'a "quoted" \\ name', {"role": "sensitive", "hierarchy": None})
    studio.set_column(project, "city", {"role": "quasi", "kind": "nominal", "hierarchy": file})
    studio.set_models(project, [{"k-anonymity": {"k": 4}}])
    studio.set_settings(project, {"output": {"format": "parquet"}})
    assert studio.faults(project) == []
    run = run_of(project, finished(studio, studio.run(project)).result["run"])
    with bundle(run) as file, zipfile.ZipFile(file) as packed:
        assert "odd name.csv" not in packed.namelist()
        assert {"repeat.py", "files/city.csv", "release/release.parquet"} < set(packed.namelist())
        packed.extractall(tmp_path)
    shutil.copy(project.data, tmp_path / "odd name.csv")
    subprocess.run([sys.executable, "repeat.py", "odd name.csv"], cwd=tmp_path, check=True, capture_output=True)
    again = tmp_path / "repeated" / "release.parquet"
    assert again.read_bytes() == (run.release / "release.parquet").read_bytes()
    # with the report next to the unpacked folder, nothing has to be moved
    finished(studio, studio.report(project, run.number, "general"))
    (tmp_path / "evidence.json").write_bytes(export_file(run, "evidence.json"))
    command = [sys.executable, "-m", "hushtable", "verify", "release", "--evidence", "evidence.json"]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "files match the evidence" in said.stdout


def test_nothing_but_the_release_can_be_exported(ran):
    run = runs_of(ran)[0]
    names = set(export_files(run))
    assert not names & {"view.parquet", "classes.parquet", "run.json", "patients.csv"}
    for name in ("view.parquet", "run.json", "../../project.json", "patients.csv"):
        with pytest.raises(UsageError, match="no such file"):
            export_file(run, name)
    people = ran.data.read_text(encoding="utf-8").splitlines()[1].split(",")[:2]
    with bundle(run) as file, zipfile.ZipFile(file) as inside:
        for name in inside.namelist():
            content = inside.read(name)
            for word in people:
                assert word.encode() not in content, name


@pytest.mark.parametrize("file", ["data/t.csv", "../files/t.csv", "files/../data/t.csv", "/etc/t.csv"])
def test_only_uploaded_files_can_be_a_hierarchy(studio, file):
    """The bundle contains the hierarchies, so the original must not be one."""
    project = studio.create("own data")
    path = studio.new_upload(project, "t.csv")
    path.write_text("town;region\n" + "".join(f"t{i};r{i // 4}\n" for i in range(40)))
    finished(studio, studio.opened(project, path, "t.csv"))
    studio.set_column(project, "town", {"role": "quasi", "kind": "nominal", "hierarchy": file})
    studio.set_column(project, "region", {"role": "drop"})
    with pytest.raises(UsageError, match="outside"):
        studio.run(project)
    assert "outside" in finished(studio, studio.look_at(project, "town")).result["problems"][0]


def test_only_the_local_secret_is_a_key_of_pseudonyms(studio, tmp_path):
    project = studio.create("keys")
    path = studio.new_upload(project, "t.csv")
    path.write_text("who,age\n" + "".join(f"w{i},{i % 4}\n" for i in range(40)))
    finished(studio, studio.opened(project, path, "t.csv"))
    load_secret(tmp_path / "other.key")
    keyed = {"pseudonym": {"key": str(tmp_path / "other.key")}}
    text = Policy(columns={"who": {"role": "pseudonym", "treatment": keyed}, "age": {"role": "quasi"}},
                  models=[{"k-anonymity": {"k": 4}}]).to_yaml()  # fmt: skip
    with pytest.raises(UsageError, match="outside"):
        studio.set_policy(project, text)


def test_the_bundle_is_without_the_report(studio, ran):
    finished(studio, studio.report(ran, 1, "general"))
    run = run_of(ran, 1)
    assert "evidence.html" in export_files(run)
    with bundle(run) as file, zipfile.ZipFile(file) as packed:
        assert "release/release.csv" in packed.namelist() and not {n for n in packed.namelist() if "evidence" in n}


def test_tables_about_other_people_stay_in_the_studio(studio):
    """A table of the population holds people as much as the original does."""
    project = studio.create("register")
    path = studio.new_upload(project, "sample.csv")
    path.write_text("age,ill\n" + "".join(f"{20 + i % 3},d{i % 2}\n" for i in range(60)))
    finished(studio, studio.opened(project, path, "sample.csv"))
    register = "age,name\n" + "".join(f"{20 + i % 3},Canary{i}\n" for i in range(200))
    file = studio.add_file(project, "register.csv", register.encode())
    studio.set_column(project, "age", {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": [10]}})
    studio.set_column(project, "ill", {"role": "sensitive"})
    studio.set_models(project, [{"k-map": {"k": 5}}])
    studio.set_settings(project, {"population": file})
    run = run_of(project, finished(studio, studio.run(project)).result["run"])
    with bundle(run) as file, zipfile.ZipFile(file) as packed:
        assert "release/release.csv" in packed.namelist()
        assert all(b"Canary" not in packed.read(name) for name in packed.namelist())


def test_formulas_are_escaped_for_spreadsheets(studio):
    project = studio.create("formulas")
    path = studio.new_upload(project, "f.csv")
    path.write_text("city,note\n" + "".join(f"c{i % 2},=cmd|{i % 3}\n" for i in range(30)))
    finished(studio, studio.opened(project, path, "f.csv"))
    studio.set_column(project, "city", {"role": "quasi", "kind": "nominal", "hierarchy": "flat"})
    studio.set_column(project, "note", {"role": "insensitive"})
    studio.set_models(project, [{"k-anonymity": {"k": 2}}])
    run = run_of(project, finished(studio, studio.run(project)).result["run"])
    assert ",=cmd" in export_file(run, "release.csv").decode()
    studio.set_settings(project, {"output": {"reader": "spreadsheet"}})
    run = run_of(project, finished(studio, studio.run(project)).result["run"])
    published = export_file(run, "release.csv").decode()
    assert "'=cmd" in published and ",=cmd" not in published


@pytest.mark.parametrize("damage", ["cut off", "without rows", "gone"])
def test_a_published_file_that_was_damaged_is_not_passed_over(studio, ran, damage):
    run = runs_of(ran)[0]
    file = run.release / "release.csv"
    whole = file.read_bytes()
    try:
        if damage == "gone":
            file.unlink()
        else:
            file.write_bytes(whole[:-30] if damage == "cut off" else whole[: whole.index(b"\n") + 1])
        finished(studio, studio.verify(ran, run.number))
        assert run.json("verified")["satisfied"] is False
    finally:
        file.write_bytes(whole)
    finished(studio, studio.verify(ran, run.number))
    assert run.json("verified")["satisfied"] is True


def test_the_bundle_is_no_file_that_could_stay(ran, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run = runs_of(ran)[0]
    with bundle(run) as file:
        whole = file.read()
        assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("hushtable.studio.exports._PIECE", 1000)
    assert b"".join(pieces(bundle(run))) == whole
    left = bundle(run)
    sent = pieces(left)
    assert len(next(sent)) == 1000
    sent.close()  # whoever asked for it has gone
    assert left.closed


def test_no_download_tells_when_it_was_made(ran):
    run = runs_of(ran)[0]
    with bundle(run) as file:
        before = file.read(), export_file(run, "microdata.zip")
    for path in run.release.iterdir():
        os.utime(path, (10**9, 10**9))
    with bundle(run) as file:
        assert (file.read(), export_file(run, "microdata.zip")) == before
    with zipfile.ZipFile(io.BytesIO(before[1])) as packed:
        assert {entry.date_time for entry in packed.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_bundle_that_does_not_fit_is_told(ran, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(zipfile.ZipFile, "open", full)
    with pytest.raises(OutputError, match="cannot be written: the disk is full"):
        bundle(runs_of(ran)[0])


def test_a_sample_of_the_release(ran):
    run = runs_of(ran)[0]
    assert "rows drawn from the release" in export_files(run)["microdata.zip"]
    with zipfile.ZipFile(io.BytesIO(export_file(run, "microdata.zip"))) as packed:
        assert sorted(packed.namelist()) == ["microdata.csv", "microdata.json"]
        rows = packed.read("microdata.csv").decode().splitlines()
    published = (run.release / "release.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == len(published) and rows[0] == published[0]
    with bundle(run) as file, zipfile.ZipFile(file) as packed:
        assert "microdata.zip" not in packed.namelist()


def test_what_only_the_original_shows_is_verified_with_the_original_of_the_project(studio):
    """A person with several rows: the published file does not say whose value is whose, but the table is here."""
    project = studio.create("several rows")
    path = studio.new_upload(project, "visits für Ärzte.csv")
    rows = "".join(f"p{i % 40},{20 + i % 40 // 10},{'abcd'[i % 4]}\n" for i in range(100))
    path.write_text("person,age,finding\n" + rows, encoding="utf-8")
    finished(studio, studio.opened(project, path, "visits für Ärzte.csv"))
    studio.set_columns(project, ["person"], {"role": "identifier", "kind": None, "hierarchy": None})
    studio.set_column(project, "age", {"role": "quasi", "kind": "numeric"})
    studio.set_column(project, "finding", {"role": "sensitive", "hierarchy": None})
    studio.set_models(project, [{"k-anonymity": {"k": 3}}, {"beta-likeness": {"beta": 4}}])
    studio.set_settings(project, {"entity": "person"})
    run = run_of(project, finished(studio, studio.run(project)).result["run"])
    finished(studio, studio.verify(project, run.number))
    assert run.json("verified")["satisfied"] is True
    assert [m["satisfied"] for m in run.json("verified")["models"]] == [True, True]
