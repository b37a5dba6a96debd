"""Shared parts of our transformers for scikit-learn: parameters, names of features, kinds of output, tags.

scikit-learn takes seconds to import, so nothing here inherits from it, and it is imported where it is used.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from hushtable.errors import DataError, ParameterError, UsageError, did_you_mean
from hushtable.io.figures import html_text
from hushtable.io.frames import like, to_arrow
from hushtable.io.inferred import mark

_OUTPUTS = ("default", "pandas", "polars")


class Estimator:
    """Base of transformers: scikit-learn's conventions without scikit-learn's base classes.

    Parameters are the arguments of ``__init__``, stored unchanged and checked by ``fit``.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the fitted table has names.
    """

    _ignores_more: ClassVar[bool] = False
    """Whether a table to transform may have columns that were not fitted."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        names = [p for p in inspect.signature(type(self).__init__).parameters if p != "self"]
        return {name: getattr(self, name) for name in sorted(names)}

    def set_params(self, **params: Any) -> Self:
        """Set the parameters."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}.", hint=did_you_mean(name, known)
                )
            setattr(self, name, value)
        return self

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` returns: "default", "pandas" or "polars"."""
        if transform is not None:
            if not isinstance(transform, str) or transform not in _OUTPUTS:
                raise UsageError(
                    f"set_output accepts 'default', 'pandas' or 'polars'. Got {_got(transform)} instead.", code="output"
                )
            # scikit-learn's own name for it, so that clone keeps it
            self._sklearn_output_config = {"transform": transform}
        return self

    @property
    def _output(self) -> str:
        config: dict[str, str] = getattr(self, "_sklearn_output_config", {})
        return config.get("transform", "default")

    def _framed(self, table: pa.Table) -> Any:
        """Return a table as the kind of frame that ``set_output`` requested."""
        if self._output == "pandas":
            import pandas

            return like(table, pandas.DataFrame())
        import polars

        return like(table, polars.DataFrame())

    def _fitting(self, X: Any) -> pa.Table:
        """Return the table to fit, and record its features."""
        table = to_arrow(X) if named(X) else _array_table(X, type(self).__name__)
        self.n_features_in_ = table.num_columns
        if named(X):
            self.feature_names_in_ = np.array(table.column_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._columns_in = list(table.column_names)
        return table

    def _fitted_table(self, X: Any) -> pa.Table:
        """Return a table to transform, with the fitted columns in their order."""
        self._check_fitted()
        if named(X):
            table = to_arrow(X)
            self._check_names(table.column_names)
            return table.select(self._columns_in)
        table = _array_table(X, type(self).__name__)
        if table.num_columns != self.n_features_in_:
            raise DataError(
                f"X has {table.num_columns} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input.",
                code="absent-columns",
            )
        return table.rename_columns(self._columns_in)

    def _check_names(self, names: list[str]) -> None:
        absent = [name for name in self._columns_in if name not in names]
        if absent:
            raise DataError(
                f"The table has no column {absent[0]!r}, which the {type(self).__name__} was fitted with.",
                code="absent-columns",
                hint=did_you_mean(absent[0], names),
            )
        more = [name for name in names if name not in self._columns_in]
        if more and not self._ignores_more:
            raise DataError(
                f"The table has the column {more[0]!r}, which the {type(self).__name__} was not fitted with.",
                code="unassigned-columns",
                hint="The feature names should match those that were passed during fit.",
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise _not_fitted_error()(
                f"This {type(self).__name__} instance is not fitted yet.", code="not-fitted", hint="Call fit first."
            )

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(string=True, categorical=True, allow_nan=True),
        )

    def _repr_html_(self) -> str:
        return html_text(repr(self))

    def __repr__(self) -> str:
        given = self.get_params()
        usual = inspect.signature(type(self).__init__).parameters
        shown = [f"{name}={_short(value)}" for name, value in given.items() if value is not usual[name].default]
        return f"{type(self).__name__}({', '.join(shown)})"


def _got(value: Any) -> str:
    return repr(value) if isinstance(value, str) else type(value).__name__


def _short(value: Any) -> str:
    """Return a parameter in a few words: a policy by its size."""
    columns = getattr(value, "columns", None)
    return f"<policy of {len(columns)} columns>" if columns is not None else repr(value)


@functools.cache
def _not_fitted_error() -> type[UsageError]:
    """Inherits from both errors: scikit-learn looks for its own, users for ours."""
    from sklearn.exceptions import NotFittedError

    return type("NotFittedError", (UsageError, NotFittedError), {})


def named(X: Any) -> bool:
    """Whether the columns of a table have names, like those of a DataFrame."""
    return hasattr(X, "columns") or hasattr(X, "collect_schema") or isinstance(X, pa.RecordBatch)


def _array_table(X: Any, owner: str) -> pa.Table:
    """Return a table for an array, whose columns have no names: x0, x1, ..."""
    from sklearn.utils import check_array

    try:
        array = check_array(X, dtype=None, ensure_all_finite="allow-nan", estimator=owner)
    except (ValueError, TypeError) as error:
        raise DataError(str(error), code="not-a-frame", hint="Give a DataFrame or a two-dimensional array.") from None
    if array.dtype.kind not in "biufOUSM":
        raise DataError(
            f"{'Complex data not supported' if array.dtype.kind == 'c' else 'Values of an unknown kind'}.",
            code="not-a-frame",
            hint="Give numbers, dates or text.",
        )
    columns = []
    for values in array.T:
        if values.dtype == object:
            columns.append(pa.array([None if v is None or v != v else str(v) for v in values.tolist()], pa.string()))
        else:
            columns.append(pa.array(values, from_pandas=True))
    # NumPy has one type for all cells, which one of them may decide
    fields = [mark(pa.field(f"x{i}", column.type)) for i, column in enumerate(columns)]
    return pa.table(columns, schema=pa.schema(fields))
