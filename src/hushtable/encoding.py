"""CellEncoder: published cells as numbers that any model can learn from, with the scikit-learn interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.algorithms.base import Recoding
from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import DataError, ParameterError
from hushtable.estimator import Estimator
from hushtable.io.dictionaries import encode, null_last, value_type
from hushtable.io.text import is_text, to_labels
from hushtable.policy.policy import Policy
from hushtable.release.forms.base import Form, build_form
from hushtable.release.forms.reading import Parts, Reading, read_cells, whole_cells
from hushtable.release.reading_back import published_cells
from hushtable.release.recode import form_shown
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan, TablePlan

if TYPE_CHECKING:
    from hushtable.engines.release import Release
    from hushtable.release.plan import Plan


@dataclass(frozen=True)
class _Column:
    """What was learned about a column.

    Attributes
    ----------
    plan : ColumnPlan
        Includes the kind.
    form : Form
    cells : pyarrow.Array
        The distinct cells that were used for learning.
    values : frozenset of str
        The values of a column of labels.
    labels : tuple of str
        The same, in order: one feature each.
    edges : float array
        Boundaries of the bins of a column of numbers.
    centre : float
        Substitute for a missing number.
    missing : bool
        Whether missing values have a feature.
    """

    plan: ColumnPlan
    form: Form
    cells: pa.Array
    values: frozenset[str]
    labels: tuple[str, ...]
    edges: FloatArray
    centre: float
    missing: bool


class CellEncoder(Estimator):
    """Turns published cells, or values of the original, into numbers: a transformer for scikit-learn.

    A column of labels becomes one feature per value: the share of the cell that it has. That is 1 or 0 for a single
    value, equal shares for sets and hierarchy nodes, and proportional shares for counts. A column of numbers or dates
    becomes the middle of the cell, its width, and optionally its shares in bins of equal frequency. Missing values have
    a separate feature if the fitted table has some. Since a value of the original is a cell of width 0, a model that
    was trained on a release can be applied to originals.

    Parameters
    ----------
    policy : Policy, optional
        Kinds, hierarchies and notation of the columns. Without it, they are guessed from the cells, and hierarchy
        nodes are treated as values.
    width : bool
        Whether numbers and dates get a feature for the width of the cell, which is 0 for all originals.
    bins : int
        Number of bins for numbers and dates; 0 for none.

    Attributes
    ----------
    feature_names_in_ : array of str
    n_features_in_ : int

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"age": ["[20, 30)", ">= 30"], "job": ["{clerk: 3, cook: 1}", "{cook: 2}"]})
    >>> encoder = CellEncoder().fit(cells)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age_width', 'job=clerk', 'job=cook']
    >>> encoder.transform(cells).tolist()
    [[24.5, 9.0, 0.75, 0.25], [34.5, 9.0, 0.0, 1.0]]
    >>> encoder.transform(pa.table({"age": [23], "job": ["clerk"]})).tolist()
    [[23.0, 0.0, 1.0, 0.0]]
    """

    _ignores_more = True

    def __init__(self, policy: Policy | Plan | None = None, *, width: bool = True, bins: int = 0) -> None:
        self.policy = policy
        self.width = width
        self.bins = bins

    @classmethod
    def of_release(cls, release: Release, **parameters: Any) -> Self:
        """Return an encoder with a release's policy, fitted to its quasi-identifiers.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import hushtable as ht
        >>> people = pa.table({"age": [30, 31, 52, 53], "pay": [1, 2, 3, 4]})
        >>> policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)], cells="counts")
        >>> CellEncoder.of_release(ht.anonymize(people, policy)).transform(people.select(["age"])).tolist()
        [[30.0, 0.0], [31.0, 0.0], [52.0, 0.0], [53.0, 0.0]]
        """
        quasi = release.plan.table.named(Role.QUASI)
        return cls(release.plan, **parameters).fit(release.table.select(quasi))

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the values of the columns. ``y`` is ignored."""
        if isinstance(self.bins, bool) or not isinstance(self.bins, int) or self.bins < 0:
            raise ParameterError(f"The 'bins' parameter of CellEncoder must be an int >= 0. Got {self.bins!r} instead.")
        table = self._fitting(X)
        plan, recoding = _column_settings(self.policy)
        planned = {c.name: c for c in plan.columns}
        self._columns = [self._learned(table, name, plan, planned.get(name), recoding) for name in table.column_names]
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the values of the columns, and return the numbers."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """Return the numbers: one row per row, in the order of ``get_feature_names_out``."""
        table = self._fitted_table(X)
        blocks = [self._encoded(column, table.column(column.plan.name)) for column in self._columns]
        return self._as_output(np.concatenate(blocks, axis=1))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the features: ``age``, ``age_width``, ``job=clerk``, ``job_missing``."""
        self._check_fitted()
        return np.array([name for column in self._columns for name in self._names(column)], dtype=object)

    def _names(self, column: _Column) -> list[str]:
        name = column.plan.name
        if column.plan.kind in (Kind.NUMERIC, Kind.DATE):
            names = [name, *([f"{name}_width"] if self.width else [])]
            names += [f"{name}_bin{i + 1}" for i in range(len(column.edges) - 1)]
        else:
            names = [f"{name}={label}" for label in column.labels]
        return [*names, *([f"{name}_missing"] if column.missing else [])]

    def _learned(
        self, table: pa.Table, name: str, plan: TablePlan, planned: ColumnPlan | None, recoding: Recoding
    ) -> _Column:
        given = table.column(name)
        own = planned or ColumnPlan(name, Role.QUASI)
        cells = _distinct(given)[1]
        if not is_text(value_type(given.type)):
            form = build_form("sets")
        elif planned is not None and planned.role is Role.QUASI:
            form = form_shown(plan, planned, recoding)
        else:
            form = _guessed(cells) if planned is None else build_form("sets")
        exact = _exact(form, cells, frozenset())
        reading = _read(form, cells, exact, own)
        labels = tuple(v for v in reading.labels.to_pylist()[1:] if v is not None)
        if own.kind is Kind.ORDINAL or reading.kind is Kind.ORDINAL:
            labels = tuple(own.order)
        counts = np.bincount(_distinct(given)[0], minlength=len(cells))
        middle, _ = _moments(reading)
        known = ~np.isnan(middle)
        weight = counts * known
        centre = float(np.nansum(np.where(known, middle, 0.0) * weight) / max(weight.sum(), 1))
        edges = _edges(reading, counts, self.bins) if reading.numbers else np.empty(0)
        has = reading.has_missing
        return _Column(replace(own, kind=reading.kind), form, cells, frozenset(labels), labels, edges, centre, has)

    def _encoded(self, column: _Column, given: pa.ChunkedArray) -> FloatArray:
        """Return the features of one column."""
        codes, cells = _distinct(given)
        # cells that were fitted decide where open ends lie
        every = pa.concat_arrays([column.cells, cells])
        form = column.form if is_text(value_type(given.type)) else build_form("sets")
        exact = np.append(_exact(column.form, column.cells, frozenset()), _exact(form, cells, column.values))
        if form is not column.form:
            exact[len(column.cells) :] = True
        try:
            reading = _read(column.form, every, exact, column.plan)
        except DataError as error:
            raise DataError(error.message, code=error.code, hint="Give cells of the same policy, or values.") from None
        found: FloatArray = self._features(column, reading)[len(column.cells) :][codes]
        return found

    def _features(self, column: _Column, reading: Reading) -> FloatArray:
        owner, share = reading.owner, reading.weights / np.maximum(reading.totals, 1e-300)[reading.owner]
        blocks = []
        if reading.numbers:
            middle, width = _moments(reading)
            known = ~np.isnan(middle)
            blocks.append(np.where(known, middle, column.centre)[:, None])
            if self.width:
                blocks.append(np.where(known, width, 0.0)[:, None])
            if len(column.edges):
                blocks.append(_binned(reading, share, column.edges))
        else:
            place = {label: i for i, label in enumerate(column.labels)}
            at = np.array([-1, *(place.get(v, -1) for v in reading.labels.to_pylist()[1:])])[reading.atoms]
            block = np.zeros((len(reading), len(column.labels)))
            np.add.at(block, (owner[at >= 0], at[at >= 0]), share[at >= 0])
            blocks.append(block)
        if column.missing:
            gone = reading.atoms == 0
            blocks.append(np.bincount(owner[gone], weights=share[gone], minlength=len(reading))[:, None])
        return np.concatenate(blocks, axis=1)

    def _as_output(self, numbers: FloatArray) -> Any:
        if self._output == "default":
            return numbers
        return self._framed(pa.table(list(numbers.T), names=self.get_feature_names_out().tolist()))


