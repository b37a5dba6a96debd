from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather
from pyarrow import parquet as pq

import hushtable as ht
from hushtable.errors import DataError
from hushtable.io.files import iter_batches, read_table
from hushtable.io.frames import frame_names, like, to_arrow

CANARY = "CANARY-7731"
DATA = {"age": [31, 45], "name": ["é", None]}


def test_intervals_and_periods_of_pandas_are_text():
    """pd.cut is how pandas users generalize."""
    ages = pd.Series([31.0, 35.0, 52.0, float("nan")])
    spans = [(0, 1), (1, 2), None, (0, 1)]
    frame = pd.DataFrame(
        {
            "cut": pd.cut(ages, [30, 40, 60]),
            "quantile": pd.qcut(ages, 2),
            "named": pd.cut(ages, [30, 40, 60], labels=["thirties", "older"]),
            "spans": pd.arrays.IntervalArray.from_tuples(spans, closed="left"),
            "month": pd.period_range("2024-01", periods=4, freq="M"),
            "months": pd.Categorical(pd.period_range("2024-01", periods=4, freq="M")),
        }
    ).set_index(pd.Index([7, 7, 8, 9]))
    table = to_arrow(frame)
    assert table["cut"].to_pylist() == ["(30, 40]", "(30, 40]", "(40, 60]", None]
    assert table["quantile"].to_pylist() == ["(30.999, 35.0]", "(30.999, 35.0]", "(35.0, 52.0]", None]
    assert table["named"].to_pylist() == ["thirties", "thirties", "older", None]
    assert table["spans"].to_pylist() == ["[0.0, 1.0)", "[1.0, 2.0)", None, "[0.0, 1.0)"]
    assert table["month"].to_pylist() == table["months"].to_pylist() == [f"2024-0{i}" for i in range(1, 5)]
    policy = ht.Policy(quasi=["cut", "named"], insensitive=["quantile", "spans", "month", "months"],
                       models=[ht.KAnonymity(k=2)])  # fmt: skip
    assert ht.verify(frame.iloc[:2], policy).ok
    assert not ht.verify(frame, policy).ok


def fails(frame: Any, message: str, code: str) -> None:
    with pytest.raises(DataError) as caught:
        to_arrow(frame)
    assert str(caught.value) == message
    assert caught.value.code == code
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        pl.DataFrame,
        pl.LazyFrame,
        pa.table,
        lambda d: nw.from_native(pd.DataFrame(d)),
        lambda d: nw.from_native(pl.LazyFrame(d)),
        lambda d: pa.table(d).to_batches()[0],
    ],
)
def test_every_kind_of_frame_comes_in_and_goes_out(make: Any) -> None:
    frame = make(DATA)
    table = to_arrow(frame)
    assert isinstance(table, pa.Table)
    assert table.to_pydict() == DATA
    assert table.schema.metadata is None
    out = like(table, frame)
    expected = {pl.LazyFrame: pl.DataFrame, nw.LazyFrame: nw.DataFrame, pa.RecordBatch: pa.Table}
    assert type(out) is expected.get(type(frame), type(frame))
    assert to_arrow(out).to_pydict() == DATA


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([9, 3]),
        pd.Index([7, 7]),
        pd.Index(["x", CANARY], name="age"),
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["p", "q"]),
        pd.DatetimeIndex(["2020-01-01", "2020-01-01"]),
    ],
)
def test_an_index_never_matters_and_never_comes_out(index: pd.Index) -> None:
    frame = pd.DataFrame(DATA)
    frame.index = index
    table = to_arrow(frame)
    assert table.to_pydict() == DATA
    out = like(table, frame)
    assert list(out.columns) == ["age", "name"]
    assert out.index.equals(pd.RangeIndex(2))
    assert out.index.name is None


