"""Canaries through some commands, ending well and badly; the search finds them wherever they are put."""

from __future__ import annotations

import gzip
import io
import zipfile

import pyarrow.parquet as pq
import pytest

from fuzz.canaries import Search, table, words_in
from fuzz.canary_inputs import prepare
from fuzz.leaks import CALLS, audit
from fuzz.workbench import Bench

SOME = [
    "init people.csv --output starter.yaml --force",
    "run policy.yaml --data people.csv --overwrite",
    "attack release --data people.csv --files .",
    "run policy.yaml --data bad/ragged.csv --output bad_out",
    "run policy.yaml --data bad/age.csv --output bad_out --json",
    "run policy.yaml --data bad/town.csv --output bad_out --stream",
    "run bad/double-towns.yaml --data people.csv --output bad_out",
    "run policy.yaml --data duckdb:///in.duckdb --query SELECT~CAST(name~AS~INT)~AS~name~FROM~people --output x",
    "run infeasible.yaml --data people.csv --output bad_out",
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("leaks"))


def test_no_cell_is_where_it_is_not_published(bench):
    search = prepare(bench)
    calls = [next(call for call in CALLS if call.arguments == text) for text in SOME]
    found = {call.arguments: wrong for call, _, wrong in audit(bench, calls, search) if wrong}
    assert found == {}


def test_a_leak_is_noticed(tmp_path):
    """The search is told of no inputs, so that the input itself is the leak."""
    bench = Bench(tmp_path)
    prepare(bench)
    call = next(call for call in CALLS if call.arguments == SOME[0])
    ((_, code, wrong),) = audit(bench, [call], Search((bench.folder,)))
    assert code == 0
    assert "a cell of name in work/people.csv" in wrong
    assert "a cell of town in work/people.parquet" in wrong


def test_words_are_found_in_whatever_they_are_packed():
    text = b"x zqname0001 zqsite zqill12"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.gz", gzip.compress(text))
    for data in (text, gzip.compress(text), packed.getvalue(), "zqname0001".encode("utf-16")):
        assert words_in(data) == {"name"}
    sink = io.BytesIO()
    pq.write_table(table(10).select(["town", "ill"]), sink, compression="zstd")
    assert words_in(sink.getvalue()) == {"town", "ill"}
    assert words_in(gzip.compress(text)[:-9]) == set()
