"""DataFrames in, the same kind of DataFrame out. An index is never read and never written.

pandas infers types from the data, so its columns are published in types that follow from the published cells (see
``hushtable.io.inferred``). Types that pandas never infers, and those of other libraries, are declarations.

pandas, polars, pyarrow and everything that narwhals supports become a ``pyarrow.Table``; pandas and polars are imported
only if the user passes one of their frames.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa
from narwhals import dependencies as known

from hushtable.errors import DataError
from hushtable.io.dictionaries import decode, plain_types
from hushtable.io.inferred import mark
from hushtable.io.names import check_names

_WHERE = "The table"
_NULLABLE = {
    "UInt64": pa.types.is_uint64,
    "Int64": pa.types.is_integer,
    "Float64": pa.types.is_floating,
    "boolean": pa.types.is_boolean,
}
"""The types of pandas for numbers and Booleans with gaps."""


def to_arrow(frame: Any) -> pa.Table:
    """Return a DataFrame as a pyarrow table, without its index and without metadata.

    Parameters
    ----------
    frame : DataFrame
        Of pandas, polars (a LazyFrame is collected), pyarrow, narwhals, or any library that narwhals supports.

    Raises
    ------
    DataError
        If it is not a DataFrame, or is one of Spark; if column names are not text or not unique, or if a column mixes
        kinds of values, or dates with times, or time zones.

    Examples
    --------
    >>> import pandas as pd
    >>> to_arrow(pd.DataFrame({"a": [1, 2]}, index=[7, 7])).to_pydict()
    {'a': [1, 2]}
    >>> to_arrow(pd.DataFrame({"age": pd.cut([31, 35], [30, 40])})).to_pydict()
    {'age': ['(30, 40]', '(30, 40]']}
    >>> to_arrow(pd.DataFrame({"a": pd.Series([1, "x"], dtype=object)}))
    Traceback (most recent call last):
    hushtable.errors.DataError: Column 'a' mixes text and numbers. Convert it to one kind: ...
    """
    return plain_types(_to_table(nw.to_native(frame, pass_through=True)))


def frame_names(frame: Any) -> list[str]:
    """Return the names of a DataFrame's columns, without reading its rows.

    Examples
    --------
    >>> frame_names(pa.table({"a": [1], "b": [2]}))
    ['a', 'b']
    """
    native = nw.to_native(frame, pass_through=True)
    if isinstance(native, pa.Table | pa.RecordBatch):
        return list(native.schema.names)
    if known.is_polars_lazyframe(native):
        return list(native.collect_schema().names())
    if known.is_pandas_dataframe(native) or known.is_polars_dataframe(native) or is_spark_frame(native):
        return check_names(native.columns, _WHERE)
    return list(_to_table(native).column_names)


def is_spark_frame(data: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or Connect; pyspark is not imported to find out.

    Examples
    --------
    >>> is_spark_frame({"age": [30]})
    False
    """
    return any(
        base.__name__ == "DataFrame" and base.__module__.startswith("pyspark.sql") for base in type(data).__mro__
    )


def _to_table(native: Any) -> pa.Table:
    if is_spark_frame(native):
        raise DataError(
            "This is a Spark DataFrame, all of whose rows would have to be sent to the driver.",
            code="spark-frame",
            hint="Use hushtable.anonymize or hushtable.run, which work on Spark. To look at some rows, pass "
            "df.limit(100_000).toPandas(); if the table fits into memory, df.toPandas().",
        )
    if isinstance(native, pa.RecordBatch):
        native = pa.Table.from_batches([native])
    if isinstance(native, pa.Table):
        check_names(native.column_names, _WHERE)
        return native.replace_schema_metadata(None)
    if known.is_pandas_dataframe(native):
        return _from_pandas(native)
    if known.is_polars_lazyframe(native):
        native = native.collect()
    if known.is_polars_dataframe(native):
        return _from_polars(native)
    return _from_other(native)


def _from_pandas(frame: Any) -> pa.Table:
    import pandas as pd

    names = check_names(list(frame.columns), _WHERE)
    arrays, fields = [], []
    for name in names:
        series = frame[name]
        values = series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else series
        if values.dtype == object:
            mixed, times = mixed_kinds(values.array), _mixed_times(values.array)
            if mixed or times:
                raise DataError(
                    f"Column {name!r} mixes {mixed or times}.",
                    code="mixed-types",
                    hint="Convert it to one kind: df[column].astype('string') makes it text and keeps missing values."
                    if mixed
                    else "Convert it to one kind, for example with pandas.to_datetime(df[column], utc=True).",
                )
        array = _from_series(name, series)
        field = pa.field(name, array.type)
        fields.append(field if _declares(series.dtype) else mark(field))
        arrays.append(array)
    return pa.table(arrays, schema=pa.schema(fields)) if names else _no_columns()