def test_a_filtered_frame() -> None:
    frame = pd.DataFrame({"a": range(10)})
    assert to_arrow(frame[frame.a % 2 == 1]).to_pydict() == {"a": [1, 3, 5, 7, 9]}
    assert to_arrow(frame.sample(frac=1, random_state=1)).num_rows == 10


def test_categories_are_not_in_the_order_of_the_input() -> None:
    """Unless they have an order: the first category would be the value of the first row."""
    cells = ["z", "a", "m"]
    for ordered, expected in ((False, ["a", "m"]), (True, ["m", "a"])):
        given = pd.DataFrame({"c": pd.Categorical(cells, categories=["z", "m", "a"], ordered=ordered)})
        assert list(like(pa.table({"c": ["a", "m"]}), given, ["c"])["c"].cat.categories) == expected


def test_nullable_and_categorical_pandas_columns() -> None:
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int64"),
            "b": pd.array([True, None], dtype="boolean"),
            "s": pd.array(["x", None], dtype="string"),
            "c": pd.Categorical(["u", None], categories=[CANARY, "u"]),
            "n": pd.Categorical([2.5, 1.0]),
            "f": [np.nan, 1.5],
        }
    )
    assert to_arrow(frame).to_pydict() == {
        "i": [1, None],
        "b": [True, None],
        "s": ["x", None],
        "c": ["u", None],
        "n": [2.5, 1.0],
        "f": [None, 1.5],
    }


@pytest.mark.parametrize("frame", [pd.DataFrame(), pl.DataFrame()])
def test_dictionaries_become_plain_values(frame: Any) -> None:
    table = pa.table({"a": pa.array(["keep", CANARY]).dictionary_encode()}).slice(0, 1)
    out = like(table, frame)
    assert CANARY not in str(to_arrow(out).to_pydict())
    assert not pa.types.is_dictionary(to_arrow(out).schema.field("a").type)


def test_whole_numbers_with_gaps_and_old_dates_stay_exact_in_pandas() -> None:
    big = 2**53 + 1
    out = like(pa.table({"i": [big, None], "d": [dt.date(1850, 1, 2), None]}), pd.DataFrame())
    assert out["i"][0] == big
    assert str(out["i"].dtype) == "Int64"
    assert out["d"][0] == pd.Timestamp("1850-01-02")
    assert to_arrow(out)["i"].to_pylist() == [big, None]
    largest = like(pa.table({"u": pa.array([2**64 - 1, None], pa.uint64())}), pd.DataFrame())
    assert to_arrow(largest)["u"].to_pylist() == [2**64 - 1, None]


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ([1, CANARY], "text and numbers"),
        ([True, 1, CANARY, None], "text, true/false and numbers"),
        ([dt.date(2020, 1, 1), CANARY, float("nan")], "text and dates"),
        ([[CANARY], 1], "numbers and nested values"),
        ([object(), CANARY], "text and other objects"),
    ],
)
def test_mixed_types(values: list[Any], kinds: str) -> None:
    frame = pd.DataFrame({"x y": pd.Series(values, dtype=object)})
    hint = "Convert it to one kind: df[column].astype('string') makes it text and keeps missing values."
    fails(frame, f"Column 'x y' mixes {kinds}. {hint}", "mixed-types")


def test_whole_and_broken_numbers_are_not_mixed() -> None:
    frame = pd.DataFrame({"x": pd.Series([1, 2.5, None, np.int64(3), pd.NA], dtype=object)})
    assert to_arrow(frame)["x"].to_pylist() == [1.0, 2.5, None, 3.0, None]


@pytest.mark.parametrize("values", [[2**70 + 7731], [complex(7731)]])
def test_values_without_a_type(values: list[Any]) -> None:
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    with pytest.raises(DataError, match=r"^Column 'x' of type object holds values that are neither") as caught:
        to_arrow(frame)
    assert "7731" not in str(caught.value)


def test_polars_objects() -> None:
    frame = pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)})
    fails(
        frame,
        "Column 'x' holds Python objects that have no Arrow type. Convert it to numbers, dates or text first.",
        "unsupported-type",
    )


