"""The examples run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hushtable.datasets import patients, patients_policy
from hushtable.io.files import write_table
from hushtable.io.sql import write_sql
from hushtable.policy.policy import Policy

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def env(tmp_path) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "HUSHTABLE_SECRET": str(tmp_path / ".secret")}


def test_every_example_is_listed_and_tested():
    listed = set(re.findall(r"\]\(([^)]+)\)", (EXAMPLES / "README.md").read_text(encoding="utf-8")))
    listed = {name for name in listed if not name.startswith("../")}
    assert listed == {file.name for file in EXAMPLES.iterdir() if file.name not in ("README.md", "__pycache__")}
    # dbt has an environment of its own: tests/pipelines runs it
    assert listed == {"steward.sh", "data_scientist.ipynb", "nightly.py", "dbt"}


def test_the_steward(tmp_path, env):
    done = subprocess.run(["bash", str(EXAMPLES / "steward.sh")], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert (tmp_path / "release" / "release.csv").is_file()
    assert (tmp_path / "evidence.html").is_file()
    assert "prosecutor <= 0.09" in (tmp_path / "chosen.yaml").read_text()


def test_the_notebook(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "data_scientist.ipynb").read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs are not committed: in a real notebook they would show people"
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    assert names["release"].verify().ok
    assert names["chosen"].row["values"]["prosecutor"] <= 0.09
    assert "homogeneity" in capsys.readouterr().out


@pytest.fixture
def job(tmp_path, env):
    """Run the nightly job on a table and return its exit code and what it logged."""
    (tmp_path / "policy.yaml").write_text(Policy(**patients_policy()).to_yaml(), encoding="utf-8")

    def run(table, *words: str) -> tuple[int, str]:
        write_table(table, tmp_path / "patients.csv")
        call = [sys.executable, str(EXAMPLES / "nightly.py"), "policy.yaml", "patients.csv", "site/published", *words]
        done = subprocess.run(call, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert [p.name for p in (tmp_path / "site").glob(".*")] == []
        return done.returncode, done.stderr

    return run


def test_the_nightly_job(job, tmp_path):
    published = tmp_path / "site" / "published" / "release.csv"
    code, log = job(patients(300), "--highest-risk", "0.5")
    assert code == 0, log
    assert "published" in log and published.is_file()
    first = published.read_bytes()
    code, log = job(patients(300), "--highest-risk", "0.5")
    assert (code, "has not changed" in log) == (0, True)
    code, log = job(patients(320), "--highest-risk", "0.01")
    assert code == 1 and "above the gate" in log
    assert published.read_bytes() == first
    code, log = job(patients(3), "--highest-risk", "0.5")
    assert code == 3 and "infeasible" in log
    code, log = job(patients(300).drop_columns(["age"]), "--highest-risk", "0.5")
    assert code == 2
    assert published.read_bytes() == first
    code, log = job(patients(320), "--highest-risk", "0.5")
    assert code == 0 and published.read_bytes() != first


def test_the_nightly_job_on_a_database_with_several_rows_a_person(tmp_path, env):
    settings = {**patients_policy(), "entity": "patient_id"}
    (tmp_path / "policy.yaml").write_text(Policy(**settings).to_yaml(), encoding="utf-8")
    table = patients(300)
    whose = table["patient_id"].take([n // 2 for n in range(300)])
    visits = table.set_column(table.column_names.index("patient_id"), "patient_id", whose)
    write_sql(visits, f"sqlite:///{tmp_path}/clinic.db", table="visits")
    call = [sys.executable, str(EXAMPLES / "nightly.py"), "policy.yaml", "sqlite:///clinic.db?table=visits", "out"]
    done = subprocess.run([*call, "--highest-risk", "1"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.returncode, "nightly: published" in done.stderr) == (0, True), done.stderr


@pytest.mark.spark
def test_the_nightly_job_on_spark(job, tmp_path):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("needs Java")
    published = tmp_path / "site" / "published" / "release.csv"
    assert job(patients(300), "--highest-risk", "0.5", "--engine", "auto")[0] == 0
    first = published.read_bytes()
    # the same cells on one machine: nothing to publish again
    code, log = job(patients(300), "--highest-risk", "0.5")
    assert (code, "has not changed" in log) == (0, True)
    assert published.read_bytes() == first
