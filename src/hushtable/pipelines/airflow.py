"""Airflow: an operator that makes a release. Needs Airflow 3 (``apache-airflow``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from hushtable.errors import HushtableError
from hushtable.pipelines.publish import publish

__all__ = ["HushtableOperator"]


class HushtableOperator(BaseOperator):
    """Make a release and replace the last one, as ``hushtable.pipelines.publish.publish`` does.

    Its XCom describes the run: the folder, a digest of the release, sizes and seconds. A table or a policy that cannot
    be released fails the task without retries, since these would not help. Other errors are retried.

    Parameters
    ----------
    data : str or list of str
        Files and addresses.
    policy, target : str
    to, engine, metrics : str, optional
        As for ``publish``.

    Examples
    --------
    ::

        with DAG("nightly", schedule="@daily"):
            HushtableOperator(
                task_id="release", data="/data/{{ ds }}/patients.csv", policy="/etc/hushtable/policy.yaml",
                target="/srv/release",
            )
    """

    template_fields: Sequence[str] = ("data", "policy", "target", "to", "metrics")
    ui_color = "#d8ecdf"

    def __init__(
        self,
        *,
        data: str | list[str],
        policy: str,
        target: str,
        to: str | None = None,
        engine: str = "auto",
        metrics: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.data, self.policy, self.target = data, policy, target
        self.to, self.engine, self.metrics = to, engine, metrics

    def execute(self, context: Any) -> dict[str, Any]:
        """Make the release."""
        try:
            outcome = publish(self.data, self.policy, self.target, to=self.to, engine=self.engine, metrics=self.metrics)
        except HushtableError as error:
            raise AirflowFailException(f"{error.code}: {error.message} {error.hint}".rstrip()) from None
        return outcome.as_dict()