def test_bad_names() -> None:
    twice = "The table has more than one column named 'a'. Rename the columns so that each name occurs once."
    fails(pd.DataFrame([[1, 2]], columns=["a", "a"]), twice, "duplicate-column")
    fails(pa.table([[1], [2]], names=["a", "a"]), twice, "duplicate-column")
    hint = "Give every column a text name, for example with df.columns = df.columns.map(str)."
    fails(
        pd.DataFrame([[1, 2]]),
        f"The table has a column (number 1) with a name of type int instead of a text name. {hint}",
        "column-name",
    )
    fails(
        pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
        f"The table has a column (number 1) with several header levels instead of a text name. {hint}",
        "column-name",
    )


@pytest.mark.parametrize("frame", [pd.DataFrame(), pl.DataFrame()])
def test_no_columns(frame: Any) -> None:
    fails(frame, "The table has no columns. Check how the DataFrame was made.", "no-columns")


def test_not_a_frame() -> None:
    fails(
        [CANARY],
        "The table must be a DataFrame (pandas, polars, pyarrow or narwhals), not list. Read a file with "
        "hushtable.io.files.read_table, or build a DataFrame first.",
        "not-a-frame",
    )


def test_pandas_and_polars_are_not_imported_by_us() -> None:
    code = (
        "import sys, hushtable.io.frames as f, hushtable.io.files, hushtable.schema.profile, pyarrow as pa;"
        "assert 'pandas' not in sys.modules;"  # later on pyarrow itself imports it where it is installed
        "f.like(f.to_arrow(pa.table({'a': [1]})), pa.table({'a': [1]}));"
        "sys.exit(any(m in sys.modules for m in ('polars', 'scipy', 'sklearn', 'numba', 'openpyxl')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_types_that_arrow_hardly_computes_with_are_read_as_others(tmp_path: Path) -> None:
    words = pa.array(["b", None, "a", "b"], pa.string_view())
    half = pa.array([1.5, None, 0.25, 1.5], pa.float32()).cast(pa.float16())
    # older versions have such dictionaries but do not make them
    coded = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0], pa.int32()), half.take(pa.array([0, 2])))
    table = pa.table({"age": [30, 31, 50, 51], "word": words, "half": half, "coded": coded})
    feather.write_feather(table, str(tmp_path / "t.arrow"))
    pq.write_table(table.select(["age", "word", "half"]), tmp_path / "t.parquet")
    for given in (table, read_table(tmp_path / "t.arrow")):
        plain = to_arrow(given)
        assert plain.to_pydict() == table.to_pydict()
        assert [str(t) for t in plain.schema.types[1:3]] == ["large_string", "float"]
    batch = next(iter_batches(tmp_path / "t.parquet"))
    whole = read_table(tmp_path / "t.parquet")
    assert batch.schema.field("half").type == whole.schema.field("half").type == pa.float32()
    policy = ht.Policy(quasi=["age"], sensitive=["word"], insensitive=["half", "coded"], models=[ht.KAnonymity(k=2)])
    assert ht.anonymize(table, policy).frame["half"].to_pylist() == [None, 1.5, 0.25, 1.5]


def test_sparse_columns_are_read_as_what_they_hold() -> None:
    """As ``pandas.get_dummies(sparse=True)`` makes them."""
    frame = pd.DataFrame({"yes": pd.arrays.SparseArray([0, 1, 0])})
    assert to_arrow(frame).column("yes").to_pylist() == [0, 1, 0]


def test_names_of_several_levels_are_refused_where_names_are_read() -> None:
    """A policy with ``rest`` reads the names first; it listed each of them as a fault."""
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_product([["a"], ["x", "y"]]))
    with pytest.raises(DataError, match="several header levels"):
        frame_names(frame)
    with pytest.raises(DataError, match="a name of type int"):
        frame_names(pd.DataFrame([[1, 2]]))
