"""Shared parts of the accuracy measures: the target, the split, training and testing.

The records are split at random (seeded, independent of their order) into a training and a test part. A classifier
learns the target from the training part and is tested on the *original* records of the test part. The target is a
sensitive or an insensitive column; one with more than 10 numbers or dates is cut at its quartiles. Records without a
target are skipped.
"""

from __future__ import annotations

import warnings
from abc import ABC
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from hushtable import rng
from hushtable.arrays import BoolArray, FloatArray, IntArray, scattered
from hushtable.errors import ParameterError, did_you_mean
from hushtable.kernels.grouping import number_rows
from hushtable.params import Between
from hushtable.release.comparison import RowComparison
from hushtable.release.forms.base import Cells
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import SensitiveColumn, scaled_numbers
from hushtable.utility.base import Comparison, Measure

CLASSIFIERS = {"tree": "a decision tree of depth at most 10", "logistic": "logistic regression"}
DEFAULT_CLASSIFIER: Literal["tree"] = "tree"
"""A decision tree: as informative as logistic regression here, and forty times as fast on 30,000 records."""

_MOST_NUMBERS = 10
_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Examples:
    """Distinct examples with their number: features, target, number of equal records."""

    features: FloatArray
    target: IntArray
    weight: IntArray


@dataclass(frozen=True)
class Task:
    """A target to predict from the quasi-identifiers.

    Attributes
    ----------
    comparison : RowComparison
    target : int64 array
        The class to predict, per record; -1 if unknown.
    tested : bool array
        Whether each record is in the test part.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> task = Task.of(example(), "disease", 0.3)
    >>> task.target.tolist(), task.tested.tolist()
    ([1, 0, 1, 1, 0], [False, True, True, True, False])
    """

    comparison: RowComparison
    target: IntArray
    tested: BoolArray

    @classmethod
    def of(cls, comparison: Comparison, target: str | None, test: float, some: IntArray | None = None) -> Task | None:
        """Choose target and split; None if sensitive values are not published with the records.

        With ``some``, records in an order that does not depend on the input's; all others count as unknown.
        """
        rows = comparison.rows
        column = _column(rows, target)
        if not rows.linked:
            return None
        wanted = _targets(column, rows.n)
        if some is None:
            return cls(rows, wanted, _split(rows, wanted, test))
        known = scattered(wanted[some], some, rows.n)
        tested = np.zeros(rows.n, dtype=np.bool_)
        tested[some] = rng.uniform(rows.seed, "accuracy/split", len(some)) < test
        return cls(rows, known, tested)

    @property
    def trained(self) -> BoolArray:
        """Whether each record is in the training part and has a target."""
        return np.asarray(~self.tested & (self.target >= 0))

    @cached_property
    def columns(self) -> list[ColumnFeatures]:
        """The features of the quasi-identifiers."""
        n = self.comparison.n
        return [
            ColumnFeatures(c, np.bincount(c.column.codes[:n], minlength=c.column.coded.size).astype(np.int64))
            for c in self.comparison.cells
        ]

    def released(self) -> Examples:
        """Return the released training part: suppressed records are absent."""
        here = self.trained & (self.comparison.labels >= 0)
        labels, target = self.comparison.labels[here], self.target[here]
        number, first = number_rows([labels, target], [len(self.comparison.sizes), int(self.target.max()) + 1])
        features = np.hstack([column.of_cells for column in self.columns])
        return Examples(features[labels[first]], target[first], np.bincount(number, minlength=len(first)))

    def originals(self, rows: BoolArray) -> Examples:
        """The original records of these rows."""
        codes = [column.cells.column.codes[: self.comparison.n][rows] for column in self.columns]
        sizes = [column.cells.column.coded.size for column in self.columns]
        target = self.target[rows]
        number, first = number_rows([*codes, target], [*sizes, int(self.target.max()) + 1])
        features = [column.of_codes[code[first]] for column, code in zip(self.columns, codes, strict=True)]
        return Examples(np.hstack(features), target[first], np.bincount(number, minlength=len(first)))

    def accuracy(self, train: Examples, model: str) -> float:
        """Train, and return the share of correctly predicted test records; NaN if a part is empty."""
        rows = self.tested & (self.target >= 0)
        if not len(train.target) or not rows.any():
            return float("nan")
        test = self.originals(rows)
        predicted = _predict(train, test.features, model, self.comparison.seed)
        return float(test.weight[predicted == test.target].sum() / test.weight.sum())


def _column(comparison: RowComparison, target: str | None) -> SensitiveColumn:
    sensitive = {c.name: c for c in comparison.table.sensitive}
    if target is None and not sensitive:
        raise ParameterError(
            "There is no target to predict: the policy has no sensitive column, and no target was given.",
            code="target",
            hint="Name a published column that is not a quasi-identifier, for example target='income'.",
        )
    if target is None:
        return next(iter(sensitive.values()))
    if target in sensitive:
        return sensitive[target]
    if target in comparison.others:
        return comparison.others[target]
    known = [*sensitive, *comparison.others]
    raise ParameterError(
        f"The target {target!r} is not a sensitive or insensitive column.",
        code="target",
        hint=did_you_mean(target, known),
    )