def _column_settings(policy: Any) -> tuple[TablePlan, Recoding]:
    """Return a policy's settings of columns."""
    if policy is None:
        return TablePlan(()), Recoding.LOCAL
    if isinstance(policy, Policy):
        return policy.table_plan(), policy.build_algorithm().recoding
    return policy.table, policy.algorithm.recoding


def _distinct(given: pa.ChunkedArray) -> tuple[Any, pa.Array]:
    """Return which of the distinct cells each row has, and these as text; null is the last."""
    cells = encode(published_cells(given))
    text = to_labels(cells.dictionary).cast(pa.string())
    if cells.null_count:
        text = pa.concat_arrays([text, pa.array([None], pa.string())])
    return null_last(cells).to_numpy(zero_copy_only=False), text


def _guessed(cells: pa.Array) -> Form:
    """Guess the form of the cells if there is no policy."""

    def any_like(pattern: str) -> bool:
        return bool(pc.any(pc.match_substring_regex(cells, pattern)).as_py())

    if any_like(r"^\{.*: \d+\}$"):
        return build_form("counts")
    return build_form("regions" if any_like(r"^(< |>= |\[.*[)\]]$)") else "sets")


def _exact(form: Form, cells: pa.Array, values: frozenset[str]) -> BoolArray:
    """Return which cells are exact values: those that are known, and those that cannot be counts."""
    known = [text is None or text in values or (form.counts_records and text[:1] != "{") for text in cells.to_pylist()]
    return np.array(known, dtype=np.bool_)


