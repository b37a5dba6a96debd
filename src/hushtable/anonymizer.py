"""Anonymizer: the scikit-learn interface."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa

from hushtable.engines import local
from hushtable.engines.apply import apply_regions, region_cells
from hushtable.engines.release import Release
from hushtable.errors import ParameterError, PrivacyLeakWarning, UsageError, counted
from hushtable.estimator import Estimator, named
from hushtable.io.frames import indexed_like, like
from hushtable.policy.policy import Policy
from hushtable.schema.columns import Role


class Anonymizer(Estimator):
    """Learns a partition from one table and applies its regions to others: a transformer for scikit-learn.

    ``fit`` makes a verified release. The result of ``transform`` and ``fit_transform`` depends on its use:

    - To publish (the default), rows are sorted by their cells, so that nobody knows which person they belong to. New
    records are verified on their own, and refused if they violate a model. Labels ``y`` would not match these rows, so
    they are refused.
    - With ``order="input"``, the same rows in the order of the input. That order links every row to its person, so this
    warns. Use it to train a model on exactly what will be published.
    - With ``publish=False``, any rows in the order of the input, even a single one, for models that predict from
    regions. Nothing is verified or promised: do not publish the result.

    Parameters
    ----------
    policy : Policy
    order : {"published", "input"}
    publish : bool

    Attributes
    ----------
    release_ : Release
        The verified release of the fitted table. It contains the original, and so does a pickled Anonymizer.
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)])
    >>> anonymizer = ht.Anonymizer(policy).fit(pa.table({"age": [30, 31, 52, 53], "pay": [1, 2, 3, 4]}))
    >>> anonymizer.transform(pa.table({"age": [60, 29, 70, 40], "pay": [5, 6, 7, 8]})).to_pydict()
    {'age': ['< 50', '< 50', '>= 50', '>= 50'], 'pay': [6, 8, 5, 7]}
    >>> anonymizer.set_params(publish=False).transform(pa.table({"age": [60], "pay": [5]})).to_pydict()
    {'age': ['>= 50'], 'pay': [5]}
    """

    def __init__(
        self, policy: Policy, *, order: Literal["published", "input"] = "published", publish: bool = True
    ) -> None:
        self.policy = policy
        self.order = order
        self.publish = publish

    def fit(self, X: Any, y: Any = None) -> Self:
        """Anonymize a table and keep its regions. ``y`` is ignored; in published order, it is refused."""
        self._check_parameters()
        self._check_labels(y)
        table = self._fitting(X)
        self._fitted = self.policy.for_columns(table.column_names)
        self.release_: Release = local.run(table, self._fitted.plan(), source=X if named(X) else table)
        return self

    def transform(self, X: Any) -> Any:
        """Return new records in the fitted regions."""
        self._check_same()
        fitted, plan = self.release_, self._fitted.plan()
        table = self._fitted_table(X)
        if not self.publish:
            return self._as_output(region_cells(table, plan, fitted.problem, fitted.partition), X)
        made = apply_regions(table, plan, fitted.problem, fitted.partition, source=table)
        return self._released(made, X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return the release of a table; with ``publish=False``, its rows in their regions."""
        self.fit(X, y)
        return self._released(self.release_, X) if self.publish else self.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that ``transform`` returns; identifiers are not among them."""
        self._check_fitted()
        if input_features is not None and list(input_features) != self._columns_in:
            raise ParameterError(
                "input_features is not equal to feature_names_in_: the names differ from the fitted ones.",
                hint="Leave them out.",
            )
        plan = self._fitted.table_plan()
        return np.array([c.name for c in plan.columns if c.role is not Role.IDENTIFIER], dtype=object)

    def _released(self, release: Release, X: Any) -> Any:
        if self.order == "published":
            return self._as_output(release.table, X, published=True)
        if release.n_suppressed:
            raise UsageError(
                f"{counted(release.n_suppressed, 'row was', 'rows were')} suppressed, so the others do not match the "
                "labels.",
                code="suppressed",
                hint="Set the policy's suppression to 0, or publish=False, which returns all rows.",
            )
        warnings.warn(
            "order='input' keeps the input's row order, which links every row to its person. Do not publish it.",
            PrivacyLeakWarning,
            stacklevel=3,
        )
        return self._as_output(release.table.take(pa.array(np.argsort(release.source_rows, kind="stable"))), X)

    def _as_output(self, table: pa.Table, X: Any, *, published: bool = False) -> Any:
        """Return a table as the requested kind of frame; unless it is published, with the index of the input."""
        if self._output != "default":
            made = self._framed(table)
        elif named(X):
            coarser = self._fitted.named(Role.QUASI)
            made = like(table, X, [name for name in table.column_names if name not in coarser])
        else:
            return _array(table)
        return made if published else indexed_like(made, X, slice(None))

    def _check_parameters(self) -> None:
        if not isinstance(self.policy, Policy):
            raise ParameterError(
                f"The 'policy' parameter of Anonymizer must be a Policy. Got {type(self.policy).__name__} instead.",
                hint="Write ht.Anonymizer(ht.Policy(quasi=[...], models=[...])).",
            )
        if self.order not in ("published", "input"):
            raise ParameterError(
                f"The 'order' parameter of Anonymizer must be 'published' or 'input'. Got {self.order!r} instead."
            )
        if not isinstance(self.publish, bool):
            raise ParameterError(f"The 'publish' parameter of Anonymizer must be a bool. Got {self.publish!r} instead.")

    def _check_labels(self, y: Any) -> None:
        if y is not None and self.publish and self.order == "published":
            raise UsageError(
                "Rows are published in a different order, so the labels y would not match them.",
                code="labels",
                hint="Write Anonymizer(policy, publish=False) to train a model that predicts from regions, or "
                "Anonymizer(policy, order='input') to train on exactly what is published.",
            )

    def _check_same(self) -> None:
        self._check_parameters()
        self._check_fitted()
        if self.policy.for_columns(self._columns_in) != self._fitted:
            raise UsageError(
                "This Anonymizer was fitted with another policy.",
                code="not-fitted",
                hint="Call fit again.",
            )


def _array(table: pa.Table) -> Any:
    """Return columns as an array without names: numbers if all columns are numbers, otherwise objects."""
    columns = [column.to_pandas().to_numpy() for column in table.columns]
    numbers = all(column.dtype.kind in "biuf" for column in columns)
    return np.column_stack(columns) if numbers else np.column_stack([c.astype(object) for c in columns])
