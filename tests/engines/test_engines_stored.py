"""Reading a table onto the disk: what cannot be used is refused in the words of the local engine."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather

import hushtable as ht
from hushtable.engines.stream import run_files
from hushtable.errors import DataError
from hushtable.io.files import read_table


@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive"])
@pytest.mark.parametrize(
    "column",
    [
        pa.array([["CANARY"], ["b"]]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([["CANARY"], ["b"]])),
        pa.array([bytes(16), b"CANARY".ljust(16)], pa.binary(16)).cast(pa.uuid()),
        pa.array([(1, 2, 3), (4, 5, 6)], pa.month_day_nano_interval()),
        pa.array([0, 7731], pa.timestamp("s", "Nowhere/Land")),
    ],
    ids=lambda column: str(column.type)[:12],
)
def test_types_are_refused_as_by_the_local_engine(tmp_path: Path, column: pa.Array, role: str) -> None:
    feather.write_feather(pa.table({"age": [30, 31], "x": column}), str(tmp_path / "t.arrow"))
    roles = {"quasi": ["age"]}
    roles[role] = [*roles.get(role, []), "x"]
    policy = ht.Policy(**roles, models=[ht.KAnonymity(k=2)])
    with pytest.raises(DataError, match="Column 'x' contains") as local:
        ht.anonymize(read_table(tmp_path / "t.arrow"), policy)
    with pytest.raises(DataError) as streamed:
        run_files([tmp_path / "t.arrow"], policy.plan(), tmp_path / "out")
    assert str(streamed.value) == str(local.value)
    assert "CANARY" not in str(local.value)
    assert [path.name for path in tmp_path.iterdir()] == ["t.arrow"]
