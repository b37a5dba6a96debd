"""Dagster: an asset that is a release. Needs ``dagster``."""

from __future__ import annotations

from typing import Any

from dagster import AssetsDefinition, DataVersion, Failure, MaterializeResult, asset

from hushtable.errors import HushtableError
from hushtable.pipelines.publish import publish

__all__ = ["release_asset"]


def release_asset(
    name: str,
    *,
    data: str | list[str],
    policy: str,
    target: str,
    to: str | None = None,
    engine: str = "auto",
    metrics: str | None = None,
    **options: Any,
) -> AssetsDefinition:
    """Return an asset that makes a release when it is materialized.

    Its data version is a digest of the published files, so that assets downstream of an unchanged release stay up to
    date.

    Parameters
    ----------
    name : str
    data, policy, target, to, engine, metrics
        As for ``hushtable.pipelines.publish.publish``.
    **options
        For ``dagster.asset``, such as ``deps`` and ``group_name``.

    Examples
    --------
    ::

        definitions = Definitions(
            assets=[release_asset("patients", data="patients.csv", policy="policy.yaml", target="release")]
        )
    """

    @asset(name=name, **options)
    def release() -> MaterializeResult[Any]:
        try:
            outcome = publish(data, policy, target, to=to, engine=engine, metrics=metrics)
        except HushtableError as error:
            # the same table under the same policy would fail again
            raise Failure(f"{error.code}: {error.message} {error.hint}".rstrip(), allow_retries=False) from None
        return MaterializeResult(metadata=outcome.as_dict(), data_version=DataVersion(outcome.version))

    return release