def _targets(column: SensitiveColumn, n: int) -> IntArray:
    coded, first = column.coded, int(column.coded.missing)
    codes = column.codes[:n].astype(np.int64)
    if coded.kind not in (Kind.NUMERIC, Kind.DATE) or coded.size - first <= _MOST_NUMBERS:
        return codes - first
    counts = np.bincount(codes, minlength=coded.size)[first:]
    before = np.cumsum(counts) - counts
    quartile = np.concatenate([np.full(first, -1), 4 * before // max(int(counts.sum()), 1)])
    return quartile[codes].astype(np.int64)


def _split(comparison: RowComparison, target: IntArray, test: float) -> BoolArray:
    """Draw the test part by rank among the sorted records, so that their order does not matter."""
    n, labels = comparison.n, comparison.labels
    # equal records of two classes go by what these cover: engines number classes differently
    bounds = [np.append(end, -1)[labels] for c in comparison.cells for end in (c.low, c.high)]
    order = np.lexsort((*bounds, target, *(c.codes[:n] for c in reversed(comparison.table.quasi))))
    tested = np.empty(n, dtype=np.bool_)
    tested[order] = rng.uniform(comparison.seed, "accuracy/split", n) < test
    return tested


def _predict(train: Examples, features: FloatArray, model: str, seed: int) -> IntArray:
    if len(np.unique(train.target)) == 1:
        return np.full(len(features), train.target[0])
    fitted = _fit(train, model, seed)
    parts = [fitted.predict(features[i : i + _AT_ONCE]) for i in range(0, len(features), _AT_ONCE)]
    return np.concatenate(parts).astype(np.int64)


def _fit(train: Examples, model: str, seed: int) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    if model == "tree":
        tree = DecisionTreeClassifier(max_depth=10, random_state=seed % 2**32)
        return tree.fit(train.features, train.target, sample_weight=train.weight)
    with warnings.catch_warnings():
        # the accuracy of a model that would still improve is a measurement like any other
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(max_iter=300).fit(train.features, train.target, sample_weight=train.weight)


@dataclass(frozen=True)
class ClassificationMeasure(Measure, ABC):
    """Base of the accuracy measures.

    Parameters
    ----------
    target : str, optional
        The sensitive or insensitive column to predict. Defaults to the first sensitive one.
    test : float
        Share of the records in the test part.
    """

    target: Annotated[str | None, "column to predict; defaults to the first sensitive one"] = field(
        default=None, kw_only=True
    )
    test: Annotated[float, Between(0, 1, closed="neither"), "share of records in the test part"] = field(
        default=0.3, kw_only=True
    )

    better = "higher"
    default = False

    def task(self, comparison: Comparison) -> Task | None:
        """The target and the split."""
        return Task.of(comparison, self.target, self.test)

    def target_of(self, comparison: Comparison) -> str:
        """Return the name of the predicted column."""
        return _column(comparison.rows, self.target).name

    def about(self, comparison: Comparison) -> str:
        """The target."""
        return f"predicting {self.target_of(comparison)!r}"


# Cells and original values as features of a classifier.
#
# Ordered columns give one feature: numbers and dates their value on a scale from 0 to 1, ordinal labels their rank;
# a cell the midpoint of what it covers. Nominal columns give one feature for each of their most frequent values and
# one for all others; a cell that covers several leaves has the share of each. The missing value is a value of its
# own: an extra feature of ordered columns.


MOST_VALUES = 32
"""Maximum number of values of a nominal column with separate features."""


@dataclass(frozen=True)
class ColumnFeatures:
    """The features of one column.

    Attributes
    ----------
    cells : Cells
        The published cells of the classes.
    counts : int64 array
        Number of original records with each code.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> city = ColumnFeatures(example().cells[1], np.array([1, 1, 3]))
    >>> city.of_codes.tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    >>> city.of_cells.tolist()
    [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
    """

    cells: Cells
    counts: IntArray

    @property
    def of_codes(self) -> FloatArray:
        """Features of original values, one row per code."""
        if not self.cells.column.coded.kind.ordered:
            return np.column_stack([mask.astype(np.float64) for mask in self._masks])
        position = np.nan_to_num(self._positions, nan=0.5)
        return np.column_stack([position, *(mask.astype(np.float64) for mask in self._masks)])

    @property
    def of_cells(self) -> FloatArray:
        """Features of cells, one row per class."""
        shares = [self.cells.expected(mask) for mask in self._masks]
        if not self.cells.column.coded.kind.ordered:
            return np.column_stack(shares)
        return np.column_stack([np.nan_to_num(self.cells.middles(self._positions), nan=0.5), *shares])

    @cached_property
    def _positions(self) -> FloatArray:
        coded = self.cells.column.coded
        numbers = scaled_numbers(coded)
        if numbers is not None:
            return numbers
        first = int(coded.missing)
        rank = np.arange(coded.size, dtype=np.float64) - first
        if first:
            rank[0] = np.nan
        return rank / max(coded.size - first - 1, 1)

    @cached_property
    def _masks(self) -> list[IntArray]:
        """Return which leaves each share feature represents."""
        coded = self.cells.column.coded
        if coded.kind.ordered:
            return [(np.arange(coded.size) == 0).astype(np.int64)] if coded.missing else []
        frequent = np.lexsort((np.arange(coded.size), -self.counts))
        masks = []
        for part in (*np.split(frequent[:MOST_VALUES], min(coded.size, MOST_VALUES)), frequent[MOST_VALUES:]):
            if len(part):
                mask = np.zeros(coded.size, dtype=np.int64)
                mask[part] = 1
                masks.append(mask)
        return masks
