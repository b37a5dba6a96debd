"""Anonymizer: the same work in scikit-learn's manner."""

from __future__ import annotations

from typing import Any, Self

from hushtable.api import run_plan
from hushtable.engines.apply import apply_regions
from hushtable.engines.release import Release
from hushtable.errors import UsageError
from hushtable.io.frames import like, to_arrow
from hushtable.policy.policy import Policy

__all__ = ["Anonymizer"]


class Anonymizer:
    """Learns a partition from one table and applies its regions to others.

    ``fit_transform`` gives the release itself, its rows in published order. ``transform`` publishes new
    records in the regions that were fitted, verifies them on their own, and raises if a model is violated.

    Parameters
    ----------
    policy : Policy

    Attributes
    ----------
    release_ : Release
        The release of the fitted table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)])
    >>> anonymizer = ht.Anonymizer(policy).fit(pa.table({"age": [30, 31, 52, 53], "pay": [1, 2, 3, 4]}))
    >>> anonymizer.transform(pa.table({"age": [29, 40, 70, 60], "pay": [5, 6, 7, 8]})).to_pydict()
    {'age': ['< 50', '< 50', '>= 50', '>= 50'], 'pay': [5, 6, 7, 8]}
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._output = "default"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Anonymize a table and keep its regions. ``y`` is ignored, as in every transformer without a target."""
        self.release_: Release = run_plan(X, self.policy.plan())
        self._fitted = self.policy
        return self

    def transform(self, X: Any) -> Any:
        """Publish new records in the fitted regions."""
        if not hasattr(self, "release_"):
            raise UsageError("This Anonymizer is not fitted yet.", code="not-fitted", hint="Call fit first.")
        if self.policy != self._fitted:
            raise UsageError(
                "The policy is another one than that which this Anonymizer was fitted under.",
                code="not-fitted",
                hint="Call fit again.",
            )
        plan = self.policy.plan()
        fitted = self.release_
        return self._shown(apply_regions(to_arrow(X), plan, fitted.problem, fitted.partition, source=X))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return the release of a table."""
        return self._shown(self.fit(X).release_)

    def _shown(self, release: Release) -> Any:
        if self._output == "default":
            return release.frame
        if self._output == "pandas":
            import pandas

            return like(release.table, pandas.DataFrame())
        import polars

        return like(release.table, polars.DataFrame())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        return {"policy": self.policy}

    def set_params(self, **params: Any) -> Self:
        """Set the parameters."""
        for name, value in params.items():
            if name != "policy":
                raise UsageError(f"Anonymizer has no parameter {name!r}.", hint="Known: policy.")
            self.policy = value
        return self

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the kind of frame that is returned: "default" (as given), "pandas" or "polars"."""
        if transform is not None:
            if transform not in ("default", "pandas", "polars"):
                raise UsageError(
                    f"set_output takes 'default', 'pandas' or 'polars'. Got {transform!r} instead.", code="output"
                )
            self._output = transform
        return self
