"""The asset, materialized by Dagster."""

from __future__ import annotations

import pytest


def test_an_asset_is_a_release_with_a_data_version(place, monkeypatch):
    dagster = pytest.importorskip("dagster", reason="make pipelines")
    from hushtable.pipelines.dagster import release_asset

    monkeypatch.setenv("DAGSTER_HOME", str(place))

    @dagster.asset
    def patients() -> None:
        """Upstream."""

    made = release_asset(
        "release",
        data=str(place / "patients.csv"),
        policy=str(place / "policy.yaml"),
        target=str(place / "release"),
        metrics=str(place / "nightly.prom"),
        deps=[patients],
        group_name="open",
    )

    def materialized(**options):
        with dagster.DagsterInstance.ephemeral() as instance:
            return dagster.materialize([patients, made], instance=instance, **options)

    def told(result):
        (one,) = result.asset_materializations_for_node("release")
        return {name: value.value for name, value in one.metadata.items()}, one.tags["dagster/data_version"]

    first, version = told(materialized())
    assert (first["changed"], first["released"] + first["suppressed"]) == (True, 400)
    again, same = told(materialized())
    assert (again["changed"], same) == (False, version)
    policy = place / "policy.yaml"
    policy.write_text(policy.read_text().replace("k: 5", "k: 5000"))
    failed = materialized(raise_on_error=False)
    assert not failed.success
    assert "infeasible: " in str(failed.failure_data_for_node("release").user_failure_data.description)
    assert 'hushtable_run_exit_code{target="release"} 3' in (place / "nightly.prom").read_text()
