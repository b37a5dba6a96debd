"""Published survey weights: every row of a class shows the mean weight of the class.

A column with ``role: weight`` and ``publish: true`` shows, in every published record, the mean weight of the published
records of its class, to three significant digits. Sums over whole classes are then those of the original weights, up
to rounding. Suppressed records have no influence, and the column does not distinguish rows of a class.

A mean still discloses something. Anyone who knows the weights of all others in a class can compute the last one, up to
rounding times the size of the class; so a class has at least three records, and anything that would allow comparing
means with each other or with individual people is refused: an ``entity``, a ledger, classes without separate cells. A
class whose people are all from one stratum shows the weight of the stratum. No model bounds that, so nothing is
published by default.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Recoding
from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.errors import IncompatibleError, VerificationError
from hushtable.models.compose import AllOf
from hushtable.release.reading_back import published_cells
from hushtable.release.recode import class_numbers
from hushtable.schema.columns import Missing, Role
from hushtable.table.plan import TablePlan
from hushtable.table.survey import read_numbers, summed_weights

LEAST = 3
"""Minimum number of records in a class with a published mean weight: of two people, each could compute the other's."""


def class_weights(weights: FloatArray, labels: AnyArray) -> FloatArray:
    """Return the mean weight of each published record's class, to three significant digits.

    Parameters
    ----------
    weights : float64 array
        Of the published records.
    labels : integer array
        Their classes.

    Examples
    --------
    >>> class_weights(np.array([10.0, 11.0, 1234.0, 11.0]), np.array([0, 0, 1, 0])).tolist()
    [10.7, 10.7, 1230.0, 10.7]
    """
    n = int(labels.max(initial=-1)) + 1
    means = summed_weights(weights, labels, n) / np.maximum(np.bincount(labels, minlength=n), 1)
    return _rounded(means)[labels]


def _rounded(numbers: FloatArray) -> FloatArray:
    return np.array([float(f"{number:.3g}") for number in numbers.tolist()], dtype=np.float64)


def check_weight_plan(plan: TablePlan, model: AllOf, algorithm: Algorithm, *, ledger: bool = False) -> None:
    """Refuse to publish weights if their means would reveal more than the mean of a class of several people.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.

    Examples
    --------
    >>> import hushtable as ht
    >>> ht.Policy(quasi=["age"], weight={"w": {"publish": True}}, models=[ht.KAnonymity(k=2)])
    Traceback (most recent call last):
    hushtable.errors.IncompatibleError: The mean weights of classes are published, but the models allow classes of 2...
    """
    recoding, least = algorithm.recoding, model.min_group_size()
    alike = "could be compared with each other, which would reveal weights of individual people"
    reasons = {
        f"{algorithm.name} publishes no classes of equal cells, so no class has a mean weight": recoding.by_number
        or recoding is Recoding.CONCEALED,
        "a person with many records ('entity') would make up most of a mean": plan.entity is not None,
        f"the means of several releases (a ledger) {alike}": ledger,
        "with 'missing: wildcard', a class may have a single record": plan.missing is Missing.WILDCARD,
    }
    for reason, holds in reasons.items():
        if holds:
            raise IncompatibleError(
                f"The mean weights of classes cannot be published: {reason}.",
                code="published-weights",
                hint="Remove 'publish' below the column of weights, or change the policy.",
            )
    if least < LEAST:
        raise IncompatibleError(
            f"The mean weights of classes are published, but the models allow classes of {least}: people could compute "
            "each other's weights.",
            code="published-weights",
            hint=f"Add 'k-anonymity: {{k: {LEAST}}}' or more, or remove 'publish' below the column of weights.",
        )


def check_class_weights(
    table: pa.Table, plan: TablePlan, original: FloatArray | None = None, rows: IntArray | None = None
) -> None:
    """Refuse a published table whose weights reveal more than one rounded mean for each class of several records.

    Parameters
    ----------
    table : pyarrow.Table
        As published.
    plan : TablePlan
    original : float64 array, optional
        The weights of the original: means are then compared with them.
    rows : int64 array, optional
        The source row of each published row.

    Raises
    ------
    VerificationError
    """
    name = plan.shown_weight
    if name is None:
        return
    labels, n = class_numbers([published_cells(table.column(quasi)) for quasi in plan.named(Role.QUASI)])
    shown = read_numbers(table.column(name), name, plan.missing_values)
    first = np.zeros(n, dtype=np.int64)
    first[labels] = np.arange(len(labels))
    wrong = {
        "are not numbers above 0": ~(np.isfinite(shown) & (shown > 0)),
        "differ from others of their class": shown != shown[first][labels],
        "have more than three significant digits": shown != _rounded(shown[first])[labels],
        f"are in classes with fewer than {LEAST} records": np.bincount(labels, minlength=n)[labels] < LEAST,
    }
    if original is not None and rows is not None:
        wrong["are not the means of their classes"] = shown != class_weights(original[rows], labels)
    for what, where in wrong.items():
        if where.any():
            raise VerificationError(
                f"{int(where.sum())} published weights of column {name!r} {what}.",
                code="published-weights",
                hint="Nothing was published." if original is not None else "Use the release as it was written.",
            )
