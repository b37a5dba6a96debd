"""Columns in sorted runs on disk, against the ranks of a column in memory."""

from __future__ import annotations

import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.io import runs as runs_module
from hushtable.io.runs import ColumnRuns, RunWriter, rank_column, sorted_run
from hushtable.table.ranks import dense_ranks

VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), st.text(max_size=5)),
    "large text": (pa.large_string(), st.text(max_size=5)),
    "whole numbers": (pa.int64(), st.integers(-5, 5)),
    "numbers": (pa.float64(), st.sampled_from([0.0, -0.0, 1.5, -2.0, float("nan"), float("inf")])),
    "truth": (pa.bool_(), st.booleans()),
    "dates": (pa.date32(), st.dates(datetime.date(2000, 1, 1), datetime.date(2000, 1, 9))),
    "bytes": (pa.binary(), st.binary(max_size=3)),
    "nothing": (pa.null(), st.none()),
    "coded text": (pa.dictionary(pa.int32(), pa.string()), st.text(max_size=3)),
}


def stored(base: Path, pieces: list[pa.Array]) -> ColumnRuns:
    writer = RunWriter(base, pieces[0].type)
    for piece in pieces:
        writer.add(*sorted_run(pa.chunked_array([piece])))
    return ColumnRuns.of(base, pieces[0].type, writer.close())


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data(), bound=st.sampled_from([8, 40, 1 << 20]))
@settings(max_examples=40, deadline=None)
def test_ranks_cells_and_codes_are_those_of_the_whole_column(kind: str, data: st.DataObject, bound: int) -> None:
    type_, values = VALUES[kind]
    drawn = data.draw(st.lists(st.lists(st.none() | values, min_size=1, max_size=12), min_size=1, max_size=5))
    pieces = [pa.array(part, type_) for part in drawn]
    whole = pa.chunked_array(pieces)
    before = runs_module.RANGE_BYTES
    runs_module.RANGE_BYTES = bound
    try:
        with TemporaryDirectory() as folder:
            runs = stored(Path(folder, "c"), pieces)
            size = rank_column(runs)
            ranks = np.fromfile(Path(folder, "c.ranks"), dtype=np.min_scalar_type(size - 1))
            coded = runs.to_dictionary_array()
            cells = [cell for run in range(len(runs)) for cell in runs.cells(run).to_pylist()]
    finally:
        runs_module.RANGE_BYTES = before
    expected = dense_ranks(whole)[0]
    assert ranks.tolist() == expected.tolist()
    assert size == expected.max(initial=0) + 1
    assert str(cells) == str(whole.to_pylist())
    assert str(coded.to_pylist()) == str(whole.to_pylist())
    assert coded.indices.type.bit_width == 8
    if kind != "numbers":
        assert coded.dictionary.to_pylist() == sorted({c for c in cells if c is not None})


def test_many_values_in_many_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "RANGE_BYTES", 1 << 12)
    words = [f"{x:06}" for x in np.random.default_rng(2).integers(0, 5000, 20_000)]
    pieces = [pa.array(words[at : at + 3000]) for at in range(0, 20_000, 3000)]
    runs = stored(tmp_path / "c", pieces)
    found = list(runs_module.merged(runs))
    assert len(found) > 20
    joined = [value for part in found for value in part.values.to_pylist()]
    assert joined == sorted(set(words))
    assert rank_column(runs) == len(joined) + 1


def test_an_abandoned_writer_closes_its_files(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "c", pa.int64())
    writer.add(*sorted_run(pa.chunked_array([[1, 2]])))
    writer.abandon()
    assert writer._file.closed and writer._codes.closed
    writer.abandon()
