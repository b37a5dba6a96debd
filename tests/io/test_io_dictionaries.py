from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

import hushtable as ht
from hushtable.errors import DataError
from hushtable.io import dictionaries
from hushtable.io.dictionaries import (
    compact,
    decode,
    encode,
    from_codes,
    plain_bytes,
    plain_types,
    to_codes,
    value_ranks,
)
from hushtable.io.files import read_table

cells = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "é", ""])), max_size=12)


@given(st.lists(cells, max_size=4))
def test_encode_keeps_values_and_holds_each_once(chunks: list[list[str | None]]) -> None:
    plain = [v for chunk in chunks for v in chunk]
    for column in (
        pa.chunked_array([pa.array(c, pa.string()) for c in chunks], pa.string()),
        pa.chunked_array(
            [pa.array(c, pa.string()).dictionary_encode() for c in chunks], pa.dictionary(pa.int32(), pa.string())
        ),
    ):
        coded = encode(column)
        assert coded.to_pylist() == plain
        assert sorted(coded.dictionary.to_pylist()) == sorted({v for v in plain if v is not None})


def test_encode_repairs_dictionaries_with_nulls_and_repeats() -> None:
    odd = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["x", None, "x", "y"]))
    coded = encode(odd)
    assert coded.to_pylist() == ["x", None, "x", "y"]
    assert coded.dictionary.to_pylist() == ["x", "y"]
    assert to_codes(coded).tolist() == [0, -1, 0, 1]


@given(st.lists(st.lists(st.sampled_from([None, 0, 1, 2, 3]), max_size=5), min_size=2, max_size=4))
def test_encode_of_chunks_that_share_a_dictionary(chunks: list[list[int | None]]) -> None:
    values = pa.array(["x", None, "x", "y"])
    column = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(c, pa.int8()), values) for c in chunks])
    apart = pa.chunked_array([pa.array(c.to_pylist(), pa.string()).dictionary_encode() for c in column.chunks])
    assert encode(column).to_pylist() == column.to_pylist()
    assert set(encode(column).dictionary.to_pylist()) == set(encode(apart).dictionary.to_pylist())


