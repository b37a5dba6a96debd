"""Columns moved into published order through bucket files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hushtable.engines import emit as spilling
from hushtable.engines.combined import StoredTable
from hushtable.engines.emit import bucket_edges, read_bucket, spill
from hushtable.errors import OutputError
from hushtable.io.runs import ColumnRuns, RunWriter, sorted_run


def table_of(folder: Path, columns: dict[str, list[object]], rows: int) -> StoredTable:
    runs, schema = {}, pa.schema({name: pa.array(values).type for name, values in columns.items()})
    for name, values in columns.items():
        writer = RunWriter(folder / name, schema.field(name).type)
        for at in range(0, len(values), rows):
            writer.add(*sorted_run(pa.chunked_array([pa.array(values[at : at + rows], schema.field(name).type)])))
        runs[name] = ColumnRuns.of(folder / name, schema.field(name).type, writer.close())
    return StoredTable(schema, len(values), runs, dict.fromkeys(columns, 1))


@pytest.mark.parametrize("rows", [1, 4, 100])
def test_cells_come_back_in_their_places(tmp_path: Path, rows: int) -> None:
    draw = np.random.default_rng(0)
    n, kept = 57, 41
    words = [None if x % 7 == 0 else f"w{x}" for x in draw.integers(0, 30, n).tolist()]
    numbers = draw.normal(size=n).tolist()
    stored = table_of(tmp_path, {"w": words, "x": numbers}, rows)
    order = draw.permutation(n)[:kept]
    places = np.full(n, kept)
    places[order] = np.arange(kept)
    edges = bucket_edges(range(0, kept, 5), kept)
    assert edges.tolist() == [*range(0, kept, 5), kept]
    (tmp_path / "buckets").mkdir()
    spill(stored, places, edges, tmp_path / "buckets")
    found = pa.concat_tables(
        read_bucket(tmp_path / "buckets", b, int(edges[b + 1] - edges[b])) for b in range(len(edges) - 1)
    )
    assert found.column_names == ["w", "x"]
    assert found["w"].to_pylist() == [words[i] for i in order]
    assert found["x"].to_pylist() == [numbers[i] for i in order]
    # a bucket that is not whole is not used
    file = tmp_path / "buckets" / "0"
    whole, first = file.read_bytes(), int(edges[1] - edges[0])
    for wrong in (first - 1, first + 1):
        with pytest.raises(OutputError, match="incomplete"):
            read_bucket(tmp_path / "buckets", 0, wrong)
    for left in (whole[: len(whole) // 2], b""):
        file.write_bytes(left)
        with pytest.raises(OutputError, match="incomplete"):
            read_bucket(tmp_path / "buckets", 0, first)
    file.unlink()
    with pytest.raises(OutputError, match="incomplete"):
        read_bucket(tmp_path / "buckets", 0, first)


def test_no_more_buckets_than_files_may_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling, "MOST_BUCKETS", 4)
    edges = bucket_edges(range(0, 1000, 10), 1000)
    assert len(edges) - 1 == 4
    assert set(edges.tolist()) <= {*range(0, 1000, 10), 1000}
    assert np.diff(edges).max() <= 260