def _read(form: Form, cells: pa.Array, exact: BoolArray, plan: ColumnPlan) -> Reading:
    """Read cells of a form mixed with values of the original."""
    return read_cells(_Mixed(form, exact), cells, plan)  # type: ignore[arg-type] # all that reading asks of a form


class _Mixed:
    """A form in which some cells are values of the original."""

    def __init__(self, form: Form, exact: BoolArray) -> None:
        self.form, self.exact = form, exact
        self.ranges_of_labels = form.ranges_of_labels
        self.counts_records = False

    def split(self, cells: pa.Array, column: ColumnPlan) -> Any:
        plain, others = np.flatnonzero(self.exact), np.flatnonzero(~self.exact)
        one = whole_cells(cells.take(pa.array(plain)))
        two = self.form.split(cells.take(pa.array(others)), column)
        self.own = len(one.names)
        owner = np.concatenate([plain, np.repeat(others, np.diff(two.offsets))])
        codes = np.concatenate([one.codes, np.where(two.codes < 0, -1, two.codes + len(one.names))])
        order = np.argsort(owner, kind="stable")
        offsets = np.searchsorted(owner[order], np.arange(len(cells) + 1))
        weights = np.concatenate([one.weights, two.weights])
        return Parts(offsets.astype(np.int64), codes[order], [*one.names, *two.names], weights[order])

    def meanings(self, names: Sequence[str], column: ColumnPlan) -> list[Any]:
        return [*((name,) for name in names[: self.own]), *self.form.meanings(names[self.own :], column)]


def _bounds(reading: Reading) -> tuple[FloatArray, FloatArray]:
    """Return the minimum and maximum of each atom; whole numbers end one below an open bound."""
    low, high = reading.low.astype(np.float64), reading.high.astype(np.float64)
    if reading.whole:
        high = np.maximum(high - ~reading.closed, low)
    return low, high


def _moments(reading: Reading) -> tuple[FloatArray, FloatArray]:
    """Return the middle of each cell, weighted if it has several parts, and its width; NaN if there is none."""
    n = len(reading)
    if not reading.numbers:
        return np.full(n, np.nan), np.full(n, np.nan)
    known = reading.atoms > 0
    owner, atoms, weights = reading.owner[known], reading.atoms[known], reading.weights[known]
    low, high = (end[atoms] for end in _bounds(reading))
    total = np.bincount(owner, weights=weights, minlength=n)
    mean = np.bincount(owner, weights=weights * (low / 2 + high / 2), minlength=n)
    least, most = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(least, owner, low)
    np.maximum.at(most, owner, high)
    with np.errstate(invalid="ignore", divide="ignore"):
        return mean / total, np.where(total > 0, most - least, np.nan)


def _edges(reading: Reading, counts: Any, bins: int) -> FloatArray:
    """Return bounds of bins with about the same number of records, at the middles of parts."""
    if not bins:
        return np.empty(0)
    low, high = _bounds(reading)
    known = reading.atoms > 0
    middle = (low / 2 + high / 2)[reading.atoms[known]]
    weight = (reading.weights * counts[reading.owner] / np.maximum(reading.totals, 1e-300)[reading.owner])[known]
    order = np.argsort(middle, kind="stable")
    upto = np.cumsum(weight[order])
    if not len(upto) or not upto[-1]:
        return np.array([-np.inf, np.inf])
    cuts = middle[order][np.searchsorted(upto, upto[-1] * np.arange(1, bins) / bins)]
    if reading.whole:
        cuts = np.ceil(cuts)
    return np.concatenate([[-np.inf], np.unique(cuts[cuts > middle[order[0]]]), [np.inf]])


def _binned(reading: Reading, share: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the share of each cell in each bin."""
    low, high = _bounds(reading)
    # a whole number takes the room up to the next
    top = high + 1 if reading.whole else high
    block = np.zeros((len(reading), len(edges) - 1))
    owner, atoms = reading.owner, reading.atoms
    for i, (a, b) in enumerate(pairwise(edges.tolist())):
        width = np.maximum(top - low, 0)
        inside = np.where(width > 0, np.clip(np.minimum(top, b) - np.maximum(low, a), 0, None), (low >= a) & (low < b))
        part = np.where(width > 0, inside / np.where(width > 0, width, 1.0), inside)
        part[0] = 0.0
        block[:, i] = np.bincount(owner, weights=share * part[atoms], minlength=len(reading))
    return block
