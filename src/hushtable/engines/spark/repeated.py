"""Published rows derived from counts: every combination of cells and values, repeated as often as it occurs.

If only quasi-identifiers and sensitive values are published, rows of one combination are equal, and the driver knows
their number. No row of the input has to be looked up, moved or sorted then. The driver writes them, or, if they are too
many, sends the distinct rows to Spark, which repeats them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from hushtable.arrays import IntArray
from hushtable.engines.spark.content import Content, SparkRows
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.people import UNITS
from hushtable.kernels.grouping import number_rows
from hushtable.table.ranks import dense_ranks

_MOST = 1 << 16
"""Maximum number of repetitions of a row that is sent: a task makes its copies from one array."""

_PARTS = 200
"""Number of parts if the session sets none: Spark's default."""

TIMES = "times"
"""The column with the number of repetitions of a row."""

_PART, _PLACE = "part", "place"


@dataclass(frozen=True)
class Differing:
    """The distinct published rows, in order.

    Attributes
    ----------
    content : Content
    packing : Packing
        How the numbers of cells share numbers.
    cells : list of int64 arrays
        For each quasi-identifier, the number of every row's cell.
    values : dict of str to pyarrow.DictionaryArray
        The sensitive values of every row.
    times : int64 array
        Number of published rows of each.
    units : int64 array
        The weight of one such row; empty if every row weighs 1.
    """

    content: Content
    packing: Packing
    cells: list[IntArray]
    values: dict[str, pa.DictionaryArray]
    times: IntArray
    units: IntArray

    def sent(self) -> DataFrame:
        """Send the rows with their numbers of repetitions, in parts with about the same number of rows."""
        content, times = self.content, self.times
        pieces = -(-times // _MOST)
        of_piece = np.repeat(np.arange(len(times)), pieces)
        own = np.full(len(of_piece), _MOST, dtype=np.int64)
        last = np.cumsum(pieces) - 1
        own[last] = times - (pieces - 1) * _MOST
        setting = str(content.jobs.spark.conf.get("spark.sql.shuffle.partitions"))
        # some platforms choose it themselves, and say "auto"
        parts = int(setting) if setting.isdecimal() else _PARTS
        before = np.cumsum(own) - own
        columns = {f"g{i}": number[of_piece] for i, number in enumerate(self.packing.pack(self.cells))}
        if content.weighted:
            columns[UNITS] = self.units[of_piece]
        columns |= {TIMES: own, _PART: before * parts // int(times.sum()), _PLACE: np.arange(len(own))}
        fields = [StructField(name, LongType()) for name in columns]
        values = {}
        for name, cells in self.values.items():
            column = f"c{content.place[name]}"
            values[column] = cells.take(pa.array(of_piece)).dictionary_decode()
            fields.append(StructField(column, content.types[column].dataType))
        frame = content.jobs.frame({**columns, **values}, StructType(fields))
        return frame.repartitionByRange(parts, _PART).sortWithinPartitions(_PLACE).drop(_PART, _PLACE)


def differing_rows(
    content: Content,
    tuples: SparkRows,
    packing: Packing,
    ranks: Sequence[IntArray],
    owner: IntArray,
    label: IntArray,
    rows: IntArray,
) -> Differing | None:
    """Return the distinct published rows, in order, with their frequencies; None if rows have other columns.

    Parameters
    ----------
    content : Content
    tuples : SparkRows
    packing : Packing
        How the numbers of cells share numbers.
    ranks : sequence of int64 arrays
        For each quasi-identifier, the number of the cell that each class publishes.
    owner, label, rows : int64 arrays
        Records: the combination of each, its class (-1 if suppressed), and the number of rows it stands for.
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
    times = np.zeros(len(first), dtype=np.int64)
    np.add.at(times, of_record, rows)
    first_label, first_owner = label[first], owner[first]
    return Differing(
        content,
        packing,
        [rank[first_label] for rank in ranks],
        {
            column.name: content.dictionaries[i].rows(tuples.places[i][first_owner])
            for i, column in enumerate(content.sensitive, n)
        },
        times,
        tuples.units[first_owner] if content.weighted else tuples.units,
    )


def repeat(rows: DataFrame) -> DataFrame:
    """Return every row as often as it occurs."""
    copies = F.explode(F.array_repeat(F.lit(True), F.col(TIMES).cast("int")))
    return rows.select("*", copies.alias("copy")).drop("copy", TIMES)