def _declares(dtype: Any) -> bool:
    """Whether somebody must have chosen a type of pandas: neither its readers nor its constructors infer it.

    NumPy's small integers do not count: tools that save memory choose them by the data, and one gap undoes that.
    """
    import pandas as pd

    if isinstance(dtype, pd.ArrowDtype):
        kind = dtype.pyarrow_dtype
        small = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        return bool((small and kind.bit_width < 64) or pa.types.is_decimal(kind) or pa.types.is_dictionary(kind))
    nullable = isinstance(dtype, pd.api.extensions.ExtensionDtype) and pd.api.types.is_integer_dtype(dtype)
    return bool(nullable or pd.api.types.is_float_dtype(dtype)) and int(getattr(dtype, "itemsize", 8)) < 8


def _mixed_times(values: Iterable[Any]) -> str:
    """Name a mixture of dates and times, or of time zones: Arrow would apply the first one to all values."""
    found = {v.tzinfo if isinstance(v, dt.datetime) else dt.date for v in values if isinstance(v, dt.date) and v == v}
    if len(found) < 2:
        return ""
    return "dates with and without a time of day" if dt.date in found else "times of several time zones"


def _from_series(name: str, series: Any) -> pa.Array | pa.ChunkedArray:
    # Arrow's messages quote the offending value, so they are replaced, never forwarded
    try:
        return pa.Array.from_pandas(_as_text(series))
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    raise DataError(
        f"Column {name!r} of type {series.dtype} holds values that are neither numbers, dates nor text, "
        "or whole numbers beyond 64 bits.",
        code="unsupported-type",
        hint="Convert it to text, for example with df[column].astype('string').",
    )


def _as_text(series: Any) -> Any:
    """Values of pandas without a plain Arrow type, as text: intervals (of pd.cut) and periods. Sparse ones, dense."""
    import pandas as pd

    if isinstance(series.dtype, pd.SparseDtype):
        return series.sparse.to_dense()

    kinds = (pd.IntervalDtype, pd.PeriodDtype)
    if isinstance(series.dtype, pd.CategoricalDtype) and isinstance(series.dtype.categories.dtype, kinds):
        names = [str(one) for one in series.dtype.categories]
        return pd.Series(pd.Categorical.from_codes(series.cat.codes, categories=pd.Index(names), ordered=False))
    if isinstance(series.dtype, kinds):
        return series.map(str, na_action="ignore").astype("string")
    return series


def _from_polars(frame: Any) -> pa.Table:
    check_names(frame.columns, _WHERE)
    objects = [name for name, kind in frame.schema.items() if str(kind).startswith("Object")]
    if objects:
        raise DataError(
            f"Column {objects[0]!r} holds Python objects that have no Arrow type.",
            code="unsupported-type",
            hint="Convert it to numbers, dates or text first.",
        )
    return frame.to_arrow().replace_schema_metadata(None) if frame.columns else _no_columns()


def _from_other(native: Any) -> pa.Table:
    wrapped: Any = None
    try:
        wrapped = nw.from_native(native)
    except TypeError:
        wrapped = None
    if wrapped is None:
        raise DataError(
            f"The table must be a DataFrame (pandas, polars, pyarrow or narwhals), not {type(native).__name__}.",
            code="not-a-frame",
            hint="Read a file with hushtable.io.files.read_table, or build a DataFrame first.",
        )
    if isinstance(wrapped, nw.LazyFrame):
        wrapped = wrapped.collect(backend="pyarrow")
    table = wrapped.to_arrow()
    check_names(table.column_names, _WHERE)
    # libraries that work like pandas infer types as it does
    inferred = wrapped.implementation.is_pandas_like()
    return table.cast(pa.schema([mark(f) if inferred else f.remove_metadata() for f in table.schema]))


def _no_columns() -> pa.Table:
    raise DataError("The table has no columns.", code="no-columns", hint="Check how the DataFrame was made.")


def like(table: pa.Table, frame: Any, as_given: Sequence[str] = ()) -> Any:
    """Return a table as the same kind of DataFrame as ``frame``.

    Dictionary columns become plain values, so that values that do not occur are not included as categories.

    Parameters
    ----------
    table : pyarrow.Table
    frame : DataFrame
        Only its kind matters, and the types of the columns in ``as_given``.
    as_given : sequence of str
        Columns whose values are those of ``frame``: they keep its type (``Int8``, ``boolean``, categories that occur).
        Where pandas may have inferred it, they keep its family: whole numbers are ``Int64`` for ``Float64``.

    Returns
    -------
    DataFrame
        pandas with a new RangeIndex (dates as ``datetime64``, whole numbers with missing values as ``Int64`` or
        ``UInt64``); polars, eager even for a LazyFrame; a narwhals frame around one of these; otherwise a
        ``pyarrow.Table``.

    Examples
    --------
    >>> import polars as pl
    >>> like(pa.table({"a": [1]}), pl.DataFrame({"z": [0]}))["a"].to_list()
    [1]
    """
    plain = pa.table([decode(c) for c in table.columns], names=table.column_names)
    native = nw.to_native(frame, pass_through=True)
    if known.is_pandas_dataframe(native):
        result: Any = _to_pandas(plain)
        for name in as_given:
            if name in native.columns:
                result[name] = _pandas_like(plain.column(name), result[name], native[name].dtype)
    elif known.is_polars_dataframe(native) or known.is_polars_lazyframe(native):
        import polars as pl

        result = pl.from_arrow(plain)
        types = native.collect_schema() if as_given else {}
        for name in (n for n in as_given if n in types):
            result = result.with_columns(_polars_like(result[name], types[name]))
    else:
        result = plain
    if known.is_narwhals_dataframe(frame) or known.is_narwhals_lazyframe(frame):
        return nw.from_native(result, eager_only=True)
    return result


