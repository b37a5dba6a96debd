"""What tests of the Spark engine share: comparing with the local engine, and counting what Spark keeps."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.io.dictionaries import decode
from hushtable.registry import measures
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan
from support_core import COUNTRIES, ILLNESSES, WHO, WORLD, quasi, sensitive

NOTE = ColumnPlan("note", Role.INSENSITIVE)


def plain(table: pa.Table) -> pa.Table:
    return pa.table([decode(c) for c in table.columns], names=table.column_names)


def same(got, want) -> None:
    """Rows in the same order, the same evidence and the same costs."""
    assert got.frame.toArrow().to_pydict() == plain(want.table).to_pydict()
    # NaN is not equal to itself
    assert json.dumps(got.summary()) == json.dumps(want.summary())


def held(spark) -> int:
    """How many tables Spark keeps."""
    return spark.sparkContext._jsc.getPersistentRDDs().size()


VISITS = (
    quasi("age", Kind.NUMERIC, hierarchy=Intervals(widths=(5, 10))),
    quasi("zip", Kind.NOMINAL, hierarchy=Prefix()),
    quasi("country", Kind.NOMINAL, hierarchy=WORLD),
    sensitive("illness"),
    NOTE,
    WHO,
)


def visits(rows: int, seed: int) -> pa.Table:
    """A table with hierarchies and many equal records; a third of the people have two rows."""
    draw = np.random.default_rng(seed)
    ages = np.minimum(*draw.integers(20, 40, (2, rows)))
    table = pa.table(
        {
            "age": pa.array(ages, mask=draw.random(rows) < 0.05),
            "zip": [f"1{a}{b}" for a, b in draw.integers(0, 4, (rows, 2)).tolist()],
            "country": draw.choice(COUNTRIES, rows),
            "illness": draw.choice(ILLNESSES, rows),
        }
    )
    table = pa.concat_tables([table, table.slice(0, rows // 3), table.slice(0, rows // 5)])
    n = table.num_rows
    notes, people = [f"n{i * 7 % 11}" for i in range(n)], [f"p{i % (n * 3 // 4)}" for i in range(n)]
    return table.append_column("note", pa.array(notes)).append_column("who", pa.array(people))


def same_cells(got, want) -> None:
    """The same cells and the same evidence."""
    assert not got.origin.outcome.on_driver
    assert got.frame.toArrow().to_pydict() == plain(want.table).to_pydict()
    mine, theirs = got.summary(), want.summary()
    assert json.dumps(mine["notes"]) == json.dumps(theirs["notes"])
    measured = list(measures)
    assert mine.pop("measures").keys() == theirs.pop("measures").keys()
    assert got.measures(measured) == pytest.approx(want.measures(measured), rel=1e-9, nan_ok=True)
    assert json.dumps(mine) == json.dumps(theirs)
