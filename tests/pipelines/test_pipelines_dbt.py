"""The example for dbt, run by dbt on DuckDB."""

from __future__ import annotations

import shutil
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "dbt"


def built(place: Path) -> int:
    """Rows of the model."""
    import duckdb

    with duckdb.connect(str(place / "clinic.duckdb"), read_only=True) as database:
        ((rows,),) = database.execute("select count(*) from patients_open").fetchall()
    return rows


def test_a_model_that_fails_its_audit_is_not_built(place, program):
    shutil.copytree(EXAMPLE, place, dirs_exist_ok=True)
    env = {"DBT_PROFILES_DIR": str(place), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DO_NOT_TRACK": "1"}
    program("dbt", "dbt", "run", **env)
    before = built(place)
    assert before > 0
    model = place / "models" / "patients_open.sql"
    model.write_text(model.read_text().replace("'k=5'", "'k=50000'"))
    said = program("dbt", "dbt", "run", code=1, **env)
    assert "hushtable audit (1)" in said
    assert not list(place.glob(".audit*"))
    # the model of the run before is still there
    assert built(place) == before