def indexed_like(result: Any, given: Any, kept: Any) -> Any:
    """Give a pandas frame the index of its source rows; other frames have none.

    Parameters
    ----------
    result : DataFrame
    given : DataFrame
    kept : bool array
        Which rows of ``given`` are in ``result``, in order.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> given = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    >>> indexed_like(pd.DataFrame({"a": ["*"]}), given, np.array([False, True])).index.tolist()
    ['y']
    """
    native, own = (nw.to_native(frame, pass_through=True) for frame in (given, result))
    if known.is_pandas_dataframe(native) and known.is_pandas_dataframe(own):
        own.index = native.index[kept]
    return result


def _pandas_like(column: pa.ChunkedArray, series: Any, wanted: Any) -> Any:
    """A column in the family of its original type: categories, or types that know gaps.

    Which type of the family depends on the published cells, unless the original one is a declaration.
    """
    import pandas as pd

    if isinstance(wanted, pd.CategoricalDtype):
        used = {value: value for value in series.dropna().unique().tolist()}
        kept = [used[category] for category in wanted.categories.tolist() if category in used]
        # without an order of their own, categories may be in that of the input's rows, which nobody should learn
        kept = kept if wanted.ordered else sorted(kept)
        return series.astype(pd.CategoricalDtype(kept, wanted.ordered)) if len(kept) == len(used) else series
    if pa.types.is_null(column.type) or not isinstance(wanted, pd.api.extensions.ExtensionDtype):
        return series
    if isinstance(wanted, pd.ArrowDtype):
        return column.to_pandas(types_mapper=pd.ArrowDtype)
    if isinstance(wanted, pd.StringDtype):
        return series.astype(wanted) if pd.api.types.is_string_dtype(series.dtype) else series
    fitting = next((name for name, fits in _NULLABLE.items() if fits(column.type)), None)
    if wanted.kind not in "iufb" or fitting is None:
        return series
    return series.astype(wanted if _declares(wanted) else fitting)


def _polars_like(series: Any, wanted: Any) -> Any:
    import polars as pl

    # a Categorical knows every string of the process, so it stays plain text
    if not isinstance(wanted, pl.Enum):
        return series
    used = set(series.drop_nulls().unique())
    kept = [category for category in wanted.categories if category in used]
    return series.cast(pl.Enum(kept)) if len(kept) == len(used) else series


def _to_pandas(table: pa.Table) -> Any:
    import pandas as pd

    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        # pandas would turn whole numbers with gaps into floats, which merges adjacent ones beyond 2**53
        gaps = pa.types.is_integer(column.type) and column.null_count > 0
        whole = pd.UInt64Dtype() if pa.types.is_uint64(column.type) else pd.Int64Dtype()
        mapper = {column.type: whole}.get if gaps else None
        columns[name] = column.to_pandas(types_mapper=mapper, date_as_object=False)
    return pd.DataFrame(columns, columns=list(columns), index=pd.RangeIndex(table.num_rows))


_KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), "text"),
    ((bool,), "true/false"),
    ((numbers.Number, decimal.Decimal), "numbers"),
    ((dt.date,), "dates"),
    ((dt.time, dt.timedelta), "times"),
    ((bytes, bytearray), "bytes"),
    ((list, tuple, dict, set), "nested values"),
)


def mixed_kinds(values: Iterable[Any]) -> str:
    """Return the kinds of values as words if there is more than one, otherwise ``""``.

    Missing values (None, NaN and the markers of DataFrame libraries) have no kind.

    Examples
    --------
    >>> mixed_kinds([1, 2.5, None, float("nan")])
    ''
    >>> mixed_kinds([1, "a", True])
    'text, true/false and numbers'
    """
    types = {type(v) for v in values if v is not None and not (isinstance(v, float) and math.isnan(v))}
    kinds = {_kind(t) for t in types} - {""}
    if len(kinds) < 2:
        return ""
    order = [word for _, word in _KINDS] + ["other objects"]
    words = sorted(kinds, key=order.index)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _kind(type_: type) -> str:
    if type_.__name__ in ("NAType", "NaTType"):
        return ""
    if type_.__name__ == "bool_" or (type_.__module__ == "numpy" and type_.__name__ == "bool"):
        return "true/false"
    return next((word for types, word in _KINDS if issubclass(type_, types)), "other objects")
