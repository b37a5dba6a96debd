"""Survey information about records: how many people each represents, and which household it belongs to.

Risks use both, and measures of counts use the weights. Neither is published, since both single people out; only the
mean weights of classes can be (``release.class_weights``). A weight counts people of the population, so the weights of
a table sum to its size. Equal weights say no more than a sampling fraction, and households of one no more than their
members' own risk: both are refused, since they are probably a mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.errors import DataError, counted
from hushtable.schema.columns import Kind, Role
from hushtable.schema.prepare import prepare

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.table.plan import TablePlan


@dataclass(frozen=True)
class Survey:
    """Weights and households of the sample's rows.

    Attributes
    ----------
    weights : float64 array
        People of the population that each row represents; empty without a column of weights.
    households : int64 array
        The household of each row, numbered from 0; empty without a column of households.
    """

    weights: FloatArray = field(default_factory=lambda: np.empty(0))
    households: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def largest_household(self) -> int:
        """Members of the largest household; 0 without a column of households."""
        return int(np.bincount(self.households).max(initial=0))


def summed_weights(weights: FloatArray, labels: AnyArray, n: int) -> FloatArray:
    """Return the sum of the weights for each of ``n`` labels, the same for rows in any order.

    Examples
    --------
    >>> summed_weights(np.array([10.0, 12.5, 20.0]), np.array([1, 0, 1]), 2).tolist()
    [12.5, 30.0]
    """
    # sums of floats depend on their order in the last digit
    order = np.argsort(weights, kind="stable")
    return np.bincount(labels[order], weights=weights[order], minlength=n).astype(np.float64)


def read_survey(table: pa.Table, plan: TablePlan) -> Survey | None:
    """Read the columns with the roles ``weight`` and ``cluster``; None if the plan has neither.

    Raises
    ------
    DataError
        If the weights or households cannot be used, before any other work.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hushtable.table.plan import ColumnPlan, TablePlan
    >>> plan = TablePlan((ColumnPlan("w", Role.WEIGHT), ColumnPlan("home", Role.CLUSTER)))
    >>> found = read_survey(pa.table({"w": [10, 12.5], "home": ["a", "a"]}), plan)
    >>> found.weights.tolist(), found.households.tolist()
    ([10.0, 12.5], [0, 0])
    >>> read_survey(pa.table({"w": [10, -1], "home": ["a", "a"]}), plan)
    Traceback (most recent call last):
    hushtable.errors.DataError: 1 of 2 weights in column 'w' are not above 0. ...
    """
    weight, cluster = plan.named(Role.WEIGHT), plan.named(Role.CLUSTER)
    if not weight and not cluster:
        return None
    nothing = Survey()
    return Survey(
        read_weights(table, weight[0], plan) if weight else nothing.weights,
        _households(table, cluster[0], plan) if cluster else nothing.households,
    )


def read_numbers(column: pa.ChunkedArray, name: str, missing_values: Sequence[str]) -> FloatArray:
    """Return a column's numbers, however they are written; missing ones are NaN.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_numbers(pa.chunked_array([["10", "12.5", ""]]), "w", ()).tolist()
    [10.0, 12.5, nan]
    """
    prepared = prepare(column, name=name, kind=Kind.NUMERIC, missing_values=missing_values)
    numbers = np.append(prepared.values.cast("float64").to_numpy(zero_copy_only=False), np.nan)
    return np.asarray(numbers[prepared.codes()], dtype=np.float64)


def read_weights(table: pa.Table, name: str, plan: TablePlan) -> FloatArray:
    """Return the weights of a table's rows; ``read_survey`` says when they are refused."""
    weights = read_numbers(table.column(name), name, plan.missing_values)
    n = len(weights)
    if missing := int(np.count_nonzero(~np.isfinite(weights))):
        raise DataError(
            f"{missing} of {n} weights in column {name!r} are missing.",
            code="missing-weight",
            hint="Fill them, remove those records, or give the column the role 'drop'.",
        )
    if below := int(np.count_nonzero(weights <= 0)):
        raise DataError(
            f"{below} of {n} weights in column {name!r} are not above 0.",
            code="bad-weight",
            hint="A weight says how many people a record represents: correct the column, or remove those records.",
        )
    if n > 1 and weights.min() == weights.max():
        raise DataError(
            f"All weights in column {name!r} are the same.",
            code="constant-weight",
            hint="Give the column the role 'drop', and the risks a 'fraction': one divided by this weight.",
        )
    if weights.sum() <= n:
        raise DataError(
            f"The weights in column {name!r} sum to no more than the number of records.",
            code="relative-weights",
            hint="They seem to be relative: multiply them by the size of the population / the number of records.",
        )
    return weights


def _households(table: pa.Table, name: str, plan: TablePlan) -> IntArray:
    prepared = prepare(table.column(name), name=name, kind=Kind.NOMINAL, missing_values=plan.missing_values)
    if prepared.missing:
        raise DataError(
            f"Column {name!r} does not name the household of {counted(prepared.missing, 'record', 'records')}.",
            code="missing-household",
            hint="Fill the column: people who live alone get a separate household.",
        )
    households = prepared.codes().astype(np.int64)
    sizes = np.bincount(households)
    if sizes.max() == 1:
        raise DataError(
            f"Every household in column {name!r} has one record.",
            code="households-of-one",
            hint="Give the column the role 'drop': household risk would be the risk of each person.",
        )
    return households
