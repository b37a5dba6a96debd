"""Published rows that follow from what was counted: every combination of cells and values, as often as it occurs.

Where nothing but quasi-identifiers and sensitive values is published, rows of one combination are alike, and the driver
knows how many there are. No row of the input has to be looked up, moved and sorted then: Spark repeats what it is sent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from hushtable.arrays import IntArray
from hushtable.engines.spark.content import Content, Tuples
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.people import UNITS
from hushtable.kernels.grouping import number_rows
from hushtable.table.ranks import dense_ranks

__all__ = ["repeat", "repeated_rows"]

_MOST = 1 << 16
"""A row that is sent is repeated so many times at most: a task makes its copies from one array."""

_WORTH = 2
"""So many rows each row that is sent has to stand for, on average; else they are looked up where they are."""

_PARTS = 200
"""Parts where the session names no number: what Spark takes by itself."""

_TIMES, _PART, _PLACE = "times", "part", "place"


def repeated_rows(
    content: Content,
    tuples: Tuples,
    packing: Packing,
    ranks: Sequence[IntArray],
    owner: IntArray,
    label: IntArray,
    rows: IntArray,
) -> DataFrame | None:
    """Return the published rows that differ, in their order, with how often each occurs; None where that gains nothing.

    Parameters
    ----------
    content : Content
    tuples : Tuples
    packing : Packing
        How the numbers of cells share numbers.
    ranks : sequence of int64 arrays
        For each quasi-identifier, the number of the cell that each class publishes.
    owner, label, rows : int64 arrays
        Records: the combination of each, its class (-1 if it is suppressed), and for how many rows it stands.
    """
    if content.apart():
        return None
    kept = np.flatnonzero(label >= 0)
    owner, label, rows = owner[kept], label[kept], rows[kept]
    coded = [c.name for c in (*content.quasi, *content.sensitive)]
    n = len(content.quasi)
    columns, sizes = [], []
    for name in (c.name for c in content.plan.table.columns if c.role.published):
        at = coded.index(name)
        rank = ranks[at][label] if at < n else dense_ranks(content.dictionaries[at].values)[0][tuples.places[at][owner]]
        columns.append(rank)
        sizes.append(int(rank.max(initial=0)) + 1)
    if content.weighted:
        weights, weight = np.unique(tuples.units[owner], return_inverse=True)
        columns.append(weight)
        sizes.append(len(weights))
    # in lexicographic order of the published cells
    of_record, first = number_rows(columns, sizes)
    if len(first) * _WORTH > int(rows.sum()):
        return None
    times = np.zeros(len(first), dtype=np.int64)
    np.add.at(times, of_record, rows)
    return _sent(content, tuples, packing.pack([rank[label[first]] for rank in ranks]), owner[first], times)


def _sent(content: Content, tuples: Tuples, numbers: Sequence[IntArray], owner: IntArray, times: IntArray) -> DataFrame:
    """Send rows with their numbers of repetitions, in parts that make about equally many rows."""
    pieces = -(-times // _MOST)
    of_piece = np.repeat(np.arange(len(times)), pieces)
    owner = owner[of_piece]
    own = np.full(len(of_piece), _MOST, dtype=np.int64)
    last = np.cumsum(pieces) - 1
    own[last] = times - (pieces - 1) * _MOST
    setting = str(content.jobs.spark.conf.get("spark.sql.shuffle.partitions"))
    # some platforms choose by themselves, and say "auto"
    parts = int(setting) if setting.isdecimal() else _PARTS
    before = np.cumsum(own) - own
    columns = {f"g{i}": number[of_piece] for i, number in enumerate(numbers)}
    if content.weighted:
        columns[UNITS] = tuples.units[owner]
    columns |= {_TIMES: own, _PART: before * parts // int(times.sum()), _PLACE: np.arange(len(own))}
    fields = [StructField(name, LongType()) for name in columns]
    values = {}
    for i, column in enumerate(content.sensitive, len(content.quasi)):
        name = f"c{content.place[column.name]}"
        values[name] = content.dictionaries[i].rows(tuples.places[i][owner]).dictionary_decode()
        fields.append(StructField(name, content.rows.schema[name].dataType))
    frame = content.jobs.frame({**columns, **values}, StructType(fields))
    return frame.repartitionByRange(parts, _PART).sortWithinPartitions(_PLACE).drop(_PART, _PLACE)


def repeat(rows: DataFrame) -> DataFrame:
    """Return every row as often as it occurs."""
    copies = F.explode(F.array_repeat(F.lit(True), F.col(_TIMES).cast("int")))
    return rows.select("*", copies.alias("copy")).drop("copy", _TIMES)
