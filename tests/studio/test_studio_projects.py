"""Projects: folders of their own, and no way out of them."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import subprocess
import sys
import threading

import pytest
from support_studio import finished

from hushtable.errors import HushtableError, PolicyError, UsageError
from hushtable.io.files import read_table
from hushtable.studio.projects import HOME, Claim, Projects, default_home, inside, safe_name
from hushtable.studio.work.tables import table_of


def test_the_folder_is_the_users_alone(tmp_path, monkeypatch):
    monkeypatch.setenv(HOME, str(tmp_path / "studio"))
    assert default_home() == tmp_path / "studio"
    claim = Claim(default_home())
    assert default_home().stat().st_mode & 0o077 == 0
    claim.release()


def test_one_studio_per_folder(tmp_path):
    claim = Claim(tmp_path)
    with pytest.raises(UsageError, match="Another studio"):
        Claim(tmp_path)
    claim.release()
    Claim(tmp_path).release()


def test_a_killed_studio_lets_go(tmp_path):
    code = "import os, sys; from pathlib import Path; from hushtable.studio.projects import Claim"
    code += f"; claim = Claim(Path({str(tmp_path)!r})); os._exit(9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    Claim(tmp_path).release()


@pytest.mark.parametrize(
    "name",
    ["../x.csv", "/etc/passwd", "a/b.csv", "a\\b.csv", "..", ".hidden.csv", "", "a\0.csv", "x" * 200, "a.csv ",
     "ä" * 100, "CON.csv\n", "a..b", "-a.csv", "a*.csv", "a?.csv", "[a].csv", "$a.csv", "a$b.csv",
     "a\u202eb.csv", "\ud800.csv"],
)  # fmt: skip
def test_names_that_could_lead_elsewhere_are_refused(name):
    with pytest.raises(UsageError):
        safe_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "patients.csv",
        "covid tests für Ärzte.csv",
        "Download (1).csv",
        "a\u0308.csv",
        "患者.csv",
        "मरीज़.csv",
        "a, b+c.csv",
    ],
)
def test_names_that_people_give_their_files_are_accepted(name):
    assert safe_name(name) == name


@pytest.mark.parametrize("name", ["../other", "/etc/passwd", "a/../../b", "x\0y"])
def test_no_path_leads_out(tmp_path, name):
    with pytest.raises(UsageError, match="outside"):
        inside(tmp_path / "p", name)


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "p" / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="outside"):
        inside(tmp_path / "p", "link")


@pytest.mark.parametrize("name", ["nope", "../projects", "0" * 12, ".", "", "ABCDEF012345"])
def test_a_project_that_is_not_there(tmp_path, name):
    with pytest.raises(UsageError, match="no such project"):
        Projects(tmp_path)[name]


def test_deleting_takes_everything_with_it(tmp_path):
    projects = Projects(tmp_path)
    project = projects.create("One")
    (project.folder / "data" / "people.csv").write_text("secret")
    projects.delete(project.id)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    assert projects.all() == []


def test_titles_are_one_printable_line(tmp_path):
    projects = Projects(tmp_path)
    assert projects.create("  a\n\x1b[31m b\ud800 ").facts["name"] == "a [31m b"
    for bad in ("", " \n", "x" * 81):
        with pytest.raises(HushtableError):
            projects.create(bad)


def test_two_tabs_do_not_lose_each_others_changes(tmp_path):
    project = Projects(tmp_path).create("p")
    project.policy_file.write_text("seed: 0\n")

    def add(n: int) -> None:
        project.edit(lambda draft: {**draft, f"k{n}": n})

    threads = [threading.Thread(target=add, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(project.document()) == 21


def test_a_revision_changes_with_the_policy(tmp_path):
    project = Projects(tmp_path).create("p")
    project.policy_file.write_text("seed: 0\n")
    before = project.revision()
    project.edit(lambda draft: {**draft, "seed": 1})
    assert project.revision() != before
    assert json.loads((project.folder / "project.json").read_text())["name"] == "p"


def test_whatever_a_killed_studio_left_is_removed(tmp_path):
    projects = Projects(tmp_path)
    project = projects.create("p")
    kept = {path for path in tmp_path.rglob("*") if path.is_file()}
    for name in (".project.json.0123456789ab.tmp", "data/.new-people.csv", "data/.0123456789ab.upload"):
        (project.folder / name).parent.mkdir(exist_ok=True)
        (project.folder / name).write_text("somebody's values")
    half = project.folder / "runs" / ".0001.0123456789ab.tmp" / "0001"
    half.mkdir(parents=True)
    (half / ".inner.tmp").write_text("x")
    projects.tidy()
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == kept


def test_a_ledger_that_the_studio_does_not_know_is_refused(studio, patients):
    """One that is not there counts as empty: a release would pass that breaks a promise with earlier ones."""
    written = patients.policy_file.read_text(encoding="utf-8")
    for file in ("releases.ledger", "/tmp/releases.ledger"):
        with pytest.raises(PolicyError, match="which the studio does not support") as refused:
            studio.set_policy(patients, f"{written}ledger: {{file: {file}, person: name}}\n")
        assert refused.value.code == "ledger"
    assert patients.policy_file.read_text(encoding="utf-8") == written


def test_an_upload_that_is_stopped_leaves_the_project_as_it_was(studio, monkeypatch):
    from hushtable.studio.work import opening

    project = studio.create("Stopped")
    for name in ("old", "new"):
        path = studio.new_upload(project, f"{name}.csv")
        path.write_text("age\n" + "".join(f"{i}\n" for i in range(20 if name == "old" else 40)))
        if name == "old":
            finished(studio, studio.opened(project, path, "old.csv"))
    before = {p.name: p.read_bytes() for p in project.folder.iterdir() if p.is_file()}

    def stopped(*args):
        raise MemoryError

    monkeypatch.setattr(opening.shutil, "copyfile", stopped)
    with pytest.raises(MemoryError):
        opening.open_upload(project, lambda share, what: None, f"data/{path.name}", "new.csv")
    assert {p.name: p.read_bytes() for p in project.folder.iterdir() if p.is_file()} == before


def test_a_workbook_is_read_once_and_stays_the_same(studio, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["age", "when", "pay", "open", "note", "void"])
    for i in range(30):
        pay = "n/a" if i % 9 == 0 else 1000.5 + i
        book.active.append([i % 5, dt.datetime(2020, 1, 1 + i % 9), pay, i % 2 == 0, None if i % 3 else "ä", None])
    book.save(tmp_path / "people.xlsx")
    project = studio.create("Sheet")
    upload = studio.new_upload(project, "people.xlsx")
    shutil.copyfile(tmp_path / "people.xlsx", upload)
    finished(studio, studio.opened(project, upload, "people.xlsx"))
    assert table_of(project).equals(read_table(tmp_path / "people.xlsx"))