def test_a_dictionary_that_many_chunks_share_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of names has as many values as rows; once for each chunk is quadratic."""
    looked = []
    proper = dictionaries._proper
    monkeypatch.setattr(dictionaries, "_proper", lambda array: looked.append(len(array)) or proper(array))
    names = pa.array([f"name {i}" for i in range(90)]).dictionary_encode()
    column = pa.chunked_array([names.slice(start, 30) for start in (0, 30, 60)])
    assert encode(column).to_pylist() == names.to_pylist()
    assert looked == [90]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.large_string()])
def test_encode_takes_every_text_type(kind: pa.DataType) -> None:
    assert encode(pa.array(["x", None, "x"], kind)).to_pylist() == ["x", None, "x"]


@pytest.mark.parametrize(("size", "bits"), [(128, 8), (129, 16), (32768, 16), (32769, 32)])
def test_codes_use_the_smallest_type(size: int, bits: int) -> None:
    coded = from_codes(np.arange(size), pa.array(np.arange(size)))
    assert coded.indices.type.bit_width == bits
    assert coded[-1].as_py() == size - 1


def test_compact_forgets_values_of_removed_rows_and_metadata() -> None:
    whole = pa.table({"a": pa.array(["keep", "CANARY"]).dictionary_encode(), "n": [1, 2]})
    rest = compact(whole.replace_schema_metadata({"k": "CANARY"}).slice(0, 1))
    assert rest.to_pydict() == {"a": ["keep"], "n": [1]}
    assert rest["a"].chunk(0).dictionary.to_pylist() == ["keep"]
    assert rest.schema.metadata is None


def test_compact_depends_on_the_cells_alone() -> None:
    """Not on the order in which values first occurred, nor on values that are gone."""
    cells = ["b", None, "a", "b"]
    plain = [pa.array(cells).dictionary_encode(), pa.array(["c", "a", *cells]).dictionary_encode()[2:]]
    plain.append(pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.int64()), pa.array(["a", "b"])))
    found = [compact(pa.table({"a": column}))["a"].combine_chunks() for column in plain]
    for one in found:
        assert one.to_pylist() == cells and one.type == found[0].type
        assert one.dictionary.to_pylist() == ["a", "b"]


def test_decode_gives_plain_values() -> None:
    column = pa.chunked_array([pa.array(["x", None]).dictionary_encode()])
    assert decode(column).type == pa.string()
    assert decode(column).to_pylist() == ["x", None]


@given(st.lists(st.sampled_from([0.0, -0.0, 1.5, -1.5, math.inf, -math.inf]), max_size=8))
def test_ranks_tell_zeros_apart(numbers: list[float]) -> None:
    ordered = sorted({(n, math.copysign(1, n)) for n in numbers})
    expected = [1 + ordered.index((n, math.copysign(1, n))) for n in numbers]
    for kind in (pa.float64(), pa.float32()):
        assert value_ranks(pa.array(numbers, kind)).tolist() == expected


@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.list_(pa.dictionary(pa.int32(), pa.string())),
        pa.struct({"a": pa.string_view()}),
        pa.map_(pa.string(), pa.string()),
        pa.run_end_encoded(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_plain_bytes_counts_every_text_of_every_row(kind: pa.DataType, first: int) -> None:
    texts = ["x" * n if n % 3 else None for n in (0, 1, 300, 2, 2, 2, 40, 40, 6)]
    wrapped: dict[str, list[Any]] = {
        "list": [[t, t] for t in texts],
        "struct": [{"a": t} for t in texts],
        "map": [[("k", t)] for t in texts],
    }
    values = next((made for name, made in wrapped.items() if str(kind).startswith(name)), texts)
    if pa.types.is_run_end_encoded(kind):
        column = pc.run_end_encode(pa.array(texts, pa.string()))
    else:
        column = pa.array(values, kind)
    twice = 2 if str(kind).startswith("list") else 1
    least = twice * sum(len(text or "") for text in texts[first:])
    found = plain_bytes(pa.record_batch([column.slice(first)], names=["a"]))
    # and some bytes a value for what says where it ends
    assert least <= found <= least + 400


_DECIMALS = [kind(5, 2) for kind in (getattr(pa, f"decimal{bits}", None) for bits in (32, 64)) if kind is not None]


def _in_a_dictionary(values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), values)


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        (pa.array(["a", "b"], pa.string_view()), pa.large_string()),
        (pa.array([b"a", b"b"], pa.binary_view()), pa.large_binary()),
        (pa.array([1.5, 2.0], pa.float32()).cast(pa.float16()), pa.float32()),
        *((pa.array([Decimal("1.50"), Decimal("2.00")], kind), pa.decimal128(5, 2)) for kind in _DECIMALS),
    ],
)
def test_others_that_hold_the_same_values(values, plain):
    table = plain_types(pa.table({"a": values}))
    assert table.schema.types == [plain] and table.column("a").to_pylist() == values.to_pylist()
    coded = plain_types(pa.table({"a": _in_a_dictionary(values)})).column("a")
    assert coded.type == pa.dictionary(pa.int8(), plain) and coded.to_pylist() == [*values.to_pylist(), None]


def test_nothing_else_is_touched():
    table = pa.table({"a": [1], "b": ["x"], "c": pa.array([Decimal("1.5")]), "d": [[1]]})
    assert plain_types(table) is table


@pytest.mark.parametrize("kind", _DECIMALS)
@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive"])
def test_small_decimals_of_a_parquet_file(tmp_path, kind, role):
    pq.write_table(pa.table({"pay": pa.array([Decimal("1.50")] * 2, kind), "age": [1, 1]}), tmp_path / "t.parquet")
    roles = {"quasi": ["age"], role: ["pay"] if role != "quasi" else ["age", "pay"]}
    release = ht.anonymize(
        read_table(tmp_path / "t.parquet"), ht.Policy(**roles, models=[ht.KAnonymity(k=2)], cells="intervals")
    )
    assert [str(cell) for cell in release.table.column("pay").to_pylist()] == (
        ["1.5"] if role == "quasi" else ["1.50"]
    ) * 2


def test_dictionaries_of_dictionaries_are_refused_in_words():
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["a"]).dictionary_encode())
    rules = ht.Policy(quasi=["age"], insensitive=["note"], models=[ht.KAnonymity(k=2)])
    with pytest.raises(DataError, match="'note' contains values of type"):
        ht.anonymize(pa.table({"age": [1, 1], "note": twice}), rules)
