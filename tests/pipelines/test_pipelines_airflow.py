"""The operator in a DAG that Airflow runs."""

from __future__ import annotations

import json

DAG = """
import json, pathlib
from airflow.sdk import DAG, task
from hushtable.pipelines.airflow import HushtableOperator

place = pathlib.Path(__file__).parents[2]
with DAG("nightly", schedule=None):
    made = HushtableOperator(
        task_id="release", data=[f"{place}/{{{{ params.data }}}}"], policy=f"{place}/policy.yaml",
        target=f"{place}/release", metrics=f"{place}/nightly.prom", params={"data": "patients.csv"},
        retries=3, retry_delay=1,
    )

    @task
    def note(told):
        (place / "told.json").write_text(json.dumps(told))

    note(made.output)
"""


def test_a_dag_makes_a_release_once_and_keeps_it_where_it_fails(place, program):
    home = place / "airflow"
    (home / "dags").mkdir(parents=True)
    (home / "dags" / "nightly.py").write_text(DAG, encoding="utf-8")
    env = {"AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}

    def airflow(*words: str, code: int = 0) -> str:
        return program("airflow", "airflow", *words, code=code, **env)

    airflow("db", "migrate")
    airflow("dags", "test", "nightly")
    first = json.loads((place / "told.json").read_text())
    assert first["changed"] is True
    assert first["released"] + first["suppressed"] == 400
    airflow("dags", "test", "nightly")
    again = json.loads((place / "told.json").read_text())
    assert (again["changed"], again["version"]) == (False, first["version"])
    published = (place / "release" / "release.csv").read_bytes()
    policy = place / "policy.yaml"
    policy.write_text(policy.read_text().replace("k: 5", "k: 5000"))
    said = airflow("dags", "test", "nightly", code=1)
    assert "infeasible: " in said
    assert "UP_FOR_RETRY" not in said
    assert (place / "release" / "release.csv").read_bytes() == published
    assert 'hushtable_run_exit_code{target="release"} 3' in (place / "nightly.prom").read_text()
