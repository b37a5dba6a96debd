"""Types that Arrow stores but hardly computes with."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import hushtable as ht
from hushtable.errors import DataError
from hushtable.io.files import read_table
from hushtable.io.plain import plain_types

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
